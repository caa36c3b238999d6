"""Columns of numbers, and of the ranges that they are in."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable
from typing import Any

from tensorloom.contrib.layers.columns.interfaces import (
    LinearLookup,
    _FeatureColumn,
    reshape_to_rank,
)
from tensorloom.contrib.layers.columns.names import declared_column
from tensorloom.contrib.layers.embeddings.crosses import bucketize
from tensorloom.feature_column.earlier.interfaces import (
    _CategoricalColumn,
    _DenseColumn,
)
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.sparse_tensor import SparseTensor
from tensorloom.framework.types.tensor_shape import TensorShape
from tensorloom.ops.array.fill import zeros
from tensorloom.ops.array.pad import tile
from tensorloom.ops.array.permute import transpose
from tensorloom.ops.array.reshape import expand_dims, reshape
from tensorloom.ops.array.shape import shape
from tensorloom.ops.array.stack import stack
from tensorloom.ops.indexing.one_hot import one_hot
from tensorloom.ops.math.cast import cast
from tensorloom.ops.math.sequence import range as numbers
from tensorloom.ops.parsing.parsing_features import (
    FixedLenFeature,
    FixedLenSequenceFeature,
    VarLenFeature,
)
from tensorloom.ops.state.initializers import Zeros


class _RealValuedVarLenColumn(
    _FeatureColumn,
    namedtuple(
        "_RealValuedVarLenColumn",
        ["column_name", "default_value", "dtype", "normalizer", "is_sparse"],
    ),
):
    """As many numbers as an example has."""

    @property
    def name(self) -> str:
        """The feature's name."""
        return str(self.column_name)

    @property
    def config(self) -> dict[str, Any]:
        """What `tf.parse_example` parses it from."""
        if self.is_sparse:
            return {self.column_name: VarLenFeature(self.dtype)}
        feature = FixedLenSequenceFeature(
            [], self.dtype, allow_missing=True, default_value=self.default_value
        )
        return {self.column_name: feature}

    @property
    def key(self) -> str:
        """The column as a text."""
        return self._key_without("normalizer")

    @property
    def normalizer_fn(self) -> Any:
        """The function of its numbers."""
        return self.normalizer

    def _transform_feature(self, inputs: Any) -> Any:
        tensor = inputs.get(self.name)
        if self.normalizer is not None:
            if self.is_sparse:
                tensor = SparseTensor(
                    tensor.indices, self.normalizer(tensor.values), tensor.dense_shape
                )
            else:
                tensor = self.normalizer(tensor)
        return cast(tensor, dtypes.float32)

    def _to_dnn_input_layer(
        self,
        input_tensor: Any,
        weight_collections: Any = None,
        trainable: bool = True,
        output_rank: int = 2,
    ) -> Any:
        return reshape_to_rank(
            self._to_dense_tensor(input_tensor), output_rank, self.name
        )

    def _to_dense_tensor(self, input_tensor: Any) -> Any:
        if self.is_sparse:
            raise ValueError(
                "Set is_sparse to False if you want a dense Tensor for column_name: "
                f"{self.name}"
            )
        return input_tensor


def real_valued_var_len_column(
    column_name: str,
    default_value: float | None = None,
    dtype: Any = dtypes.float32,
    normalizer: Callable[[Any], Any] | None = None,
    is_sparse: bool = False,
) -> Any:
    """A column of as many numbers as an example has.

    Args:
      default_value: stands where others of the batch have more numbers.
      is_sparse: whether nothing does.
      column_name, dtype, normalizer: as of `real_valued_column`.

    Raises:
      TypeError: the dtype is no number.
      ValueError: no scalar default value, though the column is dense.
    """
    if not (dtype.is_integer or dtype.is_floating):
        raise TypeError(
            f"dtype must be convertible to float. dtype: {dtype}, column_name: "
            f"{column_name}"
        )
    if default_value is None and not is_sparse:
        raise ValueError(
            "default_value must be provided when is_sparse=False to parse a padded "
            f"Tensor. column_name: {column_name}"
        )
    if isinstance(default_value, list):
        raise ValueError(
            f"Only scalar default value. default_value: {default_value}, column_name: "
            f"{column_name}"
        )
    if default_value is not None:
        default_value = int(default_value) if dtype.is_integer else float(default_value)
    return _RealValuedVarLenColumn(
        column_name, default_value, dtype, normalizer, is_sparse
    )


class _RealValuedColumn(
    _FeatureColumn,
    _DenseColumn,
    namedtuple(
        "_RealValuedColumn",
        ["column_name", "dimension", "default_value", "dtype", "normalizer"],
    ),
):
    """A number, or a fixed number of them."""

    @property
    def name(self) -> str:
        """The feature's name."""
        return str(self.column_name)

    @property
    def config(self) -> dict[str, Any]:
        """What `tf.parse_example` parses it from."""
        default = None if self.default_value is None else list(self.default_value)
        return {
            self.column_name: FixedLenFeature([self.dimension], self.dtype, default)
        }

    @property
    def key(self) -> str:
        """The column as a text."""
        return self._key_without("normalizer")

    @property
    def normalizer_fn(self) -> Any:
        """The function of its numbers."""
        return self.normalizer

    def _transform_feature(self, inputs: Any) -> Any:
        tensor = inputs.get(self.name)
        if self.normalizer is not None:
            tensor = self.normalizer(tensor)
        return cast(tensor, dtypes.float32)

    def _to_dnn_input_layer(
        self,
        input_tensor: Any,
        weight_collections: Any = None,
        trainable: bool = True,
        output_rank: int = 2,
    ) -> Any:
        tensor = cast(self._to_dense_tensor(input_tensor), dtypes.float32)
        return reshape_to_rank(tensor, output_rank, self.name)

    def _to_dense_tensor(self, input_tensor: Any) -> Any:
        return input_tensor

    @property
    def _variable_shape(self) -> TensorShape:
        return TensorShape([self.dimension])

    def _get_dense_tensor(
        self, inputs: Any, weight_collections: Any = None, trainable: Any = None
    ) -> Any:
        return inputs.get(self)


@declared_column("real_valued_column")
def real_valued_column(
    column_name: str,
    dimension: int = 1,
    default_value: Any = None,
    dtype: Any = dtypes.float32,
    normalizer: Callable[[Any], Any] | None = None,
) -> Any:
    """A column of numbers.

    Args:
      column_name: the feature's name.
      dimension: how many numbers each example has.
      default_value: one for all, or a list of one for each; for examples without any.
      dtype: of the numbers; the column's are float32.
      normalizer: a function of the tensor.

    Raises:
      TypeError: the dimension is no integer, or the default value is of another kind.
      ValueError: it is below 1, the dtype is no number, or the list is of another size.
    """
    where = f"column_name: {column_name}"
    if not isinstance(dimension, int):
        raise TypeError(
            "dimension must be an integer. Use the _real_valued_var_len_column for "
            f"variable length features. dimension: {dimension}, {where}"
        )
    if dimension < 1:
        raise ValueError(
            f"dimension must be greater than 0. dimension: {dimension}, {where}"
        )
    if not (dtype.is_integer or dtype.is_floating):
        raise ValueError(f"dtype must be convertible to float. dtype: {dtype}, {where}")
    values = default_value
    if isinstance(values, (int, float)):
        values = [values] * dimension
    if isinstance(values, list):
        if len(values) != dimension:
            raise ValueError(
                "The length of default_value must be equal to dimension. "
                f"default_value: {values}, dimension: {dimension}, {where}"
            )
        kinds = int if dtype.is_integer else (int, float)
        if all(isinstance(value, kinds) for value in values):
            kind = int if dtype.is_integer else float
            values = tuple(kind(value) for value in values)
    if values is not None and not isinstance(values, tuple):
        raise TypeError(
            f"default_value must be compatible with dtype. default_value: "
            f"{default_value}, dtype: {dtype}, {where}"
        )
    return _RealValuedColumn(column_name, dimension, values, dtype, normalizer)


class _BucketizedColumn(
    _FeatureColumn,
    _CategoricalColumn,
    _DenseColumn,
    namedtuple("_BucketizedColumn", ["source_column", "boundaries"]),
):
    """The ranges that numbers are in."""

    @property
    def name(self) -> str:
        """Of the numbers, with a mark."""
        return f"{self.source_column.name}_bucketized"

    @property
    def length(self) -> int:
        """How many ranges there are."""
        return len(self.boundaries) + 1

    @property
    def config(self) -> dict[str, Any]:
        """What `tf.parse_example` parses the numbers from."""
        return dict(self.source_column.config)

    def _transform_feature(self, inputs: Any) -> Any:
        return bucketize(
            inputs.get(self.source_column),
            boundaries=list(self.boundaries),
            name="bucketize",
        )

    def _to_dnn_input_layer(
        self,
        input_tensor: Any,
        weight_collections: Any = None,
        trainable: bool = True,
        output_rank: int = 2,
    ) -> Any:
        if output_rank != 2:
            raise ValueError("BucketizedColumn currently only supports output_rank=2")
        marks = one_hot(
            cast(input_tensor, dtypes.int64), self.length, 1.0, 0.0, name="one_hot"
        )
        return reshape(marks, [-1, self._num_buckets], name="reshape")

    def to_sparse_tensor(self, input_tensor: Any) -> SparseTensor:
        """Ids `[batch, dimension]`, different for each of an example's numbers."""
        dimension = self.source_column.dimension
        batch = shape(input_tensor, name="shape")[0]
        ids = reshape(input_tensor, [-1], name="reshape")
        if dimension > 1:
            rows = expand_dims(numbers(0, batch), 1, name="expand_dims")
            rows = reshape(
                tile(rows, [1, dimension], name="tile"), [-1], name="reshape"
            )
            places = tile(numbers(0, dimension), [batch], name="tile")
            ids = ids + self.length * places
        else:
            rows = numbers(0, batch)
            places = zeros([batch], dtype=dtypes.int32, name="zeros")
        return SparseTensor(
            cast(transpose(stack((rows, places))), dtypes.int64),
            ids,
            cast(stack([batch, dimension]), dtypes.int64),
        )

    def _wide_embedding_lookup_arguments(self, input_tensor: Any) -> LinearLookup:
        ids = self.to_sparse_tensor(input_tensor)
        return LinearLookup(ids, None, self._num_buckets, Zeros(), "sum")

    @property
    def _num_buckets(self) -> int:
        return int(self.length * self.source_column.dimension)

    def _get_sparse_tensors(
        self, inputs: Any, weight_collections: Any = None, trainable: Any = None
    ) -> Any:
        return self.IdWeightPair(self.to_sparse_tensor(inputs.get(self)), None)

    @property
    def _variable_shape(self) -> TensorShape:
        return TensorShape([self._num_buckets])

    def _get_dense_tensor(
        self, inputs: Any, weight_collections: Any = None, trainable: Any = None
    ) -> Any:
        return self._to_dnn_input_layer(inputs.get(self))


@declared_column("bucketized_column")
def bucketized_column(source_column: Any, boundaries: Any) -> Any:
    """A column of the ranges that numbers are in.

    Args:
      source_column: of `real_valued_column`.
      boundaries: a sorted list of numbers, each of which begins a range.

    Raises:
      TypeError: it is another column.
      ValueError: no boundaries, or not in order.
    """
    if not isinstance(source_column, _RealValuedColumn):
        raise TypeError(
            "source_column must be an instance of _RealValuedColumn. source_column: "
            f"{source_column}"
        )
    if not isinstance(boundaries, (list, tuple)) or not boundaries:
        raise ValueError(
            f"boundaries must be a non-empty list or tuple. boundaries: {boundaries}"
        )
    if list(boundaries) != sorted(boundaries):
        raise ValueError(f"boundaries must be a sorted list. boundaries: {boundaries}")
    return _BucketizedColumn(source_column, tuple(dict.fromkeys(boundaries)))
