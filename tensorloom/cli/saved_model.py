"""`tensorloom saved-model`: shows and runs SavedModels, as `saved_model_cli` does."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from typing import Any

from tensorloom.cli.actions import FINE, Action, group, show


def _add_directory(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("path", nargs="?", metavar="DIR", help="the SavedModel")
    parser.add_argument("--dir", help="the same")


def _add_show(parser: argparse.ArgumentParser) -> None:
    _add_directory(parser)
    parser.add_argument("--all", action="store_true", help="show everything")
    parser.add_argument(
        "--tag_set", help="tags of the MetaGraph to show, separated by ','"
    )
    parser.add_argument("--signature_def", metavar="KEY", help="the signature to show")


def _directory(options: argparse.Namespace) -> str:
    directory = options.dir or options.path
    if not directory:
        raise FileNotFoundError("name the SavedModel: DIR or --dir DIR")
    from tensorloom.saved_model.loader import maybe_saved_model_directory

    if not maybe_saved_model_directory(directory):
        raise FileNotFoundError(f"{directory}: not a SavedModel")
    return str(directory)


# --- show ----------------------------------------------------------------------------


def _show(options: argparse.Namespace) -> int:
    from tensorloom.saved_model.export_directory import parse_saved_model

    directory = _directory(options)
    model = parse_saved_model(directory)
    meta_graphs = {
        tuple(sorted(meta.meta_info_def.tags)): meta for meta in model.meta_graphs
    }
    if options.tag_set is not None and not options.all:
        meta = _chosen(directory, options.tag_set)  # or say that there is none
        if options.signature_def is not None:
            _signature(meta, options.signature_def)
    data = {
        ",".join(tags): {
            key: _signature_data(signature)
            for key, signature in sorted(meta.signature_def.items())
        }
        for tags, meta in sorted(meta_graphs.items())
    }
    show(options, data, _show_lines(options, directory, meta_graphs))
    return FINE


def _show_lines(
    options: argparse.Namespace, directory: str, meta_graphs: dict[Any, Any]
) -> Iterator[str]:
    if options.all:
        for tags, meta in sorted(meta_graphs.items()):
            yield (
                f"\nMetaGraphDef with tag-set: '{', '.join(tags)}' contains the "
                "following SignatureDefs:"
            )
            for key, signature in sorted(meta.signature_def.items()):
                yield f"\nsignature_def['{key}']:"
                yield from _signature_lines(signature, "  ")
        return
    if options.tag_set is None:
        yield "The given SavedModel contains the following tag-sets:"
        for tags in sorted(meta_graphs):
            yield ", ".join(tags)
        return
    meta = _chosen(directory, options.tag_set)
    if options.signature_def is None:
        yield (
            "The given SavedModel MetaGraphDef contains SignatureDefs with the "
            "following keys:"
        )
        for key in sorted(meta.signature_def):
            yield f'SignatureDef key: "{key}"'
        return
    yield from _signature_lines(_signature(meta, options.signature_def), "")


def _chosen(directory: str, tag_set: str) -> Any:
    from tensorloom.saved_model.loader import SavedModelLoader

    return SavedModelLoader(directory).get_meta_graph_def_from_tags(tag_set.split(","))


def _signature(meta: Any, key: str) -> Any:
    if key not in meta.signature_def:
        known = ", ".join(sorted(meta.signature_def))
        raise ValueError(f"there is no signature {key!r}; there are: {known}")
    return meta.signature_def[key]


def _signature_lines(signature: Any, indent: str) -> Iterator[str]:
    for word, infos in (("input", signature.inputs), ("output", signature.outputs)):
        yield (
            f"{indent}The given SavedModel SignatureDef contains the following "
            f"{word}(s):"
        )
        for key, info in sorted(infos.items()):
            yield f"{indent}  {word}s['{key}'] tensor_info:"
            data = _tensor_data(info)
            inner = indent + ("      " if indent else "    ") + ""
            yield f"{inner}dtype: {data['dtype']}"
            shape = data["shape"]
            if shape is None:
                yield f"{inner}shape: unknown_rank"
            else:
                yield f"{inner}shape: ({', '.join(map(str, shape))})"
            yield f"{inner}name: {data['name']}"
    yield f"{indent}Method name is: {signature.method_name}"


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


# --- run -----------------------------------------------------------------------------


def _add_run(parser: argparse.ArgumentParser) -> None:
    _add_directory(parser)
    parser.add_argument(
        "--tag_set",
        default="serve",
        help="tags of the MetaGraph to load, separated by ',' (default: serve)",
    )
    parser.add_argument(
        "--signature_def",
        default="serving_default",
        metavar="KEY",
        help="the signature to run (default: serving_default)",
    )
    parser.add_argument(
        "--inputs",
        default="",
        help="'KEY=FILE' or 'KEY=FILE[NAME]' of .npy or .npz files, separated by ';'",
    )
    parser.add_argument(
        "--input_exprs",
        default="",
        help="'KEY=EXPRESSION' in Python, with np, separated by ';'",
    )
    parser.add_argument(
        "--input_examples",
        default="",
        help="'KEY=[{\"feature\": [values]}]', which become serialized tf.Examples",
    )
    parser.add_argument("--outdir", help="a directory for the outputs, KEY.npy each")
    parser.add_argument(
        "--overwrite", action="store_true", help="replace files of the outputs"
    )
    parser.add_argument(
        "--allow_pickle",
        action="store_true",
        help="read .npy files with Python objects, which can run code",
    )
    parser.add_argument("--worker", default="", help="run on this server's session")


def _run(options: argparse.Namespace) -> int:
    from tensorloom.cli.saved_model_inputs import read_inputs

    if not (options.inputs or options.input_exprs or options.input_examples):
        raise FileNotFoundError(
            "At least one of --inputs, --input_exprs or --input_examples must be "
            "required"
        )
    directory = _directory(options)
    outputs = _run_signature(options, directory, read_inputs(options))
    lines = _results(options, outputs)
    show(options, outputs, iter(list(lines)) if options.json else lines)
    return FINE


def _results(options: argparse.Namespace, outputs: dict[str, Any]) -> Iterator[str]:
    """The lines about each output, which is written as soon as its value is shown."""
    for key, value in outputs.items():
        yield f"Result for output key {key}:\n{value}"
        if options.outdir:
            yield f"Output {key} is saved to {_write(options, key, value)}"


def _run_signature(
    options: argparse.Namespace, directory: str, inputs: dict[str, Any]
) -> dict[str, Any]:
    """The outputs by their keys."""
    from tensorloom.client.session import Session
    from tensorloom.framework.dataflow_graph import Graph
    from tensorloom.saved_model.loader import load
    from tensorloom.saved_model.tensor_info import get_tensor_from_tensor_info

    signature = _signature(_chosen(directory, options.tag_set), options.signature_def)
    for key in inputs:
        if key not in signature.inputs:
            known = '", "'.join(sorted(signature.inputs))
            raise ValueError(
                f'"{key}" is not a valid input key. Please choose from "{known}", or '
                "use the show command."
            )
    graph = Graph()
    with Session(options.worker, graph=graph) as session:
        load(session, options.tag_set.split(","), directory)

        def tensor(info: Any) -> Any:
            return get_tensor_from_tensor_info(info, graph)

        fetches = {key: tensor(i) for key, i in sorted(signature.outputs.items())}
        feeds = {tensor(signature.inputs[key]): value for key, value in inputs.items()}
        result: dict[str, Any] = session.run(fetches, feeds)
    return result


def _write(options: argparse.Namespace, key: str, value: Any) -> str:
    """Writes one output; gives the path of its file."""
    import io

    import numpy as np

    from tensorloom.storage import filesystem

    # A key is the model's, and may hold anything.
    if os.sep in key or key in ("", ".", ".."):
        raise ValueError(f"the output key {key!r} cannot be the name of a file")
    filesystem.make_directories(options.outdir)
    path = filesystem.join(options.outdir, f"{key}.npy")
    if filesystem.exists(path) and not options.overwrite:
        raise RuntimeError(
            f'Output file {path} already exists. Add "--overwrite" to overwrite '
            "the existing output files."
        )
    contents = io.BytesIO()
    np.save(contents, value)
    filesystem.write_file(path, contents.getvalue())
    return path


COMMAND = group(
    "saved-model",
    "show what a SavedModel takes and gives, or run it",
    (
        Action("show", "list tag-sets and signatures", _add_show, _show),
        Action("run", "run a signature on inputs from files", _add_run, _run),
    ),
)
