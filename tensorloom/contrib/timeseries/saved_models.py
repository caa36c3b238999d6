"""`contrib.timeseries.saved_model_utils`: exported models, called with arrays."""

from __future__ import annotations

from typing import Any

from tensorloom.contrib.timeseries.feature_keys import (
    FilteringFeatures,
    FilteringResults,
    PredictionFeatures,
    PredictionResults,
    SavedModelLabels,
)
from tensorloom.contrib.timeseries.heads import state_to_dictionary
from tensorloom.contrib.timeseries.numpy_series import (
    canonical_series,
    times_to_predict,
)
from tensorloom.framework.export import export


def _run(
    signatures: Any,
    label: str,
    session: Any,
    features: dict[str, Any],
    continue_from: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """The outputs of a signature for features, and a state if there is one."""
    signature = signatures.signature_def[label]
    state = continue_from or {}
    if FilteringResults.STATE_TUPLE in state:
        # Of an Estimator's evaluation; exported models number the tensors themselves.
        state = state_to_dictionary(state[FilteringResults.STATE_TUPLE])
    elif state:
        state = {key: state[key] for key in state if key != FilteringResults.TIMES}
    graph = session.graph
    fed = {**state, **features}
    feeds = {
        graph.as_graph_element(signature.inputs[key].name): value
        for key, value in fed.items()
    }
    fetches = {
        key: graph.as_graph_element(value.name)
        for key, value in signature.outputs.items()
    }
    outputs: dict[str, Any] = session.run(fetches, feed_dict=feeds)
    return outputs


@export("contrib.timeseries.saved_model_utils.predict_continuation")
def predict_continuation(
    continue_from: dict[str, Any],
    signatures: Any,
    session: Any,
    steps: int | None = None,
    times: Any = None,
    exogenous_features: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """Predictions of an exported model, after an evaluation or filtering.

    Args:
      continue_from: what `evaluate` or a filter here returned.
      signatures: what `tf.saved_model.loader.load` returned.
      session: the session that it was loaded into.
      steps: how many times to predict, or None.
      times: an array of them, [window] or [batch, window], or None.
      exogenous_features: [batch, window, ...] each.

    Returns:
      The model's predictions, and their times.

    Raises:
      ValueError: steps and times are both given or neither, or do not fit.
    """
    features = {
        PredictionFeatures.TIMES: times_to_predict(times, steps, continue_from),
        **(exogenous_features or {}),
    }
    outputs = _run(
        signatures, SavedModelLabels.PREDICT, session, features, continue_from
    )
    outputs[PredictionResults.TIMES] = features[PredictionFeatures.TIMES]
    return outputs


@export("contrib.timeseries.saved_model_utils.cold_start_filter")
def cold_start_filter(
    signatures: Any, session: Any, features: dict[str, Any]
) -> dict[str, Any]:
    """The state of an exported model after observations, from its start.

    Args:
      signatures: what `tf.saved_model.loader.load` returned.
      session: the session that it was loaded into.
      features: times, a number, [window] or [batch, window], values and others, with
        that shape and more.

    Returns:
      The state, by numbered keys, and the times.
    """
    series = canonical_series(data=features, require_single_batch=False)
    outputs = _run(signatures, SavedModelLabels.COLD_START_FILTER, session, series)
    outputs[FilteringResults.TIMES] = series[FilteringFeatures.TIMES]
    return outputs


@export("contrib.timeseries.saved_model_utils.filter_continuation")
def filter_continuation(
    continue_from: dict[str, Any],
    signatures: Any,
    session: Any,
    features: dict[str, Any],
) -> dict[str, Any]:
    """The state of an exported model after more observations.

    Args:
      continue_from: what `evaluate` or a filter here returned.
      signatures, session, features: as of `cold_start_filter`.

    Returns:
      The state, by numbered keys, and the times.
    """
    series = canonical_series(data=features, require_single_batch=False)
    outputs = _run(signatures, SavedModelLabels.FILTER, session, series, continue_from)
    outputs[FilteringResults.TIMES] = series[FilteringFeatures.TIMES]
    return outputs
