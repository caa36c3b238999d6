"""Shape checks that the torch and the host kernels of neural network ops share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tensorloom.framework.errors import invalid_argument
from tensorloom.kernels.host.array.allocation import shape_text

if TYPE_CHECKING:
    from tensorloom.framework import errors

Shape = Sequence[int]


def text(shape: Shape) -> str:
    """A shape as `[2,3]`."""
    return shape_text(tuple(shape))


def check_bias(value: Shape, bias: Shape, channel_axis: int) -> None:
    """Checks the inputs of BiasAdd; the axis is 1 (NCHW) or -1."""
    if len(value) < 2:
        raise invalid_argument(f"Input tensor must be at least 2D: {text(value)}")
    if len(bias) != 1:
        raise invalid_argument(f"Biases must be 1D: {text(bias)}")
    if value[channel_axis] != bias[0]:
        which = "last" if channel_axis == -1 else "channel"
        raise invalid_argument(
            f"Must provide as many biases as the {which} dimension of the input "
            f"tensor: {text(bias)} vs. {text(value)}"
        )


def check_bias_grad(grad: Shape) -> None:
    """Checks the input of BiasAddGrad."""
    if len(grad) < 2:
        raise invalid_argument(f"Input tensor must be at least 2D: {text(grad)}")


def check_logits(shape: Shape) -> None:
    """Checks the input of Softmax and LogSoftmax."""
    if not shape:
        raise invalid_argument(f"logits must have >= 1 dimension, got {text(shape)}")


def check_cross_entropy(logits: Shape, labels: Shape) -> None:
    """Checks that both broadcast to one matrix."""
    rank = max(len(logits), len(labels))
    padded = [(1,) * (rank - len(s)) + tuple(s) for s in (logits, labels)]
    if any(a != b and 1 not in (a, b) for a, b in zip(*padded, strict=True)):
        raise invalid_argument(
            "logits and labels must be broadcastable: logits_size="
            f"{text(logits)} labels_size={text(labels)}"
        )
    if rank != 2:
        raise invalid_argument(
            "logits and labels must be either 2-dimensional, or broadcasted to be "
            "2-dimensional"
        )


def check_sparse_cross_entropy(logits: Shape, labels: Shape) -> None:
    """Checks logits [batch, classes] and labels [batch]."""
    if len(logits) != 2:
        raise invalid_argument(f"logits must be 2-D, but got shape {text(logits)}")
    if len(labels) != 1:
        raise invalid_argument(f"labels must be 1-D, but got shape {text(labels)}")
    if logits[0] != labels[0]:
        raise invalid_argument(
            "logits and labels must have the same first dimension, got logits shape "
            f"{text(logits)} and labels shape {text(labels)}"
        )
    if logits[1] <= 0:
        raise invalid_argument(
            f"Must have at least one class, but got logits shape {text(logits)}"
        )


def label_error(
    label: int, classes: int, labels: Sequence[int]
) -> errors.InvalidArgumentError:
    """The error for the first label out of range; `labels` are all of them."""
    shown = " ".join(map(str, labels))
    return invalid_argument(
        f"Received a label value of {label} which is outside the valid range of "
        f"[0, {classes}).  Label values: {shown}"
    )


def check_top_k(shape: Shape, k_shape: Shape, k: int) -> None:
    """Checks the inputs of TopKV2."""
    if k_shape:
        raise invalid_argument(f"k must be scalar, got shape {text(k_shape)}")
    if k < 0:
        raise invalid_argument(f"Need k >= 0, got {k}")
    if not shape:
        raise invalid_argument(f"input must be >= 1-D, got shape {text(shape)}")
    if shape[-1] < k:
        raise invalid_argument(
            f"input must have at least k columns. Had {shape[-1]}, needed {k}"
        )


def check_in_top_k(predictions: Shape, targets: Shape, k_shape: Shape) -> None:
    """Checks the inputs of InTopKV2."""
    if len(predictions) != 2:
        raise invalid_argument("predictions must be 2-dimensional")
    if len(targets) != 1:
        raise invalid_argument("targets must be 1-dimensional")
    if predictions[0] != targets[0]:
        raise invalid_argument(
            f"First dimension of predictions {predictions[0]} must match length of "
            f"targets {targets[0]}"
        )
    if k_shape:
        raise invalid_argument(f"k must be 0-D, got shape {text(k_shape)}")


def same_shape_error(
    name: str, op: str, first: Shape, second: Shape
) -> errors.InvalidArgumentError:
    """The error for two inputs that must have one shape."""
    return invalid_argument(
        f"Inputs to operation {name} of type {op} must have the same size and shape.  "
        f"Input 0: {text(first)} != input 1: {text(second)}"
    )
