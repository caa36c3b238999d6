"""`tensorloom saved-model show`: what a SavedModel takes and gives."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any

from tensorloom.cli.actions import FINE, show
from tensorloom.cli.saved_models.directory import (
    add_directory,
    directory_of,
    meta_graph_of,
    ops_of,
    signature_of,
)


def add_show(parser: argparse.ArgumentParser) -> None:
    """The options of `show`."""
    add_directory(parser)
    parser.add_argument("--all", action="store_true", help="show everything")
    parser.add_argument(
        "--tag_set", help="tags of the MetaGraph to show, separated by ','"
    )
    parser.add_argument("--signature_def", metavar="KEY", help="the signature to show")
    parser.add_argument(
        "--list_ops", action="store_true", help="show the ops of the MetaGraph too"
    )


def show_saved_model(options: argparse.Namespace) -> int:
    """Shows tag-sets, signatures, or all; the exit status."""
    from tensorloom.saved_model.export_directory import parse_saved_model

    directory = directory_of(options)
    model = parse_saved_model(directory)
    # TensorFlow orders the tags as they were given.
    metas = sorted(model.meta_graphs, key=lambda m: list(m.meta_info_def.tags))
    if options.tag_set is not None and not options.all:
        meta = meta_graph_of(directory, options.tag_set)  # or say that there is none
        if options.signature_def is not None:
            signature_of(meta, options.signature_def)
    data = {
        ",".join(sorted(meta.meta_info_def.tags)): {
            key: _signature_data(signature)
            for key, signature in sorted(meta.signature_def.items())
        }
        for meta in metas
    }
    show(options, data, _lines(options, directory, metas))
    return FINE


def _lines(
    options: argparse.Namespace, directory: str, metas: list[Any]
) -> Iterator[str]:
    if options.all:
        yield from _all_lines(options, metas)
        return
    if options.tag_set is None:
        yield "The given SavedModel contains the following tag-sets:"
        for meta in metas:
            yield ", ".join(sorted(meta.meta_info_def.tags))
        return
    meta = meta_graph_of(directory, options.tag_set)
    if options.list_ops:
        yield _ops_line(meta)
    if options.signature_def is None:
        yield (
            "The given SavedModel MetaGraphDef contains SignatureDefs with the "
            "following keys:"
        )
        for key in sorted(meta.signature_def):
            yield f'SignatureDef key: "{key}"'
        return
    yield from _signature_lines(signature_of(meta, options.signature_def), "")


def _all_lines(options: argparse.Namespace, metas: list[Any]) -> Iterator[str]:
    from tensorloom.cli.saved_models.functions import function_lines

    for meta in metas:
        yield (
            f"\nMetaGraphDef with tag-set: '{', '.join(meta.meta_info_def.tags)}' "
            "contains the following SignatureDefs:"
        )
        for key, signature in sorted(meta.signature_def.items()):
            yield f"\nsignature_def['{key}']:"
            yield from _signature_lines(signature, "  ")
        if options.list_ops:
            yield _ops_line(meta)
    yield from function_lines(metas)


def _ops_line(meta: Any) -> str:
    ops = ", ".join(repr(op) for op in sorted(ops_of(meta)))
    return (
        f"The MetaGraph with tag set {list(meta.meta_info_def.tags)} contains the "
        f"following ops: {{{ops}}}"
    )


def _signature_lines(signature: Any, indent: str) -> Iterator[str]:
    for word, infos in (("input", signature.inputs), ("output", signature.outputs)):
        yield (
            f"{indent}The given SavedModel SignatureDef contains the following "
            f"{word}(s):"
        )
        for key, info in sorted(infos.items()):
            yield f"{indent}  {word}s['{key}'] tensor_info:"
            yield from tensor_lines(info, f"{indent}  ")
    yield f"{indent}Method name is: {signature.method_name}"


def tensor_lines(info: Any, indent: str) -> Iterator[str]:
    """What a TensorInfo says."""
    data = _tensor_data(info)
    inner = indent + "    "
    yield f"{inner}dtype: {data['dtype']}"
    shape = data["shape"]
    if shape is None:
        yield f"{inner}shape: unknown_rank"
    else:
        yield f"{inner}shape: ({', '.join(map(str, shape))})"
    yield f"{inner}name: {data['name']}"


def _signature_data(signature: Any) -> dict[str, Any]:
    return {
        "method_name": signature.method_name,
        "inputs": {k: _tensor_data(i) for k, i in sorted(signature.inputs.items())},
        "outputs": {k: _tensor_data(i) for k, i in sorted(signature.outputs.items())},
    }


def _tensor_data(info: Any) -> dict[str, Any]:
    from tensorloom.protos import types_pb2

    names = dict(types_pb2.DataType.items())
    dtype = next((n for n, number in names.items() if number == info.dtype), "?")
    shape = info.tensor_shape
    name = info.name
    if info.WhichOneof("encoding") == "coo_sparse":
        parts = info.coo_sparse
        name = (
            f"SparseTensor(indices={parts.indices_tensor_name}, "
            f"values={parts.values_tensor_name}, "
            f"dense_shape={parts.dense_shape_tensor_name})"
        )
    return {
        "dtype": dtype,
        "shape": None if shape.unknown_rank else [dim.size for dim in shape.dim],
        "name": name,
    }
