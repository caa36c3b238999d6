"""Series in NumPy arrays: their shapes, and times to predict."""

from __future__ import annotations

from typing import Any

import numpy as np

from tensorloom.contrib.timeseries.feature_keys import (
    FilteringResults,
    TrainEvalFeatures,
)

_TIMES, _VALUES = TrainEvalFeatures.TIMES, TrainEvalFeatures.VALUES


def canonical_series(
    data: dict[str, Any], require_single_batch: bool
) -> dict[str, np.ndarray]:
    """A series with all dimensions.

    Args:
      data: times and values, and perhaps more. Times are a number, [window] or [batch,
        window]; all others have that shape and more. Values may be without the
        dimension of features, if there is one and no batch.
      require_single_batch: whether more than one series is refused.

    Returns:
      The arrays, [batch, window, ...] each.

    Raises:
      ValueError: the shapes do not fit, or times or values are missing.
    """
    features = {key: np.array(value) for key, value in data.items()}
    if _TIMES not in features or _VALUES not in features:
        raise ValueError(f"{_TIMES} and {_VALUES} are required features.")
    times = features[_TIMES]
    for key, value in features.items():
        if value.shape[: times.ndim] != times.shape:
            raise ValueError(
                "All features must have their shapes prefixed by the shape of the "
                f"times feature. Got shape {value.shape} for feature '{key}', but "
                f"shape {times.shape} for '{_TIMES}'"
            )
    if times.ndim > 2:
        raise ValueError(
            "Got an unexpected number of dimensions for times. Was expecting at most "
            f"two ([batch size, series length]), but got shape {times.shape}."
        )
    if times.ndim < 2:
        _add_feature_dimension(features, times.ndim)
        missing = (None,) * (2 - times.ndim)
        features = {key: value[missing] for key, value in features.items()}
    if require_single_batch and features[_TIMES].shape[0] != 1:
        raise ValueError("Got batch input, was expecting unbatched input.")
    return features


def _add_feature_dimension(features: dict[str, np.ndarray], rank: int) -> None:
    values = features[_VALUES]
    if values.ndim == rank:
        features[_VALUES] = values[..., None]
    elif values.ndim > rank + 1:
        dimensions = (
            "[number of features]"
            if rank == 0
            else ("[series length, number of features]")
        )
        lacks = "a batch or time" if rank == 0 else "a batch"
        raise ValueError(
            f"Got an unexpected number of dimensions for the '{_VALUES}' feature. Was "
            f"expecting at most {rank + 1} dimension(s) ({dimensions}) since "
            f"'{_TIMES}' does not have {lacks} dimension, but got shape {values.shape}"
        )


def times_to_predict(times: Any, steps: int | None, output: dict[str, Any]) -> Any:
    """Times after an evaluation.

    Args:
      times: the times, [window] or [batch, window], or None.
      steps: how many there are, one after the other, or None.
      output: of the evaluation, with its times.

    Returns:
      [batch, window].

    Raises:
      ValueError: both or neither are given, the batches differ, or a time is not after
        the evaluation's.
    """
    if steps is not None and times is not None:
        raise ValueError("Only one of `steps` and `times` may be specified.")
    before = output[FilteringResults.TIMES]
    if times is None:
        if steps is None:
            raise ValueError("One of `steps` and `times` must be specified.")
        return before[:, -1:] + 1 + np.arange(steps)[None, ...]
    times = np.array(times)
    if times.ndim != 2:
        times = times[None, ...]
    if before.shape[0] != times.shape[0]:
        raise ValueError(
            "`times` must have a batch dimension matching the previous model output "
            f"(got a batch dimension of {times.shape[0]} for `times` and "
            f"{before.shape[0]} for the previous model output)."
        )
    if not (before[:, -1] < times[:, 0]).all():
        raise ValueError(
            "Prediction times must be after the corresponding previous model output."
        )
    return times
