"""`tf.while_loop` as TensorFlow 1.15 builds it: the nodes of a frame, and a context.

before: while_loop(cond, body, [x])
after:  m = Merge(Enter(x), n);  c = LoopCond(cond(m));  s = Switch(m, c)
        n = NextIteration(body(Identity(s:1)));  y = Exit(s:0)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from tensorloom.client.control_flow import control_flow_values
from tensorloom.client.control_flow.loop_invariants import invariant_shapes, is_within
from tensorloom.client.control_flow.summary_writes import SummaryWrites
from tensorloom.client.control_flow.while_context import WhileContext
from tensorloom.framework.graph.default_graph import get_default_graph
from tensorloom.framework.graph.graph_keys import GraphKeys
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.runtime.scopes import add_to_collection, name_scope
from tensorloom.framework.types import nest
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.framework.types.tensor_shape import SCALAR
from tensorloom.ops.array.constant import constant
from tensorloom.ops.control_flow import classic

if TYPE_CHECKING:
    from tensorloom.framework.graph.tensor import Tensor
    from tensorloom.framework.types.tensor_shape import TensorShape


def build_loop(
    cond: Callable[..., Any],
    body: Callable[..., Any],
    loop_vars: Any,
    shape_invariants: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    name: str | None = None,
    maximum_iterations: Any = None,
    return_same_structure: bool = False,
) -> Any:
    """See `tf.while_loop`; the arguments are checked already.

    Raises:
      TypeError, ValueError: see there.
    """
    with name_scope(name, "while", list(loop_vars)):
        limited = None
        if maximum_iterations is not None:
            limited = _Limited(
                maximum_iterations, len(loop_vars) == 1 and not return_same_structure
            )
            cond, body, loop_vars = limited.wrap(cond, body, loop_vars)
        declared = shape_invariants
        if declared is not None:
            if limited is not None:
                declared = (SCALAR, declared)
            nest.assert_same_structure(loop_vars, declared, expand_composites=False)
            declared = nest.flatten(declared)
        context = WhileContext(
            None if limited is None else limited.maximum,
            parallel_iterations,
            back_prop,
            swap_memory,
        )
        if context.outer_context is None:
            # What is inside another construct is part of its context.
            add_to_collection(GraphKeys.WHILE_CONTEXT, context)
        structure, exits = _Frame(context, loop_vars, declared).build(cond, body)
        result = control_flow_values.pack(structure, exits)
        if limited is not None:
            return result[1]
        if len(exits) == 1 and not return_same_structure:
            return result[0]
        return result


class _Limited:
    """A loop of at most so many iterations: it counts them in a variable of its own.

    Args:
      maximum: a scalar.
      is_single: there is one loop variable, which then is not in a list.

    Raises:
      ValueError: the maximum is no scalar.
    """

    def __init__(self, maximum: Any, is_single: bool) -> None:
        self.maximum = convert_to_tensor(maximum, name="maximum_iterations")
        if self.maximum.shape.rank != 0:
            raise ValueError(
                f"maximum_iterations must be a scalar, saw shape: {self.maximum.shape}"
            )
        self._is_single = is_single

    def wrap(
        self, cond: Callable[..., Any], body: Callable[..., Any], loop_vars: Any
    ) -> tuple[Callable[..., Any], Callable[..., Any], tuple[Any, Any]]:
        """Test, body and loop variables with the counter in front."""
        counter = constant(0, dtype=self.maximum.dtype, name="iteration_counter")

        def spread(value: Any) -> Any:
            return [value] if self._is_single else value

        def test(i: Tensor, value: Any) -> Tensor:
            # In this order: the count is compared before the test is built.
            below = i < self.maximum
            both: Tensor = apply_op(
                "LogicalAnd", x=below, y=cond(*spread(value)), name="LogicalAnd"
            )
            return both

        def step(i: Tensor, value: Any) -> tuple[Tensor, Any]:
            return i + 1, body(*spread(value))

        return test, step, (counter, loop_vars[0] if self._is_single else loop_vars)


class _Frame:
    """A loop that is being built in its context.

    Args:
      loop_vars: a list or tuple of structures.
      declared: for each leaf what the program says of its shape; None for nothing.
    """

    def __init__(
        self, context: WhileContext, loop_vars: Any, declared: Sequence[Any] | None
    ) -> None:
        self._context = context
        self._structure = nest.map_structure(_converted, loop_vars)
        self._tensors: list[Tensor] = control_flow_values.flatten(self._structure)
        leaves = nest.flatten(self._structure)
        self._shapes: list[TensorShape] = [
            shape
            for leaf, wanted in zip(
                leaves, declared or [None] * len(leaves), strict=True
            )
            for shape in invariant_shapes(leaf, wanted)
        ]

    def build(
        self, cond: Callable[..., Any], body: Callable[..., Any]
    ) -> tuple[Any, list[Tensor]]:
        """Builds the loop; returns the structure of the result, and the Exits."""
        # No session takes the graph while the loop lacks its way back.
        with get_default_graph()._construction.building():
            self._context.Enter()
            try:
                return self._build(cond, body)
            finally:
                self._context.Exit()

    def _build(
        self, cond: Callable[..., Any], body: Callable[..., Any]
    ) -> tuple[Any, list[Tensor]]:
        context = self._context
        starts = context.enter_all(self._tensors, self._shapes)
        merged: list[Any] = [classic.merge([t, t]) for t in starts]
        context.complete([merged[0], None, None], enters=starts)
        test = convert_to_tensor(cond(*self._packed(merged)))
        pivot = apply_op("LoopCond", input=test, name="LoopCond")
        context.complete([merged[0], pivot, None])
        switched = [classic.switch_beside(t, pivot) for t in merged]
        inside = [classic.identity_of(t[1]) for t in switched]
        context.complete([merged[0], pivot, inside[0]])
        structure = self._build_body(body, inside)
        results = control_flow_values.flatten(nest.map_structure(_converted, structure))
        for merge, start, result in zip(merged, self._tensors, results, strict=True):
            _close(merge, start, result)
        exits: list[Tensor] = [classic.leave(t[0]) for t in switched]
        context.complete([merged[0], pivot, inside[0]], exits)
        context.ExitResult(exits)
        return structure, exits

    def _packed(self, tensors: Sequence[Tensor]) -> Any:
        return control_flow_values.pack(self._structure, tensors)

    def _build_body(self, body: Callable[..., Any], inside: Sequence[Tensor]) -> Any:
        """Calls the body; returns its result, of the structure of the variables."""
        packed = self._packed(inside)
        writes = SummaryWrites()
        result = body(*packed)
        if not nest.is_sequence_or_composite(result):
            result = [result]
        result = writes.before(result)
        nest.assert_same_structure(list(packed), list(result), expand_composites=True)
        return result


def _converted(value: Any) -> Any:
    """A leaf as a tensor; what travels as several tensors stays as it is."""
    if control_flow_values.is_tensor_array(value):
        return value
    return control_flow_values.to_tensor(value)


def _close(merge: Tensor, start: Tensor, result: Tensor) -> None:
    """Makes `result` what comes back to a Merge from the iteration before.

    Raises:
      TypeError: it has another dtype than the loop variable.
      ValueError: it has a shape that the loop variable cannot have.
    """
    if result.dtype.base_dtype != merge.dtype.base_dtype:
        raise TypeError(
            f"Loop var {start.name} enters the loop with type {start.dtype!r} but has "
            f"type {result.dtype!r} after 1 iteration."
        )
    following = classic.next_iteration(result)
    if not is_within(following.shape, merge.shape):
        raise ValueError(
            f"Input tensor '{merge.op.inputs[0].op.inputs[0].name}' enters the loop "
            f"with shape {start.shape}, but has shape {following.shape} after one "
            "iteration. To allow the shape to vary across iterations, use the "
            "`shape_invariants` argument of tf.while_loop to specify a less-specific "
            "shape."
        )
    merge._op._update_input(1, following)
