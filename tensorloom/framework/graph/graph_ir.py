"""The light graph that master and worker pass around: nodes with decoded attrs.

A client's `Operation` knows its graph, its consumers and its user's source lines; a
`Node` is only what a GraphDef says, with the attrs decoded once. Passes are functions
from `GraphIR` to `GraphIR`; nodes are never changed in place, so graphs share them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from tensorloom.framework import errors
from tensorloom.framework.functions.classic_op_types import MERGES, NEXT_ITERATIONS

if TYPE_CHECKING:
    from tensorloom.framework.functions.function_problem import FunctionProblem
    from tensorloom.framework.types.dtypes import DType
    from tensorloom.framework.types.tensor_shape import TensorShape

# An output of a node: (the node's name, the output's index).
Edge = tuple[str, int]

# The versions that TensorFlow 1.15 writes into a GraphDef.
PRODUCER_VERSION = 134
MIN_CONSUMER_VERSION = 0
# An attr of functions that were made of nodes of the graph: these keep their names, by
# which programs know them, and which are unique in the whole graph.
GRAPH_NAMES = "_graph_names"
# An attr of `If`, `While` and the like: TensorFlow runs them as Switch and Merge, which
# take a scalar as predicate. Without it a tensor is true if it has elements.
LOWERED = "_lower_using_switch_merge"
# Beside it: the program did not say so, its client asks a master that may need asking.
LOWERED_FOR_MASTER = "_lower_for_master"
# An attr of `If`: TensorFlow would have made Switch and Merge, so that what a step does
# not read of the branches does not run in it.
READS_DECIDE = "_reads_decide"


@dataclass(slots=True, eq=False)
class Node:
    """One node. Treat as immutable: use `replace` for a changed copy."""

    name: str  # unique in its graph
    op: str  # op type, or the name of a function
    inputs: tuple[Edge, ...]
    control_inputs: tuple[str, ...]  # names of the nodes that must run before
    device: str  # requested, or (after placement) full device name
    attrs: dict[str, Any]  # decoded, defaults filled in
    output_types: tuple[DType, ...]  # flattened; reference dtypes kept
    output_shapes: tuple[TensorShape, ...] | None = None  # None: not inferred yet
    # The client operation, or the stack summary, that tells the user's source line.
    source: Any = None

    def replace(self, **changes: Any) -> Node:
        """A copy with some fields changed."""
        fields = {name: getattr(self, name) for name in _NODE_FIELDS}
        fields.update(changes)
        return Node(**fields)

    @property
    def producers(self) -> list[str]:
        """The nodes that it waits for, one for each edge; control inputs last."""
        return [*[name for name, _ in self.inputs], *self.control_inputs]

    def source_line(self) -> str | None:
        """`file.py:12` of the user's code that made the node, if known."""
        source = self.source
        if source is None or isinstance(source, str):
            return source
        line: str | None = source.source_line()
        return line


_NODE_FIELDS = tuple(Node.__dataclass_fields__)


@dataclass(slots=True, eq=False)
class FunctionIR:
    """A function: its signature and a body of nodes.

    Body nodes refer to an argument by (argument's name, 0).
    """

    name: str
    arg_names: tuple[str, ...]
    arg_types: tuple[DType, ...]
    output_names: tuple[str, ...]
    output_types: tuple[DType, ...]
    nodes: dict[str, Node]  # in topological order
    returns: tuple[tuple[str, int], ...]  # for each output: (node or arg, index)
    control_returns: tuple[str, ...] = ()  # nodes that must run, fetched or not
    attrs: dict[str, Any] = field(default_factory=dict)
    gradient: str = ""  # the gradient function's name, if one is registered
    is_stateful: bool = False
    arg_shapes: tuple[TensorShape, ...] | None = None
    #: Why it cannot be called, if it cannot. Then it has no nodes, and its arguments
    #: and results are only told where the problem says so.
    problem: FunctionProblem | None = None
    #: Nodes whose gradient a Python function makes, in the process that traced them.
    python_gradients: Mapping[str, Callable[..., Any]] = field(default_factory=dict)
    #: True when it came with a GraphDef: nobody traced it here.
    is_imported: bool = False

    def check(self) -> None:
        """Raises InvalidArgumentError or NotFoundError if it cannot be called."""
        if self.problem is not None:
            raise self.problem.error()

    def check_instantiation(self) -> None:
        """As `check`, but for what is wrong when kernels are made: when it runs."""
        if self.problem is not None and not self.problem.is_late:
            raise self.problem.error()


@dataclass(slots=True, eq=False)
class GraphIR:
    """Nodes by name, in topological order once `sort_topologically` has run."""

    nodes: dict[str, Node] = field(default_factory=dict)
    functions: dict[str, FunctionIR] = field(default_factory=dict)
    producer: int = PRODUCER_VERSION
    min_consumer: int = MIN_CONSUMER_VERSION
    #: Versions that must not read the graph, sorted.
    bad_consumers: tuple[int, ...] = ()

    def with_nodes(self, nodes: Iterable[Node]) -> GraphIR:
        """The same graph with other nodes."""
        return replace(self, nodes={node.name: node for node in nodes})


def sort_topologically(
    nodes: Mapping[str, Node], known: Iterable[str] = ()
) -> list[Node]:
    """Nodes ordered such that producers come first; stable in the given order.

    `known` names what may be an input without being a node (a function's arguments).
    The back edge of a classic loop (NextIteration -> Merge) is not followed.

    Raises:
      errors.InvalidArgumentError: an input does not exist, or there is a cycle.
    """
    done = set(known)
    if _is_sorted(nodes, done):
        return list(nodes.values())
    order: list[Node] = []
    for root in nodes.values():
        if root.name not in done:
            _visit(root, nodes, done, order)
    return order


def _is_sorted(nodes: Mapping[str, Node], known: set[str]) -> bool:
    """Whether all producers come first already, as most writers have it."""
    done = set(known)
    for name, node in nodes.items():
        for producer, _ in node.inputs:
            if producer not in done and not (
                node.op in MERGES and _is_back_edge(nodes.get(producer))
            ):
                return False
        for control in node.control_inputs:
            if control not in done:
                return False
        done.add(name)
    return True


def _visit(
    root: Node, nodes: Mapping[str, Node], done: set[str], order: list[Node]
) -> None:
    """Depth-first post-order from `root` without recursion."""
    open_nodes = {root.name}
    stack = [(root, iter(_predecessors(root, nodes)))]
    while stack:
        node, predecessors = stack[-1]
        for name in predecessors:
            if name in done:
                continue
            child = nodes.get(name)
            if child is None:
                raise errors.InvalidArgumentError(
                    None,
                    None,
                    f"Node '{node.name}': Unknown input node '{name}'",
                )
            if name in open_nodes:
                path = " -> ".join([n.name for n, _ in stack] + [name])
                raise errors.InvalidArgumentError(
                    None, None, f"Graph is invalid, contains a cycle: {path}"
                )
            open_nodes.add(name)
            stack.append((child, iter(_predecessors(child, nodes))))
            break
        else:
            stack.pop()
            open_nodes.discard(node.name)
            done.add(node.name)
            order.append(node)


def _predecessors(node: Node, nodes: Mapping[str, Node]) -> list[str]:
    if node.op in MERGES:
        names = [n for n, _ in node.inputs if not _is_back_edge(nodes.get(n))]
    else:
        names = [n for n, _ in node.inputs]
    return [*names, *node.control_inputs] if node.control_inputs else names


def _is_back_edge(node: Node | None) -> bool:
    return node is not None and node.op in NEXT_ITERATIONS
