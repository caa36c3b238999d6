"""`slim.summaries`: summaries of tensors, called after their operations."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import GraphKeys, add_to_collection
from tensorloom.nn.zero_fraction import zero_fraction
from tensorloom.ops.debugging.logging import print_v1
from tensorloom.summary import media, summary


def _summary_name(tensor: Any, name: str | None, *parts: str | None) -> str:
    """prefix/name/postfix, where `parts` are prefix and postfix."""
    prefix, postfix = parts
    return "/".join(filter(None, (prefix, name or tensor.op.name, postfix)))


def _written(
    write: Callable[..., Any], name: str, tensor: Any, print_summary: bool
) -> Any:
    """The summary, which prints the tensor each time it is made if asked to."""
    if not print_summary:
        return write(name, tensor)
    printing = print_v1(write(name, tensor, collections=[]), [tensor], name)
    add_to_collection(GraphKeys.SUMMARIES, printing)
    return printing


@export("contrib.slim.summaries.add_histogram_summary")
def add_histogram_summary(
    tensor: Any, name: str | None = None, prefix: str | None = None
) -> Any:
    """A histogram of a tensor or variable.

    Args:
      tensor: of any shape.
      name: of the summary; the operation's when None.
      prefix: stands before the name.

    Returns:
      The summary, a string scalar.
    """
    return summary.histogram(_summary_name(tensor, name, prefix, None), tensor)


@export("contrib.slim.summaries.add_image_summary")
def add_image_summary(
    tensor: Any,
    name: str | None = None,
    prefix: str | None = None,
    print_summary: bool = False,
) -> Any:
    """A summary of images `[batch, height, width, channels]`.

    Args:
      name, prefix: as of `add_histogram_summary`.
      print_summary: whether it is printed each time it is made.
    """
    name = _summary_name(tensor, name, prefix, None)
    return _written(media.image, name, tensor, print_summary)


@export("contrib.slim.summaries.add_scalar_summary")
def add_scalar_summary(
    tensor: Any,
    name: str | None = None,
    prefix: str | None = None,
    print_summary: bool = False,
) -> Any:
    """A summary of a scalar; arguments as of `add_image_summary`."""
    name = _summary_name(tensor, name, prefix, None)
    return _written(summary.scalar, name, tensor, print_summary)


@export("contrib.slim.summaries.add_zero_fraction_summary")
def add_zero_fraction_summary(
    tensor: Any,
    name: str | None = None,
    prefix: str | None = None,
    print_summary: bool = False,
) -> Any:
    """A summary of how many of a tensor's numbers are zeros, of 1.

    Arguments are as of `add_image_summary`.
    """
    name = _summary_name(tensor, name, prefix, "Fraction_of_Zero_Values")
    return add_scalar_summary(zero_fraction(tensor), name, print_summary=print_summary)


@export("contrib.slim.summaries.add_histogram_summaries")
def add_histogram_summaries(
    tensors: Iterable[Any], prefix: str | None = None
) -> list[Any]:
    """`add_histogram_summary` of each tensor."""
    return [add_histogram_summary(tensor, prefix=prefix) for tensor in tensors]


@export("contrib.slim.summaries.add_image_summaries")
def add_image_summaries(tensors: Iterable[Any], prefix: str | None = None) -> list[Any]:
    """`add_image_summary` of each tensor."""
    return [add_image_summary(tensor, prefix=prefix) for tensor in tensors]


@export("contrib.slim.summaries.add_scalar_summaries")
def add_scalar_summaries(
    tensors: Iterable[Any], prefix: str | None = None, print_summary: bool = False
) -> list[Any]:
    """`add_scalar_summary` of each tensor."""
    return [
        add_scalar_summary(tensor, prefix=prefix, print_summary=print_summary)
        for tensor in tensors
    ]


@export("contrib.slim.summaries.add_zero_fraction_summaries")
def add_zero_fraction_summaries(
    tensors: Iterable[Any], prefix: str | None = None
) -> list[Any]:
    """`add_zero_fraction_summary` of each tensor."""
    return [add_zero_fraction_summary(tensor, prefix=prefix) for tensor in tensors]
