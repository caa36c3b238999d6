"""The head for a number of classes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.estimator.canned.heads.binary import BinaryHead
from tensorloom.estimator.canned.heads.multi_class import MultiClassHead

if TYPE_CHECKING:
    from tensorloom.estimator.canned.heads.base import CannedHead


def binary_or_multi_class_head(
    n_classes: int, weight_column: Any, label_vocabulary: Any, loss_reduction: str
) -> CannedHead:
    """The head of two classes, or that of more."""
    options = {
        "weight_column": weight_column,
        "label_vocabulary": label_vocabulary,
        "loss_reduction": loss_reduction,
    }
    if n_classes == 2:
        return BinaryHead(**options)
    return MultiClassHead(n_classes, **options)
