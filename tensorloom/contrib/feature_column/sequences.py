"""The columns of sequences side by side, by the interface of earlier columns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tensorloom.client.variables.variable_scope import variable_scope
from tensorloom.feature_column import checks
from tensorloom.feature_column.earlier.interfaces import (
    _FeatureColumn,
    _SequenceDenseColumn,
)
from tensorloom.feature_column.layers.sequence_features import all_equal
from tensorloom.feature_column.sequence_numeric import SequenceNumericColumn
from tensorloom.feature_column.sources import _LazyBuilder
from tensorloom.framework.export import export
from tensorloom.framework.types import dtypes
from tensorloom.ops.array.concat import concat
from tensorloom.ops.array.reshape import reshape
from tensorloom.ops.array.shape import shape as shape_of


class _SequenceNumericColumn(SequenceNumericColumn, _SequenceDenseColumn):
    """See `sequence_numeric_column`."""

    def _transform_feature(self, inputs: Any) -> Any:
        tensor = inputs.get(self.key)
        return tensor if self.normalizer_fn is None else self.normalizer_fn(tensor)

    @property
    def _parse_example_spec(self) -> dict[str, Any]:
        return self.parse_example_spec

    @property
    def _variable_shape(self) -> Any:
        return self.variable_shape

    def _get_sequence_dense_tensor(
        self, inputs: Any, weight_collections: Any = None, trainable: Any = None
    ) -> Any:
        return self.sequence_of(inputs.get(self))


@export("contrib.feature_column.sequence_numeric_column")
def sequence_numeric_column(
    key: str,
    shape: Any = (1,),
    default_value: float = 0.0,
    dtype: Any = dtypes.float32,
    normalizer_fn: Any = None,
) -> SequenceNumericColumn:
    """`tf.feature_column.sequence_numeric_column`, for `sequence_input_layer` too."""
    shape = checks.check_shape(shape, key)
    checks.check_numeric_dtype(dtype, key)
    checks.check_normalizer(normalizer_fn)
    return _SequenceNumericColumn(key, shape, default_value, dtype, normalizer_fn)


@export("contrib.feature_column.sequence_input_layer")
def sequence_input_layer(
    features: Mapping[Any, Any],
    feature_columns: Any,
    weight_collections: Any = None,
    trainable: bool = True,
) -> tuple[Any, Any]:
    """The columns of each step side by side, by their names.

    Args:
      features: SparseTensors by the features' names.
      feature_columns: of `sequence_numeric_column`, and embedding and indicator
        columns over `sequence_categorical_column_with_*`.
      weight_collections: of the variables, beside GLOBAL_VARIABLES.
      trainable: whether they are trained.

    Returns:
      Floats `[batch, steps, ...]`, and the number of steps of each, int64 `[batch]`.

    Raises:
      ValueError: a column is of no sequences, or two are of one name.
      InvalidArgumentError: in the step, sequences of different lengths.
    """
    columns = checks.normalize_feature_columns(feature_columns, _FeatureColumn)
    for column in columns:
        if not isinstance(column, _SequenceDenseColumn):
            raise ValueError(
                "All feature_columns must be of type _SequenceDenseColumn. You can "
                "wrap a sequence_categorical_column with an embedding_column or "
                f"indicator_column. Given (type {type(column)}): {column}"
            )
    with variable_scope(
        None, default_name="sequence_input_layer", values=list(features.values())
    ):
        builder = _LazyBuilder(features)
        parts, lengths = [], []
        for column in columns:
            with variable_scope(None, default_name=column._var_scope_name):
                dense, length = column._get_sequence_dense_tensor(
                    builder, weight_collections=weight_collections, trainable=trainable
                )
                size = column._variable_shape.num_elements()
                steps = shape_of(dense)
                parts.append(reshape(dense, shape=[steps[0], steps[1], size]))
                lengths.append(length)
        checks.check_batch_sizes(parts, columns)
        checks.check_batch_sizes(lengths, columns)
        return concat(parts, -1), all_equal(lengths)
