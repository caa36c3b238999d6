"""The graph of a MetaGraphDef, with what the message says of its use.

What is fetched comes from the collection `train_op` and from signatures; what the other
collections, the saver and the initialization name is kept.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tensorloom.client.importing.importer import import_graph_def
from tensorloom.framework import errors
from tensorloom.framework.graph.dataflow_graph import Graph
from tensorloom.framework.types.tensor_shape import TensorShape

if TYPE_CHECKING:
    from tensorloom.framework.graph.operation import Operation
    from tensorloom.framework.graph.tensor import Tensor

TRAIN_OP: Final = "train_op"
PLACEHOLDERS: Final = ("Placeholder", "PlaceholderV2")
# An attr of nodes that no pass may take out.
_KEPT: Final = "_grappler_do_not_remove"
_INITIALIZATIONS: Final = (
    *("init_op", "local_init_op", "main_op", "legacy_init_op"),
    "saved_model_main_op",
)


@dataclass(frozen=True, eq=False)
class ItemGraph:
    """A graph to look at. Two of them are equal if they are the same."""

    graph: Graph
    #: What a step is for, by name of the node.
    fetches: tuple[str, ...]
    #: What has to run before the first step.
    initializations: tuple[str, ...]
    #: Nodes that stay in the graph.
    kept: frozenset[str]
    producer: int

    def operations(self) -> list[Operation]:
        """All operations, as the message orders them."""
        return list(self.graph.get_operations())

    def needed(self) -> list[Operation]:
        """What the fetches depend on, producers first (back edges of loops aside)."""
        done: dict[str, Operation] = {}
        for name in self.fetches:
            _visit(self.graph.get_operation_by_name(name), done)
        return list(done.values())

    def enqueues(self) -> list[Operation]:
        """What the queue runners' operations depend on."""
        done: dict[str, Operation] = {}
        for operation in self.operations():
            if "QueueEnqueue" in operation.type:
                _visit(operation, done)
        return list(done.values())

    def feeds(self) -> dict[Tensor, Any]:
        """Zeros for each placeholder; a dim that is not known is 1."""
        return {
            operation.outputs[0]: _zeros(operation.outputs[0])
            for operation in self.needed()
            if operation.type in PLACEHOLDERS
        }


def item_graph(
    metagraph: Any,
    ignore_user_placement: bool = False,
    assume_valid_feeds: bool = True,
) -> ItemGraph | None:
    """Reads a MetaGraphDef; None where it does not tell what is fetched.

    Args:
      assume_valid_feeds: whether what is fed has the shape that its placeholder says;
        otherwise it has any.
    """
    fetches = _fetches(metagraph)
    names = {node.name for node in metagraph.graph_def.node}
    if not fetches or not names.issuperset(fetches):
        return None
    graph_def = type(metagraph.graph_def)()
    graph_def.CopyFrom(metagraph.graph_def)
    for node in graph_def.node:
        if ignore_user_placement:
            node.device = ""
        if not assume_valid_feeds and node.op in PLACEHOLDERS:
            node.attr["shape"].shape.Clear()
            node.attr["shape"].shape.unknown_rank = True
            node.attr.pop("_output_shapes", None)
    graph = Graph()
    try:
        with graph.as_default():
            import_graph_def(graph_def, name="")
    except (ValueError, errors.OpError):
        return None
    initializations = [name for name in _initializations(metagraph) if name in names]
    kept = {name for name in _collected(metagraph) if name in names}
    kept |= {node.name for node in graph_def.node if node.attr[_KEPT].b}
    kept |= {*fetches, *initializations}
    return ItemGraph(
        graph,
        tuple(fetches),
        tuple(initializations),
        frozenset(kept),
        graph_def.versions.producer,
    )


def _fetches(metagraph: Any) -> list[str]:
    collection = metagraph.collection_def.get(TRAIN_OP)
    found = list(collection.node_list.value) if collection is not None else []
    for signature in metagraph.signature_def.values():
        found += [info.name for info in signature.outputs.values()]
    return list(dict.fromkeys(_node_name(name) for name in found))


def _initializations(metagraph: Any) -> Iterable[str]:
    collections = metagraph.collection_def
    for key in _INITIALIZATIONS:
        if key in collections:
            yield from map(_node_name, collections[key].node_list.value)
    for key in ("variables", "local_variables"):
        for variable in _variables(metagraph, key):
            yield _node_name(variable.initializer_name)
    if "table_initializer" in collections:
        yield from map(_node_name, collections["table_initializer"].node_list.value)


def _variables(metagraph: Any, key: str) -> list[Any]:
    from tensorloom.protos.variable_pb2 import VariableDef

    if key not in metagraph.collection_def:
        return []
    return [
        VariableDef.FromString(serialized)
        for serialized in metagraph.collection_def[key].bytes_list.value
    ]


def _collected(metagraph: Any) -> Iterable[str]:
    """The nodes that collections and the saver name."""
    for key, collection in metagraph.collection_def.items():
        yield from map(_node_name, collection.node_list.value)
        if key.endswith("variables"):
            for variable in _variables(metagraph, key):
                named = (
                    variable.variable_name,
                    variable.initial_value_name,
                    variable.initializer_name,
                    variable.snapshot_name if variable.is_resource else "",
                )
                yield from map(_node_name, filter(None, named))
    saver = metagraph.saver_def
    for name in (saver.filename_tensor_name, saver.save_tensor_name):
        yield _node_name(name)
    yield _node_name(saver.restore_op_name)


def _node_name(name: str) -> str:
    return name.removeprefix("^").partition(":")[0]


def _visit(root: Operation, done: dict[str, Operation]) -> None:
    stack = [(root, False)]
    entered: set[str] = set()
    while stack:
        operation, is_left = stack.pop()
        if operation.name in done:
            continue
        if is_left:
            done[operation.name] = operation
            continue
        if operation.name in entered:
            continue
        entered.add(operation.name)
        stack.append((operation, True))
        producers = [tensor.op for tensor in operation.inputs]
        producers += operation.control_inputs
        stack += [(producer, False) for producer in reversed(producers)]


def _zeros(tensor: Tensor) -> Any:
    shape = tensor.shape if tensor.shape.rank is not None else TensorShape([])
    dims = [1 if dim is None else dim for dim in shape.as_list()]
    dtype = tensor.dtype.as_numpy_dtype
    if dtype is object:
        return np.full(dims, b"", dtype=object)
    return np.zeros(dims, dtype)
