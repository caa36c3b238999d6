"""What is checked of the variables of loops and branches, with their names."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from tensorloom.autograph.operators.special_values import (
    is_undefined,
    is_undefined_return,
)
from tensorloom.framework.graph.tensor import is_tensor
from tensorloom.framework.types import nest
from tensorloom.framework.types.tensor_conversion import convert_to_tensor

Names = Sequence[str | None] | None


def check_defined_before_loop(values: Iterable[Any]) -> None:
    """Every variable of a loop of the graph has a value before it.

    Raises:
      ValueError: one has none, or there is a `return` in the loop.
    """
    values = tuple(values)
    missing = tuple(v.symbol_name for v in values if is_undefined(v))
    if missing:
        raise ValueError(
            "TensorFlow requires that the following symbols must be defined before "
            f"the loop: {missing}"
        )
    if any(map(is_undefined_return, values)):
        raise ValueError(
            "return statements are not supported within a TensorFlow loop."
        )


def check_defined_in_branch(results: Any, branch: str) -> None:
    """Every result of a branch of the graph has a value.

    Raises:
      ValueError: one has none.
    """
    values = results if isinstance(results, tuple) else (results,)
    missing = tuple(v.symbol_name for v in values if is_undefined(v))
    if missing:
        raise ValueError(
            "The following symbols must also be initialized in the "
            f"{branch} branch: {missing}. Alternatively, you may initialize them "
            "before the if statement."
        )
    if any(map(is_undefined_return, values)):
        raise ValueError(
            f"A value must also be returned from the {branch} branch. If a value is "
            "returned from one branch of a conditional a value must be returned from "
            "all branches."
        )


def check_same_after_iteration(
    before: Sequence[Any], after: Sequence[Any], names: Names, shapes: bool = True
) -> None:
    """The variables keep structure, dtype and shape in an iteration.

    Raises:
      TypeError: one changes its structure or dtype.
      ValueError: one changes its shape.
    """

    def check(name: str | None, first: Any, second: Any) -> None:
        if first.dtype != second.dtype:
            raise TypeError(
                f'"{name}" has dtype {first.dtype.name} before the loop, but dtype '
                f"{second.dtype.name} after one iteration. TensorFlow control flow "
                "requires it stays the same."
            )
        if shapes and not _holds(first.shape, second.shape):
            raise ValueError(
                f'"{name}" has shape {first.shape} before the loop, but shape '
                f"{second.shape} after one iteration. TensorFlow control flow requires "
                "it stays the same or be more specific."
            )

    _check_each(
        before,
        after,
        names,
        "does not have the same nested structure after one iteration.",
        check,
    )


def check_same_in_branches(
    body: Sequence[Any], orelse: Sequence[Any], names: Names
) -> None:
    """The results of two branches have the same structure and dtypes.

    Raises:
      TypeError: one has not.
    """

    def check(name: str | None, first: Any, second: Any) -> None:
        if first.dtype != second.dtype:
            raise TypeError(
                f'"{name}" has dtype {first.dtype.name} in the TRUE branch, but dtype='
                f"{second.dtype.name} in the FALSE branch. TensorFlow control flow "
                "requires that they are the same."
            )

    _check_each(
        body,
        orelse,
        names,
        "does not have the same nested structure in the TRUE and FALSE branches.",
        check,
    )


def _check_each(
    ones: Sequence[Any],
    others: Sequence[Any],
    names: Names,
    problem: str,
    check: Callable[[str | None, Any, Any], None],
) -> None:
    if names is None:
        return
    for one, other, name in zip(ones, others, names, strict=True):
        try:
            nest.assert_same_structure(one, other, expand_composites=True)
        except (ValueError, TypeError) as error:
            raise TypeError(f'"{name}" {problem}\n\n{error}') from error
        leaves = zip(nest.flatten(one), nest.flatten(other), strict=True)
        for first, second in (map(_as_tensor, pair) for pair in leaves):
            if _is_typed(first) and _is_typed(second):
                check(name, first, second)


def _as_tensor(value: Any) -> Any:
    if isinstance(value, (bool, int, float, str)):
        return convert_to_tensor(value)
    return value


def _is_typed(value: Any) -> bool:
    return is_tensor(value) and hasattr(value, "dtype") and hasattr(value, "shape")


def _holds(before: Any, after: Any) -> bool:
    """Whether a shape is as specific as another, or more."""
    if before.dims is None:
        return True
    if before.ndims != after.ndims:
        return False
    pairs = zip(before.dims, after.dims, strict=True)
    return all(a.value is None or a.value == b.value for a, b in pairs)
