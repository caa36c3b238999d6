"""Collections of a graph in a MetaGraphDef: which protos their items become.

Some collections hold variables, queue runners or savers: they have protos of their
own. Others hold operations and tensors, which go by name, or plain values.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

from tensorloom.client.importing.scoped_names import strip_scope
from tensorloom.client.program import program_log
from tensorloom.client.variables.base_resource_variable import BaseResourceVariable
from tensorloom.client.variables.ref_variable import RefVariable
from tensorloom.framework.graph.graph import GraphKeys, get_default_graph
from tensorloom.framework.registry import late_modules

UNBOUND_INPUT_PREFIX = "$unbound_inputs_"


@dataclass(frozen=True, slots=True)
class ProtoFunctions:
    """How the items of a collection become protos, and come back."""

    proto_type: Callable[[], Any]  # makes the message class: it is loaded when needed
    to_proto: Callable[..., Any]
    from_proto: Callable[..., Any]


_functions: dict[str, ProtoFunctions] = {}


def register_proto_function(
    collection_name: str,
    proto_type: Callable[[], Any],
    to_proto: Callable[..., Any],
    from_proto: Callable[..., Any],
) -> None:
    """Says how the items of a collection become protos, and come back.

    Args:
      proto_type: returns the message class.
      to_proto: `(item, export_scope=None)` -> message, or None to leave it out.
      from_proto: `(message, import_scope=None)` -> item.
    """
    # A program's own registration replaces that of a module that is not loaded yet.
    late_modules.load("collection", collection_name)
    _functions[collection_name] = ProtoFunctions(proto_type, to_proto, from_proto)


def proto_functions(key: str) -> ProtoFunctions | None:
    """Those of a collection; None where items go by name or value."""
    if key not in _functions:
        late_modules.load("collection", key)
    return _functions.get(key)


def _variable_def() -> Any:
    from tensorloom.protos import variable_pb2

    return variable_pb2.VariableDef


def _variable_from_proto(proto: Any, import_scope: str | None = None) -> Any:
    kind: Any = BaseResourceVariable if proto.is_resource else RefVariable
    return kind.from_proto(proto, import_scope=import_scope)


def _to_proto(item: Any, export_scope: str | None = None) -> Any:
    return item.to_proto(export_scope=export_scope)


def _queue_runner_def() -> Any:
    from tensorloom.protos import queue_runner_pb2

    return queue_runner_pb2.QueueRunnerDef


def _queue_runner(proto: Any, import_scope: str | None = None) -> Any:
    from tensorloom.train.inputs.queue_runner import QueueRunner

    return QueueRunner.from_proto(proto, import_scope)


def _cond_context_def() -> Any:
    from tensorloom.protos import control_flow_pb2

    return control_flow_pb2.CondContextDef


def _while_context_def() -> Any:
    from tensorloom.protos import control_flow_pb2

    return control_flow_pb2.WhileContextDef


def _context_to_proto(item: Any, export_scope: str | None = None) -> Any:
    from tensorloom.client.control_flow import control_flow_protos

    return control_flow_protos.to_proto(item, export_scope)


def _cond_context(proto: Any, import_scope: str | None = None) -> Any:
    from tensorloom.client.control_flow import control_flow_protos

    return control_flow_protos.from_proto("cond_ctxt", proto, import_scope)


def _while_context(proto: Any, import_scope: str | None = None) -> Any:
    from tensorloom.client.control_flow import control_flow_protos

    return control_flow_protos.from_proto("while_ctxt", proto, import_scope)


for _key in (
    GraphKeys.GLOBAL_VARIABLES,
    GraphKeys.TRAINABLE_VARIABLES,
    GraphKeys.MOVING_AVERAGE_VARIABLES,
    GraphKeys.LOCAL_VARIABLES,
    GraphKeys.MODEL_VARIABLES,
    GraphKeys.METRIC_VARIABLES,
    GraphKeys.GLOBAL_STEP,
):
    register_proto_function(_key, _variable_def, _to_proto, _variable_from_proto)
register_proto_function(
    GraphKeys.QUEUE_RUNNERS, _queue_runner_def, _to_proto, _queue_runner
)
register_proto_function(
    GraphKeys.COND_CONTEXT, _cond_context_def, _context_to_proto, _cond_context
)
register_proto_function(
    GraphKeys.WHILE_CONTEXT, _while_context_def, _context_to_proto, _while_context
)


# --- export --------------------------------------------------------------------------


def should_include(
    item: Any, export_scope: str | None, exclude_nodes: Collection[str] | None
) -> bool:
    """Whether an item of a collection, or a node by its name, is exported."""
    name = item if isinstance(item, str) else getattr(item, "name", None)
    if not isinstance(name, str):
        return True  # what has no name is kept
    if exclude_nodes and name in exclude_nodes:
        return False
    return (
        name.startswith(UNBOUND_INPUT_PREFIX)
        or not export_scope
        or name.startswith(export_scope)
    )


def _kind(item: Any) -> str:
    if isinstance(item, str | bytes):
        return "bytes_list"
    if isinstance(item, int):
        return "int64_list"
    if isinstance(item, float):
        return "float_list"
    # Programs make them of protobuf's class, imports of that of our own pool.
    message = getattr(item, "DESCRIPTOR", None)
    is_any = message is not None and message.full_name == "google.protobuf.Any"
    return "any_list" if is_any else "node_list"


def add_collection_def(
    meta_graph_def: Any,
    key: Any,
    graph: Any = None,
    export_scope: str | None = None,
    exclude_nodes: Collection[str] | None = None,
    override_contents: Any = None,
) -> None:
    """Adds a collection to a MetaGraphDef; one that cannot be is left out, and said.

    Args:
      override_contents: items in place of those of the graph.
    """
    if not isinstance(key, str | bytes):
        program_log.warning(
            "Only collections with string type keys will be serialized. This key has "
            "%s",
            type(key),
        )
        return
    graph = graph or get_default_graph()
    items = [
        item
        for item in override_contents or graph.get_collection(key)
        if should_include(item, export_scope, exclude_nodes)
    ]
    if not items:
        return
    collection = meta_graph_def.collection_def[key]
    try:
        _fill(collection, key, items, export_scope)
    except Exception as error:
        # Programs keep objects of all kinds in collections.
        program_log.warning(
            "Issue encountered when serializing %s.\nType is unsupported, or the types "
            "of the items don't match field type in CollectionDef. Note this is a "
            "warning and probably safe to ignore.\n%s",
            key,
            error,
        )
        del meta_graph_def.collection_def[key]


def _fill(collection: Any, key: Any, items: list[Any], export_scope: Any) -> None:
    functions = proto_functions(key)
    if functions is not None:
        for item in items:
            proto = functions.to_proto(item, export_scope=export_scope)
            if proto is not None:
                collection.bytes_list.value.append(proto.SerializeToString())
        return
    kind = _kind(items[0])
    values = getattr(collection, kind).value
    if kind == "node_list":
        values.extend(
            strip_scope(item.name, export_scope)
            for item in items
            if not export_scope or item.name.startswith(export_scope)
        )
    elif kind == "bytes_list":
        values.extend(x.encode() if isinstance(x, str) else x for x in items)
    elif kind == "any_list":
        for item in items:  # `extend` takes messages of our own pool only
            values.add(type_url=item.type_url, value=item.value)
    else:
        values.extend(items)
