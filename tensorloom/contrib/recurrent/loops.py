"""`Recurrent`: a step function over the rows of its inputs, forwards and backwards.

The forward loop keeps the state and the extras of each step in accumulators. The
gradient is a loop of its own from the last step to the first, which reads them. It has
one accumulator for the weights' gradient, where `tf.while_loop` would keep stacks. Both
loops are functions of the graph's library, called by one node each.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tensorloom.client.functions import functional_ops
from tensorloom.client.functions.function import Defun
from tensorloom.client.functions.library_functions import get_extra_args
from tensorloom.client.gradients.gradients import gradients
from tensorloom.contrib.recurrent import structures
from tensorloom.framework.export import export
from tensorloom.framework.graph.tensor import Tensor
from tensorloom.framework.types import dtypes, nest
from tensorloom.ops.array import fill, reshape
from tensorloom.ops.array.constant import constant
from tensorloom.ops.math import binary, cast, comparison
from tensorloom.ops.reductions import reductions

Step = Callable[..., Any]


@export("contrib.recurrent.Recurrent")
def Recurrent(
    theta: Any,
    state0: Any,
    inputs: Any,
    cell_fn: Step,
    cell_grad: Step | None = None,
    extras: Any = None,
    max_input_length: Any = None,
    use_tpu: bool = False,
    aligned_end: bool = False,
) -> tuple[Any, Any]:
    """Runs a step function over the rows of the inputs, each on the state before it.

    Args:
      theta: weights, a structure of tensors.
      state0: the first state, a structure of tensors.
      inputs: a structure of tensors, [time, ...] each.
      cell_fn: maps theta, a state and a row of the inputs to the next state and extras,
        a structure of tensors that `cell_grad` gets. It may use no other tensors.
      cell_grad: maps theta, state, inputs, extras and the gradient of the next state to
        gradients of theta, state and inputs. By default those of `cell_fn`, which is
        computed once more.
      extras: tensors like the extras; by default `cell_fn` is asked.
      max_input_length: how many rows count, a scalar; by default all.
      use_tpu: write the loops as `While`, with indices of int32.
      aligned_end: whether the rows that count are the last ones.

    Returns:
      The states after each step, [time, ...] each, and the last one.

    Raises:
      AssertionError: `cell_fn` or `cell_grad` uses tensors that it is not given.
    """
    if cell_grad is None and _is_single_step(inputs, max_input_length):
        row = nest.map_structure(lambda x: reshape.squeeze(x, axis=0), inputs)
        state, _ = cell_fn(theta, state0, row)
        all_states = nest.map_structure(lambda x: reshape.expand_dims(x, 0), state)
        return all_states, state
    _, actual = cell_fn(theta, state0, structures.rows(inputs, 0))
    if extras is None:
        extras = nest.map_structure(fill.zeros_like, actual)
    if max_input_length is None:
        max_input_length = reductions.reduce_max(structures.length(inputs))
    loops = _Loops(
        cell_fn=cell_fn,
        cell_grad=cell_grad or _gradient_of(cell_fn),
        theta=theta,
        state=state0,
        inputs=inputs,
        max_length=max_input_length,
        extras=extras,
        use_tpu=use_tpu,
        aligned_end=aligned_end,
    )
    return loops.compute()


def _is_single_step(inputs: Any, max_input_length: Any) -> bool:
    if not isinstance(max_input_length, Tensor):
        return bool(max_input_length == 1)
    return all(
        x.shape.dims is not None and x.shape[0].value == 1 for x in nest.flatten(inputs)
    )


def _gradient_of(cell_fn: Step) -> Step:
    def cell_grad(
        theta: Any, state: Any, inputs: Any, extras: Any, d_state: Any
    ) -> Any:
        after, _ = cell_fn(theta, state, inputs)
        given = [theta, state, inputs]
        found = gradients(
            ys=nest.flatten(after),
            xs=nest.flatten(given),
            grad_ys=nest.flatten(d_state),
        )
        return structures.none_as_zeros(given, structures.pack(found, given))

    return cell_grad


class _Loops:
    """The forward loop of one `Recurrent`, whose gradient is the backward loop."""

    def __init__(
        self,
        cell_fn: Step,
        cell_grad: Step,
        theta: Any,
        state: Any,
        inputs: Any,
        max_length: Any,
        extras: Any,
        use_tpu: bool,
        aligned_end: bool,
    ) -> None:
        self._cell_fn = cell_fn
        self._cell_grad = cell_grad
        self._theta = theta
        self._state = state
        self._inputs = inputs
        self._max_length = max_length
        self._extras = extras
        self._use_tpu = use_tpu
        self._aligned_end = aligned_end
        self._index_type = dtypes.int32 if use_tpu else dtypes.int64
        self._given = [theta, state, inputs, max_length, extras]

    def compute(self) -> tuple[Any, Any]:
        """Calls the forward loop: all states, and the last."""
        forward = Defun(
            *structures.types(self._given),
            python_grad_func=self._gradient,
            noinline=not self._use_tpu,
        )(_named("Forward", self._forward))
        results = structures.pack(
            forward(*nest.flatten(self._given)),
            [self._state, self._state, self._extras],
        )
        return results[0], results[1]

    def _forward(self, *args: Any) -> list[Any]:
        theta, state, inputs, max_length, extras = structures.pack(args, self._given)
        count = structures.length(inputs)
        start = count - max_length if self._aligned_end else 0
        loop = [
            theta,
            state,
            inputs,
            structures.accumulators(count, state),
            structures.accumulators(count, extras),
        ]
        results = self._loop(
            start,
            count if self._aligned_end else max_length,
            1,
            loop,
            self._forward_body(loop),
        )
        _, state, _, all_states, all_extras = results
        return nest.flatten([all_states, state, all_extras])

    def _loop(
        self, start: Any, limit: Any, delta: int, values: Sequence[Any], body: Any
    ) -> Any:
        """A `For` over structures, and over the index once more, as a tensor."""
        results = functional_ops.For(
            start=start,
            limit=limit,
            delta=delta,
            inputs=[cast.cast(start, self._index_type), *nest.flatten(values)],
            body=body,
            rewrite_with_while=self._use_tpu,
        )
        return structures.pack(results[1:], list(values))

    def _body(self, name: str, values: Any, function: Callable[..., Any]) -> Any:
        types = structures.types(values)
        return Defun(dtypes.int32, self._index_type, *types)(_named(name, function))

    def _forward_body(self, values: Any) -> Any:
        step = self._pure("Fwd", "cell_fn", values[:3], self._cell_fn)

        def body(*args: Any) -> list[Any]:
            t, index = args[0], args[1]
            theta, state, inputs, states, extras = structures.pack(args[2:], values)
            after, extra = structures.pack(
                step(*nest.flatten([theta, state, structures.rows(inputs, t)])),
                [self._state, self._extras],
            )
            states = structures.with_rows(states, after, index)
            extras = structures.with_rows(extras, extra, index)
            flat = nest.flatten([theta, after, inputs, states, extras])
            return [binary.add(index, 1), *flat]

        return self._body("ForwardLoopBody", values, body)

    def _pure(self, name: str, what: str, given: Any, function: Step) -> Any:
        """A step as a function of the library, which gets all that it uses."""

        def step(*args: Any) -> list[Any]:
            results = function(*structures.pack(args, given))
            extra = get_extra_args()
            assert not extra, f"{what} is not pure with extra args: {extra}."
            return nest.flatten(results)

        return Defun(*structures.types(given))(_named(name, step))

    def _gradient(self, op: Any, *grads: Any) -> Any:
        theta, state, inputs, max_length, _ = structures.pack(
            list(op.inputs), self._given
        )
        results = [self._state, self._state, self._extras]
        states, _, extras = structures.pack(list(op.outputs), results)
        filled = structures.none_as_zeros(list(op.outputs), list(grads))
        d_states, d_state, _ = structures.pack(filled, results)
        given = [theta, state, inputs, max_length, states, extras, d_states, d_state]
        backward = Defun(*structures.types(given), noinline=not self._use_tpu)(
            _named("Backward", lambda *args: self._backward(given, args))
        )
        return backward(*nest.flatten(given))

    def _backward(self, given: Any, args: Any) -> list[Any]:
        theta, state, inputs, max_length, states, extras, d_states, d_state = (
            structures.pack(args, given)
        )
        count = structures.length(inputs)
        loop = [
            theta,
            state,
            inputs,
            states,
            extras,
            structures.zeros(theta),
            d_state,
            structures.zeros(inputs),
            d_states,
        ]
        results = self._loop(
            count - 1 if self._aligned_end else max_length - 1,
            count - max_length - 1 if self._aligned_end else -1,
            -1,
            loop,
            self._backward_body(loop),
        )
        _, _, _, _, extras, d_theta, d_state, d_inputs, _ = results
        no_gradient = constant(0, dtype=max_length.dtype)
        return nest.flatten([d_theta, d_state, d_inputs, no_gradient, extras])

    def _backward_body(self, values: Any) -> Any:
        given = [self._theta, self._state, self._inputs, self._extras, self._state]

        def gradient(*args: Any) -> Any:
            found = self._cell_grad(*args)
            return structures.none_as_zeros(list(args[:3]), list(found))

        step = self._pure("Bak", "cell_grad", given, gradient)

        def body(*args: Any) -> list[Any]:
            t, index = args[0], args[1]
            (
                theta,
                first,
                inputs,
                states,
                extras,
                d_theta,
                d_after,
                d_inputs,
                d_states,
            ) = structures.pack(args[2:], values)
            before = self._state_before(t, states, first)
            row = structures.rows(inputs, t)
            extra = structures.rows(extras, t)
            d_after = structures.added(structures.rows(d_states, t), d_after)
            d_theta_t, d_before, d_row = structures.pack(
                step(*nest.flatten([theta, before, row, extra, d_after])), given[:3]
            )
            d_theta = structures.added(d_theta, d_theta_t)
            d_inputs = structures.with_rows(d_inputs, d_row, index)
            read = [theta, first, inputs, states, extras]
            flat = nest.flatten([*read, d_theta, d_before, d_inputs, d_states])
            return [binary.subtract(index, 1), *flat]

        return self._body("BackwardLoopBody", values, body)

    def _state_before(self, t: Any, states: Any, first: Any) -> Any:
        """The state that step `t` began with."""
        kept = structures.rows(states, binary.maximum(0, t - 1))
        count = len(nest.flatten(first))
        both = nest.flatten([kept, first])
        types = structures.types(both)
        use_first: Any = Defun(*types)(
            _named("ReturnOrigState0", lambda *args: list(args[count:]))
        )
        use_kept: Any = Defun(*types)(
            _named("ReturnAccState", lambda *args: list(args[:count]))
        )
        is_first = comparison.equal(t, constant(0, dtypes.int32))
        chosen = functional_ops.If(is_first, both, use_first, use_kept)
        return structures.pack(chosen, first)


def _named(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """A function whose name in the library begins with this."""

    def named(*args: Any) -> Any:
        return function(*args)

    named.__name__ = name
    return named
