"""Products and convolutions in float16, with what is between them.

before: a = MatMul(x, w);  b = Relu(a);  c = MatMul(b, v);  d = Softmax(c)
after:  a = MatMul(half(x), half(w));  b = Relu(a);  c = MatMul(b, half(v))
        d = Softmax(float(c))

What `tf.train.experimental.enable_mixed_precision_graph_rewrite` asks for: TensorFlow's
`auto_mixed_precision`, for nodes on GPUs of compute capability 7.0 and above. In four
steps: ops that are allowed become float16. Denied ones stay float32, and so does what
their results reach through inferred and clear ops. Of the others, inferred and clear
ones between two that are float16 become it too, and clear ones beside any.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tensorloom.framework.registry import op_registry
from tensorloom.framework.types import dtypes
from tensorloom.master.optimize.precision import op_lists
from tensorloom.master.optimize.precision.typed_graph import Typed, TypedGraph
from tensorloom.master.optimize.rewriting import Rewriting, shows_variable

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph_ir import Edge, GraphIR, Node
    from tensorloom.master.optimize.target import OptimizeTarget

_SUFFIX = "AutoMixedPrecision"
# Old forms, whose statistics have the dtype of the data.
_WITH_OWN_STATISTICS = {
    "FusedBatchNorm": "FusedBatchNormV2",
    "FusedBatchNormGrad": "FusedBatchNormGradV2",
}


def use_half_precision(graph: GraphIR, target: OptimizeTarget) -> GraphIR:
    """The graph with float16 where it is safe, and casts around."""
    with_statistics = _with_own_statistics(graph, target)
    typed = TypedGraph(with_statistics)
    half = _Choice(with_statistics, target, typed).half()
    if not half:
        return graph
    return _Casting(with_statistics, target, typed, half).result()


def _with_own_statistics(graph: GraphIR, target: OptimizeTarget) -> GraphIR:
    def renewed(node: Node) -> Node:
        op = _WITH_OWN_STATISTICS.get(node.op)
        if op is None or not _may_change(node, target):
            return node
        return node.replace(op=op, attrs={**node.attrs, "U": dtypes.float32})

    return graph.with_nodes(renewed(node) for node in graph.nodes.values())


def _may_change(node: Node, target: OptimizeTarget) -> bool:
    return (
        node.name not in target.preserve
        and node.attrs.get("_AutoMixedPrecisionScopeInclude", True)
        and target.is_fast_in_half is not None
        and target.is_fast_in_half(node)
    )


class _Choice:
    """Which dtypes become float16."""

    def __init__(
        self, graph: GraphIR, target: OptimizeTarget, typed: TypedGraph
    ) -> None:
        self._nodes = graph.nodes
        self._target = target
        self._typed = typed

    def half(self) -> set[Typed]:
        """The dtypes of nodes that become float16."""
        typed = self._typed
        roots = [
            one
            for one in typed.all
            if self._op(one) in op_lists.ALLOWED and self._may_be_half(one)
        ]
        if not roots:
            return set()
        denied = self._denied()

        def is_inferred(one: Typed) -> bool:
            op = self._op(one)
            return (
                (op in op_lists.INFERRED or op in op_lists.CLEAR)
                and one not in denied
                and self._may_be_half(one)
            )

        behind = typed.reached(roots, [typed.after], is_inferred)
        half = typed.reached(roots, [typed.before], behind.__contains__)

        def is_clear(one: Typed) -> bool:
            return (
                self._op(one) in op_lists.CLEAR
                and one not in denied
                and self._may_be_half(one)
                # A summary of the variable shows what it was.
                and not self._reads_reference(one)
            )

        half = typed.reached(half, [typed.before, typed.after], is_clear)
        # A cast to float32 whose readers all cast back is one to float16.
        for one in typed.all:
            if (
                self._op(one) == "Cast"
                and one.attr == "DstT"
                and self._may_be_half(one)
                and typed.after.get(one)
                and all(reader in half for reader in typed.after[one])
            ):
                half.add(one)
        return half

    def _denied(self) -> set[Typed]:
        """What is numerically dangerous, or comes of it."""
        typed = self._typed
        denied = [one for one in typed.all if self._op(one) in op_lists.DENIED]
        inferred = [one for one in typed.all if self._op(one) in op_lists.INFERRED]
        is_clear = lambda one: self._op(one) in op_lists.CLEAR
        # Clear ones that nothing dangerous or inferred comes after do no harm.
        leading = typed.reached([*denied, *inferred], [typed.before], is_clear)
        return typed.reached(denied, [typed.after], leading.__contains__)

    def _op(self, one: Typed) -> str:
        return self._nodes[one.node].op

    def _may_be_half(self, one: Typed) -> bool:
        node = self._nodes[one.node]
        if one.dtype(node.attrs) is not dtypes.float32:
            return False
        op_def = op_registry.find(node.op)
        assert op_def is not None
        allowed = op_def.attrs[one.attr].allowed
        if allowed is not None and dtypes.float16 not in allowed:
            return False
        return _may_change(_in_half(node, {one}), self._target)

    def _reads_reference(self, one: Typed) -> bool:
        return any(
            shows_variable(self._nodes, edge, arguments=False)
            for edge in self._nodes[one.node].inputs
        )


def _in_half(node: Node, half: set[Typed]) -> Node:
    """The node with some of its dtypes changed to float16."""
    attrs = dict(node.attrs)
    for one in half:
        if one.place < 0:
            attrs[one.attr] = dtypes.float16
        else:
            changed = list(attrs[one.attr])
            changed[one.place] = dtypes.float16
            attrs[one.attr] = changed
    op_def = op_registry.find(node.op)
    assert op_def is not None
    types = tuple(op_def.output_types(attrs))
    return node.replace(attrs=attrs, output_types=types)


class _Casting:
    """The graph with dtypes changed, and casts where float16 and float32 meet."""

    def __init__(
        self,
        graph: GraphIR,
        target: OptimizeTarget,
        typed: TypedGraph,
        half: set[Typed],
    ) -> None:
        self._graph = graph
        self._rewriting = Rewriting(graph, target)
        self._typed = typed
        self._half = half
        self._of_node: dict[str, set[Typed]] = {}
        for one in half:
            self._of_node.setdefault(one.node, set()).add(one)

    def result(self) -> GraphIR:
        """The new graph."""
        for node in self._graph.nodes.values():
            inputs = tuple(
                self._input(node, port, edge) for port, edge in enumerate(node.inputs)
            )
            changed = self._of_node.get(node.name)
            new = node if inputs == node.inputs else node.replace(inputs=inputs)
            self._rewriting.keep(_in_half(new, changed) if changed else new)
        return self._rewriting.result()

    def _input(self, node: Node, port: int, edge: Edge) -> Edge:
        producer = self._graph.nodes[edge[0]]
        if producer.output_types[edge[1]].base_dtype is not dtypes.float32:
            return edge
        outputs = self._typed.outputs.get(edge[0])
        is_half = outputs is not None and outputs[edge[1]] in self._half
        inputs = self._typed.inputs.get(node.name)
        wants_half = inputs is not None and inputs[port] in self._half
        return edge if is_half == wants_half else self._cast(node, port, edge, is_half)

    def _cast(self, node: Node, port: int, edge: Edge, is_half: bool) -> Edge:
        """A cast of an output: one for all readers, unless it shows a variable."""
        producer = self._rewriting.nodes[edge[0]]
        kind = "CastToFp32" if is_half else "CastToFp16"
        waits: tuple[str, ...] = ()
        if self._rewriting.shows_variable(edge):
            # It reads at the moment at which the node did: after all that came before.
            name = f"{node.name}-{port}-{kind}-{_SUFFIX}"
            others = (name for name in node.producers if name != edge[0])
            waits = tuple(dict.fromkeys(others))
        else:
            name = f"{edge[0]}-{edge[1]}-{kind}-{_SUFFIX}"
        if name not in self._rewriting.nodes:
            to = dtypes.float32 if is_half else dtypes.float16
            source = dtypes.float16 if is_half else dtypes.float32
            shapes = producer.output_shapes
            self._rewriting.keep(
                producer.replace(
                    name=name,
                    op="Cast",
                    inputs=(edge,),
                    control_inputs=waits,
                    attrs={"SrcT": source, "DstT": to, "Truncate": False},
                    output_types=(to,),
                    output_shapes=None if shapes is None else (shapes[edge[1]],),
                )
            )
        return name, 0
