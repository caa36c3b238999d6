"""The keys of features and results."""

from __future__ import annotations

from typing import Any

from tensorloom.framework.export import export
from tensorloom.saved_model import constants


class State:
    """The state of a model."""

    # The state to begin with, one tuple.
    STATE_TUPLE = "start_tuple"
    # The same, before a number: each tensor of the state has a key, as in SavedModels.
    STATE_PREFIX = "model_state"


class Times:
    """Integers that increase."""

    TIMES = "times"


class Values:
    """One or more numbers for each time."""

    VALUES = "values"


@export("contrib.timeseries.TrainEvalFeatures")
class TrainEvalFeatures(Times, Values):
    """Features for training and evaluation."""


class PredictionFeatures(Times, State):
    """Features for predictions."""


class FilteringFeatures(Times, Values, State):
    """Features for updates of a state by observations."""


class PredictionResults(Times):
    """What predictions have, beside the model's own."""


@export("contrib.timeseries.FilteringResults")
class FilteringResults(Times, State):
    """What an evaluation has."""


class SavedModelLabels:
    """The signatures of an exported model."""

    PREDICT = constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY
    FILTER = "filter"
    COLD_START_FILTER = "cold_start_filter"


# Features that are not exogenous.
NOT_EXOGENOUS = (Times.TIMES, Values.VALUES, State.STATE_TUPLE)


def exogenous(features: dict[str, Any]) -> dict[str, Any]:
    """The features that are neither times nor values nor state."""
    return {key: value for key, value in features.items() if key not in NOT_EXOGENOUS}
