"""`TensorList`: the value of a list of tensors (a variant). Loads without torch."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

from tensorloom.framework import errors

if TYPE_CHECKING:
    from tensorloom.framework.dtypes import DType

Dims = tuple[int | None, ...] | None


class TensorList:
    """An immutable list of tensors, NumPy or torch, as they were pushed.

    Lists that grew from one another share their storage: each sees the first `length`
    elements of it. So a push costs O(1), unless the list was pushed to before; then
    the storage is copied.
    """

    __slots__ = ("_storage", "element_dtype", "element_shape", "length", "max_elements")

    shape: ClassVar[tuple[int, ...]] = ()  # a variant is a scalar

    def __init__(
        self,
        element_dtype: DType,
        element_shape: Dims,
        storage: list[Any],
        length: int,
        max_elements: int = -1,
    ) -> None:
        self.element_dtype = element_dtype
        self.element_shape = element_shape
        self.length = length
        self.max_elements = max_elements
        self._storage = storage

    def __repr__(self) -> str:
        return f"TensorList({self.element_dtype.name}, {self.length} elements)"

    def push(self, element: Any) -> TensorList:
        """The list with one element more.

        Raises:
          errors.InvalidArgumentError: the element has another shape, or the list is
            full.
        """
        length = self.length
        if 0 <= self.max_elements <= length:
            raise errors.InvalidArgumentError(
                None,
                None,
                f"Tried to push item into a full list list size: {length} "
                f"max_num_elements: {self.max_elements}",
            )
        # A resource has no shape, nor has what nobody reads of a branch not taken.
        shape = getattr(element, "shape", None)
        if shape is not None and shape != self.element_shape:
            self._check_shape(tuple(shape))
        storage = self._storage
        if len(storage) == length:
            storage.append(element)
        if len(storage) <= length or storage[length] is not element:
            storage = [*storage[:length], element]
        return TensorList(
            self.element_dtype,
            self.element_shape,
            storage,
            length + 1,
            self.max_elements,
        )

    def _check_shape(self, shape: tuple[int, ...]) -> None:
        if not is_compatible(shape, self.element_shape):
            raise errors.InvalidArgumentError(
                None,
                None,
                "Tried to append a tensor with incompatible shape to a list. Op "
                f"element shape: {format_dims(shape)} list shape: "
                f"{format_dims(self.element_shape)}",
            )

    def pop(self) -> tuple[TensorList, Any]:
        """(the list without its last element, that element).

        Raises:
          errors.InvalidArgumentError: the list is empty.
        """
        if not self.length:
            raise errors.InvalidArgumentError(
                None, None, "Trying to pop from an empty list."
            )
        shorter = TensorList(
            self.element_dtype,
            self.element_shape,
            self._storage,
            self.length - 1,
            self.max_elements,
        )
        return shorter, self._storage[self.length - 1]

    def elements(self) -> list[Any]:
        """The elements (a copy of the list)."""
        return self._storage[: self.length]

    def map(self, function: Callable[..., Any], *others: TensorList) -> TensorList:
        """A list of `function` of the elements of equal positions.

        Raises:
          errors.InvalidArgumentError: the lengths differ.
        """
        for other in others:
            if other.length != self.length:
                raise errors.InvalidArgumentError(
                    None,
                    None,
                    "Trying to add two lists of tensors with different lengths. One is "
                    f"{self.length} and the other is {other.length}",
                )
        columns = zip(self.elements(), *(o.elements() for o in others), strict=True)
        made = [function(*values) for values in columns]
        return TensorList(
            self.element_dtype, self.element_shape, made, self.length, self.max_elements
        )


def is_compatible(shape: tuple[int, ...], wanted: Dims) -> bool:
    """True when the shape is one that `wanted` allows."""
    if wanted is None:
        return True
    return len(shape) == len(wanted) and all(
        w is None or w == s for s, w in zip(shape, wanted, strict=True)
    )


def format_dims(dims: Dims) -> str:
    """A partially known shape as TensorFlow prints it."""
    if dims is None:
        return "<unknown>"
    return "[" + ",".join("?" if d is None else str(d) for d in dims) + "]"


def dims_of(shape: Any) -> Dims:
    """The partially known shape that an `element_shape` input stands for."""
    if not shape.ndim:
        return None  # a scalar -1
    return tuple(None if d < 0 else int(d) for d in shape.tolist())
