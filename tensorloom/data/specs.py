"""Specs: what the components of an element are, and how tensors stand for them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tensorloom.data import nest
from tensorloom.data.type_spec import BatchableTypeSpec, TypeSpec, register_specs
from tensorloom.framework.export import export
from tensorloom.framework.graph.tensor import Tensor
from tensorloom.framework.registry import late_modules
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.composite_tensor import VALUE_SPECS
from tensorloom.framework.types.constant_value import constant_value_as_shape
from tensorloom.framework.types.sparse_tensor import (
    SparseTensor,
    SparseTensorValue,
    is_sparse,
)
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.framework.types.tensor_shape import TensorShape

if TYPE_CHECKING:
    from tensorloom.framework.types.dtypes import DType


class _ShapedSpec(BatchableTypeSpec):
    """The base of specs with a shape and a dtype."""

    def __init__(self, shape: Any = None, dtype: Any = dtypes.float32) -> None:
        self._shape = shape if isinstance(shape, TensorShape) else TensorShape(shape)
        self._dtype = dtypes.as_dtype(dtype)

    @property
    def shape(self) -> TensorShape:
        """The static shape."""
        return self._shape

    @property
    def dtype(self) -> DType:
        """The dtype."""
        return self._dtype

    @property
    def legacy_types(self) -> Any:
        return self._dtype

    @property
    def legacy_shapes(self) -> Any:
        return self._shape

    @property
    def legacy_classes(self) -> Any:
        return self.value_type

    def with_shape(self, shape: TensorShape) -> Any:
        """The same spec with another shape."""
        return type(self)(shape, self._dtype)

    def _serialize(self) -> tuple[Any, ...]:
        return self._shape, self._dtype

    def _batch(self, batch_size: int | None) -> TypeSpec:
        return self.with_shape(TensorShape([batch_size]).concatenate(self._shape))  # type: ignore[no-any-return]

    def _unbatch(self) -> TypeSpec:
        if self._shape.ndims == 0:
            raise ValueError("Unbatching a tensor is only supported for rank >= 1")
        return self.with_shape(self._shape[1:])  # type: ignore[no-any-return]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._shape!r}, {self._dtype!r})"


@export("TensorSpec", "contrib.framework.TensorSpec")
class TensorSpec(_ShapedSpec):
    """A tensor.

    Args:
      shape: its static shape; None for unknown.
      dtype: its dtype.
      name: of the tensor.
    """

    def __init__(
        self, shape: Any, dtype: Any = dtypes.float32, name: str | None = None
    ) -> None:
        super().__init__(shape, dtype)
        self._name = name

    @classmethod
    def from_spec(cls, spec: Any, name: str | None = None) -> TensorSpec:
        """A spec of another's shape and dtype."""
        return cls(spec.shape, spec.dtype, name or getattr(spec, "name", None))

    @classmethod
    def from_tensor(cls, tensor: Any, name: str | None = None) -> TensorSpec:
        """The spec of a tensor."""
        return cls(tensor.shape, tensor.dtype, name or tensor.op.name)

    def is_compatible_with(self, spec_or_tensor: Any) -> bool:
        """Whether a tensor (or the tensors of a spec) fits."""
        return self._accepts(spec_or_tensor)

    def _accepts(self, other: Any) -> bool:
        # The name says nothing of the values.
        return (
            isinstance(other, (TensorSpec, Tensor))
            and self._dtype.is_compatible_with(other.dtype)
            and self._shape.is_compatible_with(other.shape)
        )

    @property
    def name(self) -> str | None:
        """The name, if it has one."""
        return self._name

    def most_specific_compatible_type(self, other: TypeSpec) -> TypeSpec:
        """The narrowest spec that both fit. Raises ValueError where there is none."""
        if not isinstance(other, TensorSpec) or self._dtype != other._dtype:
            raise ValueError(f"Types are not compatible: {self!r} vs {other!r}")
        shape = self._shape.most_specific_compatible_shape(other._shape)
        name = self._name if self._name == other._name else None
        return TensorSpec(shape, self._dtype, name)

    def _serialize(self) -> tuple[Any, ...]:
        return self._shape, self._dtype, self._name

    @property
    def _component_specs(self) -> Any:
        return self

    def _to_components(self, value: Any) -> Any:
        said = (
            f"Value {value!r} is not convertible to a tensor with dtype {self._dtype} "
            f"and shape {self._shape}."
        )
        try:
            tensor = convert_to_tensor(value, self._dtype)
        except (TypeError, ValueError):
            raise ValueError(said) from None
        if not tensor.shape.is_compatible_with(self._shape):
            raise ValueError(said)
        return tensor

    def _from_components(self, components: Any) -> Any:
        return components

    @property
    def value_type(self) -> Any:
        return Tensor

    @property
    def flat_tensors(self) -> list[tuple[DType, TensorShape]]:
        return [(self._dtype, self._shape)]

    def to_tensors(self, value: Any) -> list[Any]:
        return [convert_to_tensor(value, self._dtype)]

    def from_tensors(self, tensors: Sequence[Tensor]) -> Any:
        (tensor,) = tensors
        if self._shape.ndims is not None:
            tensor.set_shape(self._shape)
        return tensor

    def __repr__(self) -> str:
        return (
            f"TensorSpec(shape={self._shape}, dtype={self._dtype!r}, "
            f"name={self._name!r})"
        )

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, TensorSpec)
            and self._shape.dims_tuple == other._shape.dims_tuple
            and self._dtype == other._dtype
            and self._name == other._name
        )

    def __hash__(self) -> int:
        return hash((self._shape.dims_tuple, self._dtype))


@export("SparseTensorSpec")
class SparseTensorSpec(_ShapedSpec):
    """A sparse tensor: in datasets, a vector of three variants."""

    serializes_rows = True

    @classmethod
    def from_value(cls, value: Any) -> SparseTensorSpec:
        """The spec of a SparseTensor or a SparseTensorValue.

        Raises:
          TypeError: it is neither.
        """
        if isinstance(value, SparseTensorValue) and isinstance(
            value.values, np.ndarray
        ):
            return cls(value.dense_shape, value.values.dtype)
        if not isinstance(value, SparseTensor | SparseTensorValue):
            raise TypeError("Expected SparseTensor or SparseTensorValue")
        sparse = SparseTensor.from_value(value)
        return cls(sparse.get_shape(), sparse.dtype)

    @property
    def _component_specs(self) -> Any:
        rank = self._shape.ndims
        return [
            TensorSpec([None, rank], dtypes.int64),
            TensorSpec([None], self._dtype),
            TensorSpec([rank], dtypes.int64),
        ]

    def _to_components(self, value: Any) -> Any:
        sparse = SparseTensor.from_value(value)
        return [sparse.indices, sparse.values, sparse.dense_shape]

    def _from_components(self, components: Any) -> Any:
        if all(isinstance(part, np.ndarray) for part in components):
            return SparseTensorValue(*components)
        return SparseTensor(*components)

    @property
    def value_type(self) -> Any:
        return SparseTensor

    @property
    def flat_tensors(self) -> list[tuple[DType, TensorShape]]:
        return [(dtypes.variant, TensorShape(None))]

    def to_tensors(self, value: Any) -> list[Any]:
        sparse = SparseTensor.from_value(value)
        return [
            apply_op(
                "SerializeSparse",
                sparse_indices=sparse.indices,
                sparse_values=sparse.values,
                sparse_shape=sparse.dense_shape,
                out_type=dtypes.variant,
            )
        ]

    def to_batched_tensors(self, value: Any) -> list[Any]:
        shape = constant_value_as_shape(value.dense_shape)
        if self._shape.merge_with(shape).ndims == 0:
            raise ValueError(
                "Unbatching a sparse tensor is only supported for rank >= 1"
            )
        return [
            apply_op(
                "SerializeManySparse",
                sparse_indices=value.indices,
                sparse_values=value.values,
                sparse_shape=value.dense_shape,
                out_type=dtypes.variant,
            )
        ]

    def from_tensors(self, tensors: Sequence[Tensor]) -> Any:
        (tensor,) = tensors
        indices, values, shape = apply_op(
            "DeserializeSparse", serialized_sparse=tensor, dtype=self._dtype
        )
        rank = self._shape.ndims
        indices.set_shape([None, rank])
        shape.set_shape([rank])
        return SparseTensor(indices, values, shape)


# --- the values of specs -------------------------------------------------------


def register_value(kind: type, spec_of: Callable[[Any], TypeSpec]) -> None:
    """Says which spec the values of a class have."""
    VALUE_SPECS[kind] = spec_of


def is_registered(value: Any) -> bool:
    """Whether values of this class have a spec of their own."""
    late_modules.load_kind("spec")
    return type(value) in VALUE_SPECS


# (a program's class, what gives the spec of a value of it, whether subclasses too).
_CONVERTERS: list[tuple[type, Callable[[Any], TypeSpec], bool]] = []


def register_converter(
    type_object: type,
    converter_fn: Callable[[Any], TypeSpec],
    allow_subclass: bool = False,
) -> None:
    """Says what gives the spec of the values of a class; the latest counts."""
    _CONVERTERS.append((type_object, converter_fn, allow_subclass))


def spec_of_value(value: Any) -> TypeSpec:
    """The spec of a tensor, sparse tensor, dataset, optional, array or number.

    Raises:
      TypeError: it cannot stand in an element.
    """
    if isinstance(value, Tensor):
        return TensorSpec(value.shape, value.dtype.base_dtype)
    if isinstance(value, (SparseTensor, SparseTensorValue)) or is_sparse(value):
        return SparseTensorSpec.from_value(value)
    late_modules.load_kind("spec")
    registered = VALUE_SPECS.get(type(value))
    if registered is not None:
        known: TypeSpec = registered(value)
        return known
    spec = getattr(value, "_type_spec", None)
    if isinstance(spec, TypeSpec):
        return spec
    for kind, converter, subclasses in reversed(_CONVERTERS):
        if type(value) is kind or (subclasses and isinstance(value, kind)):
            made: TypeSpec = converter(value)
            return made
    try:
        tensor = convert_to_tensor(value)
    except (ValueError, TypeError):
        raise TypeError(
            f"Could not build a TypeSpec for {value!r} with type {type(value).__name__}"
        ) from None
    return TensorSpec(tensor.shape, tensor.dtype.base_dtype)


register_specs(value=spec_of_value, tensor=TensorSpec)
register_value(SparseTensor, SparseTensorSpec.from_value)


def structure_of_value(value: Any) -> Any:
    """The specs of a structure of values."""
    return nest.map_structure(spec_of_value, value)


def flat_types(structure: Any) -> list[DType]:
    """The dtypes of all tensors of an element."""
    return [t for spec in nest.flatten(structure) for t, _ in spec.flat_tensors]


def flat_shapes(structure: Any) -> list[TensorShape]:
    """The shapes of all tensors of an element."""
    return [s for spec in nest.flatten(structure) for _, s in spec.flat_tensors]


def to_tensors(structure: Any, value: Any) -> list[Any]:
    """All tensors of a value of that structure."""
    found: list[Any] = []
    for spec, part in zip(
        nest.flatten(structure), nest.flatten_up_to(structure, value), strict=True
    ):
        found += spec.to_tensors(part)
    return found


def from_tensors(structure: Any, tensors: Sequence[Tensor]) -> Any:
    """The value of that structure that tensors stand for."""
    values, begin = [], 0
    for spec in nest.flatten(structure):
        count = len(spec.flat_tensors)
        values.append(spec.from_tensors(tensors[begin : begin + count]))
        begin += count
    return nest.pack_sequence_as(structure, values)


def legacy_structure(types: Any, shapes: Any, classes: Any) -> Any:
    """The specs of output_types, output_shapes and output_classes."""
    flat = nest.flatten(types)
    values = zip(
        flat,
        nest.flatten_up_to(types, shapes),
        nest.flatten_up_to(types, classes),
        strict=True,
    )
    return nest.pack_sequence_as(types, [_legacy_spec(*value) for value in values])


def _legacy_spec(dtype: Any, shape: Any, kind: Any) -> TypeSpec:
    if isinstance(dtype, TypeSpec):
        return dtype
    if kind is SparseTensor:
        return SparseTensorSpec(shape, dtype)
    if isinstance(kind, TypeSpec):
        return kind
    if kind is Tensor or (isinstance(kind, type) and issubclass(kind, Tensor)):
        return TensorSpec(shape, dtype)
    raise TypeError(
        "Could not build a structure for output class "
        f"{getattr(kind, '__name__', kind)}"
    )


@export("data.experimental.TensorStructure")
def tensor_structure(dtype: Any, shape: Any) -> TensorSpec:
    """The spec of tensors."""
    return TensorSpec(shape, dtype)


@export("data.experimental.SparseTensorStructure")
def sparse_tensor_structure(dtype: Any, shape: Any) -> SparseTensorSpec:
    """The spec of sparse tensors."""
    return SparseTensorSpec(shape, dtype)
