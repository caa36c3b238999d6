"""`tensorloom export`: models for other runtimes."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

from tensorloom.cli import model_options
from tensorloom.cli.actions import FINE, Action, show, single

if TYPE_CHECKING:
    from tensorloom.deploy.exporting import Export

_FORMATS: Final = ("onnx", "torchscript", "torch", "aotinductor", "safetensors")


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    model_options.add_model(parser)
    parser.add_argument(
        "--to",
        required=True,
        choices=_FORMATS,
        help="onnx; torchscript; torch: a program of torch.export; aotinductor: "
        "machine code for torch; safetensors: the variables of a SavedModel or "
        "checkpoint",
    )
    parser.add_argument(
        "--output", "-o", required=True, metavar="FILE", help="what is written"
    )
    model_options.add_examples(parser)
    parser.add_argument(
        "--max-difference",
        type=float,
        metavar="SHARE",
        help="the largest difference of an output, as a share of its largest value "
        "(0.001)",
    )


def _execute(options: argparse.Namespace) -> int:
    written = _written(options)
    data: dict[str, Any] = {**vars(written), "differences": dict(written.differences)}
    show(options, data, _lines(written))
    return FINE


def _written(options: argparse.Namespace) -> Export:
    from tensorloom.deploy import exporting, torch_programs

    if options.to == "safetensors":
        return exporting.to_safetensors(_variables(options), options.output)
    model = model_options.model_of(options)
    given = model_options.examples_of(options, model)
    chosen = options.max_difference
    difference = exporting.DIFFERENCE if chosen is None else chosen
    writers = {
        "onnx": exporting.to_onnx,
        "torchscript": exporting.to_torchscript,
        "torch": torch_programs.to_torch,
        "aotinductor": torch_programs.to_aotinductor,
    }
    return writers[options.to](model, options.output, given, difference)


def _variables(options: argparse.Namespace) -> Any:
    from tensorloom.inspect.model_files import checkpoint_prefix
    from tensorloom.saved_model.loader import maybe_saved_model_directory
    from tensorloom.train.checkpoints.checkpoint_reader import CheckpointReader

    if maybe_saved_model_directory(options.model):
        return model_options.model_of(options).variables
    prefix = checkpoint_prefix(options.model)
    if prefix is None:
        return model_options.model_of(options).variables
    reader = CheckpointReader(prefix)
    return {
        name: reader.get_tensor(name) for name in reader.get_variable_to_shape_map()
    }


def _lines(written: Export) -> Iterator[str]:
    yield f"{written.path}: {written.format}, {written.size_bytes} bytes"
    yield f"compared with {written.source}:"
    for key, share in written.differences.items():
        yield f"  {key}: {share:.3g} of its largest value"


COMMAND: Final = single(
    Action(
        "export",
        "write a model for another runtime (ONNX, torch), and check it there",
        _add_arguments,
        _execute,
    )
)
