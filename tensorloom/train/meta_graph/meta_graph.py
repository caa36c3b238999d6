"""`tf.train.export_meta_graph`: a graph with its collections as a MetaGraphDef."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable
from typing import Any

from tensorloom.client.importing.scoped_names import strip_scope
from tensorloom.client.program import version
from tensorloom.framework.export import export
from tensorloom.framework.functions.classic_op_types import ENTERS
from tensorloom.framework.graph.dataflow_graph import Graph
from tensorloom.framework.graph.graph import GraphKeys, get_default_graph
from tensorloom.framework.registry import op_def_proto, op_registry
from tensorloom.framework.types import attr_value
from tensorloom.train.checkpoints import large_graph
from tensorloom.train.checkpoints.message_text import write_message
from tensorloom.train.meta_graph.meta_graph_collections import (
    UNBOUND_INPUT_PREFIX,
    add_collection_def,
    proto_functions,
    should_include,
)

_MAX_BYTES = 2**31
_SAVE_AND_RESTORE_OPS = frozenset(
    f"{kind}{action}{what}"
    for action in ("Save", "Restore")
    for kind, what in (
        ("", ""),
        ("", "V2"),
        ("", "Slice"),
        ("Legacy", ""),
        ("Legacy", "Slice"),
    )
)
_INTERNAL_OPS = frozenset(["_Arg", "_Retval", "_ListToArray", "_ArrayToList"])


@export("train.export_meta_graph")
def export_meta_graph(
    filename: str | None = None,
    meta_info_def: Any = None,
    graph_def: Any = None,
    saver_def: Any = None,
    collection_list: Any = None,
    as_text: bool = False,
    graph: Graph | None = None,
    export_scope: str | None = None,
    clear_devices: bool = False,
    clear_extraneous_savers: bool = False,
    strip_default_attrs: bool = False,
    save_debug_info: bool = False,
    **kwargs: Any,
) -> Any:
    """A graph with its collections as a `MetaGraphDef`, written to a file.

    Args:
      filename: where to write it, of any file system; nothing is written when None.
      meta_info_def: a `MetaInfoDef` to begin with.
      graph_def: the `GraphDef`; that of `graph` when None.
      saver_def: the saver of the graph.
      collection_list: keys of the collections; all when None.
      as_text: write text format.
      graph: the default graph when None.
      export_scope: only what is under this scope, which the names lose.
      clear_devices: without the devices of operations.
      clear_extraneous_savers: without the operations of other savers.
      strip_default_attrs: without attrs that have their default value.
      save_debug_info: also write where operations were made, to `NAME.debug`.

    The constants of a graph above 2 GB are written beside the file, and are not in
    the message, see `large_graph.py`.

    Raises:
      ValueError: the graph is larger than 2 GB and there is no file, or it has an
        unknown op.
    """
    return export_scoped_meta_graph(
        filename=filename,
        meta_info_def=meta_info_def,
        graph_def=graph_def,
        saver_def=saver_def,
        collection_list=collection_list,
        as_text=as_text,
        graph=graph,
        export_scope=export_scope,
        clear_devices=clear_devices,
        clear_extraneous_savers=clear_extraneous_savers,
        strip_default_attrs=strip_default_attrs,
        save_debug_info=save_debug_info,
        **kwargs,
    )[0]


def export_scoped_meta_graph(
    filename: str | None = None,
    graph_def: Any = None,
    graph: Graph | None = None,
    export_scope: str | None = None,
    as_text: bool = False,
    unbound_inputs_col_name: str | None = "unbound_inputs",
    clear_devices: bool = False,
    saver_def: Any = None,
    clear_extraneous_savers: bool = False,
    strip_default_attrs: bool = False,
    save_debug_info: bool = False,
    **kwargs: Any,
) -> tuple[Any, dict[str, Any]]:
    """As `export_meta_graph`; also returns the variables by their exported names.

    Inputs from outside of `export_scope` are named in a collection of the result.
    """
    graph = graph or get_default_graph()
    if filename and graph_def is None and large_graph.is_large(graph):
        graph_def = large_graph.write_constants(graph, filename, add_shapes=True)
    exclude: set[str] | None = None
    if export_scope or clear_extraneous_savers or clear_devices:
        whole = graph_def or graph.as_graph_def(add_shapes=True)
        if clear_extraneous_savers:
            exclude = extraneous_saver_nodes(whole, saver_def)
        graph_def, unbound = _scoped_graph_def(
            whole, export_scope, exclude, clear_devices
        )
        if unbound_inputs_col_name:
            graph.clear_collection(unbound_inputs_col_name)
            for name in unbound:
                graph.add_to_collection(unbound_inputs_col_name, name)
    variables = {
        strip_scope(variable.name, export_scope): variable
        for variable in graph.get_collection(GraphKeys.GLOBAL_VARIABLES, export_scope)
        if should_include(variable, export_scope, exclude)
    }
    meta_graph_def = create_meta_graph_def(
        graph_def=graph_def,
        graph=graph,
        export_scope=export_scope,
        exclude_nodes=exclude,
        clear_extraneous_savers=clear_extraneous_savers,
        saver_def=saver_def,
        strip_default_attrs=strip_default_attrs,
        **kwargs,
    )
    if filename:
        write_message(meta_graph_def, filename, as_text)
        if save_debug_info:
            info = _debug_info(graph, meta_graph_def.graph_def, export_scope)
            write_message(info, os.path.splitext(filename)[0] + ".debug", as_text)
    return meta_graph_def, variables


# --- parts of a graph ----------------------------------------------------------------


def _scoped_graph_def(
    whole: Any, scope: str | None, exclude: set[str] | None, clear_devices: bool
) -> tuple[Any, list[str]]:
    """The nodes under a scope, and the inputs that are not."""
    result = type(whole)()
    result.versions.CopyFrom(whole.versions)
    if whole.HasField("library"):
        result.library.CopyFrom(whole.library)
    unbound: list[str] = []
    for node in whole.node:
        if should_include(node.name, scope, exclude):
            _copy_node(result.node.add(), node, scope, unbound)
            if clear_devices:
                result.node[-1].device = ""
    return result, unbound


def _copy_node(copy: Any, node: Any, scope: str | None, unbound: list[str]) -> None:
    copy.CopyFrom(node)
    if not scope:
        return
    copy.name = strip_scope(node.name, scope)
    for at, name in enumerate(node.input):
        if name.lstrip("^").startswith(scope):
            copy.input[at] = strip_scope(name, scope)
        else:
            copy.input[at] = re.sub(r"([\^]|^)(.*)", rf"\1{_UNBOUND}\2", name)
            unbound.append(copy.input[at])
    if "_class" in node.attr:
        kept = [
            strip_scope(text.decode(), scope).encode()
            for text in node.attr["_class"].list.s
            if text.decode().partition("@")[2].startswith(scope)
        ]
        copy.attr["_class"].Clear()
        copy.attr["_class"].list.s.extend(kept)
    if node.op in ENTERS:
        frame = node.attr["frame_name"].s.decode()
        copy.attr["frame_name"].s = strip_scope(frame, scope).encode()


_UNBOUND = UNBOUND_INPUT_PREFIX.replace("\\", r"\\")


def _scope_of(name: str) -> str:
    return name.lstrip("^").rpartition("/")[0]


def extraneous_saver_nodes(graph_def: Any, saver_def: Any) -> set[str]:
    """The nodes in the scopes of savers other than the one of `saver_def`."""
    kept = set()
    if saver_def is not None:
        for name in (saver_def.save_tensor_name, saver_def.restore_op_name):
            kept.add(_scope_of(name.partition(":")[0]) + "/")
    savers = {n.name for n in graph_def.node if n.op in _SAVE_AND_RESTORE_OPS}
    scopes = {_scope_of(name) for name in savers} - savers
    doomed = tuple({scope + "/" for scope in scopes} - kept)
    return {n.name for n in graph_def.node if n.name.startswith(doomed)}


# --- the message ---------------------------------------------------------------------


def create_meta_graph_def(
    meta_info_def: Any = None,
    graph_def: Any = None,
    saver_def: Any = None,
    collection_list: Any = None,
    graph: Graph | None = None,
    export_scope: str | None = None,
    exclude_nodes: Collection[str] | None = None,
    clear_extraneous_savers: bool = False,
    strip_default_attrs: bool = False,
) -> Any:
    """The MetaGraphDef of parts; see `export_meta_graph`.

    Raises:
      TypeError: a part is of another class.
      ValueError: an op is not known, or the graph is too large.
    """
    from tensorloom.protos import graph_pb2, meta_graph_pb2, saver_pb2

    info_class = meta_graph_pb2.MetaGraphDef.MetaInfoDef
    for what, value, kind in (
        ("graph", graph, Graph),
        ("meta_info_def", meta_info_def, info_class),
        ("graph_def", graph_def, graph_pb2.GraphDef),
        ("saver_def", saver_def, saver_pb2.SaverDef),
    ):
        if value is not None and not isinstance(value, kind):
            raise TypeError(
                f"{what} must be of type {kind.__name__}, not {type(value)}"
            )
    graph = graph or get_default_graph()
    result = meta_graph_pb2.MetaGraphDef()
    info = result.meta_info_def
    if meta_info_def is not None:
        info.CopyFrom(meta_info_def)
    info.tensorflow_version = version.VERSION
    info.tensorflow_git_version = version.GIT_VERSION
    result.graph_def.CopyFrom(
        graph.as_graph_def(add_shapes=True) if graph_def is None else graph_def
    )
    if result.graph_def.ByteSize() >= _MAX_BYTES:
        raise ValueError("GraphDef cannot be larger than 2GB.")
    if not info.stripped_op_list.op:
        info.stripped_op_list.CopyFrom(stripped_op_list(result.graph_def))
    if strip_default_attrs:
        strip_default_valued_attrs(result)
    if saver_def is not None:
        result.saver_def.CopyFrom(saver_def)
    keys = (
        graph.get_all_collection_keys() if collection_list is None else collection_list
    )
    for key in keys:
        contents = None
        if clear_extraneous_savers and key == GraphKeys.SAVERS:
            functions = proto_functions(key)
            assert functions is not None
            contents = [functions.from_proto(saver_def)]
        add_collection_def(result, key, graph, export_scope, exclude_nodes, contents)
    return result


def _all_nodes(graph_def: Any) -> Iterable[Any]:
    yield from graph_def.node
    for function in graph_def.library.function:
        yield from function.node_def


def ops_used(graph_def: Any) -> set[str]:
    """The ops that a graph uses, in the functions that it calls too."""
    functions = {f.signature.name: f for f in graph_def.library.function}
    used: set[str] = set()
    pending = list(graph_def.node)
    while pending:
        op = pending.pop().op
        if op not in used:
            used.add(op)
            if op in functions:
                pending.extend(functions[op].node_def)
    return used - functions.keys()


def stripped_op_list(graph_def: Any) -> Any:
    """The signatures of the ops that a graph uses, in its functions too.

    Raises:
      ValueError: an op is not known.
    """
    found = []
    for op in ops_used(graph_def):
        op_def = op_registry.find(op)
        if op_def is not None:
            found.append(op_def)
        elif op not in _INTERNAL_OPS:
            raise ValueError(f"Op {op} is used by the graph, but is not registered")
    return op_def_proto.to_op_list(found)


def strip_default_valued_attrs(meta_graph_def: Any) -> None:
    """Takes attrs with their default value out of a MetaGraphDef's nodes."""
    graph_def = meta_graph_def.graph_def
    functions = {f.signature.name for f in graph_def.library.function}
    defaults: dict[str, dict[str, bytes]] = {}
    for node in _all_nodes(graph_def):
        if node.op in functions:
            continue
        if node.op not in defaults:
            defaults[node.op] = _default_attrs(node.op)
        for name, default in defaults[node.op].items():
            if name in node.attr and node.attr[name].SerializeToString() == default:
                del node.attr[name]
    meta_graph_def.meta_info_def.stripped_default_attrs = True


def _default_attrs(op: str) -> dict[str, bytes]:
    op_def = op_registry.find(op)
    if op_def is None:
        return {}
    from tensorloom.protos import attr_value_pb2

    result = {}
    for name, attr in op_def.attrs.items():
        if attr.has_default:
            proto = attr_value_pb2.AttrValue()
            attr_value.encode_into(proto, attr.default)
            result[name] = proto.SerializeToString()
    return result


def _debug_info(graph: Graph, graph_def: Any, scope: str | None) -> Any:
    """Where the operations of a graph were made."""
    from tensorloom.client.importing.scoped_names import prepend_scope
    from tensorloom.protos import graph_debug_info_pb2

    result = graph_debug_info_pb2.GraphDebugInfo()
    files: dict[str, int] = {}
    for node in graph_def.node:
        op = graph.get_operation_by_name(prepend_scope(node.name, scope))
        trace = result.traces[op.name + "@"]
        for frame in op.traceback:
            name, line, function, code = tuple(frame)[:4]
            trace.file_line_cols.add(
                file_index=files.setdefault(str(name), len(files)),
                line=line,
                func=function,
                code=code or "",
            )
    result.files.extend(files)
    return result
