"""The underscore names that libraries for TensorFlow 1 use on tensors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tensorloom.framework.graph.operation import Operation
    from tensorloom.framework.types.tensor_shape import TensorShape


class TensorPrivateNames:
    """Mixin of `Tensor`."""

    __slots__ = ()

    @property
    def _id(self: Any) -> int:
        """A number that no other tensor of the process has."""
        return id(self)

    @property
    def _shape_val(self: Any) -> TensorShape:
        found: TensorShape = self.shape
        return found

    def _c_api_shape(self: Any) -> TensorShape:
        found: TensorShape = self.shape
        return found

    def _shape_as_list(self: Any) -> list[int | None] | None:
        """The sizes; None where the rank is not known."""
        dims = self.shape.dims_tuple
        return None if dims is None else list(dims)

    def _shape_tuple(self: Any) -> tuple[int | None, ...] | None:
        dims: tuple[int | None, ...] | None = self.shape.dims_tuple
        return dims

    def _rank(self: Any) -> int | None:
        rank: int | None = self.shape.rank
        return rank

    def _as_node_def_input(self: Any) -> str:
        """How a NodeDef names it: `x` for `x:0`."""
        name, index = self._op._name, self._value_index
        return name if index == 0 else f"{name}:{index}"

    def _add_consumer(self: Any, consumer: Operation) -> None:
        """Only an operation's own inputs count here."""
        del consumer
