"""`tf.assert_rank` and its relatives: conditions on ranks and shapes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import (
    Operation,
    Tensor,
    control_dependencies,
    name_scope,
)
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.constant_value import constant_value
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.ops.array import shape as shape_ops
from tensorloom.ops.control_flow import builders as control_flow_ops
from tensorloom.ops.debugging import check_type as check_type_ops

if TYPE_CHECKING:
    from tensorloom.ops.debugging.check import Data


class _StaticFailure(Exception):
    """The static rank is known not to fit."""

    def __init__(self, actual: int, wanted: Any) -> None:
        self.actual = actual
        self.wanted = wanted


def _check_rank(
    x: Tensor,
    ranks: Sequence[Tensor],
    fits: Callable[[int, Sequence[int]], bool],
    condition_of: Callable[[Tensor], Tensor],
    data: Sequence[Any],
    summarize: int | None,
) -> Operation:
    for rank in ranks:
        check_type_ops.assert_type(rank, dtypes.int32)
    static = [constant_value(rank) for rank in ranks]
    if all(value is not None for value in static):
        if any(value.ndim for value in static):
            raise ValueError("Rank must be a scalar.")
        wanted = [int(value) for value in static]
        actual = x.shape.rank
        if actual is not None:
            if not fits(actual, wanted):
                raise _StaticFailure(actual, wanted)
            return control_flow_ops.no_op(name="static_checks_determined_all_ok")
    condition = condition_of(shape_ops.rank(x))
    for rank, value in zip(ranks, static, strict=True):
        if value is None:
            text = "Rank must be a scalar. Received rank: "
            check = assert_rank(rank, 0, data=[text, rank])
            condition = control_flow_ops.with_dependencies([check], condition)
    return control_flow_ops.Assert(condition, data, summarize=summarize)


@export("assert_rank", "debugging.assert_rank")
def assert_rank(
    x: Any,
    rank: Any,
    data: Data = None,
    summarize: int | None = None,
    message: str | None = None,
    name: str | None = None,
) -> Operation:
    """Asserts that `x` has `rank` axes.

    Raises:
      ValueError: it is known to have another number.
    """
    from tensorloom.ops.math import math_ops

    return _one_rank(
        "assert_rank",
        "rank",
        (x, rank, data, summarize, message, name),
        lambda actual, wanted: actual == wanted[0],
        math_ops.equal,
    )


@export("assert_rank_at_least", "debugging.assert_rank_at_least")
def assert_rank_at_least(
    x: Any,
    rank: Any,
    data: Data = None,
    summarize: int | None = None,
    message: str | None = None,
    name: str | None = None,
) -> Operation:
    """Asserts that `x` has `rank` axes or more.

    Raises:
      ValueError: it is known to have fewer.
    """
    from tensorloom.ops.math import math_ops

    return _one_rank(
        "assert_rank_at_least",
        "rank at least",
        (x, rank, data, summarize, message, name),
        lambda actual, wanted: actual >= wanted[0],
        math_ops.greater_equal,
    )


def _one_rank(
    kind: str,
    word: str,
    arguments: tuple[Any, Any, Data, int | None, str | None, str | None],
    fits: Callable[[int, Sequence[int]], bool],
    compare: Callable[[Tensor, Tensor], Tensor],
) -> Operation:
    x, rank, data, summarize, message, name = arguments
    message = message or ""
    with name_scope(name, kind, (x, rank, *(data or []))):
        x = convert_to_tensor(x, name="x")
        rank = convert_to_tensor(rank, name="rank")
        if data is None:
            text = f"Tensor {x.name} must have {word}"
            data = [message, text, rank, "Received shape: ", shape_ops.shape(x)]
        try:
            return _check_rank(
                x, [rank], fits, lambda actual: compare(actual, rank), data, summarize
            )
        except _StaticFailure as failure:
            raise ValueError(
                f"{message}.  Tensor {x.name} must have {word} {failure.wanted[0]}.  "
                f"Received rank {failure.actual}, shape {x.shape}"
            ) from None


@export("assert_rank_in", "debugging.assert_rank_in")
def assert_rank_in(
    x: Any,
    ranks: Sequence[Any],
    data: Data = None,
    summarize: int | None = None,
    message: str | None = None,
    name: str | None = None,
) -> Operation:
    """Asserts that the number of axes of `x` is one of `ranks`.

    Raises:
      ValueError: it is known to be another.
    """
    message = message or ""
    with name_scope(name, "assert_rank_in", (x, *ranks, *(data or []))):
        x = convert_to_tensor(x, name="x")
        tensors = [convert_to_tensor(rank, name="rank") for rank in ranks]
        if data is None:
            text = f"Tensor {x.name} must have rank in"
            shape = shape_ops.shape(x)
            data = [message, text, *tensors, "Received shape: ", shape]
        try:
            return _check_rank(
                x,
                tensors,
                lambda actual, wanted: actual in wanted,
                lambda actual: _is_in(actual, tensors),
                data,
                summarize,
            )
        except _StaticFailure as failure:
            raise ValueError(
                f"{message}.  Tensor {x.name} must have rank in "
                f"{tuple(failure.wanted)}.  Received rank {failure.actual}, shape "
                f"{x.shape}"
            ) from None


def _is_in(actual: Tensor, ranks: Sequence[Tensor]) -> Tensor:
    from tensorloom.ops.math import math_ops

    if not ranks:
        return convert_to_tensor(False)
    result = math_ops.equal(ranks[0], actual)
    for rank in ranks[1:]:
        result = math_ops.logical_or(result, math_ops.equal(rank, actual))
    return result


# --- shapes with symbols ------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Sizes:
    """One tensor with the sizes that it has and those that it should have."""

    tensor: Tensor
    open_front: bool  # the symbols name the last axes only
    actual: Sequence[Any]
    symbols: tuple[Any, ...]


@export("debugging.assert_shapes")
def assert_shapes(
    shapes: Any,
    data: Data = None,
    summarize: int | None = None,
    message: str | None = None,
    name: str | None = None,
) -> Operation:
    """Asserts that tensors have given shapes, in which symbols must agree.

    Args:
      shapes: (tensor, shape) pairs or a dictionary. A size is a number, a symbol that
        stands for one number everywhere, or None or "." for any; a shape that begins
        with `...` or "*" speaks of the last axes.

    Raises:
      ValueError: static shapes do not fit.
    """
    pairs = shapes.items() if isinstance(shapes, dict) else shapes
    message = message or ""
    with name_scope(name, "assert_shapes", [shapes, data]):
        tensors = [(convert_to_tensor(x), s) for x, s in pairs if s is not None]
        parsed = [_parse(tensor, symbols, message) for tensor, symbols in tensors]
        ranks = [
            check
            for sizes in parsed
            if (check := _rank_check(sizes, data, summarize, message, name)) is not None
        ]
        checks = _size_checks(parsed, data, summarize, message)
        with control_dependencies(ranks):
            return control_flow_ops.group(checks)


def _parse(tensor: Tensor, symbols: Any, message: str) -> _Sizes:
    if not (hasattr(symbols, "__iter__") or hasattr(symbols, "__getitem__")):
        raise ValueError(
            f"{message}.  Tensor {tensor.name}.  Specified shape must be an iterable.  "
            "An iterable has the attribute `__iter__` or `__getitem__`.  Received "
            f"specified shape: {symbols}"
        )
    names = tuple(symbols)
    for i, symbol in enumerate(names):
        if i and symbol in (Ellipsis, "*"):
            raise ValueError(
                f"{message}.  Tensor {tensor.name} specified shape index {i}.  Symbol "
                "`...` or `*` for a variable number of unspecified dimensions is only "
                "allowed as the first entry"
            )
    open_front = bool(names) and names[0] in (Ellipsis, "*")
    wanted = names[1:] if open_front else names
    return _Sizes(tensor, open_front, _actual_sizes(tensor), wanted or (1,))


def _actual_sizes(tensor: Tensor) -> Sequence[Any]:
    dims = tensor.shape.dims_tuple
    dynamic = shape_ops.shape(tensor)
    if dims is None:
        return dynamic  # type: ignore[return-value]
    if not dims:
        return (1,)
    return [dynamic[i] if size is None else size for i, size in enumerate(dims)]


def _rank_check(
    sizes: _Sizes, data: Data, summarize: int | None, message: str, name: str | None
) -> Operation | None:
    rank = len(sizes.symbols)
    if sizes.open_front:
        if rank <= 1:
            return None
        return assert_rank_at_least(sizes.tensor, rank, data, summarize, message, name)
    if rank <= 1:
        return assert_rank_in(sizes.tensor, [0, 1], data, summarize, message, name)
    return assert_rank(sizes.tensor, rank, data, summarize, message, name)


def _size_checks(
    parsed: list[_Sizes], data: Data, summarize: int | None, message: str
) -> list[Operation]:
    known: dict[Any, tuple[Any, Tensor, int]] = {}
    checks = []
    for sizes in parsed:
        for i, symbol in enumerate(sizes.symbols):
            if symbol is None or symbol == ".":
                continue
            axis = i - len(sizes.symbols) if sizes.open_front else i
            actual = sizes.actual[axis]
            if isinstance(symbol, int):
                origin, wanted = "Specified explicitly", symbol
            elif symbol in known:
                wanted, by, at = known[symbol]
                origin = f"Specified by tensor {by.name} dimension {at}"
            else:
                known[symbol] = (actual, sizes.tensor, axis)
                continue
            place = (sizes.tensor, axis)
            check = _size_check(place, actual, wanted, origin, message, data, summarize)
            if check is not None:
                checks.append(check)
    return checks


def _size_check(
    place: tuple[Tensor, int],
    actual: Any,
    wanted: Any,
    origin: str,
    message: str,
    data: Data,
    summarize: int | None,
) -> Operation | None:
    from tensorloom.ops.math import math_ops

    tensor, axis = place
    if isinstance(actual, int) and isinstance(wanted, int):
        if actual != wanted:
            raise ValueError(
                f"{message}.  {origin}.  Tensor {tensor.name} dimension {axis} must "
                f"have size {wanted}.  Received size {actual}, shape {tensor.shape}"
            )
        return None
    condition = math_ops.equal(convert_to_tensor(actual), convert_to_tensor(wanted))
    shown = data
    if shown is None:
        shown = [
            message,
            origin,
            f"Tensor {tensor.name} dimension",
            axis,
            "must have size",
            wanted,
            "Received shape: ",
            shape_ops.shape(tensor),
        ]
    return control_flow_ops.Assert(condition, shown, summarize=summarize)
