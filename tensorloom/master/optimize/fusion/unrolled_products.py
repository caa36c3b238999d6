"""Products of many steps with one matrix: what does not wait for a step is one product.

A recurrent network that is written out multiplies [input, state] by one matrix in each
step. Only the state waits for the step before:

before: y1 = MatMul(Concat(x1, h0), w) + b;  h1 = f(y1);  y2 = MatMul(Concat(x2, h1), w)
after:  p1, p2, ... = Split(MatMul(Concat(x1, x2, ...), w[:k]) + b)
        y1 = p1 + MatMul(h0, w[k:]);  h1 = f(y1);  y2 = p2 + MatMul(h1, w[k:])

and in its gradient only that of the state is waited for:

before: d1 = MatMul(g1, w, transpose_b);  dx1, dh0 = d1[:, :k], d1[:, k:];  d2 = ...
after:  dh0 = MatMul(g1, w[k:], transpose_b);  g0 = f(dh0);  ...
        dx1, dx2, ... = Split(MatMul(Concat(g1, g2, ...), w[:k], transpose_b))

Large products are the library's best; small ones do not fill its vectors, nor two
cores. The sums of the steps' gradients of w and b then take the same rows.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from tensorloom.framework.types import dtypes
from tensorloom.master.optimize.graph_view import GraphView
from tensorloom.master.optimize.rewritten_order import Exchange
from tensorloom.master.optimize.simplify.dead_nodes import remove_dead_nodes

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tensorloom.framework.graph.graph_ir import Edge, GraphIR, Node
    from tensorloom.master.optimize.target import OptimizeTarget

# Fewer steps are not worth the copies.
_LEAST_STEPS: Final = 4
# Of so many rows a product is as fast alone.
_MOST_ROWS: Final = 128
# Multiplications of one step below which its call counts, not what it computes.
_LEAST_WORK: Final = 1 << 20
# Elements of all steps' products, which live at one time then.
_MOST_ELEMENTS: Final = 1 << 25
_TYPES: Final = frozenset([dtypes.float32, dtypes.float64])


def batch_unrolled_products(graph: GraphIR, target: OptimizeTarget) -> GraphIR:
    """The graph with such products put together."""
    if not _may_have_steps(graph):
        return graph
    before = graph
    graph = _rewrite_groups(graph, target, _forward_key, _project_inputs)
    if graph is not before:
        graph = _rewrite_groups(graph, target, _weight_gradient_key, _share_rows)
    graph = _rewrite_groups(graph, target, _backward_key, _collect_gradients)
    if graph is before:
        return graph
    graph = _rewrite_groups(graph, target, _bias_gradient_key, _sum_rows)
    return remove_dead_nodes(graph, target)


def _may_have_steps(graph: GraphIR) -> bool:
    counts = Counter(
        n.inputs[1] for n in graph.nodes.values() if n.op in ("MatMul", "_FusedMatMul")
    )
    return any(count >= _LEAST_STEPS for count in counts.values())


def _rewrite_groups(
    graph: GraphIR,
    target: OptimizeTarget,
    key_of: Callable[[GraphView, Node], Any],
    rewrite: Callable[[GraphView, Sequence[Node]], GraphIR | None],
) -> GraphIR:
    """Rewrites one group of nodes of equal keys after the other.

    Each sees what became of the ones before: what two groups could do alone may be a
    cycle for both.
    """
    tried = set()
    while True:
        view = GraphView(graph, target.preserve)
        groups: dict[Any, list[Node]] = {}
        for node in graph.nodes.values():
            key = key_of(view, node)
            if key is not None and key not in tried:
                groups.setdefault(key, []).append(node)
        for key, members in groups.items():
            tried.add(key)
            after = rewrite(view, members)
            if after is not None:
                graph = after
                break
        else:
            return graph


def _is_product(view: GraphView, node: Node) -> bool:
    """Whether it is one step's product: small, but not so small that calls count."""
    if node.control_inputs or node.attrs["transpose_a"]:
        return False
    rows, matrix = view.dims(node.inputs[0]), view.dims(node.inputs[1])
    if node.output_types[0] not in _TYPES or rows is None or matrix is None:
        return False
    work = rows[0] * matrix[0] * matrix[1]
    return len(rows) == 2 and rows[0] <= _MOST_ROWS and work >= _LEAST_WORK


def _are_too_large(view: GraphView, members: Sequence[Node]) -> bool:
    rows, columns = view.dims((members[0].name, 0)) or (0, 0)
    return len(members) * rows * columns > _MOST_ELEMENTS


def _stack(
    change: Exchange,
    view: GraphView,
    before: Node,
    edges: Sequence[Edge],
    *,
    ordered: bool = False,
) -> tuple[Edge, Sequence[Edge]]:
    """These matrices under each other, and in which order."""
    known = view.stacked(edges, before.device, ordered=ordered)
    if known is not None:
        return (known.name, 0), known.inputs[:-1]
    axis = change.add_constant(before, f"{before.name}/rows/axis", 0)
    attrs = {"N": len(edges), "T": before.output_types[0], "Tidx": dtypes.int32}
    name = change.add(before, f"{before.name}/rows", "ConcatV2", (*edges, axis), attrs)
    return (name, 0), edges


def _part(
    change: Exchange, before: Node, matrix: Edge, start: int, dims: list[int]
) -> Edge:
    """Rows of a matrix from `start` on."""
    begin = change.add_constant(before, f"{before.name}/part/begin", [start, 0])
    size = change.add_constant(before, f"{before.name}/part/size", dims)
    attrs = {"T": before.output_types[0], "Index": dtypes.int32}
    name = f"{before.name}/part"
    return change.add(before, name, "Slice", (matrix, begin, size), attrs), 0


def _split(change: Exchange, before: Node, rows: Edge, count: int) -> str:
    """The matrices of the steps, from all under each other."""
    axis = change.add_constant(before, f"{before.name}/steps/axis", 0)
    attrs = {"T": before.output_types[0], "num_split": count}
    name = f"{before.name}/steps"
    return change.add(before, name, "Split", (axis, rows), attrs, count)


# --- the products of the steps --------------------------------------------------------


def _forward_key(view: GraphView, node: Node) -> Any:
    """What products of one matrix with [input, state] have in common."""
    if node.op not in ("MatMul", "_FusedMatMul") or not _is_product(view, node):
        return None
    fused = tuple(node.attrs.get("fused_ops", ()))
    if node.op == "_FusedMatMul" and (
        fused[:1] != (b"BiasAdd",) or node.attrs["num_args"] != 1
    ):
        return None
    pieces = view.columns(node.inputs[0])
    if node.attrs["transpose_b"] or pieces is None:
        return None
    widths = tuple([view.dims(edge) for edge in pieces])
    return node.op, node.inputs[1:], node.device, fused, widths


def _project_inputs(view: GraphView, members: Sequence[Node]) -> GraphIR | None:
    if len(members) < _LEAST_STEPS:
        return None
    steps: Any = [view.columns(node.inputs[0]) for node in members]
    waiting = view.followers(node.name for node in members)
    free = [i for i in (0, 1) if all(step[i][0] not in waiting for step in steps)]
    if len(free) != 1 or _are_too_large(view, members):
        return None
    (inputs,) = free
    state = 1 - inputs
    first = members[0]
    dims: Any = [view.dims(edge) for edge in steps[0]]
    columns = (view.dims(first.inputs[1]) or ())[1]
    starts = (0, dims[0][1])
    change = Exchange(view.graph)
    weights = [
        _part(change, first, first.inputs[1], starts[i], [dims[i][1], columns])
        for i in (0, 1)
    ]
    rows, order = _stack(change, view, first, [step[inputs] for step in steps])
    attrs = dict(first.attrs)
    if first.op == "_FusedMatMul":
        attrs["fused_ops"] = [b"BiasAdd"]
    operands = (rows, weights[inputs], *first.inputs[2:])
    product = change.add(first, f"{first.name}/inputs", first.op, operands, attrs)
    split = _split(change, first, (product, 0), len(members))
    activation = list(first.attrs.get("fused_ops", ()))[1:]
    places = {edge: i for i, edge in enumerate(order)}
    for node, step in zip(members, steps, strict=True):
        change.changed[node.name] = node.replace(
            op="_FusedMatMul",
            inputs=(step[state], weights[state], (split, places[step[inputs]])),
            attrs={
                **node.attrs,
                "fused_ops": [b"Add", *activation],
                "num_args": 1,
            },
        )
    return change.apply()


# --- their gradients ------------------------------------------------------------------


class _Cut(NamedTuple):
    """Columns of a product that a Slice takes."""

    start: int
    width: int


def _cuts(view: GraphView, node: Node) -> dict[_Cut, Node] | None:
    """The slices of columns that are all that anybody reads of a matrix."""
    readers, dims = view.only_readers(node), view.dims((node.name, 0))
    if not readers or dims is None:
        return None
    cuts = {}
    for reader in readers:
        if reader.op != "Slice" or reader.control_inputs:
            return None
        begin, size = view.constant(reader.inputs[1]), view.constant(reader.inputs[2])
        if begin is None or size is None or view.only_readers(reader) is None:
            return None
        if begin[0] or size[0] not in (dims[0], -1):
            return None
        width = dims[1] - begin[1] if size[1] == -1 else size[1]
        cuts[_Cut(begin[1], width)] = reader
    return cuts if len(cuts) == len(readers) else None


def _backward_key(view: GraphView, node: Node) -> Any:
    """What gradients of [input, state] have in common."""
    if node.op != "MatMul" or not node.attrs["transpose_b"]:
        return None
    if not _is_product(view, node) or _cuts(view, node) is None:
        return None
    return node.inputs[1], node.device, view.dims(node.inputs[0])


def _collect_gradients(view: GraphView, members: Sequence[Node]) -> GraphIR | None:
    steps: dict[str, dict[_Cut, Node]] = {}
    ends: dict[_Cut, list[Node]] = {}
    for node in members:
        steps[node.name] = _cuts(view, node) or {}
        for cut in steps[node.name]:
            ends.setdefault(cut, []).append(node)
    waited_for = view.origins(node.name for node in members)
    free = [
        cut
        for cut, nodes in ends.items()
        if len(nodes) >= _LEAST_STEPS
        and all(steps[n.name][cut].name not in waited_for for n in nodes)
    ]
    if not free or len(free) == len(ends) or _are_too_large(view, members):
        return None
    change = Exchange(view.graph, removed=set(steps))
    last = members[-1]
    matrix = last.inputs[1]
    columns = (view.dims(matrix) or ())[1]
    for cut, nodes in ends.items():
        # A part is needed by the first step that waits for it.
        before = last if cut in free else members[0]
        part = _part(change, before, matrix, cut.start, [cut.width, columns])
        slices = [steps[node.name][cut] for node in nodes]
        gradients = [node.inputs[0] for node in nodes]
        if cut not in free:
            for node, cut_out in zip(nodes, slices, strict=True):
                change.changed[cut_out.name] = node.replace(
                    name=cut_out.name,
                    inputs=(node.inputs[0], part),
                    output_shapes=cut_out.output_shapes,
                )
            continue
        rows, order = _stack(change, view, last, gradients)
        product = change.add(
            last, f"{last.name}/inputs", "MatMul", (rows, part), dict(last.attrs)
        )
        split = _split(change, last, (product, 0), len(nodes))
        places = {edge: i for i, edge in enumerate(order)}
        for gradient, cut_out in zip(gradients, slices, strict=True):
            change.moved[cut_out.name, 0] = (split, places[gradient])
            change.removed.add(cut_out.name)
    return change.apply()


# --- the gradients of the matrix and the bias -----------------------------------------


def _weight_gradient_key(view: GraphView, node: Node) -> Any:
    """The sum of products of [input, state] over the steps: each one for itself."""
    if node.op != "_SumOfMatMuls" or node.control_inputs:
        return None
    for edge in node.inputs[: len(node.inputs) // 2]:
        if view.columns(edge) is None:
            return None
        if len(view.only_readers(view.nodes[edge[0]]) or ()) != 1:
            return None
    return node.name


def _share_rows(view: GraphView, members: Sequence[Node]) -> GraphIR | None:
    """Takes the sum's rows from where they are under each other already."""
    (node,) = members
    count = len(node.inputs) // 2
    left: Any = [view.columns(edge) for edge in node.inputs[:count]]
    right = node.inputs[count:]
    known = [view.stacked([p[i] for p in left], node.device) for i in (0, 1)]
    shared = known[0] or known[1]
    if shared is None:
        return None
    index = 0 if known[0] is not None else 1
    steps = {pieces[index]: i for i, pieces in enumerate(left)}
    if len(steps) != count:
        return None
    order = [steps[edge] for edge in shared.inputs[:-1]]
    change = Exchange(view.graph)
    in_order = [right[i] for i in order]
    gradients, _ = _stack(change, view, node, in_order, ordered=True)
    attrs = {"transpose_a": True, "transpose_b": False, "T": node.attrs["T"]}
    parts: list[Edge] = []
    for i in (0, 1):
        rows: Edge = (shared.name, 0)
        if i != index:
            in_order = [left[j][i] for j in order]
            rows, _ = _stack(change, view, node, in_order, ordered=True)
        name = change.add(
            node, f"{node.name}/part", "MatMul", (rows, gradients), dict(attrs)
        )
        parts.append((name, 0))
    axis = change.add_constant(node, f"{node.name}/axis", 0)
    change.changed[node.name] = node.replace(
        op="ConcatV2",
        inputs=(*parts, axis),
        attrs={"N": 2, "T": node.attrs["T"], "Tidx": dtypes.int32},
    )
    return change.apply()


def _bias_gradient_key(view: GraphView, node: Node) -> Any:
    """The sum of a bias' gradients over the steps: each one for itself."""
    if node.op != "AddN" or node.control_inputs:
        return None
    for name, _ in node.inputs:
        gradient = view.nodes[name]
        if gradient.op != "BiasAddGrad" or gradient.control_inputs:
            return None
        if len(view.dims(gradient.inputs[0]) or ()) != 2:
            return None
    return node.name


def _sum_rows(view: GraphView, members: Sequence[Node]) -> GraphIR | None:
    (node,) = members
    gradients = [view.nodes[name] for name, _ in node.inputs]
    rows = view.stacked([g.inputs[0] for g in gradients], node.device)
    if rows is None or len(set(rows.inputs[:-1])) != len(gradients):
        return None
    change = Exchange(view.graph)
    change.changed[node.name] = gradients[0].replace(
        name=node.name, inputs=((rows.name, 0),), output_shapes=node.output_shapes
    )
    return change.apply()
