"""Sequences of numbers: `sequence_numeric_column`."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from tensorloom.feature_column import checks, serialization
from tensorloom.feature_column.interfaces import (
    SequenceDenseColumn,
    TensorSequenceLengthPair,
)
from tensorloom.feature_column.sparse_input import sequence_length_from_sparse_tensor
from tensorloom.framework.export import export
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_shape import TensorShape
from tensorloom.ops.array import array_ops
from tensorloom.ops.parsing.parsing_features import VarLenFeature
from tensorloom.ops.sparse.sparse_builders import sparse_tensor_to_dense


class SequenceNumericFields(NamedTuple):
    """What a column of sequences of numbers is told."""

    key: str
    shape: tuple[int, ...]
    default_value: float
    dtype: Any
    normalizer_fn: Any


class SequenceNumericColumn(SequenceDenseColumn, SequenceNumericFields):
    """See `sequence_numeric_column`."""

    @property
    def _is_v2_column(self) -> bool:
        return True

    @property
    def name(self) -> str:
        """The feature's."""
        return self.key

    @property
    def parents(self) -> list[Any]:
        """The feature."""
        return [self.key]

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        """A feature of any length."""
        return {self.key: VarLenFeature(self.dtype)}

    @property
    def variable_shape(self) -> TensorShape:
        """The shape of one step's numbers."""
        return TensorShape(self.shape)

    def transform_feature(self, transformation_cache: Any, state_manager: Any) -> Any:
        """The feature, normalized."""
        tensor = transformation_cache.get(self.key, state_manager)
        return tensor if self.normalizer_fn is None else self.normalizer_fn(tensor)

    def get_sequence_dense_tensor(
        self, transformation_cache: Any, state_manager: Any
    ) -> TensorSequenceLengthPair:
        """Numbers [batch, steps, ...shape], with each row's number of steps."""
        return self.sequence_of(transformation_cache.get(self, state_manager))

    def sequence_of(self, sparse: Any) -> TensorSequenceLengthPair:
        """The numbers of the feature's SparseTensor, and each row's number of steps."""
        dense = sparse_tensor_to_dense(sparse, default_value=self.default_value)
        shape = [array_ops.shape(dense)[:1], [-1], self.variable_shape]
        dense = array_ops.reshape(dense, shape=array_ops.concat(shape, axis=0))
        # In a matrix the numbers of the steps follow one another.
        step = math.prod(self.shape) if sparse.shape.ndims == 2 else 1
        lengths = sequence_length_from_sparse_tensor(sparse, step)
        return TensorSequenceLengthPair(dense, lengths)

    def _get_config(self) -> dict[str, Any]:
        return serialization.column_config(self)

    @classmethod
    def _from_config(
        cls,
        config: dict[str, Any],
        custom_objects: Any = None,
        columns_by_name: Any = None,
    ) -> Any:
        return serialization.column_from_config(
            cls, config, custom_objects, columns_by_name
        )


@export("feature_column.sequence_numeric_column")
def sequence_numeric_column(
    key: str,
    shape: Any = (1,),
    default_value: float = 0.0,
    dtype: Any = dtypes.float32,
    normalizer_fn: Any = None,
) -> SequenceNumericColumn:
    """Sequences of numbers, padded to the longest of a batch.

    Args:
      key: name of the feature, a SparseTensor.
      shape: of one step's numbers.
      default_value: the padding.
      dtype: in the examples, an integer or floating.
      normalizer_fn: makes a SparseTensor of the feature's.

    Raises:
      TypeError: a dimension is not an int, or the normalizer cannot be called.
      ValueError: a dimension below 1, or a dtype that is not a number's.
    """
    shape = checks.check_shape(shape, key)
    checks.check_numeric_dtype(dtype, key)
    checks.check_normalizer(normalizer_fn)
    return SequenceNumericColumn(key, shape, default_value, dtype, normalizer_fn)
