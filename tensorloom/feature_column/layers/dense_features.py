"""`tf.keras.layers.DenseFeatures`: an `input_layer` that keeps its variables."""

from __future__ import annotations

from typing import Any

from tensorloom.feature_column.interfaces import DenseColumn
from tensorloom.feature_column.layers.features_layer import FeaturesLayer, check_is_dict
from tensorloom.feature_column.layers.state_manager import _StateManagerImplV2
from tensorloom.feature_column.sources import FeatureTransformationCache
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Tensor, name_scope
from tensorloom.keras.engine.base_layer import Layer


@export("keras.layers.DenseFeatures")
class DenseFeatures(FeaturesLayer):
    """The dense tensors of columns, in the order of their names.

    Args:
      feature_columns: dense columns: numeric, bucketized, indicators, embeddings.
      trainable: whether the variables are.
      name: of the layer, and of the scope of its variables.

    Raises:
      ValueError: a column that is not dense, or columns of one name.
    """

    def __init__(
        self,
        feature_columns: Any,
        trainable: bool = True,
        name: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(
            feature_columns=feature_columns,
            trainable=trainable,
            name=name,
            expected_column_type=DenseColumn,
            **kwargs,
        )

    def _target_shape(self, input_shape: Any, total_elements: int) -> Any:
        return (input_shape[0], total_elements)

    def call(  # type: ignore[override]
        self, features: dict[Any, Any], cols_to_output_tensors: Any = None
    ) -> Tensor:
        """The tensors side by side, [batch, sum of the columns' sizes].

        Args:
          features: tensors and SparseTensors by name.
          cols_to_output_tensors: a dict that gets the tensor of each column.

        Raises:
          ValueError: features that are not in a dict, or batch sizes that differ.
        """
        check_is_dict(features)
        cache = FeatureTransformationCache(features)
        tensors = []
        for column in self._feature_columns:
            with name_scope(column.name):
                tensor = column.get_dense_tensor(cache, self._state_manager)
                tensors.append(self._process_dense_tensor(column, tensor))
            if cols_to_output_tensors is not None:
                cols_to_output_tensors[column] = tensors[-1]
        return self._verify_and_concat_tensors(tensors)


class DenseFeaturesV2(DenseFeatures):
    """`DenseFeatures` of TensorFlow 2: its variables know no variable scope."""

    def __init__(
        self,
        feature_columns: Any,
        trainable: bool = True,
        name: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(feature_columns, trainable=trainable, name=name, **kwargs)
        self._state_manager = _StateManagerImplV2(self, self.trainable)

    def build(self, input_shape: Any) -> None:
        """Makes the variables of the columns, under their names."""
        for column in self._feature_columns:
            with name_scope(column.name):
                column.create_state(self._state_manager)
        Layer.build(self, None)
