"""`tensorloom saved-model run`: runs a signature of a SavedModel."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from contextlib import closing, nullcontext
from typing import Any

from tensorloom.cli.actions import FINE, show
from tensorloom.cli.saved_models.directory import (
    add_directory,
    directory_of,
    meta_graph_of,
    signature_of,
    tags_of,
)


def add_run(parser: argparse.ArgumentParser) -> None:
    """The options of `run`."""
    add_directory(parser)
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
    parser.add_argument(
        "--init_tpu", action="store_true", help="refused: tensorloom has no TPUs"
    )
    parser.add_argument(
        "--tf_debug",
        action="store_true",
        help="run it in the debugger, which asks at the terminal before and after",
    )


def run_saved_model(options: argparse.Namespace) -> int:
    """Runs a signature, shows and writes its outputs; the exit status."""
    from tensorloom.cli.saved_models.inputs import read_inputs

    if options.init_tpu:
        raise ValueError("--init_tpu: tensorloom has no TPUs")
    if not (options.inputs or options.input_exprs or options.input_examples):
        raise FileNotFoundError(
            "At least one of --inputs, --input_exprs or --input_examples must be "
            "required"
        )
    return run_and_write(options, read_inputs(options))


def run_and_write(options: argparse.Namespace, inputs: dict[str, Any]) -> int:
    """Runs a signature on values, shows and writes its outputs; the exit status."""
    outputs = _run_signature(options, directory_of(options), inputs)
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
    from tensorloom.client.session.session import Session
    from tensorloom.framework.graph.dataflow_graph import Graph
    from tensorloom.saved_model.loader import load
    from tensorloom.saved_model.tensor_info import get_tensor_from_tensor_info

    signature = signature_of(
        meta_graph_of(directory, options.tag_set), options.signature_def
    )
    for key in inputs:
        if key not in signature.inputs:
            known = '", "'.join(sorted(signature.inputs))
            raise ValueError(
                f'"{key}" is not a valid input key. Please choose from "{known}", or '
                "use the show command."
            )
    graph = Graph()
    with Session(options.worker, graph=graph) as session:
        load(session, tags_of(options.tag_set), directory)

        def tensor(info: Any) -> Any:
            return get_tensor_from_tensor_info(info, graph)

        fetches = {key: tensor(i) for key, i in sorted(signature.outputs.items())}
        feeds = {tensor(signature.inputs[key]): value for key, value in inputs.items()}
        try:
            with (
                _debugged(session) if options.tf_debug else nullcontext(session) as one
            ):
                result: dict[str, Any] = one.run(fetches, feeds)
        except TypeError as error:  # a value that no tensor can have
            raise ValueError(str(error)) from None
    return result


def _debugged(session: Any) -> Any:
    """The session in the debugger of command lines, which closes what it wraps."""
    from tensorloom.debug.sessions.local_cli import LocalCLIDebugWrapperSession

    return closing(LocalCLIDebugWrapperSession(session))


def _write(options: argparse.Namespace, key: str, value: Any) -> str:
    """Writes one output; gives the path of its file."""
    import io

    import numpy as np

    from tensorloom.storage.files import filesystem

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
