"""`tensorloom graph`: looks into files with graphs, and rewrites them."""

from __future__ import annotations

import argparse
import difflib
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from tensorloom.cli.actions import FINE, Action, group, show, table

if TYPE_CHECKING:
    from tensorloom.inspect.model_files import GraphInFile

_PATH_HELP = "a GraphDef or MetaGraph, binary or text, or a SavedModel's directory"


def _add_path(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("path", metavar="PATH", help=_PATH_HELP)
    parser.add_argument(
        "--tag_set", help="tags of the MetaGraph, separated by ',', if there are more"
    )


def _add_rewrite(parser: argparse.ArgumentParser) -> None:
    _add_path(parser)
    parser.add_argument(
        "--output", "-o", required=True, metavar="FILE", help="where to write it"
    )
    parser.add_argument(
        "--as_text", action="store_true", help="write text (default for .pbtxt)"
    )


def _open(options: argparse.Namespace) -> GraphInFile:
    from tensorloom.inspect.model_files import open_model

    return open_model(options.path).choose(options.tag_set)


def _write(options: argparse.Namespace, graph_def: Any, source: GraphInFile) -> None:
    """Writes a GraphDef; constants that lay beside its source lie beside it, too."""
    from tensorloom.storage.checkpoints.bundle_reader import BundleReader
    from tensorloom.train.checkpoints import large_graph
    from tensorloom.train.meta_graph import graph_io

    as_text = options.as_text or options.output.endswith(".pbtxt")
    if source.constants:
        with BundleReader(source.constants) as reader:
            large_graph.write_large_message(
                graph_def, options.output, reader, as_text=as_text
            )
    else:
        graph_io.write_graph(graph_def, "", options.output, as_text)
    _show_written(options, graph_def)


def _show_written(options: argparse.Namespace, graph_def: Any) -> None:
    data = {"path": options.output, "nodes": len(graph_def.node)}
    show(options, data, iter([f"{options.output}: {len(graph_def.node)} nodes"]))


# --- summary -------------------------------------------------------------------------


def _summary(options: argparse.Namespace) -> int:
    graph = _open(options)
    data = _summarized(graph.graph_def)
    if graph.constants:
        data["constant_bytes"] += _bytes_beside(graph)
    show(options, data, _summary_lines(data))
    return FINE


def _bytes_beside(graph: GraphInFile) -> int:
    from tensorloom.storage.checkpoints.bundle_reader import BundleReader
    from tensorloom.train.checkpoints import large_graph

    with BundleReader(graph.constants) as reader:
        return large_graph.outside_bytes(graph.graph_def, reader)


def _summarized(graph_def: Any) -> dict[str, Any]:
    ops: Counter[str] = Counter()
    for nodes in (graph_def.node, *(f.node_def for f in graph_def.library.function)):
        ops.update(node.op for node in nodes)
    used = {
        text.lstrip("^").partition(":")[0]
        for node in graph_def.node
        for text in node.input
    }
    return {
        "nodes": len(graph_def.node),
        "functions": len(graph_def.library.function),
        "bytes": graph_def.ByteSize(),
        "producer": graph_def.versions.producer,
        "devices": sorted({node.device for node in graph_def.node} - {""}),
        "inputs": [
            {"name": node.name, **_placeholder(node)}
            for node in graph_def.node
            if node.op.startswith("Placeholder")
        ],
        "variables": sum(ops[op] for op in ("Variable", "VariableV2", "VarHandleOp")),
        "constant_bytes": sum(
            node.attr["value"].tensor.ByteSize()
            for node in graph_def.node
            if node.op == "Const"
        ),
        "outputs": [
            node.name
            for node in graph_def.node
            if node.name not in used and node.op not in ("Const", "NoOp", "Assign")
        ],
        "ops": dict(ops.most_common()),
    }


def _placeholder(node: Any) -> dict[str, Any]:
    from tensorloom.framework.types import dtypes

    dtype = node.attr["dtype"].type
    shape = node.attr["shape"].shape
    known = "shape" in node.attr and not shape.unknown_rank
    try:
        name = dtypes.as_dtype(dtype).name
    except TypeError:
        name = f"unknown type {dtype}"
    return {"dtype": name, "shape": [d.size for d in shape.dim] if known else None}


def _summary_lines(data: dict[str, Any]) -> Iterator[str]:
    yield (
        f"{data['nodes']} nodes, {data['functions']} functions, "
        f"{data['variables']} variables, {data['bytes']} bytes, of them "
        f"{data['constant_bytes']} of constants; producer version {data['producer']}"
    )
    if data["devices"]:
        yield f"devices: {', '.join(data['devices'])}"
    for one in data["inputs"]:
        yield f"input {one['name']}: {one['dtype']} {one['shape']}"
    for name in data["outputs"][:20]:
        yield f"output {name}"
    if len(data["outputs"]) > 20:
        yield f"... and {len(data['outputs']) - 20} more outputs"
    yield from table(list(data["ops"].items()))


# --- freeze --------------------------------------------------------------------------


def _add_freeze(parser: argparse.ArgumentParser) -> None:
    _add_rewrite(parser)
    parser.add_argument(
        "--output_node_names",
        metavar="NAMES",
        help="operations to keep with what they need, separated by ','; default: the "
        "outputs of the signature",
    )
    parser.add_argument(
        "--signature_def",
        default="serving_default",
        metavar="KEY",
        help="(default: serving_default)",
    )
    parser.add_argument(
        "--checkpoint", metavar="PREFIX", help="values, for what is not a SavedModel"
    )


def _freeze(options: argparse.Namespace) -> int:
    from tensorloom.client.importing.graph_util_freeze import (
        convert_variables_to_constants,
    )
    from tensorloom.client.session.session import Session
    from tensorloom.framework.graph.dataflow_graph import Graph

    graph = _open(options)
    names = _output_names(options, graph)
    with Graph().as_default() as target, Session(graph=target) as session:
        _restore(options, graph, session)
        # What lies beside the file stays there.
        nodes = graph.graph_def if graph.constants else target.as_graph_def()
        frozen = convert_variables_to_constants(session, nodes, names)
    _write(options, frozen, graph)
    return FINE


def _restore(options: argparse.Namespace, graph: GraphInFile, session: Any) -> None:
    """Puts a file's graph and the values of its variables into a session."""
    from tensorloom.saved_model.loader import load, maybe_saved_model_directory
    from tensorloom.train.checkpoints.saver import Saver
    from tensorloom.train.meta_graph.meta_graph_import import import_meta_graph

    if maybe_saved_model_directory(options.path):
        load(session, graph.label.split(",") if graph.label else [], options.path)
        return
    if not options.checkpoint:
        raise FileNotFoundError("--checkpoint PREFIX says where the values are")
    if graph.meta_graph_def is not None:
        saver = import_meta_graph(
            graph.meta_graph_def, clear_devices=True, constants=graph.constants
        )
    else:
        from tensorloom.train.checkpoints.large_graph import import_with_constants

        copy = type(graph.graph_def)()
        copy.CopyFrom(graph.graph_def)
        import_with_constants(copy, graph.constants, name="")
        saver = _saver_of_nodes(session.graph)
    (saver or Saver()).restore(session, options.checkpoint)


def _saver_of_nodes(graph: Any) -> Any:
    """A saver for the variables of a plain GraphDef, which has no collections."""
    from tensorloom.train.checkpoints.saver import Saver

    variables = {
        op.name: op.outputs[0]
        for op in graph.get_operations()
        if op.type in ("Variable", "VariableV2", "VarHandleOp")
    }
    return Saver(variables) if variables else None


def _output_names(options: argparse.Namespace, graph: GraphInFile) -> list[str]:
    from tensorloom.saved_model.tensor_info import tensor_names

    names = _listed_names(options, graph)
    if names:
        return names
    meta = graph.meta_graph_def
    if meta is None or options.signature_def not in meta.signature_def:
        raise FileNotFoundError("--output_node_names NAMES says what to keep")
    outputs = meta.signature_def[options.signature_def].outputs
    tensors = [name for info in outputs.values() for name in tensor_names(info)]
    return _known(sorted({name.partition(":")[0] for name in tensors}), graph)


def _listed_names(options: argparse.Namespace, graph: GraphInFile) -> list[str]:
    """The operations that `--output_node_names` names.

    Raises:
      ValueError: one is not in the graph.
    """
    names = [name for name in (options.output_node_names or "").split(",") if name]
    return _known(names, graph)


def _known(names: list[str], graph: GraphInFile) -> list[str]:
    nodes = {node.name for node in graph.graph_def.node}
    for name in names:
        if name not in nodes:
            near = difflib.get_close_matches(name, nodes, 1)
            hint = f"; nearest: {near[0]}" if near else ""
            raise ValueError(f"there is no node '{name}'{hint}")
    return names


# --- strip, to-text ------------------------------------------------------------------


def _add_strip(parser: argparse.ArgumentParser) -> None:
    _add_rewrite(parser)
    parser.add_argument(
        "--output_node_names",
        metavar="NAMES",
        help="keep only what these operations need, separated by ','",
    )
    parser.add_argument(
        "--keep_devices", action="store_true", help="keep the devices of nodes"
    )


def _strip(options: argparse.Namespace) -> int:
    """Without what only training needs, default attrs, devices and shapes."""
    from tensorloom.client.importing.graph_util import (
        extract_sub_graph,
        remove_training_nodes,
    )
    from tensorloom.protos import meta_graph_pb2
    from tensorloom.train.meta_graph.meta_graph import strip_default_valued_attrs

    graph = _open(options)
    graph_def = graph.graph_def
    names = _listed_names(options, graph)
    if names:
        graph_def = extract_sub_graph(graph_def, names)
    graph_def = _without_checks(graph_def)
    stripped = remove_training_nodes(graph_def, _protected(graph_def, names))
    meta = meta_graph_pb2.MetaGraphDef()
    meta.graph_def.CopyFrom(stripped)
    meta.graph_def.library.CopyFrom(graph_def.library)
    meta.graph_def.versions.CopyFrom(graph_def.versions)
    strip_default_valued_attrs(meta)
    for node in meta.graph_def.node:
        node.attr.pop("_output_shapes", None)
        if not options.keep_devices:
            node.device = ""
    _write(options, meta.graph_def, graph)
    return FINE


def _without_checks(graph_def: Any) -> Any:
    """A copy with CheckNumerics as Identity.

    `remove_training_nodes` takes CheckNumerics out without joining its ends, as
    TensorFlow's does; Identity it splices.
    """
    copy = type(graph_def)()
    copy.CopyFrom(graph_def)
    for node in copy.node:
        if node.op == "CheckNumerics":
            node.op = "Identity"
            node.attr.pop("message", None)
    return copy


def _protected(graph_def: Any, names: list[str]) -> list[str]:
    """Outputs stay, by whatever they are computed."""
    if names:
        return names
    used = {
        text.lstrip("^").partition(":")[0]
        for node in graph_def.node
        for text in node.input
    }
    return [node.name for node in graph_def.node if node.name not in used]


def _add_to_text(parser: argparse.ArgumentParser) -> None:
    _add_path(parser)
    parser.add_argument("--output", "-o", metavar="FILE", help="(default: print it)")


def _to_text(options: argparse.Namespace) -> int:
    from google.protobuf import text_format

    graph = _open(options)
    message = graph.meta_graph_def or graph.graph_def
    if options.output:
        from tensorloom.train.checkpoints.message_text import write_message

        write_message(message, options.output, as_text=True)
        _show_written(options, graph.graph_def)
        return FINE
    text = text_format.MessageToString(message)
    show(options, {"text": text}, iter([text.rstrip("\n")]))
    return FINE


COMMAND = group(
    "graph",
    "look into files with graphs, and rewrite them",
    (
        Action("summary", "count nodes, list inputs and outputs", _add_path, _summary),
        Action("freeze", "put variables' values in as constants", _add_freeze, _freeze),
        Action("strip", "take out what inference does not need", _add_strip, _strip),
        Action("to-text", "print it in text format", _add_to_text, _to_text),
    ),
)
