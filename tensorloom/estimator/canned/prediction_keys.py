"""The names of what `predict` gives."""

from __future__ import annotations

from typing import Final


class PredictionKeys:
    """Keys of the predictions of ready-made models."""

    CLASSES: Final = "classes"
    CLASS_IDS: Final = "class_ids"
    ALL_CLASSES: Final = "all_classes"
    ALL_CLASS_IDS: Final = "all_class_ids"
    LOGISTIC: Final = "logistic"
    LOGITS: Final = "logits"
    PREDICTIONS: Final = "predictions"
    PROBABILITIES: Final = "probabilities"
    TOP_K: Final = "top_k"
