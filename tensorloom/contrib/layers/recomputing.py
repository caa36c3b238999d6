"""Functions that are computed again for their gradients, inside their scopes."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from tensorloom.client.gradients.custom_gradient import custom_gradient
from tensorloom.client.gradients.gradient_tape import GradientTape
from tensorloom.client.gradients.gradients import build_gradients
from tensorloom.client.program.arg_scope import arg_scope, current_arg_scope
from tensorloom.client.variables.variable_scope import (
    get_variable_scope,
    variable_scope,
)
from tensorloom.client.variables.variables import Variable
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Tensor
from tensorloom.framework.runtime.scopes import control_dependencies
from tensorloom.ops.array.identity import identity, stop_gradient
from tensorloom.ops.array.reshape import reshape
from tensorloom.ops.control_flow.builders import tuple as gated
from tensorloom.ops.indexing.slice import slice as slice_of
from tensorloom.ops.reductions.aggregate import add_n

_BY_PLACE: Final = "__rev_block_lib_default"


@export("contrib.layers.recompute_grad")
def recompute_grad(
    fn: Callable[..., Any] | None = None,
    use_data_dep: Any = _BY_PLACE,
    tupleize_grads: bool = False,
) -> Callable[..., Any]:
    """Decorator: a function whose inside is not kept for the gradient, but made again.

    Args:
      fn: a function of tensors, by position, with resource variables. Where it takes
        `is_recomputing`, it gets False, and True for the gradient. None: the decorator
        with the other arguments is made.
      use_data_dep: whether data, rather than control, inputs make the second one
        wait for the gradient.
      tupleize_grads: whether all gradients are there before one is used.

    Raises:
      ValueError: the function uses a tensor or variable of the function around it; or,
        later, an argument is no tensor, or the second computation uses other variables.
    """
    if fn is None:
        return functools.partial(
            recompute_grad, use_data_dep=use_data_dep, tupleize_grads=tupleize_grads
        )
    _check_closure(fn)
    takes_flag = "is_recomputing" in inspect.getfullargspec(fn).args
    is_by_data = use_data_dep is True  # of itself only on TPUs, which are not here

    @functools.wraps(fn)
    def wrapped(*args: Any) -> Any:
        for arg in args:
            if not isinstance(arg, Tensor):
                raise ValueError("All inputs to function must be Tensors")
        return _recomputed(fn, takes_flag, is_by_data, tupleize_grads, args)

    return wrapped


def _check_closure(fn: Callable[..., Any]) -> None:
    code = getattr(fn, "__code__", None)
    if code is None:
        return
    cells = getattr(fn, "__closure__", None) or ()
    for name, cell in zip(code.co_freevars, cells, strict=True):
        value = cell.cell_contents
        if isinstance(value, (Tensor, Variable)):
            raise ValueError(
                f"fn decorated with @recompute_grad closes over Tensor {value.name} "
                f"(local variable name: {name}). The decorated fn must not close over "
                "Tensors or Variables because gradients will NOT be computed for them "
                "through fn. To ensure correct gradients, make the Tensor an input to "
                "fn."
            )


def _watched(
    fn: Callable[..., Any], args: Sequence[Any], flags: dict[str, bool]
) -> tuple[Any, frozenset[str]]:
    """What the function gives, and the names of the variables that it read."""
    with GradientTape() as tape:
        outputs = fn(*args, **flags)
    return outputs, frozenset(variable.name for variable in tape.watched_variables())


def _recomputed(
    fn: Callable[..., Any],
    takes_flag: bool,
    is_by_data: bool,
    is_gated: bool,
    args: Sequence[Any],
) -> Any:
    def flags(is_again: bool) -> dict[str, bool]:
        return {"is_recomputing": is_again} if takes_flag else {}

    @custom_gradient
    def with_gradient(*args: Any) -> Any:
        scope, arguments = get_variable_scope(), current_arg_scope()
        outputs, known = _watched(fn, args, flags(False))

        def gradients(grads: Sequence[Any], variables: Sequence[Any]) -> list[Any]:
            # Copies, so that the two computations are not taken for one.
            inputs = [identity(arg) for arg in args]
            given = [grad for grad in grads if grad is not None]
            with control_dependencies(given):
                if is_by_data:
                    inputs = _after(given, inputs)
                with arg_scope(arguments), variable_scope(scope, reuse=True):
                    again, found = _watched(fn, inputs, flags(True))
            if found != known or {variable.name for variable in variables} != known:
                raise ValueError(
                    "The variables used on recompute were different than the variables "
                    f"originally used: {sorted(found)}, expected {sorted(known)}. The "
                    "function wrapped with @recompute_grad likely creates its own "
                    "variable scope with a default name and has been called twice in "
                    "the same enclosing scope. Make each call in a variable scope of "
                    "its own."
                )
            again = list(again) if isinstance(again, (list, tuple)) else [again]
            result = build_gradients(again, [*inputs, *variables], list(grads))
            if is_gated:
                result = _after(result, result) if is_by_data else gated(result)
            return list(result)

        def of_inputs(*grads: Any) -> list[Any]:
            return gradients(grads, ())

        def of_all(*grads: Any, variables: Sequence[Any]) -> tuple[Any, Any]:
            result = gradients(grads, variables)
            return result[: len(args)], result[len(args) :]

        return outputs, of_all if known else of_inputs

    return with_gradient(*args)


def _after(first: Sequence[Any], then: Sequence[Any]) -> list[Any]:
    """`then` plus what is as good as nothing, computed of `first`.

    Raises:
      ValueError: a rank is unknown, or the numbers are not floats.
    """
    total = add_n([_first_element(tensor) for tensor in first if tensor is not None])
    if not total.dtype.is_floating:
        raise ValueError("_force_data_dependency only supports floating dtypes.")
    tiny = np.finfo(total.dtype.as_numpy_dtype).tiny
    nothing = stop_gradient(tiny * total)
    return [None if tensor is None else identity(tensor) + nothing for tensor in then]


def _first_element(tensor: Any) -> Any:
    rank = tensor.get_shape().ndims
    if rank is None:
        raise ValueError(f"Rank of Tensor {tensor} must be known")
    return reshape(slice_of(tensor, [0] * rank, [1] * rank), [])
