"""What a master knows of a session: its graph, which only grows."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping

from tensorloom.framework import errors
from tensorloom.framework.functions.called_functions import called_functions
from tensorloom.framework.functions.classic_op_types import MERGES
from tensorloom.framework.functions.function_instances import with_instances
from tensorloom.framework.graph.graph_def import check_available
from tensorloom.framework.graph.graph_ir import GraphIR, Node, sort_topologically
from tensorloom.framework.registry import op_registry
from tensorloom.framework.types.message_tensor import with_message_constants


def extend(graph: GraphIR, addition: GraphIR) -> GraphIR:
    """The graph with new nodes and functions, in topological order.

    What calls functions with attrs comes to call instances of them.

    Raises:
      errors.InvalidArgumentError: a node exists already, an input does not exist, there
        is a cycle, or a function is called with ever other attrs.
      errors.NotFoundError: an op is not registered.
      errors.FailedPreconditionError: the graph needs a newer consumer.
    """
    functions = {**graph.functions, **addition.functions}
    addition = with_message_constants(with_instances(addition, functions))
    functions.update(addition.functions)
    check_ops(addition.nodes.values(), functions)
    nodes = dict(graph.nodes)
    is_changed = False
    for name, node in addition.nodes.items():
        old = nodes.get(name)
        if old is not None and node.source is not None and old.source is node.source:
            is_changed = True  # the client's own operation has grown
        elif old is not None:
            raise errors.InvalidArgumentError(
                None,
                None,
                f"GraphDef argument to Extend includes node '{name}', which was "
                "created by a previous call to Create or Extend in this session.",
            )
        nodes[name] = node
    if is_changed or not _is_sorted(addition.nodes.values(), graph.nodes):
        nodes = {node.name: node for node in sort_topologically(nodes)}
    return GraphIR(nodes, functions, addition.producer, addition.min_consumer)


def check_ops(nodes: Iterable[Node], functions: Mapping[str, object]) -> None:
    """Raises NotFoundError for a node whose op is neither registered nor a function."""
    known: set[str] = set()
    for node in nodes:
        op = node.op
        if op in known:
            continue
        if op_registry.find(op) is None and op not in functions:
            raise errors.NotFoundError(
                None,
                None,
                f"Op type not registered '{op}' in binary running on "
                f"{os.uname().nodename}. Make sure the Op and Kernel are registered "
                "in the binary running in this process.",
            )
        known.add(op)


def check_called_functions(graph: GraphIR) -> None:
    """Raises UnimplementedError for a call of what graphs of its version have no more.

    As in TensorFlow, what nobody calls may be as old as it likes.
    """
    for function in called_functions(graph).values():
        check_available((node.op for node in function.nodes.values()), graph.producer)


def _is_sorted(nodes: Iterable[Node], earlier: Mapping[str, Node]) -> bool:
    """Whether each node follows its inputs. A client's graphs nearly always are."""
    seen = set(earlier)
    for node in nodes:
        for name, _ in node.inputs:
            # The back edge of a loop comes from a later node.
            if name not in seen and node.op not in MERGES:
                return False
        for name in node.control_inputs:
            if name not in seen:
                return False
        seen.add(node.name)
    return True
