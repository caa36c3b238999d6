"""`tf.data.experimental.Optional`: an element, or none."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tensorloom.data import specs
from tensorloom.data.type_spec import TypeSpec
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import name_scope
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_shape import TensorShape

if TYPE_CHECKING:
    from tensorloom.framework.graph.tensor import Tensor


@export("data.experimental.Optional")
class Optional:
    """A value that may be missing at run time."""

    def __init__(self, variant_tensor: Tensor, structure: Any) -> None:
        self._variant_tensor = variant_tensor
        self._structure = structure

    @staticmethod
    def from_value(value: Any) -> Optional:
        """An optional that holds a structure of tensors."""
        with name_scope("optional") as scope, name_scope("value"):
            structure = specs.structure_of_value(value)
            tensors = specs.to_tensors(structure, value)
        variant = apply_op("OptionalFromValue", components=tensors, name=scope)
        return Optional(variant, structure)

    @staticmethod
    def none_from_structure(value_structure: Any) -> Optional:
        """An optional of that structure that holds nothing."""
        return Optional(apply_op("OptionalNone"), value_structure)

    def has_value(self, name: str | None = None) -> Tensor:
        """Whether it holds something: a bool scalar."""
        return apply_op(  # type: ignore[no-any-return]
            "OptionalHasValue", optional=self._variant_tensor, name=name
        )

    def get_value(self, name: str | None = None) -> Any:
        """What it holds. Running it raises InvalidArgumentError if that is nothing."""
        with name_scope(name, "OptionalGetValue", [self._variant_tensor]) as scope:
            flat = apply_op(
                "OptionalGetValue",
                optional=self._variant_tensor,
                output_types=specs.flat_types(self._structure),
                output_shapes=specs.flat_shapes(self._structure),
                name=scope,
            )
            return specs.from_tensors(self._structure, flat)

    @property
    def value_structure(self) -> Any:
        """The specs of what it may hold."""
        return self._structure

    @property
    def _type_spec(self) -> OptionalSpec:
        return OptionalSpec(self._structure)


@export("OptionalSpec", "data.experimental.OptionalStructure")
class OptionalSpec(TypeSpec):
    """An optional as a component of an element."""

    def __init__(self, value_structure: Any) -> None:
        self._value_structure = value_structure

    @staticmethod
    def from_value(value: Any) -> OptionalSpec:
        """The spec of an optional."""
        return OptionalSpec(value.value_structure)

    @property
    def value_type(self) -> Any:
        return Optional

    @property
    def flat_tensors(self) -> list[tuple[dtypes.DType, TensorShape]]:
        return [(dtypes.variant, TensorShape([]))]

    def to_tensors(self, value: Any) -> list[Any]:
        return [value._variant_tensor]

    def from_tensors(self, tensors: Sequence[Tensor]) -> Any:
        return Optional(tensors[0], self._value_structure)

    def _serialize(self) -> tuple[Any, ...]:
        return (self._value_structure,)

    @property
    def _component_specs(self) -> Any:
        return specs.TensorSpec([], dtypes.variant)

    def _to_components(self, value: Any) -> Any:
        return value._variant_tensor

    def _from_components(self, components: Any) -> Any:
        return Optional(components, self._value_structure)

    def _batch(self, batch_size: int | None) -> TypeSpec:
        raise TypeError("Optionals cannot be batched.")

    def _unbatch(self) -> TypeSpec:
        raise TypeError("Optionals cannot be unbatched.")

    def __repr__(self) -> str:
        return f"OptionalSpec({self._value_structure!r})"


@export("data.experimental.get_next_as_optional")
def get_next_as_optional(iterator: Any) -> Optional:
    """The next element of an iterator, or none at the end."""
    structure = iterator.element_spec
    return Optional(
        apply_op(
            "IteratorGetNextAsOptional",
            iterator=iterator._iterator_resource,
            output_types=specs.flat_types(structure),
            output_shapes=specs.flat_shapes(structure),
        ),
        structure,
    )
