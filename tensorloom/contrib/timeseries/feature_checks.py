"""Checks of features: which there are, and their shapes."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from tensorloom.contrib.timeseries.feature_keys import State, TrainEvalFeatures

_TIMES, _VALUES = TrainEvalFeatures.TIMES, TrainEvalFeatures.VALUES


def check_train_eval_features(features: dict[str, Any], model: Any) -> None:
    """Raises ValueError where features are missing or do not fit for training."""
    _check_there(features, (_TIMES, _VALUES), "training/evaluation")
    _check_times(features)
    values = features[_VALUES].get_shape()
    if not values.is_compatible_with([None, None, model.num_features]):
        raise ValueError(
            f"Expected shape (batch dimension, window size, {model.num_features}) for "
            f"feature '{_VALUES}', since the model was configured with "
            f"num_features={model.num_features} (got shape {values})"
        )
    _check_windows(features, {State.STATE_TUPLE})


def check_predict_features(
    features: dict[str, Any], required: Sequence[str], ignored: Collection[str]
) -> None:
    """Raises ValueError where features are missing or do not fit for predictions.

    Args:
      features: the features.
      required: which have to be there.
      ignored: whose shapes are not of a window.
    """
    _check_there(features, required, "prediction")
    _check_times(features)
    _check_windows(features, ignored)


def _check_there(features: dict[str, Any], required: Sequence[str], use: str) -> None:
    for name in required:
        if name not in features:
            raise ValueError(f"Expected a '{name}' feature for {use}.")


def _check_times(features: dict[str, Any]) -> None:
    shape = features[_TIMES].get_shape()
    if not shape.is_compatible_with([None, None]):
        raise ValueError(
            "Expected shape (batch dimension, window size) for feature "
            f"'{_TIMES}' (got shape {shape})"
        )


def _check_windows(features: dict[str, Any], ignored: Collection[str]) -> None:
    window = features[_TIMES].get_shape()
    expected = "Features must have shape (batch dimension, window size, ...)"
    for name, value in features.items():
        if name in ignored or value.get_shape().ndims is None:
            continue
        shape = value.get_shape()
        if shape.ndims < 2:
            raise ValueError(
                f"{expected} (got rank {shape.ndims} for feature '{name}')"
            )
        if not shape[:2].is_compatible_with(window):
            raise ValueError(
                f"{expected} where batch dimension and window size match the "
                f"'{_TIMES}' feature (got shape {shape} for feature '{name}' but shape "
                f"{window} for feature '{_TIMES}')"
            )
