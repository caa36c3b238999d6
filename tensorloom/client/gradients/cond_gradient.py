"""The gradient of `If` and `Case`: an `If` or `Case` over the branches' gradients.

What the gradient of a branch reads of the branch becomes a further output of the
forward node; the other branches give a value in its place that nobody reads.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tensorloom.client.control_flow import cond
from tensorloom.client.functions import func_graph
from tensorloom.client.functions.func_graph import FuncGraph
from tensorloom.client.gradients import (
    body_graphs,
    gradient_aggregation,
    gradients,
    graph_mutation,
)
from tensorloom.client.gradients.gradient_graph import GradientGraph, gradient_scope
from tensorloom.client.gradients.gradient_zeros import is_trainable, zeros_of_variable
from tensorloom.framework.graph.classic_node_counts import Tally, is_classic
from tensorloom.framework.graph.default_graph import get_default_graph
from tensorloom.framework.registry.gradient_registry import RegisterGradient
from tensorloom.framework.types import dtypes, nest
from tensorloom.framework.types.indexed_slices import IndexedSlices
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.framework.types.tensor_shape import TensorShape
from tensorloom.ops.array import fill as fill_ops
from tensorloom.ops.array import shape as shape_ops
from tensorloom.ops.control_flow import functional as functional_ops
from tensorloom.ops.state import resource_variable as resource_variable_ops

if TYPE_CHECKING:
    from tensorloom.framework.graph.operation import Operation
    from tensorloom.framework.graph.tensor import Tensor


@RegisterGradient("If")
@RegisterGradient("StatelessIf")
def _if_grad(op: Operation, *grads: Any) -> list[Any]:
    return _branching_grad(op, grads, ("StatelessIf", "If"), "cond", None)


@RegisterGradient("Case")
@RegisterGradient("StatelessCase")
def _case_grad(op: Operation, *grads: Any) -> list[Any]:
    return _branching_grad(op, grads, ("Case", "Case"), "branch_index", "gradient")


def _branching_grad(
    op: Operation,
    grads: Sequence[Any],
    op_types: tuple[str, str],
    selector: str,
    name: str | None,
) -> list[Any]:
    if not is_classic(op):
        return _gradients(op, grads, op_types, selector, name)
    tally = Tally(get_default_graph())
    with tally.made_as(0):
        result = _gradients(op, grads, op_types, selector, name)
    tally.add(op.__dict__["_gradient_nodes"])
    return result


def _gradients(
    op: Operation,
    grads: Sequence[Any],
    op_types: tuple[str, str],
    selector: str,
    name: str | None,
) -> list[Any]:
    branches = body_graphs.branch_graphs(op)
    dense = [convert_to_tensor(g) if g is not None else None for g in grads]
    graphs = [
        BranchGradient(func_graph.unique_gradient_name(b.name), b, op, branches)
        for b in branches
    ]
    scope = gradient_scope()
    results = [graph.differentiate(dense, scope) for graph in graphs]
    rewrite_if_changed(op, branches)
    op.__dict__["_gradient_nodes"] = _classic_nodes(op, grads, graphs, results)
    wanted = _match_results(graphs, results)
    input_grads: list[Any] = [None] * len(op.inputs)
    if wanted:
        outputs = cond.add_branching_op(
            op_types, {selector: op.inputs[0]}, graphs, name
        )
        packed = nest.pack_sequence_as(
            graphs[0].structured_outputs, outputs, expand_composites=True
        )
        for index, gradient in zip(wanted, packed, strict=True):
            input_grads[1 + index] = gradient
            parts = sum(r[index] is not None for r in results)
            gradient_aggregation.set_parts(gradient, parts)
    return input_grads


# Shape, StridedSlice with three constants, Range with two: zeros as IndexedSlices.
_ZEROS_AS_ROWS = 8

# NoOp and two Identity.
GATE = 3


def _classic_nodes(
    op: Operation,
    grads: Sequence[Any],
    graphs: Sequence[BranchGradient],
    results: Sequence[list[Any]],
) -> int:
    """How many operations TensorFlow makes: see `classic_node_counts`."""
    # A Switch for each component of a gradient that comes in, and what gates its two
    # outputs.
    given = [g for g in grads if g is not None]
    nodes = sum(len(nest.flatten(g, expand_composites=True)) for g in given)
    nodes += GATE * len(given) if op.__dict__["_is_gated"] else 0
    outer = graphs[0].outer_reads()
    if given and outer is not None:
        nodes += outer.predicate()
    for graph, gradients_of_branch in zip(graphs, results, strict=True):
        nodes += graph.nodes
        for tensor, gradient in zip(
            graph.forward.inputs, gradients_of_branch, strict=True
        ):
            if isinstance(gradient, IndexedSlices):
                cast = gradient.indices.dtype != dtypes.int32
                parts = 2 + (gradient.dense_shape is not None)
                nodes += graph.reads.zeros(tensor) + _ZEROS_AS_ROWS + cast + parts
            elif gradient is not None:
                nodes += graph.reads.zeros(tensor) + 1  # Merge
    return nodes


def rewrite_if_changed(op: Operation, branches: Sequence[FuncGraph]) -> None:
    """Gives the forward node new functions where its branches give more than before."""
    grown = len(branches[0].outputs) != len(op._attrs["Tout"])
    if not grown and not any(b.is_changed for b in branches):
        return
    names = graph_mutation.replace_functions(
        op,
        branches,
        {
            "Tout": [t.dtype.base_dtype for t in branches[0].outputs],
            "output_shapes": [t.shape for t in op.outputs],
        },
    )
    op._attrs.update(cond.branch_attrs(op.type, names))


class BranchGradient(GradientGraph):
    """The gradient of one branch."""

    #: TensorFlow's gradient of a branch reads tensors where they are.
    entry_nodes = 0

    def __init__(
        self,
        name: str,
        forward: FuncGraph,
        op: Operation,
        branches: Sequence[FuncGraph],
    ) -> None:
        super().__init__(name, forward, op)
        self._branches = branches
        self.nodes = 0  # that gradient functions have made

    def differentiate(self, grads: Sequence[Any], scope: str) -> list[Any]:
        """The gradients of the branch's inputs (None where there is none)."""
        ys, grad_ys = [], []
        for y, grad in zip(self.forward.outputs, grads, strict=False):
            if grad is not None and is_trainable(y):
                ys.append(y)
                grad_ys.append(grad)
        xs = self.forward.inputs
        wanted = self.op.__dict__["_wanted_inputs"][1:]
        chosen = [i for i, x in enumerate(xs) if wanted[i] and is_trainable(x)]
        result: list[Any] = [None] * len(xs)
        if not ys or not chosen:
            return result
        before = self._node_count.value
        with self.as_default():
            found = gradients.build_gradients(
                ys,
                [xs[i] for i in chosen],
                grad_ys,
                name=scope,
                source_graph=self.forward,
                counts_gates=self.op.__dict__["_is_gated"],
            )
        self.nodes = self._node_count.value - before - len(ys)  # identities
        for i, gradient in zip(chosen, found, strict=True):
            result[i] = gradient
        return result

    def intermediate(self, tensor: Tensor) -> Tensor:
        """A further output of the forward node, with fake ones in other branches."""
        for branch in self._branches:
            if branch is self.forward:
                branch.outputs.append(tensor)
            else:
                with branch.as_default(), branch.control_dependencies(None):
                    fake = functional_ops.fake_param(tensor.dtype, tensor.shape)
                    fake._handle_data = tensor._handle_data
                    branch.outputs.append(fake)
        return FuncGraph.capture(self, graph_mutation.add_output(self.op, tensor))


def _match_results(
    graphs: Sequence[BranchGradient], results: Sequence[list[Any]]
) -> list[int]:
    """Sets the graphs' outputs; returns the indices of the inputs with a gradient.

    A branch that has none where another one has gives zeros, or no rows.
    """
    wanted = [
        i
        for i, found in enumerate(zip(*results, strict=True))
        if any(g is not None for g in found)
    ]
    for graph, gradients_of_branch in zip(graphs, results, strict=True):
        with graph.as_default():
            chosen = []
            for i in wanted:
                rows = _rows_of([r[i] for r in results], graph.forward.inputs[i])
                chosen.append(_as_result(graph, i, gradients_of_branch[i], rows))
        graph.structured_outputs = chosen
        flat = nest.flatten(chosen, expand_composites=True)
        graph.outputs = [graph.capture(t) for t in flat]
    if wanted:
        cond.match_index_types(graphs)
    return wanted


def _rows_of(gradients_of_branches: Sequence[Any], tensor: Tensor) -> Any:
    """An IndexedSlices of a branch if all branches can give rows, else None."""
    given = [g for g in gradients_of_branches if g is not None]
    if not all(isinstance(g, IndexedSlices) for g in given):
        return None
    if len(given) < len(gradients_of_branches) and (
        row_dims(tensor) is None or any(g.dense_shape is None for g in given)
    ):
        return None
    return given[0]


def _as_result(graph: BranchGradient, index: int, gradient: Any, rows: Any) -> Any:
    tensor = graph.forward.inputs[index]
    if gradient is None:
        return zeros_for(tensor) if rows is None else _no_rows(tensor, rows)
    return gradient if rows is not None else convert_to_tensor(gradient)


def _no_rows(tensor: Tensor, rows: IndexedSlices) -> IndexedSlices:
    """An IndexedSlices without rows, of the dtypes of another branch's."""
    dims = row_dims(tensor)
    assert dims is not None
    return IndexedSlices(
        fill_ops.zeros([0, *dims], dtype=rows.values.dtype),
        fill_ops.zeros([0], dtype=rows.indices.dtype),
        dense_shape_of(tensor, rows.dense_shape.dtype),
    )


def row_dims(tensor: Tensor) -> list[int] | None:
    """The dimensions of a row of a tensor, or of a variable, if they are known."""
    shape = tensor.shape
    if tensor.dtype == dtypes.resource:
        data = tensor._handle_data
        shape = data.shape if data is not None else TensorShape.of(None)
    dims = shape.dims_tuple
    if not dims or None in dims[1:]:
        return None
    return [d for d in dims[1:] if d is not None]


def dense_shape_of(tensor: Tensor, dtype: Any = dtypes.int32) -> Tensor:
    """The shape of a tensor, or of the variable behind a handle."""
    shape: Tensor
    if tensor.dtype == dtypes.resource:
        shape = resource_variable_ops.variable_shape(tensor, dtype)
    else:
        shape = shape_ops.shape(tensor, out_type=dtype)
    return shape


def zeros_for(tensor: Tensor) -> Tensor:
    """Zeros as the gradient of a tensor, or of the variable behind a handle."""
    zeros: Tensor
    if tensor.dtype == dtypes.resource:
        return zeros_of_variable(tensor)
    zeros = fill_ops.zeros_like(tensor)
    return zeros
