"""A column of a series of a data frame."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

from tensorloom.contrib.layers.columns.interfaces import _FeatureColumn, reshape_to_rank
from tensorloom.feature_column.input_layers import InputLayer
from tensorloom.framework.export import export, export_value
from tensorloom.framework.types import dtypes
from tensorloom.ops.math.cast import cast

for _package in ("slim", "layers.feature_column"):
    export_value(InputLayer, f"contrib.{_package}.InputLayer")


@export("contrib.slim.DataFrameColumn", "contrib.layers.feature_column.DataFrameColumn")
class DataFrameColumn(
    _FeatureColumn, namedtuple("DataFrameColumn", ["column_name", "series"])
):
    """A series that says what features it needs, and makes its tensor of them."""

    @property
    def name(self) -> str:
        """The series' name."""
        return str(self.column_name)

    @property
    def config(self) -> Any:
        """What `tf.parse_example` parses the features from."""
        return self.series.required_base_features()

    @property
    def key(self) -> str:
        """The name."""
        return self.name

    def insert_transformed_feature(self, columns_to_tensors: dict[Any, Any]) -> None:
        """Adds the tensor that the series makes."""
        columns_to_tensors[self] = self.series.build(columns_to_tensors)

    def _to_dnn_input_layer(
        self,
        input_tensor: Any,
        weight_collections: Any = None,
        trainable: bool = True,
        output_rank: int = 2,
    ) -> Any:
        tensor = cast(input_tensor, dtypes.float32)
        return reshape_to_rank(tensor, output_rank, self.name)

    def _to_dense_tensor(self, input_tensor: Any) -> Any:
        return self._to_dnn_input_layer(input_tensor)
