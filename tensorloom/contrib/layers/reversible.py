"""Reversible residual layers (https://arxiv.org/abs/1707.04585).

    y1 = x1 + f(x2)        x2 = y2 - g(y1)
    y2 = x2 + g(y1)        x1 = y1 - f(x2)

The gradient computes what came in from what came out, so no layer's results need to be
kept for it.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Sequence
from typing import Any, Final

from tensorloom.client.gradients.custom_gradient import custom_gradient
from tensorloom.client.gradients.gradients import build_gradients
from tensorloom.client.program import program_log
from tensorloom.client.variables.variable_scope import (
    get_variable_scope,
    variable_scope,
)
from tensorloom.framework.export import export
from tensorloom.framework.types import nest
from tensorloom.layers.base import Layer
from tensorloom.ops.array.identity import stop_gradient
from tensorloom.ops.control_flow.builders import tuple as gated
from tensorloom.ops.reductions.aggregate import add_n

Function = Callable[..., Any]
# Of which layer and function a variable is.
_PLACE: Final = re.compile(r".*revlayer_([0-9]*)/([fg])/.*")


def _in_scope(function: Function, scope: str) -> Function:
    """The function with resource variables in a scope of its own."""

    def call(*args: Any) -> Any:
        with variable_scope(scope, use_resource=True):
            return function(*args)

    return call


def _apply(function: Function, x: Any, side_input: Sequence[Any]) -> Any:
    return function(x, side_input) if side_input else function(x)


def _branch_gradients(
    function: Function,
    x: Any,
    side_input: Sequence[Any],
    variables: Sequence[Any],
    value_of: Callable[[Any], Any],
    grad: Callable[[], Any],
) -> tuple[Any, Any, list[Any]]:
    """Computes a branch again, and its gradients."""
    # What comes in is cut off, or gradients would lead back into the whole block.
    x = stop_gradient(x)
    side_input = [stop_gradient(tensor) for tensor in side_input]
    result = _apply(function, x, side_input)
    before = value_of(result)
    grads = build_gradients(result, [x, *variables, *side_input], grad())
    return before, grads[0], grads[1:]


def _sum_of(grads: Sequence[Any]) -> Any:
    known = [grad for grad in grads if grad is not None]
    return add_n(known) if known else None


@export("contrib.layers.RevBlock")
class RevBlock(Layer):
    """Reversible layers one after the other; see `rev_block`.

    Args:
      use_efficient_backprop: whether the gradient computes the layers' inputs again.
      name: of the variable scope.
      f, g, num_layers, f_side_input, g_side_input: as of `rev_block`.

    Raises:
      ValueError: lists of functions that are not as long as there are layers.
    """

    def __init__(
        self,
        f: Any,
        g: Any,
        num_layers: int = 1,
        f_side_input: Sequence[Any] | None = None,
        g_side_input: Sequence[Any] | None = None,
        use_efficient_backprop: bool = True,
        name: str = "revblock",
        **kwargs: Any,
    ) -> None:
        super().__init__(name=name, **kwargs)
        self.f = self._functions(f, "f", num_layers)
        self.g = self._functions(g, "g", num_layers)
        self.num_layers = num_layers
        self.f_side_input = f_side_input or []
        self.g_side_input = g_side_input or []
        self._use_efficient_backprop = use_efficient_backprop

    @staticmethod
    def _functions(given: Any, name: str, num_layers: int) -> list[Function]:
        functions = given if isinstance(given, list) else [given] * num_layers
        if len(functions) != num_layers:
            raise AssertionError(
                f"got {len(functions)} functions {name}, expected one for each of "
                f"{num_layers} layers"
            )
        return [
            _in_scope(function, f"revlayer_{number}/{name}")
            for number, function in enumerate(functions)
        ]

    def build(self, _: Any) -> None:
        """Nothing: the functions make their variables when they are first called."""
        program_log.warning(
            "RevBlock constructs its variables on first call, not on build."
        )
        self.built = True

    def call(  # type: ignore[override]
        self, inputs: Any, forward: bool = True
    ) -> Any:
        """(y1, y2) of (x1, x2), or back."""
        scope = get_variable_scope()
        known = len(scope.global_variables())
        result = self._forward(*inputs) if forward else self._backward(*inputs)
        trainable = scope.trainable_variables()
        for variable in scope.global_variables()[known:]:
            is_trained = any(variable is each for each in trainable)
            (
                self._trainable_weights if is_trained else self._non_trainable_weights
            ).append(variable)
        return result

    def forward(self, x1: Any, x2: Any) -> Any:
        """(y1, y2) of the last layer."""
        return self.apply([x1, x2])

    def backward(self, y1: Any, y2: Any) -> Any:
        """(x1, x2) of the first layer."""
        return self.apply([y1, y2], forward=False)

    def _forward(self, x1: Any, x2: Any) -> Any:
        sides = [list(self.f_side_input), list(self.g_side_input)]
        if not self._use_efficient_backprop:
            return self._through_layers(x1, x2, sides)

        @custom_gradient
        def through_layers(x1: Any, x2: Any, *flat_sides: Any) -> Any:
            given = nest.pack_sequence_as(sides, flat_sides)
            ys = self._through_layers(x1, x2, given)
            return ys, functools.partial(self._gradients, ys, flat_sides)

        return through_layers(x1, x2, *nest.flatten(sides))

    def _through_layers(self, x1: Any, x2: Any, sides: Sequence[Any]) -> Any:
        f_side, g_side = sides
        for f, g in zip(self.f, self.g, strict=True):
            x1 = x1 + _apply(f, x2, f_side)
            x2 = x2 + _apply(g, x1, g_side)
            if self._use_efficient_backprop:
                x1, x2 = gated([x1, x2])
        return x1, x2

    def _backward(self, y1: Any, y2: Any) -> Any:
        for f, g in zip(reversed(self.f), reversed(self.g), strict=True):
            y2 = y2 - _apply(g, y1, self.g_side_input)
            y1 = y1 - _apply(f, y2, self.f_side_input)
        return y1, y2

    def _gradients(
        self,
        ys: tuple[Any, Any],
        sides: Sequence[Any],
        *grads: Any,
        variables: Sequence[Any] = (),
    ) -> Any:
        """Gradients of inputs and side inputs, and of variables if there are any."""
        places: dict[tuple[int, str], list[int]] = {}
        for number, variable in enumerate(variables):
            match = _PLACE.match(variable.name)
            assert match is not None, variable.name
            places.setdefault((int(match[1]), match[2]), []).append(number)
        variable_grads: list[Any] = [None] * len(variables)
        side_grads: dict[str, list[Any]] = {"f": [], "g": []}
        with variable_scope(self.scope_name, reuse=True):
            for layer in reversed(range(self.num_layers)):
                numbers = {name: places.get((layer, name), []) for name in "fg"}
                chosen = {
                    name: [variables[number] for number in numbers[name]]
                    for name in "fg"
                }
                ys, grads, found = self._layer_gradients(layer, ys, grads, chosen)
                for name in "fg":
                    count = len(numbers[name])
                    side_grads[name].append(found[name][count:])
                    for number, grad in zip(
                        numbers[name], found[name][:count], strict=True
                    ):
                        variable_grads[number] = grad
        by_input = [
            _sum_of(of_layers)
            for name in "fg"
            for of_layers in zip(*side_grads[name], strict=True)
        ]
        assert len(by_input) == len(sides)
        inputs = [*grads, *by_input]
        return (inputs, variable_grads) if variables else inputs

    def _layer_gradients(
        self, layer: int, ys: Any, grads: Any, variables: dict[str, list[Any]]
    ) -> tuple[Any, Any, dict[str, list[Any]]]:
        """What came into a layer, its gradients, and those of variables and sides."""
        (y1, y2), (grad_y1, grad_y2) = ys, grads
        x2, through_g, of_g = _branch_gradients(
            self.g[layer],
            y1,
            self.g_side_input,
            variables["g"],
            lambda result: y2 - result,
            lambda: grad_y2,
        )
        grad_x1 = grad_y1 + through_g
        x1, through_f, of_f = _branch_gradients(
            self.f[layer],
            x2,
            self.f_side_input,
            variables["f"],
            lambda result: y1 - result,
            lambda: grad_x1,
        )
        grad_x2 = grad_y2 + through_f
        # All at once, so that no layer before this one begins while parts are missing.
        outputs = ((x1, x2), (grad_x1, grad_x2), {"f": of_f, "g": of_g})
        return nest.pack_sequence_as(  # type: ignore[no-any-return]
            outputs, gated(nest.flatten(outputs))
        )


@export("contrib.layers.rev_block")
def rev_block(
    x1: Any,
    x2: Any,
    f: Any,
    g: Any,
    num_layers: int = 1,
    f_side_input: Sequence[Any] | None = None,
    g_side_input: Sequence[Any] | None = None,
    is_training: bool = True,
) -> Any:
    """Reversible residual layers: y1 = x1 + f(x2), y2 = x2 + g(y1).

    Args:
      x1, x2: float tensors.
      f, g: functions from a tensor to one of the same shape, or lists of one for each
        layer. They can make variables, but must use no other tensors from outside.
      num_layers: how many layers there are, each with variables of its own.
      f_side_input, g_side_input: tensors that a function gets as a list, as its second
        argument.
      is_training: whether the gradient computes the layers' inputs again, rather than
        that they are kept.

    Returns:
      y1 and y2.
    """
    block = RevBlock(
        f=f,
        g=g,
        num_layers=num_layers,
        f_side_input=f_side_input,
        g_side_input=g_side_input,
        use_efficient_backprop=is_training,
        _reuse=get_variable_scope().reuse,
    )
    return block.forward(x1, x2)
