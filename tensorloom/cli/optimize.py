"""`tensorloom optimize` and `tensorloom freeze`: models made smaller and faster."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Final

from tensorloom.cli import model_options
from tensorloom.cli.actions import FINE, Action, show, single, table

if TYPE_CHECKING:
    from tensorloom.deploy.frozen_model import FrozenModel

# How far outputs may be away, as a share of their largest value, if nothing is said.
_DIFFERENCES: Final = {
    None: 1e-4,
    "float16": 0.01,
    "bfloat16": 0.05,
    "dynamic": 0.1,
    "int8": 0.2,
}
_DIFFERENCE_OF_PRUNING: Final = 0.2


def _add_output(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--output",
        "-o",
        required=True,
        metavar="PATH",
        help="a GraphDef if it ends in .pb or .pbtxt, else a SavedModel's directory",
    )


def _add_optimize(parser: argparse.ArgumentParser) -> None:
    model_options.add_model(parser)
    _add_output(parser)
    parser.add_argument(
        "--transforms",
        metavar="TEXT",
        help='of the Graph Transform Tool, as "fold_constants round_weights('
        'num_steps=64)"; "" for none. Without it: those that change no output',
    )
    parser.add_argument(
        "--prune",
        type=float,
        metavar="SHARE",
        help="the share of each layer's weights that becomes zero: the smallest",
    )
    parser.add_argument(
        "--quantize",
        choices=[name for name in _DIFFERENCES if name],
        help="float16, bfloat16: large constants in half the bits; dynamic: weights in "
        "eight bits; int8: layers in eight bits, by the ranges of --calibration or of "
        "FakeQuant nodes",
    )
    parser.add_argument(
        "--calibration", metavar="FILE.npz", help="examples that tell ranges for int8"
    )
    parser.add_argument(
        "--calibration-method",
        default="min_max",
        choices=("min_max", "percentile", "entropy"),
        help="how they tell them (min_max)",
    )
    model_options.add_examples(parser)
    limits = ", ".join(f"{name or 'else'} {n:g}" for name, n in _DIFFERENCES.items())
    limits += f", --prune {_DIFFERENCE_OF_PRUNING:g}"
    model_options.add_limits(parser, limits)


def _optimize(options: argparse.Namespace) -> int:
    from tensorloom.deploy import optimizing, writing

    before = model_options.model_of(options)
    given = model_options.examples_of(options, before)
    transforms: tuple[str, ...] = optimizing.TRANSFORMS
    if options.transforms is not None:
        transforms = (options.transforms,)
    after = _pruned(options, optimizing.transformed(before, transforms))
    after = _quantized(options, after)
    found = optimizing.compared(before, after, given, output=options.answer)
    show(options, found.as_json(), table(found.rows()))
    difference = _DIFFERENCES[options.quantize]
    if options.prune is not None:
        difference = max(difference, _DIFFERENCE_OF_PRUNING)
    found.check(model_options.limits_of(options, difference))
    writing.write(after, options.output)
    return FINE


def _pruned(options: argparse.Namespace, model: FrozenModel) -> FrozenModel:
    if options.prune is None:
        return model
    from tensorloom.deploy.quantization import pruning

    return pruning.pruned(model, options.prune)


def _quantized(options: argparse.Namespace, model: FrozenModel) -> FrozenModel:
    from tensorloom.deploy import examples
    from tensorloom.deploy.quantization import eight_bits, short_floats
    from tensorloom.framework.types import dtypes

    if options.calibration is not None and options.quantize != "int8":
        raise ValueError("--calibration is for --quantize int8")
    if options.quantize in ("float16", "bfloat16"):
        return short_floats.short_floats(model, dtypes.as_dtype(options.quantize))
    if options.quantize == "dynamic":
        return eight_bits.dynamic_range(model)
    if options.quantize == "int8":
        given = None
        if options.calibration is not None:
            size = options.batch_size
            given = examples.read(options.calibration, model, batch=size)
        return eight_bits.integers(model, given, options.calibration_method)
    return model


def _add_freeze(parser: argparse.ArgumentParser) -> None:
    model_options.add_model(parser)
    _add_output(parser)


def _freeze(options: argparse.Namespace) -> int:
    from tensorloom.deploy import writing

    model = model_options.model_of(options)
    writing.write(model, options.output)
    data = {
        "path": options.output,
        "nodes": len(model.graph_def.node),
        "inputs": dict(model.inputs),
        "outputs": dict(model.outputs),
        "init": model.init,
    }
    rows = [[key, str(value)] for key, value in data.items() if value != ""]
    show(options, data, table(rows))
    return FINE


OPTIMIZE: Final = single(
    Action(
        "optimize",
        "make a model smaller and faster, and compare it before it is written",
        _add_optimize,
        _optimize,
    )
)
FREEZE: Final = single(
    Action(
        "freeze",
        "write a model with constants in the place of its variables",
        _add_freeze,
        _freeze,
    )
)
