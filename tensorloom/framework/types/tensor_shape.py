"""Static shapes: `TensorShape`, possibly partly known, and its `Dimension`s.

A shape holds a tuple of `int | None` (`dims_tuple`), or None when even the rank is
unknown. Shape functions compute on these tuples and make results with
`TensorShape.of`, which trusts its argument; `Dimension` objects exist only while user
code looks at single entries. The public behaviour is that of TensorFlow 1: indexing
and iterating give `Dimension`s, comparisons with an unknown dimension give None.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, TypeAlias, final, overload

from tensorloom.framework.export import export
from tensorloom.framework.types.dimension import (
    Dimension,
    as_dimension,
    dimension_value,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tensorloom.protos import tensor_shape_pb2

__all__ = (
    "MAX_RANK",
    "SCALAR",
    "UNKNOWN",
    "Dimension",
    "Dims",
    "TensorShape",
    "as_dimension",
    "as_shape",
    "dimension_at_index",
    "dimension_value",
    "matrix",
    "scalar",
    "unknown_shape",
    "vector",
)

#: Sizes per axis (None: unknown size), or None for an unknown rank.
Dims: TypeAlias = "tuple[int | None, ...] | None"


class _Entries:
    """How single sizes are shown: as `Dimension`s, or as TensorFlow 2 shows them."""

    view: Callable[[int | None], Dimension] = staticmethod(Dimension.of)


_entries: Final = _Entries()


@export("enable_v2_tensorshape")
def enable_v2_tensorshape() -> None:
    """From now on single sizes of a shape are `int` or None, as in TensorFlow 2."""
    _entries.view = _as_size  # type: ignore[assignment]


@export("disable_v2_tensorshape")
def disable_v2_tensorshape() -> None:
    """From now on single sizes of a shape are `Dimension`s, as they are at first."""
    _entries.view = Dimension.of


def _as_size(size: int | None) -> int | None:
    return size


#: TensorFlow's limit: the rank of a tensor fits in a byte.
MAX_RANK: Final = 254


@export("TensorShape")
@final
class TensorShape:
    """A shape that may be unknown in some sizes or altogether. Immutable.

    `TensorShape(None)` has unknown rank; otherwise the argument is an iterable of
    sizes (int, None or `Dimension`), one size, another shape, or a shape proto.

    Raises:
        TypeError: the argument is a string or not convertible to sizes.
        ValueError: a size is negative or not an integer.
    """

    __slots__ = ("_dims",)

    _dims: Dims

    def __init__(self, dims: Any) -> None:
        self._dims = _to_dims(dims)

    @classmethod
    def of(cls, dims: Dims) -> TensorShape:
        """Wraps a tuple of sizes without checking it."""
        shape = _new(cls)
        shape._dims = dims
        return shape

    @property
    def dims_tuple(self) -> Dims:
        """Sizes as a tuple of `int | None`; None if the rank is unknown."""
        return self._dims

    @property
    def rank(self) -> int | None:
        """Number of axes; None if unknown."""
        return None if self._dims is None else len(self._dims)

    @property
    def ndims(self) -> int | None:
        """The older name of `rank`."""
        return None if self._dims is None else len(self._dims)

    @property
    def dims(self) -> list[Dimension] | None:
        """A new list of `Dimension`s; None if the rank is unknown."""
        if self._dims is None:
            return None
        return [Dimension.of(size) for size in self._dims]

    def __len__(self) -> int:
        if self._dims is None:
            raise ValueError("Cannot take the length of shape with unknown rank.")
        return len(self._dims)

    def __bool__(self) -> bool:
        """True if the rank is known (also for a scalar)."""
        return self._dims is not None

    def __iter__(self) -> Iterator[Dimension]:
        if self._dims is None:
            raise ValueError("Cannot iterate over a shape with unknown rank.")
        return map(_entries.view, self._dims)

    @overload
    def __getitem__(self, key: int) -> Dimension: ...
    @overload
    def __getitem__(self, key: slice) -> TensorShape: ...
    def __getitem__(self, key: Any) -> Dimension | TensorShape:
        if isinstance(key, slice):
            return self._slice(key)
        if self._dims is None:
            return _entries.view(None)
        try:
            return _entries.view(self._dims[key])
        except IndexError:
            raise IndexError("list index out of range") from None

    def _slice(self, key: slice) -> TensorShape:
        if self._dims is not None:
            return TensorShape.of(self._dims[key])
        if key.step is not None:
            raise ValueError("Steps are not yet handled")
        start = 0 if key.start is None else key.start
        stop = key.stop
        if stop is None or start < 0 or stop < 0:
            return UNKNOWN
        return TensorShape.of((None,) * (stop - start))

    def num_elements(self) -> int | None:
        """Product of all sizes; None unless the shape is fully defined."""
        if self._dims is None:
            return None
        product = 1
        for size in self._dims:
            if size is None:
                return None
            product *= size
        return product

    def is_fully_defined(self) -> bool:
        """Whether rank and all sizes are known."""
        return self._dims is not None and None not in self._dims

    def as_list(self) -> list[int | None]:
        """Sizes as a list of `int | None`.

        Raises:
            ValueError: the rank is unknown.
        """
        if self._dims is None:
            raise ValueError("as_list() is not defined on an unknown TensorShape.")
        return list(self._dims)

    def as_proto(self) -> tensor_shape_pb2.TensorShapeProto:
        """The shape as a message; unknown sizes are -1."""
        from tensorloom.protos.tensor_shape_pb2 import TensorShapeProto

        if self._dims is None:
            return TensorShapeProto(unknown_rank=True)
        return TensorShapeProto(
            dim=[
                TensorShapeProto.Dim(size=-1 if size is None else size)
                for size in self._dims
            ]
        )

    def merge_with(self, other: Any) -> TensorShape:
        """The shape that knows what either of the two knows.

        Raises:
            ValueError: they contradict each other.
        """
        shape = as_shape(other)
        mine, theirs = self._dims, shape._dims
        if mine is None:
            return shape
        if theirs is None or mine == theirs:
            return self
        if not _compatible(mine, theirs):
            raise ValueError(f"Shapes {self} and {shape} are not compatible")
        return TensorShape.of(
            tuple(b if a is None else a for a, b in zip(mine, theirs, strict=True))
        )

    def concatenate(self, other: Any) -> TensorShape:
        """Sizes of this shape followed by those of `other`; unknown if either is."""
        other = as_shape(other)
        if self._dims is None or other._dims is None:
            return UNKNOWN
        return TensorShape.of(self._dims + other._dims)

    def __add__(self, other: Any) -> TensorShape:
        return self.concatenate(other)

    def __radd__(self, other: Any) -> TensorShape:
        return as_shape(other).concatenate(self)

    def __concat__(self, other: Any) -> TensorShape:
        return self.concatenate(other)

    def assert_same_rank(self, other: Any) -> None:
        """Raises ValueError if both ranks are known and differ."""
        other = as_shape(other)
        mine, theirs = self.rank, other.rank
        if mine is not None and theirs is not None and mine != theirs:
            raise ValueError(f"Shapes {self} and {other} must have the same rank")

    def assert_has_rank(self, rank: int) -> None:
        """Raises ValueError if the rank is known and is not `rank`."""
        if self.rank not in (None, rank):
            raise ValueError(f"Shape {self} must have rank {rank:d}")

    def with_rank(self, rank: int) -> TensorShape:
        """This shape, an unknown one promoted to `rank` unknown sizes.

        Raises:
            ValueError: the rank is known and is not `rank`.
        """
        if self._dims is None:
            return unknown_shape(rank)
        self.assert_has_rank(rank)
        return self

    def with_rank_at_least(self, rank: int) -> TensorShape:
        """This shape.

        Raises:
            ValueError: the rank is known and is below `rank`.
        """
        if self._dims is not None and len(self._dims) < rank:
            raise ValueError(f"Shape {self} must have rank at least {rank:d}")
        return self

    def with_rank_at_most(self, rank: int) -> TensorShape:
        """This shape.

        Raises:
            ValueError: the rank is known and is above `rank`.
        """
        if self._dims is not None and len(self._dims) > rank:
            raise ValueError(f"Shape {self} must have rank at most {rank:d}")
        return self

    def is_compatible_with(self, other: Any) -> bool:
        """Whether some fully defined shape satisfies both."""
        other = as_shape(other)
        if self._dims is None or other._dims is None:
            return True
        return _compatible(self._dims, other._dims)

    def assert_is_compatible_with(self, other: Any) -> None:
        """Raises ValueError if no shape satisfies both."""
        if not self.is_compatible_with(other):
            raise ValueError(f"Shapes {self} and {other} are incompatible")

    def most_specific_compatible_shape(self, other: Any) -> TensorShape:
        """The most precise shape that both shapes are instances of."""
        other = as_shape(other)
        mine, theirs = self._dims, other._dims
        if mine is None or theirs is None or len(mine) != len(theirs):
            return UNKNOWN
        return TensorShape.of(
            tuple(a if a == b else None for a, b in zip(mine, theirs, strict=True))
        )

    def assert_is_fully_defined(self) -> None:
        """Raises ValueError unless rank and all sizes are known."""
        if not self.is_fully_defined():
            raise ValueError(f"Shape {self} is not fully defined")

    def __eq__(self, other: object) -> bool:
        """Equal if known to be: an unknown size equals nothing but itself.

        `x.shape == x.shape` holds, while two separately made `[None]` shapes differ,
        as in TensorFlow 1, where callers take a False as "compare at run time".
        """
        if self is other:
            return True
        if type(other) is not TensorShape:
            try:
                other = as_shape(other)
            except TypeError:
                return NotImplemented
        mine = self._dims
        return mine == other._dims and (mine is None or None not in mine)

    def __ne__(self, other: object) -> bool:
        try:
            other = as_shape(other)
        except TypeError:
            return NotImplemented
        if self._dims is None or other._dims is None:
            raise ValueError("The inequality of unknown TensorShapes is undefined.")
        return not self.__eq__(other)

    def __hash__(self) -> int:
        return hash(self._dims)

    def __repr__(self) -> str:
        return f"TensorShape({self.dims!r})"

    def __str__(self) -> str:
        if self._dims is None:
            return "<unknown>"
        sizes = ["?" if size is None else str(size) for size in self._dims]
        return f"({sizes[0]},)" if len(sizes) == 1 else f"({', '.join(sizes)})"

    @property
    def _v2_behavior(self) -> bool:
        # Libraries ask whether single sizes are numbers.
        return _entries.view is not Dimension.of

    def __reduce__(self) -> tuple[Callable[[Dims], TensorShape], tuple[Dims]]:
        return TensorShape, (self._dims,)


_new: Final = object.__new__


def _compatible(mine: tuple[int | None, ...], theirs: tuple[int | None, ...]) -> bool:
    if mine == theirs:
        return True
    if len(mine) != len(theirs):
        return False
    return all(
        a is None or b is None or a == b for a, b in zip(mine, theirs, strict=True)
    )


def _to_dims(dims: Any) -> Dims:
    if dims is None:
        return None
    if type(dims) in (list, tuple):
        return tuple([_to_size(size) for size in dims])
    if isinstance(dims, TensorShape):
        return dims._dims
    if isinstance(dims, (str, bytes)):
        raise TypeError(
            "A string has ambiguous TensorShape, please wrap in a list or "
            f"convert to an int: {dims!s}"
        )
    # A shape message of any package: TensorFlow's own or ours.
    if hasattr(dims, "unknown_rank"):
        return dims_from_proto(dims)
    try:
        sizes = iter(dims)
    except TypeError:
        return (_to_size(dims),)
    return tuple([_to_size(size) for size in sizes])


def _to_size(size: Any) -> int | None:
    if size is None or (type(size) is int and size >= 0):
        return size
    return as_dimension(size).value


def dims_from_proto(proto: Any) -> Dims:
    """Sizes in a shape message; -1 there means unknown.

    Raises:
        ValueError: a size is below -1.
    """
    if proto.unknown_rank:
        return None
    return tuple([None if dim.size == -1 else _to_size(dim.size) for dim in proto.dim])


#: The shape of a scalar, `()`.
SCALAR: Final = TensorShape.of(())
#: The shape of which nothing is known.
UNKNOWN: Final = TensorShape.of(None)


def as_shape(shape: Any) -> TensorShape:
    """The argument if it is a TensorShape, otherwise `TensorShape(shape)`."""
    return shape if type(shape) is TensorShape else TensorShape(shape)


def unknown_shape(rank: int | None = None, **kwargs: Any) -> TensorShape:
    """A shape of unknown sizes, of the given rank or of unknown rank.

    Raises:
        TypeError: another keyword than the older spelling `ndims` is given.
    """
    if rank is None and "ndims" in kwargs:
        rank = kwargs.pop("ndims")
    if kwargs:
        raise TypeError(f"Unknown argument: {kwargs}")
    return UNKNOWN if rank is None else TensorShape.of((None,) * rank)


def scalar() -> TensorShape:
    """The shape `()`."""
    return SCALAR


def vector(length: Any) -> TensorShape:
    """The shape `(length,)`; the length may be None."""
    return TensorShape([length])


def matrix(rows: Any, cols: Any) -> TensorShape:
    """The shape `(rows, cols)`; either may be None."""
    return TensorShape([rows, cols])


@export("dimension_at_index", "compat.dimension_at_index")
def dimension_at_index(shape: TensorShape, index: int) -> Dimension:
    """The `Dimension` of one axis; an unknown one if the rank is unknown."""
    return shape[index]
