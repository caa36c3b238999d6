"""The base of specs, with the members that TensorFlow 1.15's specs have.

A spec says two things of a value: its components, tensors in a structure, and the flat
list of tensors that stands for it in a dataset, where batches are stacked (a sparse
tensor is a vector of variants there). `flat_tensors`, `to_tensors`, `from_tensors`,
`batch` and `unbatch` are what this package calls. The names with an underscore are
TensorFlow's; a class of a program defines those, and has the others through them.
"""

from __future__ import annotations

import abc
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from tensorloom.framework.export import export
from tensorloom.framework.registry import late_modules
from tensorloom.framework.types import dtypes, nest
from tensorloom.framework.types.tensor_shape import TensorShape

if TYPE_CHECKING:
    from tensorloom.framework.graph.tensor import Tensor
    from tensorloom.framework.types.dtypes import DType

# What gives the spec of a "value", and of a "tensor" by its shape and dtype: `specs.py`
# registers both.
_SPEC_OF: dict[str, Callable[..., TypeSpec]] = {}


def register_specs(**makers: Callable[..., TypeSpec]) -> None:
    """Says what gives the spec of a value, and of a tensor by its shape and dtype."""
    _SPEC_OF.update(makers)


def _spec(of: str, *arguments: Any) -> TypeSpec:
    late_modules.load_kind("spec")
    return _SPEC_OF[of](*arguments)


@export("TypeSpec", "data.experimental.Structure")
class TypeSpec(abc.ABC):
    """The type of a value: a tensor, a sparse tensor, a dataset, an optional."""

    @property
    @abc.abstractmethod
    def value_type(self) -> Any:
        """The Python class of the values."""

    # --- what the package calls ---------------------------------------------------

    # Whether each row of a batch is serialized for itself, so that one can be taken.
    serializes_rows = False

    @property
    def flat_tensors(self) -> list[tuple[DType, TensorShape]]:
        """(dtype, shape) of each tensor that stands for a value in a dataset."""
        specs = nest.flatten(self._component_specs)
        return [flat for spec in specs for flat in spec.flat_tensors]

    def to_tensors(self, value: Any) -> list[Any]:
        """The tensors that stand for a value."""
        return _flat(self._to_components(value))

    def to_batched_tensors(self, value: Any) -> list[Any]:
        """The tensors of a batch, whose slices stand for its values."""
        return self.to_tensors(value)

    def from_tensors(self, tensors: Sequence[Tensor]) -> Any:
        """The value of its tensors."""
        packed = _packed(self._component_specs, list(tensors))
        return self._from_components(packed)

    def batch(self, size: int | None) -> TypeSpec:
        """The spec of `size` values batched."""
        return self._batch(size)

    def unbatch(self) -> TypeSpec:
        """The spec of one of a batch."""
        return self._unbatch()

    @property
    def legacy_types(self) -> Any:
        """What `output_types` says."""
        return self

    @property
    def legacy_shapes(self) -> Any:
        """What `output_shapes` says."""
        return self

    @property
    def legacy_classes(self) -> Any:
        """What `output_classes` says."""
        return self

    def is_compatible_with(self, spec_or_value: Any) -> bool:
        """Whether a value (or the values of a spec) fits."""
        return self._accepts(spec_or_value)

    def _accepts(self, other: Any) -> bool:
        spec = other if isinstance(other, TypeSpec) else _spec("value", other)
        return type(self) is type(spec) and _fit(self._serialize(), spec._serialize())

    def most_specific_compatible_type(self, other: TypeSpec) -> TypeSpec:
        """The narrowest spec that both fit.

        Raises:
          ValueError: there is none.
        """
        if type(self) is not type(other):
            raise ValueError(f"No TypeSpec is compatible with both {self} and {other}")
        common = _common(self._serialize(), other._serialize())
        return self._deserialize(common)

    # --- TensorFlow's names -------------------------------------------------------

    def _serialize(self) -> tuple[Any, ...]:
        """What the class makes an equal spec of."""
        raise NotImplementedError(f"{type(self).__name__}._serialize()")

    @classmethod
    def _deserialize(cls, serialization: tuple[Any, ...]) -> TypeSpec:
        return cls(*serialization)

    @property
    def _component_specs(self) -> Any:
        """The specs of the components, in their structure."""
        raise NotImplementedError(f"{type(self).__name__}._component_specs()")

    def _to_components(self, value: Any) -> Any:
        """The components of a value; makes no operations."""
        raise NotImplementedError(f"{type(self).__name__}._to_components()")

    def _from_components(self, components: Any) -> Any:
        """The value of its components; makes no operations."""
        raise NotImplementedError(f"{type(self).__name__}._from_components()")

    @property
    def _flat_tensor_specs(self) -> list[Any]:
        return [_spec("tensor", shape, dtype) for dtype, shape in self.flat_tensors]

    def _to_tensor_list(self, value: Any) -> list[Any]:
        return self.to_tensors(value)

    def _to_batched_tensor_list(self, value: Any) -> list[Any]:
        tensors = self.to_batched_tensors(value)
        if any(tensor.shape.ndims == 0 for tensor in tensors):
            raise ValueError(f"Value {value} has insufficient rank for batching.")
        return tensors

    def _from_tensor_list(self, tensor_list: Sequence[Tensor]) -> Any:
        """The value of tensors that are checked first. Raises ValueError."""
        expected = self._flat_tensor_specs
        if len(tensor_list) != len(expected):
            raise ValueError("Incompatible input: wrong number of tensors")
        pairs = zip(tensor_list, expected, strict=True)
        for number, (tensor, spec) in enumerate(pairs):
            if not _spec("value", tensor).is_compatible_with(spec):
                raise ValueError(
                    f"Incompatible input: tensor {number} ({tensor}) is incompatible "
                    f"with {spec}"
                )
        return self._from_compatible_tensor_list(tensor_list)

    def _from_compatible_tensor_list(self, tensor_list: Sequence[Tensor]) -> Any:
        return self.from_tensors(tensor_list)

    def _batch(self, batch_size: int | None) -> TypeSpec:
        raise NotImplementedError(f"{type(self).__name__}._batch")

    def _unbatch(self) -> TypeSpec:
        raise NotImplementedError(f"{type(self).__name__}._unbatch")

    def _to_legacy_output_types(self) -> Any:
        return self.legacy_types

    def _to_legacy_output_shapes(self) -> Any:
        return self.legacy_shapes

    def _to_legacy_output_classes(self) -> Any:
        return self.legacy_classes

    def __reduce__(self) -> Any:
        return type(self), self._serialize()

    def __repr__(self) -> str:
        return f"{type(self).__name__}{self._serialize()!r}"

    def __hash__(self) -> int:
        return hash(repr(self))

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and repr(self) == repr(other)

    def __ne__(self, other: object) -> bool:
        return not self == other


class BatchableTypeSpec(TypeSpec):
    """The base of specs whose tensors can be batched: those with `_batch`."""


def _flat(components: Any) -> list[Any]:
    """The tensors of a structure of tensors and composite ones."""
    found: list[Any] = []
    for part in nest.flatten(components):
        if hasattr(part, "_type_spec"):
            found += _spec("value", part).to_tensors(part)
        else:
            found.append(part)
    return found


def _packed(specs: Any, tensors: list[Any]) -> Any:
    """A structure of values, of tensors in the order of `_flat`."""
    values = []
    for spec in nest.flatten(specs):
        count = len(spec.flat_tensors)
        values.append(spec.from_tensors(tensors[:count]))
        tensors = tensors[count:]
    return nest.pack_sequence_as(specs, values)


def _fit(a: Any, b: Any) -> bool:
    """Whether what two specs are made of is compatible."""
    if type(a) is not type(b):
        return False
    if isinstance(a, tuple):
        return len(a) == len(b) and all(map(_fit, a, b))
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(_fit(a[key], b[key]) for key in a)
    if isinstance(a, TypeSpec | TensorShape | dtypes.DType):
        return bool(a.is_compatible_with(b))
    return bool(a == b)


def _common(a: Any, b: Any) -> Any:
    """What the narrowest spec for two is made of. Raises ValueError."""
    if type(a) is not type(b):
        raise ValueError(f"Types are not compatible: {a!r} vs {b!r}")
    if isinstance(a, tuple) and len(a) == len(b):
        return tuple(map(_common, a, b))
    if isinstance(a, dict) and a.keys() == b.keys():
        return {key: _common(a[key], b[key]) for key in a}
    if isinstance(a, TensorShape):
        return a.most_specific_compatible_shape(b)
    if isinstance(a, TypeSpec):
        return a.most_specific_compatible_type(b)
    if a != b:
        raise ValueError(f"Types are not compatible: {a!r} vs {b!r}")
    return a
