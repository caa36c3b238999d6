"""Cross entropies with the arguments in their first order."""

from __future__ import annotations

from typing import Any

from tensorloom.framework.export import export
from tensorloom.ops.nn.loss import (
    sigmoid_cross_entropy_with_logits,
    softmax_cross_entropy_with_logits,
    sparse_softmax_cross_entropy_with_logits,
)


@export("contrib.nn.deprecated_flipped_softmax_cross_entropy_with_logits")
def deprecated_flipped_softmax_cross_entropy_with_logits(
    logits: Any, labels: Any, dim: int = -1, name: str | None = None
) -> Any:
    """See `tf.nn.softmax_cross_entropy_with_logits`."""
    return softmax_cross_entropy_with_logits(
        labels=labels, logits=logits, dim=dim, name=name
    )


@export("contrib.nn.deprecated_flipped_sparse_softmax_cross_entropy_with_logits")
def deprecated_flipped_sparse_softmax_cross_entropy_with_logits(
    logits: Any, labels: Any, name: str | None = None
) -> Any:
    """See `tf.nn.sparse_softmax_cross_entropy_with_logits`."""
    return sparse_softmax_cross_entropy_with_logits(
        labels=labels, logits=logits, name=name
    )


@export("contrib.nn.deprecated_flipped_sigmoid_cross_entropy_with_logits")
def deprecated_flipped_sigmoid_cross_entropy_with_logits(
    logits: Any, targets: Any, name: str | None = None
) -> Any:
    """See `tf.nn.sigmoid_cross_entropy_with_logits`."""
    return sigmoid_cross_entropy_with_logits(labels=targets, logits=logits, name=name)
