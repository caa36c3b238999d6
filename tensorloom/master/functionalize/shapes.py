"""Static shapes in and after the loops and branches that were made functions.

A client does not know what shape a loop variable keeps, so a GraphDef has none; but
where the body gives the shape that it gets, all iterations have it. The worker needs
that to keep counters and other small values in host memory.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from tensorloom.framework.functional_op_types import IFS, LOOPS
from tensorloom.framework.graph_ir import FunctionIR, GraphIR, Node
from tensorloom.framework.node_shapes import Handles, infer_node
from tensorloom.framework.tensor_shape import UNKNOWN, TensorShape

if TYPE_CHECKING:
    from tensorloom.framework.shape_inference import HandleData

# A dim that changes is unknown after one more look, and then the rank may change.
_MAX_LOOKS = 5


def with_shapes(graph: GraphIR, own: Container[str]) -> GraphIR:
    """The graph with shapes inferred again where they are not fully known.

    Args:
      own: the functions that may be given shapes, each called by one node alone.
    """
    inference = _Inference(graph.functions, own)
    nodes, _ = inference.infer(graph.nodes.values(), {}, {})
    return GraphIR(nodes, inference.functions, graph.producer, graph.min_consumer)


class _Inference:
    def __init__(
        self, functions: Mapping[str, FunctionIR], own: Container[str]
    ) -> None:
        self.functions = dict(functions)
        self.own = own

    def infer(
        self, nodes: Iterable[Node], known: Mapping[str, Node], handles: Handles
    ) -> tuple[dict[str, Node], Handles]:
        """Nodes with their shapes, `known` ones among them."""
        done = dict(known)
        for node in nodes:
            if node.output_types and not _is_known(node.output_shapes):
                node = self._inferred(node, done, handles)
            done[node.name] = node
        return done, handles

    def _inferred(self, node: Node, done: Mapping[str, Node], handles: Handles) -> Node:
        shapes = list(infer_node(node, done, handles))
        inputs = [_shape_of(done, edge) for edge in node.inputs]
        data = [handles.get(edge) for edge in node.inputs]
        if node.op in LOOPS:
            if node.attrs["body"].name in self.own:
                shapes = self._loop(node, inputs, data)
        elif node.op in IFS and node.attrs["then_branch"].name in self.own:
            branches = [node.attrs["then_branch"].name, node.attrs["else_branch"].name]
            then, otherwise = [self._call(b, inputs[1:], data[1:]) for b in branches]
            shapes = _common(then, otherwise)
        old = node.output_shapes or (UNKNOWN,) * len(shapes)
        return node.replace(
            output_shapes=tuple(
                [n if o.rank is None else o for n, o in zip(shapes, old, strict=True)]
            )
        )

    def _loop(
        self,
        node: Node,
        shapes: list[TensorShape],
        data: Sequence[HandleData | None],
    ) -> list[TensorShape]:
        """The shapes that the variables have in all iterations."""
        body = node.attrs["body"].name
        for look in range(_MAX_LOOKS):
            common = _common(shapes, self._call(body, shapes, data))
            if [s.dims_tuple for s in common] == [s.dims_tuple for s in shapes]:
                break
            shapes = common if look < _MAX_LOOKS - 2 else [UNKNOWN] * len(shapes)
        self._call(node.attrs["cond"].name, shapes, data)
        return shapes

    def _call(
        self,
        name: str,
        shapes: Sequence[TensorShape],
        data: Sequence[HandleData | None],
    ) -> list[TensorShape]:
        """The results' shapes; the function is noted with the shapes inside."""
        function = self.functions[name]
        args: dict[str, Node] = {}
        handles: Handles = {}
        for index, arg in enumerate(function.arg_names):
            dtype, shape = function.arg_types[index], shapes[index]
            args[arg] = Node(arg, "_Arg", (), (), "", {}, (dtype,), (shape,))
            handle = data[index]
            if handle is not None:
                handles[arg, 0] = handle
        # What an earlier look found may have been too definite.
        fresh = [n.replace(output_shapes=None) for n in function.nodes.values()]
        done, _ = self.infer(fresh, args, handles)
        self.functions[name] = replace(
            function,
            nodes={n: node for n, node in done.items() if n not in args},
            arg_shapes=tuple(shapes),
        )
        return [_shape_of(done, edge) for edge in function.returns]


def _is_known(shapes: Sequence[TensorShape] | None) -> bool:
    return shapes is not None and all(s.is_fully_defined() for s in shapes)


def _shape_of(nodes: Mapping[str, Node], edge: tuple[str, int]) -> TensorShape:
    node = nodes.get(edge[0])
    if node is None or node.output_shapes is None:
        return UNKNOWN
    return node.output_shapes[edge[1]]


def _common(
    first: Sequence[TensorShape], second: Sequence[TensorShape]
) -> list[TensorShape]:
    """What both shapes say."""
    result = []
    for a, b in zip(first, second, strict=True):
        dims, others = a.dims_tuple, b.dims_tuple
        if dims is None or others is None or len(dims) != len(others):
            result.append(UNKNOWN)
        else:
            result.append(
                TensorShape.of(
                    tuple(
                        [
                            x if x == y else None
                            for x, y in zip(dims, others, strict=True)
                        ]
                    )
                )
            )
    return result
