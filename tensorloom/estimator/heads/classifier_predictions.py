"""What a classifier predicts from its logits."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, Final

from tensorloom.estimator.canned.prediction_keys import PredictionKeys as Keys
from tensorloom.estimator.heads import class_names
from tensorloom.framework.graph.graph import name_scope
from tensorloom.ops.array.concat import concat
from tensorloom.ops.array.fill import zeros_like
from tensorloom.ops.array.reshape import expand_dims
from tensorloom.ops.math.elementwise import sigmoid
from tensorloom.ops.nn.softmax import softmax
from tensorloom.ops.reductions.reductions import argmax

_CLASSES: Final = (
    Keys.LOGITS,
    Keys.PROBABILITIES,
    Keys.CLASS_IDS,
    Keys.CLASSES,
    Keys.ALL_CLASS_IDS,
    Keys.ALL_CLASSES,
)
MULTI_CLASS_KEYS: Final = _CLASSES
BINARY_KEYS: Final = (Keys.LOGITS, Keys.LOGISTIC, *_CLASSES[1:])


def multi_class_predictions(
    logits: Any,
    n_classes: Any,
    label_vocabulary: Sequence[str] | None,
    keys: Collection[str] = MULTI_CLASS_KEYS,
) -> dict[str, Any]:
    """Predictions of one of many classes, by their keys.

    Args:
      logits: `[..., n_classes]`.
      n_classes: how many classes there are.
      label_vocabulary: their names; their numbers when None.
      keys: which predictions.
    """
    with name_scope(None, "predictions", values=(logits,)):
        return _of_classes(logits, logits, n_classes, label_vocabulary, keys)


def binary_predictions(
    logits: Any,
    label_vocabulary: Sequence[str] | None,
    keys: Collection[str] = BINARY_KEYS,
) -> dict[str, Any]:
    """Predictions of one of two classes, by their keys.

    Args:
      logits: `[..., 1]`: those of the second class; the first one's are zero.
      label_vocabulary: the names of both; their numbers when None.
      keys: which predictions.
    """
    with name_scope(None, "predictions", values=(logits,)):
        logistic = {}
        if Keys.LOGISTIC in keys:
            logistic[Keys.LOGISTIC] = sigmoid(logits, name=Keys.LOGISTIC)
        both = concat((zeros_like(logits), logits), axis=-1, name="two_class_logits")
        made = logistic | _of_classes(logits, both, 2, label_vocabulary, keys)
        return {key: made[key] for key in BINARY_KEYS if key in made}


def _of_classes(
    logits: Any,
    class_logits: Any,
    n_classes: Any,
    label_vocabulary: Sequence[str] | None,
    keys: Collection[str],
) -> dict[str, Any]:
    made: dict[str, Any] = {}
    if Keys.LOGITS in keys:
        made[Keys.LOGITS] = logits
    if Keys.PROBABILITIES in keys:
        made[Keys.PROBABILITIES] = softmax(class_logits, name=Keys.PROBABILITIES)
    if Keys.CLASS_IDS in keys or Keys.CLASSES in keys:
        ids = expand_dims(argmax(class_logits, axis=-1, name=Keys.CLASS_IDS), axis=-1)
        if Keys.CLASS_IDS in keys:
            made[Keys.CLASS_IDS] = ids
        if Keys.CLASSES in keys:
            made[Keys.CLASSES] = class_names.names_of_ids(ids, label_vocabulary)
    if Keys.ALL_CLASS_IDS in keys:
        made[Keys.ALL_CLASS_IDS] = class_names.all_class_ids(logits, n_classes)
    if Keys.ALL_CLASSES in keys:
        made[Keys.ALL_CLASSES] = class_names.all_classes(
            logits, n_classes, label_vocabulary
        )
    return made


def check_keys(keys: Collection[str] | None, known: Collection[str]) -> Collection[str]:
    """The keys of predictions that are asked for; all known ones when None.

    Raises:
      ValueError: one is unknown.
    """
    for key in keys or ():
        if key not in known:
            raise ValueError(
                f"Prediction key must be in PredictionKeys, given: {key}."
                f"Valid prediction keys include {list(known)}."
            )
    return keys or known
