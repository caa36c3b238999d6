"""`Dimension`: one size of a `TensorShape`, known or not.

Arithmetic with an unknown size is unknown; comparisons with one give None. The
operators follow TensorFlow 1, including which of them convert their operand first and
so raise ValueError rather than return NotImplemented.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, final

from tensorloom.framework.export import export
from tensorloom.framework.types.dtypes import DType

if TYPE_CHECKING:
    from collections.abc import Callable


@export("Dimension")
@final
class Dimension:
    """A size: a non-negative int, or None if unknown. Immutable.

    Raises:
        TypeError: the value is a DType or cannot be made an int.
        ValueError: the value is negative or not integral.
    """

    __slots__ = ("_value",)

    _value: int | None

    def __init__(self, value: Any) -> None:
        if value is None:
            self._value = None
        elif isinstance(value, Dimension):
            self._value = value._value
        elif isinstance(value, DType):
            raise TypeError(f"Cannot convert {value} to Dimension")
        else:
            self._value = _to_int(value)

    @classmethod
    def of(cls, value: int | None) -> Dimension:
        """Wraps a size without checking it."""
        dimension = _new(cls)
        dimension._value = value
        return dimension

    @property
    def value(self) -> int | None:
        """The size, or None."""
        return self._value

    def __repr__(self) -> str:
        return f"Dimension({self._value!r})"

    def __str__(self) -> str:
        return "?" if self._value is None else str(self._value)

    def __hash__(self) -> int:
        return hash(self._value)

    def __int__(self) -> int:
        # None makes `int()` and `range()` raise TypeError, as they should.
        return self._value  # type: ignore[return-value]

    def __index__(self) -> int:
        return self._value  # type: ignore[return-value]

    def __reduce__(self) -> tuple[type[Dimension], tuple[int | None]]:
        return Dimension, (self._value,)

    def __eq__(self, other: Any) -> Any:
        theirs = _operand(other)
        if theirs is NotImplemented:
            return NotImplemented
        if self._value is None or theirs is None:
            return None
        return self._value == theirs

    def __ne__(self, other: Any) -> Any:
        theirs = _operand(other)
        if theirs is NotImplemented:
            return NotImplemented
        if self._value is None or theirs is None:
            return None
        return self._value != theirs

    def is_compatible_with(self, other: Any) -> Any:
        """Whether the sizes may be equal; NotImplemented if `other` is no size."""
        theirs = _operand(other)
        if theirs is NotImplemented:
            return NotImplemented
        return self._value is None or theirs is None or self._value == theirs

    def assert_is_compatible_with(self, other: Any) -> None:
        """Raises ValueError if both sizes are known and differ."""
        if self.is_compatible_with(other) is False:
            raise ValueError(f"Dimensions {self} and {other} are not compatible")

    def merge_with(self, other: Any) -> Any:
        """The size that is known of the two; NotImplemented if `other` is no size.

        Raises:
            ValueError: both are known and differ.
        """
        theirs = _operand(other)
        if theirs is NotImplemented:
            return NotImplemented
        self.assert_is_compatible_with(theirs)
        return Dimension.of(theirs if self._value is None else self._value)

    def _combine(self, other: Any, operation: Callable[[int, int], int]) -> Any:
        theirs = _operand(other)
        if theirs is NotImplemented:
            return NotImplemented
        if self._value is None or theirs is None:
            return Dimension.of(None)
        return Dimension(operation(self._value, theirs))

    def __add__(self, other: Any) -> Any:
        return self._combine(other, lambda a, b: a + b)

    def __radd__(self, other: Any) -> Any:
        return self._combine(other, lambda a, b: a + b)

    def __sub__(self, other: Any) -> Any:
        return self._combine(other, lambda a, b: a - b)

    def __rsub__(self, other: Any) -> Any:
        return as_dimension(other) - self

    def __mul__(self, other: Any) -> Any:
        return self._combine(other, lambda a, b: a * b)

    def __rmul__(self, other: Any) -> Any:
        return self._combine(other, lambda a, b: a * b)

    def __floordiv__(self, other: Any) -> Any:
        return self._combine(other, lambda a, b: a // b)

    def __rfloordiv__(self, other: Any) -> Any:
        return as_dimension(other) // self

    def __mod__(self, other: Any) -> Any:
        return self._combine(as_dimension(other), lambda a, b: a % b)

    def __rmod__(self, other: Any) -> Any:
        return as_dimension(other) % self

    def __truediv__(self, other: Any) -> Dimension:
        raise TypeError(
            "unsupported operand type(s) for /: 'Dimension' and "
            f"'{type(other).__name__}', please use // instead"
        )

    def __rtruediv__(self, other: Any) -> Dimension:
        raise TypeError(
            f"unsupported operand type(s) for /: '{type(other).__name__}' and "
            "'Dimension', please use // instead"
        )

    def _compare(self, other: Any, relation: Callable[[int, int], bool]) -> Any:
        theirs = as_dimension(other)._value
        if self._value is None or theirs is None:
            return None
        return relation(self._value, theirs)

    def __lt__(self, other: Any) -> Any:
        return self._compare(other, lambda a, b: a < b)

    def __le__(self, other: Any) -> Any:
        return self._compare(other, lambda a, b: a <= b)

    def __gt__(self, other: Any) -> Any:
        return self._compare(other, lambda a, b: a > b)

    def __ge__(self, other: Any) -> Any:
        return self._compare(other, lambda a, b: a >= b)


_new: Final = object.__new__


def _to_int(value: Any) -> int:
    number = int(value)
    if not isinstance(value, (str, bytes)) and number != value:
        raise ValueError(f"Ambiguous dimension: {value}")
    if number < 0:
        raise ValueError(f"Dimension {number:d} must be >= 0")
    return number


def _operand(other: Any) -> Any:
    """The size in an operand, or NotImplemented if it is not one."""
    try:
        return as_dimension(other)._value
    except (TypeError, ValueError):
        return NotImplemented


def as_dimension(value: Any) -> Dimension:
    """The argument if it is a Dimension, otherwise `Dimension(value)`."""
    return value if isinstance(value, Dimension) else Dimension(value)


@export("dimension_value", "compat.dimension_value")
def dimension_value(dimension: Any) -> Any:
    """The size in a Dimension; any other argument unchanged."""
    return dimension.value if isinstance(dimension, Dimension) else dimension
