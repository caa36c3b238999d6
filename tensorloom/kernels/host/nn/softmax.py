"""Softmax and its cross entropies in host memory."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tensorloom.framework.registry.op_kernel import (
    Compute,
    OpKernelConstruction,
    host_kernel,
)
from tensorloom.kernels.host.nn.checks import (
    check_cross_entropy,
    check_logits,
    check_sparse_cross_entropy,
    label_error,
)

_Array = NDArray[Any]


def _log_softmax(logits: _Array) -> _Array:
    if not logits.size:
        return logits.copy()
    shifted = logits - logits.max(-1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(-1, keepdims=True))  # type: ignore[no-any-return]


@host_kernel("Softmax")
def softmax(c: OpKernelConstruction) -> Compute:
    """exp(logits), each row scaled to sum to 1."""

    def compute(logits: _Array) -> _Array:
        check_logits(logits.shape)
        if not logits.size:
            return logits.copy()
        powers = np.exp(logits - logits.max(-1, keepdims=True))
        return powers / powers.sum(-1, keepdims=True)  # type: ignore[no-any-return]

    return compute


@host_kernel("LogSoftmax")
def log_softmax(c: OpKernelConstruction) -> Compute:
    """log(softmax(logits))."""

    def compute(logits: _Array) -> _Array:
        check_logits(logits.shape)
        return _log_softmax(logits)

    return compute


@host_kernel("SoftmaxCrossEntropyWithLogits")
def softmax_cross_entropy(c: OpKernelConstruction) -> Compute:
    """The loss of each row, and its gradient with respect to the logits."""

    def compute(features: _Array, labels: _Array) -> tuple[_Array, _Array]:
        if features.shape != labels.shape or features.ndim != 2:
            check_cross_entropy(features.shape, labels.shape)
            features, labels = np.broadcast_arrays(features, labels)
        log_probabilities = _log_softmax(features)
        loss = -(labels * log_probabilities).sum(1)
        return loss, np.exp(log_probabilities) - labels

    return compute


@host_kernel("SparseSoftmaxCrossEntropyWithLogits")
def sparse_softmax_cross_entropy(c: OpKernelConstruction) -> Compute:
    """The loss of each row for one class index, and its gradient."""

    def compute(features: _Array, labels: _Array) -> tuple[_Array, _Array]:
        check_sparse_cross_entropy(features.shape, labels.shape)
        if not features.size:
            return np.empty((0,), features.dtype), features.copy()
        classes = features.shape[1]
        if labels.min() < 0 or labels.max() >= classes:
            values = labels.tolist()
            bad = next(v for v in values if not 0 <= v < classes)
            raise label_error(bad, classes, values)
        rows = np.arange(len(labels))
        log_probabilities = _log_softmax(features)
        loss = -log_probabilities[rows, labels]
        backprop = np.exp(log_probabilities)
        backprop[rows, labels] -= 1
        return loss, backprop

    return compute
