"""Specs of values that consist of several tensors: ragged, slices, arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tensorloom.data import specs
from tensorloom.data.type_spec import TypeSpec
from tensorloom.framework.export import export
from tensorloom.framework.graph.tensor import Tensor
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.runtime.scopes import name_scope
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.constant_value import constant_value_as_shape
from tensorloom.framework.types.indexed_slices import (
    IndexedSlices,
    IndexedSlicesValue,
)
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.framework.types.tensor_shape import TensorShape
from tensorloom.ops.lists.tensor_array import TensorArray
from tensorloom.ops.ragged.ragged_tensor import RaggedTensor
from tensorloom.ops.ragged.ragged_value import RaggedTensorValue

if TYPE_CHECKING:
    from tensorloom.framework.types.dtypes import DType


class _CompositeSpec(TypeSpec):
    """A spec that no value of another kind fits."""

    def _accepts(self, other: Any) -> bool:
        try:
            return super()._accepts(other)
        except TypeError:  # no value that has a spec
            return False


@export("IndexedSlicesSpec")
class IndexedSlicesSpec(_CompositeSpec):
    """Slices of a tensor.

    Args:
      shape: the static shape of the whole tensor.
      dtype: of the slices.
      indices_dtype: of the indices, int32 or int64.
      dense_shape_dtype: of the whole shape; None for slices that have none.
      indices_shape: the static shape of the indices, a vector's.
    """

    def __init__(
        self,
        shape: Any = None,
        dtype: Any = dtypes.float32,
        indices_dtype: Any = dtypes.int64,
        dense_shape_dtype: Any = None,
        indices_shape: Any = None,
    ) -> None:
        self._shape = TensorShape(shape)
        self._dtype = dtypes.as_dtype(dtype)
        self._indices_dtype = dtypes.as_dtype(indices_dtype)
        self._dense_shape_dtype = (
            None if dense_shape_dtype is None else dtypes.as_dtype(dense_shape_dtype)
        )
        self._indices_shape = TensorShape(indices_shape).with_rank(1)

    @classmethod
    def _of(cls, value: IndexedSlices) -> IndexedSlicesSpec:
        whole = value.dense_shape
        shape = TensorShape([None]).concatenate(value.values.shape[1:])
        if whole is not None:
            shape = shape.merge_with(constant_value_as_shape(whole))
        return cls(
            shape,
            value.values.dtype,
            value.indices.dtype,
            None if whole is None else whole.dtype,
            value.indices.shape.merge_with(value.values.shape[:1]),
        )

    def _serialize(self) -> tuple[Any, ...]:
        return (
            self._shape,
            self._dtype,
            self._indices_dtype,
            self._dense_shape_dtype,
            self._indices_shape,
        )

    @property
    def value_type(self) -> Any:
        return IndexedSlices

    @property
    def legacy_shapes(self) -> Any:
        raise NotImplementedError("IndexedSlicesSpec._to_legacy_output_shapes()")

    @property
    def _component_specs(self) -> Any:
        slices = self._indices_shape.concatenate(self._shape[1:])
        found = [
            specs.TensorSpec(slices, self._dtype),
            specs.TensorSpec(self._indices_shape, self._indices_dtype),
        ]
        if self._dense_shape_dtype is not None:
            whole = specs.TensorSpec([self._shape.ndims], self._dense_shape_dtype)
            found.append(whole)
        return tuple(found)

    def _to_components(self, value: Any) -> Any:
        parts = (value.values, value.indices)
        return parts if value.dense_shape is None else (*parts, value.dense_shape)

    def _from_components(self, components: Any) -> Any:
        if all(isinstance(part, np.ndarray) for part in components):
            whole = components[2] if len(components) > 2 else None
            return IndexedSlicesValue(components[0], components[1], whole)
        return IndexedSlices(*components)


@export("RaggedTensorSpec")
class RaggedTensorSpec(_CompositeSpec):
    """A ragged tensor: in datasets, a variant.

    Args:
      shape: its static shape.
      dtype: of its values.
      ragged_rank: how many dimensions are ragged; None for all that can be.
      row_splits_dtype: of its partitions, int32 or int64.

    Raises:
      ValueError: neither rank is known, or they contradict each other.
      TypeError: `ragged_rank` is no number.
    """

    serializes_rows = True

    def __init__(
        self,
        shape: Any = None,
        dtype: Any = dtypes.float32,
        ragged_rank: int | None = None,
        row_splits_dtype: Any = dtypes.int64,
    ) -> None:
        self._shape = TensorShape(shape)
        self._dtype = dtypes.as_dtype(dtype)
        self._row_splits_dtype = dtypes.as_dtype(row_splits_dtype)
        rank = self._shape.ndims
        if ragged_rank is None:
            if rank is None:
                raise ValueError(
                    "Must specify ragged_rank or a shape with a known rank."
                )
            ragged_rank = rank - 1
        if not isinstance(ragged_rank, int):
            raise TypeError("ragged_rank must be an int")
        if rank is not None and ragged_rank >= rank:
            raise ValueError("ragged_rank must be less than rank.")
        self._ragged_rank = ragged_rank

    @classmethod
    def from_value(cls, value: Any) -> RaggedTensorSpec:
        """The spec of a RaggedTensor."""
        return cls(
            value.shape, value.values.dtype, value.ragged_rank, value.row_splits.dtype
        )

    def _serialize(self) -> tuple[Any, ...]:
        return (self._shape, self._dtype, self._ragged_rank, self._row_splits_dtype)

    @property
    def _component_specs(self) -> Any:
        if self._ragged_rank == 0:
            return [specs.TensorSpec(self._shape, self._dtype)]
        inner = self._shape[self._ragged_rank + 1 :]
        dims = self._shape.dims_tuple
        rows = dims[0] if dims else None
        outer = [None if rows is None else rows + 1]
        splits = [outer, *([[None]] * (self._ragged_rank - 1))]
        values = specs.TensorSpec(TensorShape([None]).concatenate(inner), self._dtype)
        return [values, *(specs.TensorSpec(x, self._row_splits_dtype) for x in splits)]

    def _to_components(self, value: Any) -> Any:
        if isinstance(value, RaggedTensor | RaggedTensorValue):
            return [value.flat_values, *value.nested_row_splits]
        return [value]

    def _from_components(self, components: Any) -> Any:
        result, splits = components[0], components[1:]
        if all(isinstance(part, np.ndarray) for part in components):
            for rows in reversed(splits):
                result = RaggedTensorValue(result, rows)
            return result
        if not splits:
            return convert_to_tensor(result)
        return RaggedTensor.from_nested_row_splits(result, splits, validate=False)

    @property
    def value_type(self) -> Any:
        return RaggedTensor if self._ragged_rank > 0 else Tensor

    @property
    def legacy_types(self) -> Any:
        return self._dtype

    @property
    def legacy_shapes(self) -> Any:
        return self._shape

    @property
    def flat_tensors(self) -> list[tuple[DType, TensorShape]]:
        return [(dtypes.variant, TensorShape(None))]

    def to_tensors(self, value: Any) -> list[Any]:
        return [value._to_variant()]

    def to_batched_tensors(self, value: Any) -> list[Any]:
        return [value._to_variant(batched_input=True)]

    def from_tensors(self, tensors: Sequence[Tensor]) -> Any:
        (tensor,) = tensors
        if self._ragged_rank <= 0:
            raise ValueError(
                f"ragged_rank must be non-negative; got {self._ragged_rank}."
            )
        result = RaggedTensor._from_variant(
            tensor, dtype=self._dtype, output_ragged_rank=self._ragged_rank
        )
        dims = self._shape.dims_tuple
        if dims is not None:
            if dims[0] is not None:
                result.row_splits.set_shape([dims[0] + 1])
            inner = self._shape[self._ragged_rank + 1 :]
            result.flat_values.set_shape(TensorShape([None]).concatenate(inner))
        return result

    def _batch(self, batch_size: int | None) -> TypeSpec:
        shape = TensorShape([batch_size]).concatenate(self._shape)
        rank = self._ragged_rank + 1
        return RaggedTensorSpec(shape, self._dtype, rank, self._row_splits_dtype)

    def _unbatch(self) -> TypeSpec:
        # A rank below 0 is for those who batch again.
        rank = self._ragged_rank - 1
        return RaggedTensorSpec(
            self._shape[1:], self._dtype, rank, self._row_splits_dtype
        )


@export("TensorArraySpec")
class TensorArraySpec(_CompositeSpec):
    """A TensorArray: in datasets, a list of tensors.

    Args:
      element_shape: the static shape of the elements.
      dtype: of the elements.
      dynamic_size: whether writes past the end make it grow.
      infer_shape: whether all elements have one shape.
    """

    def __init__(
        self,
        element_shape: Any = None,
        dtype: Any = dtypes.float32,
        dynamic_size: bool = False,
        infer_shape: bool = True,
    ) -> None:
        self._element_shape = TensorShape(element_shape)
        self._dtype = dtypes.as_dtype(dtype)
        self._dynamic_size = dynamic_size
        self._infer_shape = infer_shape

    @staticmethod
    def from_value(value: Any) -> TensorArraySpec:
        """The spec of a TensorArray. Raises TypeError for other values."""
        if not isinstance(value, TensorArray):
            raise TypeError(
                f"Expected value to be a TensorArray, but saw: {type(value)}"
            )
        return TensorArraySpec(
            value.element_shape, value.dtype, value.dynamic_size, value._infer_shape
        )

    def _serialize(self) -> tuple[Any, ...]:
        return (self._element_shape, self._dtype, self._dynamic_size, self._infer_shape)

    def is_compatible_with(self, other: Any) -> bool:
        """Whether an array (or the arrays of a spec) fits, its inference apart."""
        spec = other if isinstance(other, TypeSpec) else None
        if isinstance(other, TensorArray):
            spec = TensorArraySpec.from_value(other)
        return (
            isinstance(spec, TensorArraySpec)
            and self._dtype.is_compatible_with(spec._dtype)
            and self._element_shape.is_compatible_with(spec._element_shape)
            and self._dynamic_size == spec._dynamic_size
        )

    def most_specific_compatible_type(self, other: TypeSpec) -> Any:
        """The narrowest spec that both fit. Raises ValueError where there is none."""
        if not self.is_compatible_with(other):
            raise ValueError("Types are not compatible")
        assert isinstance(other, TensorArraySpec)
        return TensorArraySpec(
            self._element_shape.most_specific_compatible_shape(other._element_shape),
            self._dtype,
            self._dynamic_size,
            self._infer_shape and other._infer_shape,
        )

    @property
    def _component_specs(self) -> Any:
        return [specs.TensorSpec([], dtypes.variant)]

    def _to_components(self, value: Any) -> Any:
        return self.to_tensors(value)

    def _from_components(self, components: Any) -> Any:
        return self.from_tensors(components)

    @property
    def value_type(self) -> Any:
        return TensorArray

    @property
    def legacy_types(self) -> Any:
        return self._dtype

    @property
    def legacy_shapes(self) -> Any:
        # TensorFlow keeps the two flags in front of the shape.
        flags = TensorShape([self._dynamic_size, self._infer_shape])
        return flags.concatenate(self._element_shape)

    @property
    def flat_tensors(self) -> list[tuple[DType, TensorShape]]:
        return [(dtypes.variant, TensorShape([]))]

    def to_tensors(self, value: Any) -> list[Any]:
        if not isinstance(value, TensorArray):
            raise TypeError(f"value must be a TensorArray, but saw: {type(value)}")
        with name_scope(None, "convert_tensor_array"):
            return [
                apply_op(
                    "TensorListFromTensor",
                    tensor=value.stack(),
                    element_shape=_shape_argument(value.element_shape),
                )
            ]

    def from_tensors(self, tensors: Sequence[Tensor]) -> Any:
        (held,) = tensors
        elements = apply_op(
            "TensorListStack",
            input_handle=held,
            element_shape=_shape_argument(self._element_shape),
            element_dtype=self._dtype,
        )
        array = TensorArray(
            self._dtype,
            size=apply_op("TensorListLength", input_handle=held),
            dynamic_size=self._dynamic_size,
            infer_shape=self._infer_shape,
            element_shape=self._element_shape,
        )
        return array.unstack(elements)


def _shape_argument(shape: TensorShape) -> Any:
    dims = shape.dims_tuple
    known: Any = -1 if dims is None else [-1 if dim is None else dim for dim in dims]
    return np.array(known, np.int32)


specs.register_value(IndexedSlices, IndexedSlicesSpec._of)
specs.register_value(RaggedTensor, RaggedTensorSpec.from_value)
specs.register_value(TensorArray, TensorArraySpec.from_value)


@export("data.experimental.RaggedTensorStructure")
def ragged_tensor_structure(
    dtype: Any, shape: Any, ragged_rank: int
) -> RaggedTensorSpec:
    """The spec of ragged tensors."""
    return RaggedTensorSpec(shape, dtype, ragged_rank)


@export("data.experimental.TensorArrayStructure")
def tensor_array_structure(
    dtype: Any, element_shape: Any, dynamic_size: bool, infer_shape: bool
) -> TensorArraySpec:
    """The spec of TensorArrays."""
    return TensorArraySpec(element_shape, dtype, dynamic_size, infer_shape)
