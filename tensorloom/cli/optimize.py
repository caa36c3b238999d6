"""`tensorloom optimize` and `tensorloom freeze`: models made smaller and faster."""

from __future__ import annotations

import argparse
from typing import Final

from tensorloom.cli import model_options
from tensorloom.cli.actions import FINE, Action, show, single, table

# Transforms may not change outputs by more than rounding does.
_DIFFERENCE: Final = 1e-4


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
    model_options.add_examples(parser)
    model_options.add_limits(parser, f"{_DIFFERENCE:g}")


def _optimize(options: argparse.Namespace) -> int:
    from tensorloom.deploy import optimizing, writing

    before = model_options.model_of(options)
    given = model_options.examples_of(options, before)
    transforms: tuple[str, ...] = optimizing.TRANSFORMS
    if options.transforms is not None:
        transforms = (options.transforms,)
    after = optimizing.transformed(before, transforms)
    found = optimizing.compared(before, after, given, output=options.answer)
    show(options, found.as_json(), table(found.rows()))
    found.check(model_options.limits_of(options, _DIFFERENCE))
    writing.write(after, options.output)
    return FINE


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
