"""The options of commands that read a model, and compare it with another."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tensorloom.deploy.comparison import Limits
    from tensorloom.deploy.examples import Examples
    from tensorloom.deploy.frozen_model import FrozenModel


def add_model(parser: argparse.ArgumentParser) -> None:
    """Which model, and what of it."""
    parser.add_argument(
        "model", metavar="MODEL", help="a SavedModel's directory, or a frozen GraphDef"
    )
    parser.add_argument("--signature", help="of the SavedModel (serving_default)")
    parser.add_argument("--tag_set", help="tags of the MetaGraph, separated by ','")
    parser.add_argument(
        "--inputs", help="tensors to feed, separated by ',' (the signature's)"
    )
    parser.add_argument(
        "--outputs", help="tensors to fetch, separated by ',' (the signature's)"
    )


def add_examples(parser: argparse.ArgumentParser) -> None:
    """What it is run with."""
    parser.add_argument(
        "--data",
        metavar="FILE.npz",
        help="an array for each input; without it values are made up",
    )
    parser.add_argument(
        "--labels", metavar="NAME", help="the array of the file that is right"
    )
    parser.add_argument(
        "--answer", metavar="OUTPUT", help="the output that labels are for (the first)"
    )
    parser.add_argument(
        "--batch_size", type=int, default=64, help="examples at a time (64)"
    )


def add_limits(parser: argparse.ArgumentParser, difference: str) -> None:
    """How different the result may be."""
    parser.add_argument(
        "--max-difference",
        type=float,
        metavar="SHARE",
        help="the largest difference of an output, as a share of its largest value "
        f"({difference})",
    )
    parser.add_argument(
        "--min-accuracy", type=float, metavar="SHARE", help="the least right answers"
    )
    parser.add_argument(
        "--max-accuracy-loss",
        type=float,
        metavar="SHARE",
        help="right answers that may be lost",
    )


def model_of(options: argparse.Namespace) -> FrozenModel:
    """The model that was named. See `frozen_model.load`."""
    import tensorloom  # noqa: F401  (models have any op)
    from tensorloom.deploy import frozen_model

    return frozen_model.load(
        options.model,
        signature=options.signature,
        tag_set=options.tag_set,
        inputs=_names(options.inputs),
        outputs=_names(options.outputs),
    )


def _names(text: str | None) -> list[str]:
    return [name.strip() for name in (text or "").split(",") if name.strip()]


def examples_of(options: argparse.Namespace, model: FrozenModel) -> Examples:
    """What was given to run it with, or what is made up.

    Raises:
      ValueError: there are labels without data.
    """
    from tensorloom.deploy import examples

    if options.data is None:
        if options.labels is not None:
            raise ValueError("--labels names an array of --data FILE.npz")
        return examples.made_up(model)
    return examples.read(options.data, model, options.labels, options.batch_size)


def limits_of(options: argparse.Namespace, difference: float) -> Limits:
    """How different the result may be; `difference` if nothing else was said."""
    from tensorloom.deploy.comparison import Limits

    chosen = options.max_difference
    return Limits(
        difference if chosen is None else chosen,
        options.min_accuracy,
        options.max_accuracy_loss,
    )
