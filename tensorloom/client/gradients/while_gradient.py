"""The gradient of `While`: a loop over the body's gradient, last iteration first.

What the gradient reads of an iteration is pushed on a list in the forward loop, one
list for each tensor, and popped in the backward loop. What all iterations share
(captures, and loop variables that never change) is passed in once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tensorloom.client.control_flow import while_loop
from tensorloom.client.functions import func_graph
from tensorloom.client.functions.func_graph import FuncGraph
from tensorloom.client.gradients import (
    body_graphs,
    gradients,
    graph_mutation,
    loop_dependencies,
)
from tensorloom.client.gradients.classic_gradient_size import (
    UNUSED_EXIT,
    accumulator_nodes,
    counter_nodes,
    loop_variable_nodes,
)
from tensorloom.client.gradients.cond_gradient import GATE, zeros_for
from tensorloom.client.gradients.gradient_graph import GradientGraph, gradient_scope
from tensorloom.client.gradients.gradient_zeros import (
    is_trainable,
    takes_gradient,
    takes_zeros,
)
from tensorloom.client.gradients.loop_sums import LoopSum, add_to_sum
from tensorloom.framework.graph.classic_node_counts import Tally, is_classic
from tensorloom.framework.graph.default_graph import get_default_graph
from tensorloom.framework.registry.gradient_registry import RegisterGradient
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.constant_value import constant_value
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.framework.types.tensor_shape import SCALAR, TensorShape
from tensorloom.ops.array import identity as identity_ops
from tensorloom.ops.control_flow import functional as functional_ops
from tensorloom.ops.lists import list_ops

if TYPE_CHECKING:
    from tensorloom.framework.graph.operation import Operation
    from tensorloom.framework.graph.tensor import Tensor

_COUNTER_TYPES = (dtypes.int32, dtypes.int64)


@RegisterGradient("While")
@RegisterGradient("StatelessWhile")
def _while_grad(op: Operation, *grads: Any) -> list[Any]:
    tally = Tally(get_default_graph())
    if not op.__dict__.get("_back_prop", True):
        tally.add(counter_nodes(None))
        return [None] * len(op.inputs)
    if not is_classic(op):
        return _gradients(op, grads)
    with tally.made_as(0):
        result = _gradients(op, grads)
    tally.add(op.__dict__["_gradient_nodes"])
    return result


def _gradients(op: Operation, grads: Sequence[Any]) -> list[Any]:
    wanted = op.__dict__["_wanted_inputs"]
    cond_graph, body_graph = body_graphs.loop_graphs(op)
    selected = [
        i
        for i, grad in enumerate(grads)
        if grad is not None and takes_gradient(body_graph.outputs[i])
    ]
    own = graph_mutation.own_output_count(op)
    unchanged = [
        i
        for i in sorted(loop_dependencies.unchanged_variables(body_graph, selected))
        if i < own and takes_zeros(op.outputs[i]) and wanted[i]
    ]
    maximum, total = _iterations(op, cond_graph, body_graph)
    counter = convert_to_tensor(0, dtype=total.dtype, name="grad_counter")
    starts = [convert_to_tensor(grads[i]) for i in selected]
    leading = [counter, maximum, total]
    graph = BodyGradient(
        func_graph.unique_gradient_name(body_graph.name), body_graph, op, cond_graph
    )
    graph.differentiate(selected, unchanged, leading, starts, gradient_scope())
    op.__dict__["_gradient_nodes"] = graph.classic_nodes(selected, starts)
    _rewrite_if_changed(op, cond_graph, body_graph)
    inputs = [*leading, *starts, *graph.external_captures]
    backward = while_loop.add_while_op(
        inputs,
        _counting_cond(func_graph.unique_gradient_name(cond_graph.name), graph),
        graph,
        f"{op.name}_grad",
        op._attrs["parallel_iterations"],
    )
    outputs = [identity_ops.identity(t) for t in backward.outputs]
    result: list[Any] = [None] * len(op.inputs)
    for position, i in enumerate(selected):
        result[i] = outputs[len(leading) + position]
    position_of = {
        argument: len(leading) + len(selected) + k
        for k, argument in enumerate(graph.internal_captures)
    }
    for i, total_gradient in graph.sums.items():
        result[i] = total_gradient.result(lambda t: backward.outputs[position_of[t]])
    return result


def _iterations(
    op: Operation, cond_graph: FuncGraph, body_graph: FuncGraph
) -> tuple[Tensor, Tensor]:
    """(most iterations of the loop, or -1; how many it made).

    `while_loop`, ours and TensorFlow's, has both in front of the user's variables. Any
    other `While` comes to count.
    """
    if _counts(op, body_graph):
        return op.inputs[1], op.outputs[0]
    known: tuple[Tensor, Tensor] | None = op.__dict__.get("_iterations")
    if known is None:
        outer = body_graph.outer_graph
        with outer.as_default(), outer.control_dependencies(None):
            zero = convert_to_tensor(0, dtype=dtypes.int32, name=f"{op.name}/counter")
            maximum = convert_to_tensor(
                -1, dtype=dtypes.int32, name=f"{op.name}/maximum"
            )
        _add_loop_input(zero, cond_graph, body_graph)
        with body_graph.as_default(), body_graph.control_dependencies(None):
            following = apply_op("AddV2", x=body_graph.inputs[-1], y=1, name="count")
        body_graph.outputs.append(following)
        graph_mutation.add_input(op, zero)
        known = maximum, graph_mutation.add_output(op, following)
        op.__dict__["_iterations"] = known
    return known


def _counts(op: Operation, body: FuncGraph) -> bool:
    if len(op.inputs) < 2 or any(
        t.dtype not in _COUNTER_TYPES or t.shape.rank != 0 for t in body.inputs[:2]
    ):
        return False
    following, maximum = map(_source, body.outputs[:2])
    if maximum is not body.inputs[1] or following.op.type not in ("Add", "AddV2"):
        return False
    start, (value, step) = constant_value(op.inputs[0]), following.op.inputs
    one = constant_value(step)
    return bool(
        value is body.inputs[0] and start is not None and start == 0 and one == 1
    )


def _source(tensor: Tensor) -> Tensor:
    while tensor.op.type == "Identity":
        tensor = tensor.op.inputs[0]
    return tensor


def _add_loop_input(
    outside: Tensor, cond_graph: FuncGraph, body_graph: FuncGraph
) -> None:
    """Gives test and body a further argument, which starts as `outside`."""
    for graph in (body_graph, cond_graph):
        inside = graph.add_argument(
            outside.dtype.base_dtype, SCALAR, outside.op.name, outside._handle_data
        )
        graph._captures[outside] = inside
        graph._originals[inside] = outside


def _counting_cond(name: str, body: FuncGraph) -> FuncGraph:
    """counter < iterations of the forward loop, with the arguments of `body`."""
    graph = FuncGraph(name)
    for t in body.inputs:
        graph.add_argument(t._dtype, t._shape, t._op._name, t._handle_data)
    with graph.as_default():
        graph.outputs = [apply_op("Less", x=graph.inputs[0], y=graph.inputs[2])]
    return graph


def _rewrite_if_changed(
    op: Operation, cond_graph: FuncGraph, body_graph: FuncGraph
) -> None:
    grown = len(body_graph.outputs) != len(op._attrs["T"])
    if not grown and not body_graph.is_changed and not cond_graph.is_changed:
        return
    names = graph_mutation.replace_functions(
        op,
        (cond_graph, body_graph),
        {
            "T": [t.dtype.base_dtype for t in body_graph.outputs],
            "output_shapes": [t.shape for t in op.outputs],
        },
    )
    op._attrs["cond"] = functional_ops.named(names[0])
    op._attrs["body"] = functional_ops.named(names[1])


class BodyGradient(GradientGraph):
    """The gradient of one iteration.

    Its arguments are a counter, the maximum, the number of iterations, and the
    gradients of what the iteration returned; it gives those of what it started with.
    """

    is_loop = True

    def __init__(
        self, name: str, forward: FuncGraph, op: Operation, cond_graph: FuncGraph
    ) -> None:
        super().__init__(name, forward, op)
        self._cond_graph = cond_graph
        # Captured list -> the list without what was popped; argument -> its next value.
        self._popped: dict[Tensor, Tensor] = {}
        # By loop variable that never changes: the gradient, added up.
        self.sums: dict[int, LoopSum] = {}
        self._found: dict[int, Any] = {}  # by loop variable: its gradient, or None
        self._nodes = 0  # that TensorFlow makes for what gradient functions do
        self._outputs_index = {t: i for i, t in enumerate(forward.outputs)}
        self._inputs_index = {t: i for i, t in enumerate(forward.inputs)}

    def differentiate(
        self,
        selected: Sequence[int],
        unchanged: Sequence[int],
        leading: Sequence[Tensor],
        starts: Sequence[Tensor],
        scope: str,
    ) -> None:
        """Builds the body of the backward loop.

        Args:
          selected: the loop variables with a gradient; `starts` are the gradients.
          unchanged: others, which iterations read and do not change.
        """
        forward = self.forward
        ys = [forward.outputs[i] for i in selected]
        xs = [forward.inputs[i] for i in selected]
        with self.as_default():
            for tensor in leading:
                self.add_argument(tensor.dtype, SCALAR, tensor.op.name)
            grad_ys = [
                self.add_argument(
                    start.dtype, _gradient_shape(x), f"grad_ys_{i}", start._handle_data
                )
                for i, (start, x) in enumerate(zip(starts, xs, strict=True))
            ]
            counter, maximum, total = self.inputs[: len(leading)]
            read = [forward.inputs[i] for i in unchanged]
            before = self._node_count.value
            found = gradients.build_gradients(
                ys,
                xs + read,
                grad_ys,
                name=scope,
                source_graph=forward,
                counts_gates=self.op.__dict__["_is_gated"],
            )
            self._nodes = self._node_count.value - before - len(ys)  # identities
            self._found = dict(zip([*selected, *unchanged], found, strict=True))
            results = [
                zeros_for(x) if g is None else convert_to_tensor(g)
                for x, g in zip(xs, found, strict=False)
            ]
            self._add_up(dict(zip(unchanged, found[len(xs) :], strict=True)))
            following = apply_op("AddV2", x=counter, y=1, name="add")
            outputs = [following, maximum, total, *map(self.capture, results)]
        self.outputs = outputs + [
            self._popped.get(t, t) for t in self.internal_captures
        ]
        self.structured_outputs = self.outputs

    def _add_up(self, gradients_by_variable: dict[int, Any]) -> None:
        for i, gradient in gradients_by_variable.items():
            if gradient is None:
                continue
            self.sums[i], following = add_to_sum(self, self.op.inputs[i], gradient)
            self._popped.update(zip(self.sums[i].arguments, following, strict=True))

    def classic_nodes(self, selected: Sequence[int], starts: Sequence[Tensor]) -> int:
        """How many operations TensorFlow makes for this gradient."""
        outer = self.outer_reads()
        nodes = counter_nodes(outer) + self._nodes
        gate = GATE if self.op.__dict__["_is_gated"] else 0
        wanted = {i for i, w in enumerate(self.op.__dict__["_wanted_inputs"]) if w}
        for i, start in zip(selected, starts, strict=True):
            behind = loop_dependencies.variables_needed_for(self.forward, [i])
            if wanted.isdisjoint(behind):
                nodes += 1  # Enter
            else:
                nodes += gate + loop_variable_nodes(start, self._found[i])
        own = graph_mutation.own_output_count(self.op)
        # A counter of floats takes part, too: see `maximum_iterations`.
        for i in (0, *range(while_loop.FIRST_LOOP_VAR, own)):
            argument = self.forward.inputs[i]
            is_variable = self.forward.original_of(argument) is None
            if i not in self._found:
                nodes += UNUSED_EXIT if is_variable and is_trainable(argument) else 0
            elif i not in selected and self._found[i] is not None:
                nodes += accumulator_nodes(self._found[i], outer, is_variable)
        return nodes

    def outside_value(self, tensor: Tensor) -> Tensor | None:
        """What is the same in all iterations is there before the loop."""
        index = self._inputs_index.get(tensor)
        if index is not None and self._outputs_index.get(tensor) == index:
            return self.op.inputs[index]
        return None

    def intermediate(self, tensor: Tensor) -> Tensor:
        """Pops the tensor's value in the iteration from a list of the forward loop."""
        accumulators = self.op.__dict__.setdefault("_accumulators", {})
        output = accumulators.get(tensor)
        if output is None:
            output = accumulators[tensor] = self._accumulate(tensor)
        inside = FuncGraph.capture(self, output)
        with self.control_dependencies(None):
            shorter, value = list_ops.tensor_list_pop_back(inside, tensor.dtype)
        self._popped[inside] = shorter
        value._handle_data = tensor._handle_data
        return value

    def _accumulate(self, tensor: Tensor) -> Tensor:
        """Makes the forward loop collect the tensor; returns the full list after it."""
        outer, body = self.forward.outer_graph, self.forward
        # Control dependencies around may depend on the loop itself.
        with outer.as_default(), outer.control_dependencies(None):
            outer._set_control_flow_context(self.op._control_flow_context)
            is_handle = tensor.dtype == dtypes.resource
            maximum = _iterations(self.op, self._cond_graph, body)[0]
            empty = list_ops.empty_tensor_list(
                TensorShape.of(None) if is_handle else tensor.shape,
                tensor.dtype.base_dtype,
                max_num_elements=maximum if maximum.dtype == dtypes.int32 else -1,
                name=f"{tensor.name}/accumulator".replace(":", "_"),
            )
        _add_loop_input(empty, self._cond_graph, body)
        with body.as_default(), body.control_dependencies(None):
            pushed = list_ops.tensor_list_push_back(body.inputs[-1], tensor)
        body.outputs.append(pushed)
        graph_mutation.add_input(self.op, empty)
        return graph_mutation.add_output(self.op, pushed)


def _gradient_shape(x: Tensor) -> TensorShape:
    """The shape that the gradient of a loop variable has in every iteration."""
    if x.dtype == dtypes.resource:
        data = x._handle_data
        return data.shape if data is not None else TensorShape.of(None)
    return x.shape
