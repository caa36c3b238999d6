"""Functions that give the gradients of functions."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

from tensorloom.client.gradients.gradient_tape import GradientTape
from tensorloom.framework.export import export
from tensorloom.framework.types import nest
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.ops.array.identity import identity


@export("contrib.eager.implicit_value_and_gradients")
def implicit_value_and_gradients(f: Callable[..., Any]) -> Callable[..., Any]:
    """A function that gives `f`'s value and its gradients by variables.

    Args:
      f: gives a tensor or a structure of tensors, whose sum is differentiated; reads
        trainable resource variables.

    Returns:
      A function of the same arguments, which gives the value and a list of pairs
      (gradient, variable). It raises a ValueError when `f` gives None or reads no
      such variable.
    """

    def value_and_gradients(*args: Any, **kwargs: Any) -> tuple[Any, list[Any]]:
        with GradientTape() as tape:
            value = _value(f, args, kwargs)
        variables = list(tape.watched_variables())
        if not variables:
            raise ValueError(
                "No trainable variables were accessed while the function was being "
                "computed."
            )
        found = tape.gradient(nest.flatten(value), variables)
        return value, list(zip(found, variables, strict=True))

    return value_and_gradients


@export("contrib.eager.implicit_gradients")
def implicit_gradients(f: Callable[..., Any]) -> Callable[..., Any]:
    """A function that gives `f`'s gradients; see `implicit_value_and_gradients`."""
    both = implicit_value_and_gradients(f)

    def gradients(*args: Any, **kwargs: Any) -> Any:
        return both(*args, **kwargs)[1]

    return gradients


@export("contrib.eager.value_and_gradients_function")
def value_and_gradients_function(
    f: Callable[..., Any], params: Sequence[Any] | None = None
) -> Callable[..., Any]:
    """A function that gives `f`'s value and its gradients by arguments.

    Args:
      f: gives a tensor or a structure of tensors, whose sum is differentiated.
      params: positions or names of the arguments; None is all.

    Returns:
      A function of the same positional arguments, and of `dy`, which the gradients
      start from. It raises a ValueError for other keyword arguments, when `f` gives
      None, and when `params` are neither all positions nor all names.
    """

    def value_and_gradients(*args: Any, **kwargs: Any) -> tuple[Any, Any]:
        dy = kwargs.pop("dy", None)
        if kwargs:
            raise ValueError(
                "Functions to be differentiated cannot receive keyword arguments."
            )
        positions = _positions(f, params, args)
        given = [convert_to_tensor(x) for x in args]
        seen: set[int] = set()
        for i in positions:
            # The same tensor may be two arguments, each with a gradient of its own.
            if id(given[i]) in seen:
                given[i] = identity(given[i])
            seen.add(id(given[i]))
        sources = [given[i] for i in positions]
        with GradientTape() as tape:
            for source in sources:
                tape.watch(source)
            value = nest.map_structure(identity, _value(f, given, {}))
        starts = (
            None if dy is None else [convert_to_tensor(x) for x in nest.flatten(dy)]
        )
        return value, tape.gradient(
            nest.flatten(value), sources, output_gradients=starts
        )

    return value_and_gradients


@export("contrib.eager.gradients_function")
def gradients_function(
    f: Callable[..., Any], params: Sequence[Any] | None = None
) -> Callable[..., Any]:
    """A function that gives `f`'s gradients; see `value_and_gradients_function`."""
    both = value_and_gradients_function(f, params)

    def gradients(*args: Any, **kwargs: Any) -> Any:
        return both(*args, **kwargs)[1]

    return gradients


def _value(f: Callable[..., Any], args: Sequence[Any], kwargs: Any) -> Any:
    value = f(*args, **kwargs)
    if value is None:
        raise ValueError(
            "Cannot differentiate a function that returns None; did you forget to "
            f"return a value from {getattr(f, '__name__', f)}?"
        )
    return value


def _positions(
    f: Callable[..., Any], params: Sequence[Any] | None, args: Sequence[Any]
) -> Sequence[int]:
    if params is None:
        names = inspect.getfullargspec(f).args
        return range(len(names) or len(args))
    if all(isinstance(x, int) for x in params):
        return params
    if all(isinstance(x, str) for x in params):
        names = inspect.getfullargspec(f).args
        return [names.index(name) for name in params]
    raise ValueError(f"params must be all strings or all integers; got {params}.")
