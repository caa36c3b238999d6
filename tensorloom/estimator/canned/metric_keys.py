"""The names of what `evaluate` gives."""

from __future__ import annotations

from typing import Final

LOSS_METRIC_KEY: Final = "loss"
AVERAGE_LOSS_METRIC_KEY: Final = "average_loss"


class MetricKeys:
    """Names of metrics; those with `%` are filled in with a class or a threshold."""

    LOSS: Final = LOSS_METRIC_KEY
    LOSS_MEAN: Final = AVERAGE_LOSS_METRIC_KEY
    LOSS_REGULARIZATION: Final = "regularization_loss"
    ACCURACY: Final = "accuracy"
    PRECISION: Final = "precision"
    RECALL: Final = "recall"
    # The accuracy of a model that always answers the commoner class.
    ACCURACY_BASELINE: Final = "accuracy_baseline"
    AUC: Final = "auc"
    AUC_PR: Final = "auc_precision_recall"
    LABEL_MEAN: Final = "label/mean"
    PREDICTION_MEAN: Final = "prediction/mean"
    ACCURACY_AT_THRESHOLD: Final = "accuracy/positive_threshold_%g"
    PRECISION_AT_THRESHOLD: Final = "precision/positive_threshold_%g"
    RECALL_AT_THRESHOLD: Final = "recall/positive_threshold_%g"
    # Of each class, by its number or its name.
    PROBABILITY_MEAN_AT_CLASS: Final = "probability_mean/class%d"
    AUC_AT_CLASS: Final = "auc/class%d"
    AUC_PR_AT_CLASS: Final = "auc_precision_recall/class%d"
    PROBABILITY_MEAN_AT_NAME: Final = "probability_mean/%s"
    AUC_AT_NAME: Final = "auc/%s"
    AUC_PR_AT_NAME: Final = "auc_precision_recall/%s"
