"""`TensorList`: the value of a list of tensors (a variant). Loads without torch."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, Final

from tensorloom.framework.errors import ResourceExhaustedError, invalid_argument

if TYPE_CHECKING:
    from tensorloom.framework.types.dtypes import DType

Dims = tuple[int | None, ...] | None

#: In place of an element that was reserved but never set.
UNSET: Final[Any] = object()

# A gigabyte of references; no program has as many tensors.
_MOST_ELEMENTS: Final = 1 << 27

_lock = threading.Lock()
_new = object.__new__


def check_room(count: int) -> None:
    """Refuses numbers of elements whose places alone would fill the memory.

    Raises:
      errors.ResourceExhaustedError: there are too many.
    """
    if count > _MOST_ELEMENTS:
        raise ResourceExhaustedError(
            None, None, f"OOM when allocating a list of {count} tensors"
        )


class _Cell:
    """The elements of lists: in `items`, or (superseded) as a change of another cell.

    A cell whose `items` are gone differs from `newer` in the element `index`, which
    was `old` (Baker's trick: "Shallow binding makes functional arrays fast", 1991).
    """

    __slots__ = ("index", "items", "newer", "old")

    def __init__(self, items: list[Any]) -> None:
        self.items: list[Any] | None = items
        self.newer: _Cell | None = None
        self.index = -1
        self.old: Any = None

    def own_items(self) -> list[Any]:
        """The elements as a list that no newer cell changes; the lock is held."""
        if self.items is not None:
            return self.items
        changes: dict[int, Any] = {}
        cell = self
        while cell.items is None:
            changes.setdefault(cell.index, cell.old)
            assert cell.newer is not None
            cell = cell.newer
        items = list(cell.items)
        for index, value in changes.items():
            items[index] = value
        self.items, self.newer, self.old = items, None, None
        return items

    def supersede(self, index: int, value: Any) -> _Cell:
        """A cell with one element changed, which takes the items; the lock is held."""
        items = self.own_items()
        newer = _Cell(items)
        self.items, self.newer, self.index, self.old = None, newer, index, items[index]
        items[index] = value
        return newer


class TensorList:
    """An immutable list of tensors, NumPy or torch, as they were given.

    Lists that come from one another share their storage: each sees the first `length`
    elements of it. So a push costs O(1), unless the list was pushed to before; and
    setting an element of the newest list does, while an older one is copied when it
    is looked at.
    """

    __slots__ = (
        *("_accepted", "_cell"),
        *("element_dtype", "element_shape", "length", "max_elements"),
    )

    shape: ClassVar[tuple[int, ...]] = ()  # a variant is a scalar

    def __init__(
        self,
        element_dtype: DType,
        element_shape: Dims,
        storage: list[Any] | _Cell,
        length: int,
        max_elements: int = -1,
    ) -> None:
        self.element_dtype = element_dtype
        self.element_shape = element_shape
        self.length = length
        self.max_elements = max_elements
        self._cell = _Cell(storage) if isinstance(storage, list) else storage
        # A shape that fits: where part of it is open, the one that was pushed last.
        self._accepted: Any = element_shape

    def __repr__(self) -> str:
        return f"TensorList({self.element_dtype.name}, {self.length} elements)"

    # --- at the end ------------------------------------------------------------------

    def push(self, element: Any) -> TensorList:
        """The list with one element more.

        Raises:
          errors.InvalidArgumentError: the element has another shape, or the list is
            full.
        """
        length = self.length
        if 0 <= self.max_elements <= length:
            raise invalid_argument(
                f"Tried to push item into a full list list size: {length} "
                f"max_num_elements: {self.max_elements}"
            )
        # A resource has no shape, nor has what nobody reads of a branch not taken.
        shape = getattr(element, "shape", None)
        if shape is not None and shape != self._accepted:
            self._check_pushed(tuple(shape))
        cell = self._cell
        with _lock:
            items = cell.items
            if items is None:
                items = cell.own_items()
            if len(items) == length:
                items.append(element)
            else:
                cell = _Cell([*items[:length], element])
        longer = self._with_cell(cell, length + 1)
        if shape is not None:
            longer._accepted = shape
        return longer

    def _check_pushed(self, shape: tuple[int, ...]) -> None:
        if not is_compatible(shape, self.element_shape):
            raise invalid_argument(
                "Tried to append a tensor with incompatible shape to a list. Op "
                f"element shape: {format_dims(shape)} list shape: "
                f"{format_dims(self.element_shape)}"
            )

    def pop(self) -> tuple[TensorList, Any]:
        """(the list without its last element, that element or UNSET).

        Raises:
          errors.InvalidArgumentError: the list is empty.
        """
        if not self.length:
            raise invalid_argument("Trying to pop from an empty list.")
        last = self.length - 1
        cell = self._cell
        # As `at`: this is what the gradient of a loop does in each iteration.
        with _lock:
            items = cell.items
            if items is None:
                items = cell.own_items()
            element = items[last]
        return self._with_cell(cell, last), element

    def _with_cell(self, cell: _Cell, length: int) -> TensorList:
        """A list of the same kind that sees so much of a cell."""
        result = _new(TensorList)
        result.element_dtype = self.element_dtype
        result.element_shape = self.element_shape
        result.length = length
        result.max_elements = self.max_elements
        result._cell = cell
        result._accepted = self._accepted
        return result

    # --- by index --------------------------------------------------------------------

    def at(self, index: int) -> Any:
        """The element at an index that exists, or UNSET."""
        with _lock:
            items = self._cell.items
            if items is None:
                items = self._cell.own_items()
            return items[index]

    def set(self, index: int, element: Any) -> TensorList:
        """The list with the element at an index that exists replaced.

        Raises:
          errors.InvalidArgumentError: the element has another shape.
        """
        shape = getattr(element, "shape", None)
        if shape is not None and shape != self.element_shape:
            self._check_set(tuple(shape))
        with _lock:
            cell = self._cell.supersede(index, element)
        return self._with_cell(cell, self.length)

    def _check_set(self, shape: tuple[int, ...]) -> None:
        if not is_compatible(shape, self.element_shape):
            raise invalid_argument(
                "Tried to set a tensor with incompatible shape at a list index. Item "
                f"element shape: {format_dims(shape)} list shape: "
                f"{format_dims(self.element_shape)}"
            )

    def resize(self, size: int) -> TensorList:
        """The first `size` elements, UNSET ones where there are no more."""
        check_room(size)
        items = self.elements()[:size]
        items += [UNSET] * (size - len(items))
        return self.with_elements(items)

    # --- all -------------------------------------------------------------------------

    def elements(self) -> list[Any]:
        """The elements (a copy of the list); UNSET for those that are."""
        with _lock:
            return self._cell.own_items()[: self.length]

    def with_elements(self, items: list[Any]) -> TensorList:
        """A list of the same kind with these elements."""
        return TensorList(
            self.element_dtype,
            self.element_shape,
            items,
            len(items),
            self.max_elements,
        )

    def map(self, function: Callable[..., Any], *others: TensorList) -> TensorList:
        """A list of `function` of the elements of equal positions.

        Raises:
          errors.InvalidArgumentError: the lengths differ.
        """
        for other in others:
            if other.length != self.length:
                raise invalid_argument(
                    "Trying to add two lists of tensors with different lengths. One is "
                    f"{self.length} and the other is {other.length}"
                )
        columns = zip(self.elements(), *(o.elements() for o in others), strict=True)
        return self.with_elements([function(*values) for values in columns])


def is_compatible(shape: tuple[int, ...], wanted: Dims) -> bool:
    """True when the shape is one that `wanted` allows."""
    if wanted is None:
        return True
    return len(shape) == len(wanted) and all(
        w is None or w == s for s, w in zip(shape, wanted, strict=True)
    )


def merge_dims(a: Dims, b: Dims) -> Dims:
    """The partially known shape that both allow.

    Raises:
      errors.InvalidArgumentError: there is none.
    """
    if a is None or a == b:
        return b
    if b is None:
        return a
    merged = [y if x is None else x for x, y in zip(a, b, strict=False)]
    fits = len(a) == len(b) and all(
        x is None or y is None or x == y for x, y in zip(a, b, strict=True)
    )
    if not fits:
        raise invalid_argument(
            f"Incompatible shapes during merge: {format_dims(a)} vs. {format_dims(b)}"
        )
    return tuple(merged)


def format_dims(dims: Dims) -> str:
    """A partially known shape as TensorFlow prints it."""
    if dims is None:
        return "<unknown>"
    return "[" + ",".join("?" if d is None else str(d) for d in dims) + "]"


def dims_of(shape: Any) -> Dims:
    """The partially known shape that an `element_shape` input stands for.

    Raises:
      errors.InvalidArgumentError: a scalar that is not -1, a matrix, or a dimension
        below -1.
    """
    if shape.ndim > 1:
        raise invalid_argument(
            "The shape of a list's elements must be a scalar or a vector, got shape "
            + format_dims(shape.shape)
        )
    if not shape.ndim:
        if shape != -1:
            raise invalid_argument(
                "The only valid scalar shape tensor is the fully unknown shape "
                "specified as -1."
            )
        return None
    if any(d < -1 for d in shape.tolist()):
        raise invalid_argument(f"Shape {shape.tolist()} has dimensions below -1")
    return tuple(None if d < 0 else int(d) for d in shape.tolist())


def only_number(value: Any, what: str) -> Any:
    """The integer that an input stands for: a scalar, or a tensor of one element.

    Raises:
      errors.InvalidArgumentError: it has another number of elements.
    """
    if not value.ndim:
        return value
    if value.size != 1:
        raise invalid_argument(
            f"{what} must be a scalar, got shape {format_dims(value.shape)}"
        )
    return value.reshape(-1)[0]
