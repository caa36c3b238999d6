"""Numbers as they are, or put into buckets."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any, NamedTuple

from tensorloom.feature_column import checks
from tensorloom.feature_column.earlier.interfaces import (
    _CategoricalColumn,
    _DenseColumn,
)
from tensorloom.feature_column.interfaces import (
    CategoricalColumn,
    DenseColumn,
    IdWeightPair,
)
from tensorloom.feature_column.one_logic import (
    CategoricalLogic,
    DenseLogic,
    spec_of,
)
from tensorloom.framework.export import export
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.sparse_tensor import SparseTensor
from tensorloom.framework.types.tensor_shape import TensorShape
from tensorloom.ops.array import array_ops
from tensorloom.ops.math import math_ops
from tensorloom.ops.math.comparison import bucketize
from tensorloom.ops.parsing.parsing_features import FixedLenFeature

if TYPE_CHECKING:
    from tensorloom.feature_column.sources import Source


class NumericFields(NamedTuple):
    """What a numeric column is told."""

    key: str
    shape: tuple[int, ...]
    default_value: Any
    dtype: Any
    normalizer_fn: Any


class NumericLogic(DenseLogic):
    """What a numeric column does."""

    key: str
    shape: tuple[int, ...]
    default_value: Any
    dtype: Any
    normalizer_fn: Any

    @property
    def name(self) -> str:
        """The feature's."""
        return self.key

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        """A feature of fixed length."""
        feature = FixedLenFeature(self.shape, self.dtype, self.default_value)
        return {self.key: feature}

    def _transform(self, source: Source) -> Any:
        tensor = source.get(self.key)
        if isinstance(tensor, SparseTensor):
            raise ValueError(
                "The corresponding Tensor of numerical column must be a Tensor. "
                f"SparseTensor is not supported. key: {self.key}"
            )
        if self.normalizer_fn is not None:
            tensor = self.normalizer_fn(tensor)
        return math_ops.cast(tensor, dtypes.float32)

    @property
    def variable_shape(self) -> TensorShape:
        """The shape of one example's numbers."""
        return TensorShape(self.shape)


class NumericColumn(NumericLogic, DenseColumn, _DenseColumn, NumericFields):
    """See `numeric_column`."""


@export("feature_column.numeric_column")
def numeric_column(
    key: str,
    shape: Any = (1,),
    default_value: Any = None,
    dtype: Any = dtypes.float32,
    normalizer_fn: Any = None,
) -> NumericColumn:
    """Numbers, given to the model as float32 [batch, ...shape].

    Args:
      key: name of the feature.
      shape: of one example's numbers; an int is a vector's length.
      default_value: for examples without the feature, one number or nested sequences of
        the column's shape; without it such examples cannot be parsed.
      dtype: in the examples, an integer or floating.
      normalizer_fn: makes a tensor of the feature's tensor before it is cast.

    Raises:
      TypeError: a dimension is not an int, the default does not fit the dtype, or the
        normalizer cannot be called.
      ValueError: a dimension below 1, a default of another shape, a dtype that is not a
        number's, or a key that is not a string.
    """
    shape = checks.check_shape(shape, key)
    checks.check_numeric_dtype(dtype, key)
    default_value = checks.check_default_value(shape, default_value, dtype, key)
    checks.check_normalizer(normalizer_fn)
    checks.assert_key_is_string(key)
    return NumericColumn(key, shape, default_value, dtype, normalizer_fn)


class BucketizedFields(NamedTuple):
    """What a bucketized column is told."""

    source_column: Any
    boundaries: tuple[float, ...]


class BucketizedLogic(CategoricalLogic, DenseLogic):
    """What a bucketized column does."""

    source_column: Any
    boundaries: tuple[float, ...]

    @property
    def name(self) -> str:
        """The numeric column's, and what is done with it."""
        return f"{self.source_column.name}_bucketized"

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        """That of the numeric column."""
        return spec_of(self.source_column)

    @property
    def parents(self) -> list[Any]:
        """The numeric column."""
        return [self.source_column]

    def _transform(self, source: Source) -> Any:
        numbers = source.get(self.source_column)
        return bucketize(numbers, boundaries=self.boundaries)

    @property
    def variable_shape(self) -> TensorShape:
        """One element for each bucket of each number."""
        return TensorShape((*self.source_column.shape, len(self.boundaries) + 1))

    def _dense(self, source: Source, is_earlier: bool) -> Any:
        return array_ops.one_hot(
            indices=math_ops.cast(source.get(self), dtypes.int64),
            depth=len(self.boundaries) + 1,
            on_value=1.0,
            off_value=0.0,
        )

    @property
    def num_buckets(self) -> int:
        """Each of a feature's numbers has buckets of its own."""
        return (len(self.boundaries) + 1) * self.source_column.shape[0]  # type: ignore[no-any-return]

    def _id_weight_pair(self, source: Source) -> IdWeightPair:
        buckets = source.get(self)
        batch = array_ops.shape(buckets)[0]
        width = self.source_column.shape[0]
        rows = array_ops.expand_dims(math_ops.range(0, batch), 1)
        rows = array_ops.reshape(array_ops.tile(rows, [1, width]), (-1,))
        columns = array_ops.tile(math_ops.range(0, width), [batch])
        # The buckets of each number follow those of the one before.
        ids = array_ops.reshape(buckets, (-1,)) + (len(self.boundaries) + 1) * columns
        places = array_ops.transpose(array_ops.stack((rows, columns)))
        indices = math_ops.cast(places, dtypes.int64)
        shape = math_ops.cast(array_ops.stack([batch, width]), dtypes.int64)
        return IdWeightPair(SparseTensor(indices, ids, shape), None)


class BucketizedColumn(
    BucketizedLogic,
    DenseColumn,
    CategoricalColumn,
    _DenseColumn,
    _CategoricalColumn,
    BucketizedFields,
):
    """See `bucketized_column`."""


@export("feature_column.bucketized_column")
def bucketized_column(source_column: Any, boundaries: Any) -> BucketizedColumn:
    """Numbers as ids of the intervals that they lie in.

    With `boundaries=[0, 1]` the intervals are (-inf, 0), [0, 1) and [1, inf).

    Args:
      source_column: a `numeric_column` of at most one dimension.
      boundaries: a list or tuple of floats, each larger than the one before.

    Raises:
      ValueError: another kind of column, more dimensions, or unsorted boundaries.
    """
    check_source_column(source_column, NumericLogic)
    if not boundaries:
        raise ValueError("boundaries must not be empty.")
    return BucketizedColumn(source_column, sorted_boundaries(boundaries))


def check_source_column(source_column: Any, kind: type) -> None:
    """Raises ValueError: not a numeric column, or one of several dimensions."""
    if not isinstance(source_column, kind):
        raise ValueError(
            "source_column must be a column generated with numeric_column(). "
            f"Given: {source_column}"
        )
    if len(source_column.shape) > 1:  # type: ignore[attr-defined]
        raise ValueError(
            f"source_column must be one-dimensional column. Given: {source_column}"
        )


def sorted_boundaries(boundaries: Any) -> tuple[float, ...]:
    """Raises ValueError: not a list or tuple, or not sorted."""
    if not isinstance(boundaries, list | tuple):
        raise ValueError(
            f"boundaries must be a sorted list. Given: {type(boundaries).__name__}."
        )
    for low, high in itertools.pairwise(boundaries):
        if low >= high:
            raise ValueError(
                f"boundaries must be a sorted list. Given: {low} before {high}."
            )
    return tuple(boundaries)
