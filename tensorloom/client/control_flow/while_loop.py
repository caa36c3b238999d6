"""`tf.while_loop`: one `While` node with a function for the test and for the body.

Or classic nodes: those are built in `control_flow/classic_loop.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from tensorloom.client.control_flow import classic_loop, control_flow_values
from tensorloom.client.control_flow.loop_invariants import invariant_shapes, is_within
from tensorloom.client.control_flow.summary_writes import SummaryWrites
from tensorloom.client.functions import func_graph
from tensorloom.client.functions.effects import keep_effects
from tensorloom.client.functions.func_graph import FuncGraph
from tensorloom.framework.export import export
from tensorloom.framework.graph.classic_node_counts import (
    Tally,
    makes_classic,
    mark_as_classic,
)
from tensorloom.framework.graph.default_graph import get_default_graph
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.runtime.scopes import control_dependencies, name_scope
from tensorloom.framework.types import dtypes, nest
from tensorloom.framework.types.composite_tensor import CompositeTensor
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.framework.types.tensor_shape import SCALAR
from tensorloom.ops.array import identity as identity_ops
from tensorloom.ops.control_flow import functional as functional_ops

if TYPE_CHECKING:
    from tensorloom.framework.graph.operation import Operation
    from tensorloom.framework.graph.tensor import Tensor

# In front of the user's loop variables: the loop counter and maximum_iterations.
FIRST_LOOP_VAR = 2


@export("while_loop")
def while_loop(
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
    """`loop_vars = body(*loop_vars)` while `cond(*loop_vars)` is true.

    `cond` and `body` are called once, now, to build the loop. Tensors from outside
    that they use keep the value that they have before the loop.

    Args:
      cond: returns a bool scalar tensor.
      body: returns as many values as there are loop variables, of the same structure.
      loop_vars: a list or tuple of (structures of) tensors, TensorArrays and so on.
      shape_invariants: the shape of each loop variable that holds for all iterations,
        in the structure of `loop_vars`; the shape that it starts with by default.
      parallel_iterations: a hint for executors that overlap iterations.
      back_prop: without it no gradient is taken through the loop.
      swap_memory: a hint; accepted for compatibility.
      name: of the node.
      maximum_iterations: stops after that many, whatever `cond` says.
      return_same_structure: gives a list or tuple also for a single loop variable.

    Raises:
      TypeError: `cond` or `body` cannot be called, or a variable changes its dtype.
      ValueError: there are no loop variables, `body` returns another structure, or a
        variable's shape changes against its invariant.
    """
    _check_arguments(cond, body, loop_vars, parallel_iterations)
    if makes_classic(get_default_graph()):
        return classic_loop.build_loop(
            cond,
            body,
            loop_vars,
            shape_invariants,
            parallel_iterations,
            back_prop,
            swap_memory,
            name,
            maximum_iterations,
            return_same_structure,
        )
    is_limited = maximum_iterations is not None
    tally = Tally(get_default_graph())
    is_single = len(loop_vars) == 1 and not return_same_structure
    loop = _Loop(loop_vars, shape_invariants, is_limited, tally, is_single)
    with name_scope(name or "while") as scope:
        tensors = _counters(maximum_iterations, tally) + loop.tensors
        cond_graph, body_graph, result = loop.build(cond, body, tensors, scope)
        with tally.made_as(2 * loop.variables):  # NextIteration, Exit
            share_captures(cond_graph, body_graph)
            loop.check(body_graph, tensors)
            op = add_while_op(
                [*tensors, *body_graph.external_captures],
                cond_graph,
                body_graph,
                scope,
                parallel_iterations,
            )
            outputs = [identity_ops.identity(t) for t in op.outputs]
        op.__dict__["_back_prop"] = back_prop
        if tally.is_on:
            mark_as_classic(op)
    last = FIRST_LOOP_VAR + len(loop.tensors)
    packed = control_flow_values.pack(result, outputs[FIRST_LOOP_VAR:last])
    if loop.is_inner or return_same_structure or len(loop.tensors) != 1:
        return packed
    return packed[0] if tally.is_on else nest.flatten(packed)[0]


def _check_arguments(
    cond: Any, body: Any, loop_vars: Any, parallel_iterations: int
) -> None:
    if not callable(cond):
        raise TypeError("cond must be callable.")
    if not callable(body):
        raise TypeError("body must be callable.")
    if parallel_iterations < 1:
        raise TypeError("parallel_iterations must be a positive integer.")
    if isinstance(parallel_iterations, float):
        raise ValueError(
            f"parallel_iterations must be a positive integer: {parallel_iterations}"
        )
    if not loop_vars:
        raise ValueError("No loop variables provided")


def _counters(maximum_iterations: Any, tally: Tally) -> list[Tensor]:
    """The loop counter and the maximum, which is -1 for none."""
    if maximum_iterations is None:
        with tally.made_as(0):  # TensorFlow has neither
            return _counters(-1, tally)
    maximum = convert_to_tensor(maximum_iterations, name="maximum_iterations")
    if maximum.shape.rank != 0:
        raise ValueError(
            f"maximum_iterations must be a scalar, saw shape: {maximum.shape}"
        )
    counter = convert_to_tensor(0, dtype=maximum.dtype, name="loop_counter")
    return [counter, maximum]


class _Loop:
    """The user's loop variables: their structure, tensors and shape invariants.

    Args:
      is_limited: the iterations are counted, too.
      tally: of the graph that the loop is built in.
      is_single: there is one variable, which then is not in a list.
    """

    def __init__(
        self,
        loop_vars: Any,
        shape_invariants: Any,
        is_limited: bool,
        tally: Tally,
        is_single: bool,
    ) -> None:
        self._is_limited = is_limited
        self._tally = tally
        # TensorFlow makes a loop over (counter, loop_vars), and so compares the types
        # of lists and tuples.
        self.is_inner = is_limited and tally.is_on
        # What the body must return.
        self._wanted = loop_vars[0] if self.is_inner and is_single else loop_vars
        converted = nest.map_structure(_to_loop_var, list(loop_vars))
        self.structure = converted
        self.tensors: list[Tensor] = control_flow_values.flatten(converted)
        leaves = nest.flatten(converted)
        declared: list[Any] = [None] * len(leaves)
        if shape_invariants is not None:
            nest.assert_same_structure(self._wanted, shape_invariants)
            declared = nest.flatten(shape_invariants)
        self.shapes = [
            shape
            for leaf, invariant in zip(leaves, declared, strict=True)
            for shape in invariant_shapes(leaf, invariant)
        ]
        for tensor in self.tensors:
            tally.bring(tensor)

    @property
    def variables(self) -> int:
        """How many loop variables TensorFlow's loop has."""
        return len(self.tensors) + self._is_limited

    def build(
        self,
        cond: Callable[..., Any],
        body: Callable[..., Any],
        tensors: Sequence[Tensor],
        scope: str,
    ) -> tuple[FuncGraph, FuncGraph, Any]:
        """Builds test and body; returns them and the structure of the body's result."""
        frame = self._tally.frame()
        cond_graph, body_graph = (
            FuncGraph(
                func_graph.unique_function_name(scope, part), frame=frame, scope=scope
            )
            for part in ("cond", "body")
        )
        cond_graph.is_control_flow = body_graph.is_control_flow = True
        self._tally.add(2 * self.variables)  # Enter, Merge
        self._build_cond(cond_graph, cond, tensors)
        self._tally.add(1 + 2 * self.variables)  # LoopCond; Switch, Identity
        result = self._build_body(body_graph, body, tensors)
        return cond_graph, body_graph, result

    def _arguments(self, graph: FuncGraph, tensors: Sequence[Tensor]) -> list[Tensor]:
        shapes = [SCALAR, SCALAR, *self.shapes]
        return [
            graph.add_argument(
                t.dtype,
                shape,
                t.op.name if i < FIRST_LOOP_VAR else "placeholder",
                t._handle_data,
            )
            for i, (t, shape) in enumerate(zip(tensors, shapes, strict=True))
        ]

    def _user_arguments(self, arguments: Sequence[Tensor]) -> Any:
        return control_flow_values.pack(self.structure, arguments[FIRST_LOOP_VAR:])

    def _build_cond(
        self, graph: FuncGraph, cond: Callable[..., Any], tensors: Sequence[Tensor]
    ) -> None:
        """Builds the test: the user's, and the limit of iterations if there is one."""
        tally = Tally(graph)
        with graph.as_default():
            arguments = self._arguments(graph, tensors)
            if self._is_limited:
                tally.bring(tensors[1])
                tally.add(1)  # Less
            test = convert_to_tensor(cond(*self._user_arguments(arguments)))
            _check_test(test)
            if self._is_limited:
                with tally.made_as(1):  # LogicalAnd
                    below = apply_op("Less", x=arguments[0], y=arguments[1])
                    test = apply_op("LogicalAnd", x=below, y=test)
        graph.outputs = [test]
        keep_effects(graph)

    def _build_body(
        self, graph: FuncGraph, body: Callable[..., Any], tensors: Sequence[Tensor]
    ) -> Any:
        """Builds the body; returns the structure of its result."""
        tally = Tally(graph)
        with graph.as_default():
            arguments = self._arguments(graph, tensors)
            tally.add(2 if self._is_limited else 0)  # the counter goes up
            writes = SummaryWrites()
            result = body(*self._user_arguments(arguments))
            result = self._loop_vars_of(writes.before(result))
            outputs = control_flow_values.flatten(result)
            with tally.made_as(0):
                counter = apply_op("AddV2", x=arguments[0], y=1, name="add")
            graph.outputs = [counter, arguments[1], *map(graph.capture, outputs)]
            keep_effects(graph)
        return result

    def _loop_vars_of(self, result: Any) -> Any:
        """What the body returned, as tensors in the structure of the loop variables."""
        if self.is_inner:
            wanted, returned = self._wanted, result
        else:
            result = result if nest.is_nested(result) else [result]
            wanted, returned = self.structure, list(result)
        nest.assert_same_structure(wanted, returned, expand_composites=True)
        return nest.map_structure(_to_loop_var, result)

    def check(self, body_graph: FuncGraph, tensors: Sequence[Tensor]) -> None:
        """Compares what the body returns with what the loop starts with."""
        for tensor, output, shape in zip(
            tensors[FIRST_LOOP_VAR:],
            body_graph.outputs[FIRST_LOOP_VAR:],
            self.shapes,
            strict=False,
        ):
            if tensor.dtype.base_dtype != output.dtype.base_dtype:
                raise TypeError(
                    f"Loop var {tensor.name} enters the loop with type "
                    f"{tensor.dtype!r} but has type {output.dtype!r} after 1 iteration."
                )
            if not is_within(output.shape, shape):
                raise ValueError(
                    f"Input tensor '{tensor.name}' enters the loop with shape {shape}, "
                    f"but has shape {output.shape} after one iteration. To allow the "
                    "shape to vary across iterations, use the `shape_invariants` "
                    "argument of tf.while_loop to specify a less-specific shape."
                )


def _check_test(test: Tensor) -> None:
    if test.dtype.base_dtype != dtypes.bool:
        raise TypeError(
            f"cond must return a tensor of bool, not of {test.dtype.base_dtype.name}"
        )
    if test.shape.rank not in (0, None):
        raise ValueError(
            f"cond must return a scalar, not the shape {test.shape}: Shape must be "
            f"rank 0 but is rank {test.shape.rank}"
        )


def _to_loop_var(value: Any) -> Any:
    if isinstance(value, CompositeTensor) or control_flow_values.is_tensor_array(value):
        return value
    tensor = convert_to_tensor(value)
    if tensor.dtype._is_ref_dtype:  # the variable's value, not the variable
        with Tally(get_default_graph()).made_as(0):
            return identity_ops.identity(tensor)
    return tensor


# --- parts that the gradient shares -------------------------------------------------


def share_captures(cond_graph: FuncGraph, body_graph: FuncGraph) -> None:
    """Gives test and body the same captures; the body hands them on unchanged."""
    own = body_graph.inputs[: len(body_graph.inputs) - len(body_graph._originals)]
    for tensor in cond_graph.external_captures:
        body_graph.capture(tensor)
    captured = dict(
        sorted(
            body_graph._originals.items(),
            key=lambda pair: cond_graph.captured(pair[1]) is None,
        )
    )
    body_graph.inputs = [*own, *captured]
    body_graph._originals = captured
    body_graph.outputs = [*body_graph.outputs, *captured]
    for tensor in captured.values():
        cond_graph.capture(tensor)
    inside = {outside: t for t, outside in cond_graph._originals.items()}
    cond_graph.inputs = [
        *cond_graph.inputs[: len(own)],
        *(inside[t] for t in captured.values()),
    ]
    cond_graph.reset_captures((t, inside[t]) for t in captured.values())


def add_while_op(
    inputs: Sequence[Tensor],
    cond_graph: FuncGraph,
    body_graph: FuncGraph,
    name: str,
    parallel_iterations: int,
) -> Operation:
    """Adds the node over a finished test and body with the same arguments."""
    assert len(inputs) == len(body_graph.outputs) == len(body_graph.inputs)
    assert len(inputs) == len(cond_graph.inputs)
    graphs = (cond_graph, body_graph)
    outer = get_default_graph()
    for graph in graphs:
        outer.add_function(graph.to_function())
    op_type = "While" if any(g.is_stateful for g in graphs) else "StatelessWhile"
    control = [op for g in graphs for op in g.control_captures]
    with control_dependencies(control):
        op = functional_ops.call_op(
            op_type,
            inputs,
            name,
            cond=functional_ops.named(cond_graph.name),
            body=functional_ops.named(body_graph.name),
            output_shapes=[t.shape for t in body_graph.inputs],
            parallel_iterations=parallel_iterations,
        )
    for graph in graphs:
        # What the call passes: itself a capture if this is a body, too.
        pairs = zip(op.inputs, graph.inputs, strict=True)
        graph.reset_captures((o, t) for o, t in pairs if t in graph._originals)
    for inside, outside in zip(body_graph.outputs, op.outputs, strict=True):
        if outside._handle_data is None:
            outside._handle_data = inside._handle_data
    op.__dict__["_loop_graphs"] = graphs
    return op
