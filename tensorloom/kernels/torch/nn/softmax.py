"""Softmax and its cross entropies over torch tensors."""

from __future__ import annotations

from collections.abc import Callable

import torch

from tensorloom.framework.registry.op_kernel import (
    Compute,
    OpKernelConstruction,
    kernel,
)
from tensorloom.kernels.host.nn.checks import (
    check_cross_entropy,
    check_logits,
    check_sparse_cross_entropy,
    label_error,
)

# Bound once: looking an operator up costs as much as a small kernel.
_log_softmax = torch._log_softmax
_softmax = torch._softmax

# torch computes row by row, and shorter rows than a vector without vectors, ten times
# as slowly as columns of a matrix of such rows.
_VECTOR = 16
_FEWEST_ELEMENTS = 512
# What gives no precision away with a softmax in its own dtype.
_EXACT = (torch.float32, torch.float64)
# From here on a second exponential of each element costs more than three more calls.
_MANY_ELEMENTS = 16384


def _of_rows(
    function: Callable[[torch.Tensor, int, bool], torch.Tensor], logits: torch.Tensor
) -> torch.Tensor:
    """What one of torch's softmax functions makes of each row."""
    classes = logits.shape[-1]
    if (
        classes >= _VECTOR
        or logits.numel() < _FEWEST_ELEMENTS
        or logits.dtype is not torch.float32
        or not logits.is_cpu
    ):
        return function(logits, -1, False)
    columns = function(logits.reshape(-1, classes).t(), 0, False)
    return columns.t().contiguous().view(logits.shape)


@kernel("Softmax")
def softmax(c: OpKernelConstruction) -> Compute:
    """exp(logits), each row scaled to sum to 1."""

    def compute(logits: torch.Tensor) -> torch.Tensor:
        check_logits(logits.shape)
        return _of_rows(_softmax, logits)

    return compute


@kernel("LogSoftmax")
def log_softmax(c: OpKernelConstruction) -> Compute:
    """log(softmax(logits))."""

    def compute(logits: torch.Tensor) -> torch.Tensor:
        check_logits(logits.shape)
        return _of_rows(_log_softmax, logits)

    return compute


@kernel("SoftmaxCrossEntropyWithLogits")
def softmax_cross_entropy(c: OpKernelConstruction) -> Compute:
    """The loss of each row, and its gradient with respect to the logits."""

    def compute(
        features: torch.Tensor, labels: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        if features.shape != labels.shape or features.dim() != 2:
            check_cross_entropy(features.shape, labels.shape)
            features, labels = torch.broadcast_tensors(features, labels)  # type: ignore[no-untyped-call]
        log_probabilities = _of_rows(_log_softmax, features)
        loss = (log_probabilities * labels).sum(1).neg_()
        return loss, log_probabilities.exp_().sub_(labels)

    return compute


@kernel("SparseSoftmaxCrossEntropyWithLogits")
def sparse_softmax_cross_entropy(c: OpKernelConstruction) -> Compute:
    """The loss of each row for one class index, and its gradient."""
    on_cpu = c.device_type == "CPU"

    def compute(
        features: torch.Tensor, labels: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        check_sparse_cross_entropy(features.shape, labels.shape)
        if not features.numel():
            return features.new_empty((0,)), torch.empty_like(features)
        classes = features.shape[1]
        index = labels.long()
        valid = None
        if not on_cpu:
            # As on TensorFlow's GPU, a bad label gives NaN: no synchronisation.
            valid = (index >= 0) & (index < classes)
            index = index.clamp(0, classes - 1)
        column = index.unsqueeze(1)
        is_large = features.numel() >= _MANY_ELEMENTS and features.dtype in _EXACT
        both = _from_probabilities if on_cpu and is_large else _from_logarithms
        try:
            loss, backprop = both(features, column)
        except (RuntimeError, IndexError):  # how torch's CPU kernel refuses an index
            raise _label_error(labels, classes) from None
        backprop.scatter_add_(1, column, backprop.new_full((), -1).expand_as(column))
        if valid is not None:
            nan = float("nan")
            loss = torch.where(valid, loss, nan)
            backprop = torch.where(valid.unsqueeze(1), backprop, nan)
        return loss, backprop

    return compute


def _from_logarithms(
    features: torch.Tensor, column: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """-log(softmax) of one column of each row, [rows], and the softmax."""
    log_probabilities = _of_rows(_log_softmax, features)
    loss = log_probabilities.gather(1, column).squeeze(1).neg_()
    return loss, log_probabilities.exp_()


def _from_probabilities(
    features: torch.Tensor, column: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """The same with one exponential of each element.

    The greatest probability of a row is one over the sum of exp(logits - greatest).
    """
    loss = features.amax(1, True).sub_(features.gather(1, column))
    probabilities = _of_rows(_softmax, features)
    loss.sub_(probabilities.amax(1, True).log_())
    return loss.squeeze(1), probabilities


def _label_error(labels: torch.Tensor, classes: int) -> Exception:
    values = labels.tolist()
    bad = next(v for v in values if not 0 <= v < classes)
    return label_error(bad, classes, values)
