"""The reverse walk of `tf.gradients`: from the ys back to the xs, op by op.

Each op on a path from an x to a y waits until all its consumers on such paths have
sent their gradients (its pending count is zero), then its gradient function runs.
Nothing here recurses and each edge is looked at a fixed number of times, so the walk
is linear in the size of the graph.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tensorloom.client.compilation import jit_scope
from tensorloom.client.functions.captures import (
    captured_consumers,
    enclosing_functions,
    original_of_capture,
)
from tensorloom.client.functions.func_graph import FuncGraph
from tensorloom.client.gradients import gradient_aggregation, graph_mutation
from tensorloom.client.gradients.gradient_zeros import (
    BACKPROPAGATABLE,
    takes_zeros,
    zeros_like,
)
from tensorloom.framework.functions.functional_op_types import BRANCHES, CALLS, LOOPS
from tensorloom.framework.graph.classic_node_counts import is_classic
from tensorloom.framework.graph.default_graph import get_default_graph
from tensorloom.framework.graph.tensor import Tensor
from tensorloom.framework.registry.gradient_registry import (
    find_gradient,
    get_gradient_function,
)
from tensorloom.framework.types import dtypes
from tensorloom.ops.control_flow import builders as control_flow_ops

if TYPE_CHECKING:
    from tensorloom.framework.graph.dataflow_graph import Graph
    from tensorloom.framework.graph.operation import Operation


@dataclass(frozen=True, slots=True)
class WalkOptions:
    """What the caller of `tf.gradients` asked for."""

    colocate: bool  # gradient ops go to the device of the op they belong to
    gate: bool  # all gradients of an op are made before any is used
    aggregation_method: int
    stop_ops: Sequence[Operation]  # not differentiated
    # TensorFlow gates the nodes of this body: see
    # framework/graph/classic_node_counts.py.
    counts_gates: bool = False


class GradientWalk:
    """One walk. `run` gives the gradient that has reached each tensor."""

    def __init__(
        self,
        ys: Sequence[Tensor],
        xs: Sequence[Any],
        grad_ys: Sequence[Any],
        source_graph: Graph,
        options: WalkOptions,
    ) -> None:
        self._xs = frozenset(x for x in xs if isinstance(x, Tensor))
        self._source_graph = source_graph
        self._options = options
        # For each op, the gradients received by each output; once the op has been
        # visited, their sum (or None) in place of the list.
        self._gradients: dict[Operation, list[Any]] = {}
        self._ways_out: set[Tensor] = set()
        self._to_ops = [y.op for y in ys]
        self._from_ops = [x.op for x in xs]
        reached = self._reached_ops(enclosing_functions(source_graph))
        self._roots = [op for op in dict.fromkeys(self._to_ops) if op in reached]
        self._pending = self._count_pending(reached)
        self._stop_ops = self._find_stop_ops()
        for y, grad_y in zip(ys, grad_ys, strict=True):
            self._add_gradient(y, grad_y)

    # --- the subgraph between xs and ys ---------------------------------------------

    def _reached_ops(self, functions: Sequence[FuncGraph]) -> set[Operation]:
        """The ops that a change of the xs can reach through differentiable tensors."""
        reached: set[Operation] = set()
        stack = list(self._from_ops)
        while stack:
            op = stack.pop()
            if op in reached:
                continue
            reached.add(op)
            for output in op._outputs:
                if output._dtype.base_dtype.name in BACKPROPAGATABLE:
                    stack.extend(output._consumers)
                    if functions:
                        stack.extend(captured_consumers(output, functions))
        return reached

    def _count_pending(self, reached: set[Operation]) -> dict[Operation, int]:
        """For each op between xs and ys, how many edges lead from it to such ops."""
        between = self._ops_between(reached)
        pending = dict.fromkeys(between, 0)
        for op in between:
            for tensor in self._inputs(op):
                producer = tensor._op
                if producer in pending:
                    pending[producer] += 1
        return pending

    def _ops_between(self, reached: set[Operation]) -> dict[Operation, None]:
        """The ops between xs and ys, those next to the ys first."""
        between: dict[Operation, None] = {}
        queue = deque(self._to_ops)
        while queue:
            op = queue.popleft()
            if op in reached and op not in between:
                between[op] = None
                queue.extend([t._op for t in self._inputs(op)])
        return between

    def _find_stop_ops(self) -> set[Operation]:
        """Ops of xs with no other x behind them, and those the caller named."""
        pending = self._pending
        stop = set(self._options.stop_ops)
        for op in self._from_ops:
            if not any(pending.get(t._op, 0) for t in self._inputs(op)):
                stop.add(op)
        return stop

    def _inputs(self, op: Operation) -> Sequence[Tensor]:
        """The op's inputs; in a function body, captured ones as they are outside."""
        graph = op._graph
        if not isinstance(graph, FuncGraph):
            return op._inputs
        return [t if t in self._xs else original_of_capture(t) for t in op._inputs]

    # --- the walk -------------------------------------------------------------------

    def run(self) -> None:
        """Calls the gradient functions of the ops between, last ones first."""
        pending = self._pending
        queue = deque(op for op in self._roots if not pending.get(op))
        while queue:
            op = queue.popleft()
            inputs = self._inputs(op)
            with self._placed_like(op):
                gradients = self._differentiate(op, self._aggregate(op))
                for i, (tensor, gradient) in enumerate(
                    zip(inputs, gradients, strict=False)
                ):
                    if gradient is not None:
                        if tensor is not op._inputs[i] and tensor._op in pending:
                            self._count_way_out(op._inputs[i])
                        self._check_shape(op, tensor, gradient)
                        self._add_gradient(tensor, gradient)
            for tensor in inputs:
                producer = tensor._op
                left = pending.get(producer)
                if left is not None:
                    pending[producer] = left - 1
                    if left == 1:
                        queue.append(producer)

    def _count_way_out(self, argument: Tensor) -> None:
        """Counts TensorFlow's nodes for a gradient that leaves branches around it.

        Switch, Identity, Shape, Const, Fill and Merge.
        """
        graph: Any = argument._op._graph
        if graph is not get_default_graph() or argument in self._ways_out:
            return
        self._ways_out.add(argument)
        while isinstance(graph, FuncGraph) and argument._op._graph is graph:
            if graph.is_branch:
                graph._node_count.value += 6
            original = graph.original_of(argument)
            if original is None:
                return
            argument, graph = original, graph.outer_graph

    def finish(self) -> None:
        """What is left to do outside of the name scope of the gradients."""

    def gradient_of(self, tensor: Tensor) -> tuple[bool, Any]:
        """(whether anything has reached the tensor's op, its gradient or None)."""
        received = self._gradients.get(tensor._op)
        if received is None:
            return False, None
        gradient = received[tensor._value_index]
        assert not isinstance(gradient, list), "the op has not been visited"
        return True, gradient

    def _aggregate(self, op: Operation) -> list[Any] | None:
        """Adds up what each of the op's outputs received."""
        received = self._gradients.get(op)
        if received is not None:
            method = self._options.aggregation_method
            for i, gradients in enumerate(received):
                # The Switch of a classic loop comes twice: see `loop_walk`.
                if isinstance(gradients, list):
                    received[i] = (
                        gradient_aggregation.aggregate(gradients, op, method)
                        if gradients
                        else None
                    )
        return received

    def _differentiate(
        self, op: Operation, received: list[Any] | None
    ) -> Sequence[Any]:
        """The gradients of the op's inputs."""
        if received is None or op in self._stop_ops or all(g is None for g in received):
            return ()
        function = self._gradient_function(op)
        if function is None:
            return ()
        # Outputs that an earlier gradient added are read by gradients alone; without
        # one of their own they count for nothing.
        own = graph_mutation.own_output_count(op)
        given = list(received)
        for output in _differentiated(op, op._outputs[:own], received):
            if received[output._value_index] is None and takes_zeros(output):
                received[output._value_index] = self._zeros_like(output)
        gradients = self._call(op, function, received)
        if op._type in BRANCHES or op._type in LOOPS:
            from tensorloom.client.gradients import unread_results

            return unread_results.add_zeros(op, given, gradients)
        return gradients

    def _gradient_function(self, op: Operation) -> Any:
        try:
            if self._source_graph.has_plain_gradients:
                return find_gradient(op._type) if op._inputs else None
            return get_gradient_function(op)
        except LookupError:
            pass
        # A call may name another process's gradient: that of any call is right, too.
        if op._type in CALLS or self._source_graph._is_function(op._type):
            return find_gradient("PartitionedCall")
        raise LookupError(
            f"No gradient defined for operation '{op.name}' (op type: {op.type})"
        )

    def _call(
        self, op: Operation, function: Any, arguments: Sequence[Any]
    ) -> Sequence[Any]:
        if op._type in BRANCHES or op._type in LOOPS:
            wanted = [t._op in self._pending for t in self._inputs(op)]
            op.__dict__["_wanted_inputs"] = wanted
            op.__dict__["_is_gated"] = self._options.gate or self._options.counts_gates
        graph = get_default_graph()
        marked = jit_scope.gradients_scope(op, graph.get_name_scope() or "")
        outer_scope = graph.enter_name_scope(op._name + "_grad")[1]
        try:
            with marked:
                result = function(op, *arguments)
            gradients: Sequence[Any] = (
                result if isinstance(result, (list, tuple)) else [result]
            )
            # The gradient function of a loop adds inputs to it.
            if op._type not in LOOPS and len(gradients) != len(op._inputs):
                raise ValueError(
                    f"Num gradients {len(gradients)} generated for op {op.node_def} "
                    f"do not match num inputs {len(op._inputs)}"
                )
            if self._options.gate:
                gradients = self._gated(op, gradients)
            elif self._options.counts_gates and not is_classic(op):
                graph._node_count.value += _gate_nodes(gradients)
        finally:
            graph._name_stack = outer_scope
        return gradients

    def _gated(self, op: Operation, gradients: Sequence[Any]) -> Sequence[Any]:
        if not is_classic(op):
            return _gated(gradients)
        with get_default_graph()._node_count.made_as(0):
            return _gated(gradients)  # TensorFlow gates what it makes instead

    def _placed_like(self, op: Operation) -> AbstractContextManager[None]:
        if not self._options.colocate:
            return _NOWHERE
        return get_default_graph().colocate_with(op)

    def _check_shape(self, op: Operation, tensor: Tensor, gradient: Any) -> None:
        """A gradient has the shape of its tensor; both statements are merged."""
        if not isinstance(gradient, Tensor):
            return
        mine, other = gradient._shape, tensor._shape
        if mine is other or mine.dims_tuple == other.dims_tuple:
            return
        if tensor._dtype == dtypes.resource:
            return
        try:
            gradient.set_shape(other)
        except ValueError:
            raise ValueError(
                "Incompatible shapes between op input and calculated input gradient.  "
                f"Forward operation: {op.name}.  Input index: "
                f"{self._inputs(op).index(tensor)}. Original input shape: "
                f"{tensor.shape}.  Calculated input gradient shape: {gradient.shape}"
            ) from None

    def _add_gradient(self, tensor: Tensor, gradient: Any) -> None:
        op = tensor._op
        received = self._gradients.get(op)
        if received is None:
            received = self._gradients[op] = [[] for _ in op._outputs]
        received[tensor._value_index].append(gradient)

    def _zeros_like(self, tensor: Tensor) -> Any:
        """The gradient of an output that the ys do not depend on."""
        return zeros_like(tensor)


_NOWHERE: AbstractContextManager[None] = nullcontext()


def _differentiated(
    op: Operation, outputs: Sequence[Tensor], received: Sequence[Any]
) -> Sequence[Tensor]:
    """The outputs that the gradient function is to get gradients of, zeros if need be.

    Branches and loops are walked through for those outputs alone that the ys depend
    on: zeros for the others would become NaN at a logarithm of zero.
    """
    if op._type in BRANCHES:
        return ()
    if op._type in LOOPS:
        from tensorloom.client.gradients import body_graphs, loop_dependencies

        body = body_graphs.loop_graphs(op)[1]
        given = [i for i, gradient in enumerate(received) if gradient is not None]
        behind = loop_dependencies.variables_needed_for(body, given)
        behind -= loop_dependencies.unchanged_variables(body, given)
        return [output for output in outputs if output._value_index in behind]
    return outputs


def _gate_nodes(gradients: Sequence[Any]) -> int:
    """How many operations `_gated` makes."""
    given = sum(g is not None for g in gradients)
    return given + 1 if given > 1 else 0


def _gated(gradients: Sequence[Any]) -> Sequence[Any]:
    if sum(g is not None for g in gradients) < 2:
        return gradients
    # Beside nothing but the gradients: not on the device or the variable of the op.
    graph = get_default_graph()
    with graph.device(None), graph.colocate_with(None, ignore_existing=True):
        gated: Sequence[Any] = control_flow_ops.tuple(gradients)
    return gated
