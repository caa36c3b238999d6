"""Which state a window begins with: the start, a given one, or one from before."""

from __future__ import annotations

import abc
from typing import Any

from tensorloom.contrib.timeseries.feature_keys import (
    FilteringFeatures,
    State,
    TrainEvalFeatures,
)
from tensorloom.contrib.timeseries.models import ModelOutputs
from tensorloom.contrib.timeseries.state_tables import (
    TupleOfTensorsLookup,
    replicate_state,
)
from tensorloom.estimator.mode_keys import ModeKeys
from tensorloom.framework.runtime.scopes import control_dependencies
from tensorloom.framework.types import dtypes, nest
from tensorloom.ops.array import concat, identity, shape
from tensorloom.ops.indexing import selection
from tensorloom.ops.math import binary, cast, comparison


class PassthroughStateManager:
    """Every window begins with the start state."""

    def __init__(self) -> None:
        """Begins without a graph."""
        self._input_statistics: Any = None
        self._graph_initialized = False

    def initialize_graph(self, model: Any, input_statistics: Any = None) -> None:
        """Makes what is needed in the default graph."""
        self._graph_initialized = True
        self._input_statistics = input_statistics

    def define_loss(
        self, model: Any, features: dict[str, Any], mode: str
    ) -> ModelOutputs:
        """The model's loss.

        Raises:
          ValueError: the features have a state.
        """
        if State.STATE_TUPLE in features:
            raise ValueError("Overriding start state is not supported for this model.")
        outputs: ModelOutputs = model.define_loss(features, mode)
        return outputs


class _OverridableStateManager(PassthroughStateManager, abc.ABC):
    """Features may have a state, except in training."""

    @abc.abstractmethod
    def _define_loss_with_saved_state(
        self, model: Any, features: dict[str, Any], mode: str
    ) -> ModelOutputs:
        """The loss of windows whose state is this manager's affair."""

    def define_loss(
        self, model: Any, features: dict[str, Any], mode: str
    ) -> ModelOutputs:
        """The model's loss from the state of the features, if they have one.

        Raises:
          ValueError: they have one in training.
        """
        key = FilteringFeatures.STATE_TUPLE
        if key not in features:
            return self._define_loss_with_saved_state(model, features, mode)
        if mode == ModeKeys.TRAIN:
            raise ValueError(
                "Overriding saved state for training is not supported (but a value for "
                f"feature {key} was specified)."
            )
        state = features.pop(key)
        outputs: ModelOutputs = model.get_batch_loss(
            features=features, mode=mode, state=state
        )
        return outputs


class FilteringOnlyStateManager(_OverridableStateManager):
    """States are given in evaluation alone, as models of windows need them."""

    def _define_loss_with_saved_state(
        self, model: Any, features: dict[str, Any], mode: str
    ) -> ModelOutputs:
        outputs: ModelOutputs = model.define_loss(features, mode)
        return outputs


class ChainingStateManager(_OverridableStateManager):
    """A window begins with the state that an earlier step left at its time.

    States are kept in tables, by times in steps of an interval. So a series is learnt
    in short windows, with states that are a little older than the parameters.
    """

    def __init__(
        self, state_saving_interval: int = 20, checkpoint_state: bool = False
    ) -> None:
        """Makes the manager.

        Args:
          state_saving_interval: how far apart the times of kept states are. Models have
            to bridge gaps of up to this size.
          checkpoint_state: whether checkpoints have the states.
        """
        super().__init__()
        self._checkpoint_state = checkpoint_state
        self._state_saving_interval = state_saving_interval
        self._start_state: Any = None
        self._cached_states: Any = None

    def initialize_graph(self, model: Any, input_statistics: Any = None) -> None:
        """Makes the tables."""
        super().initialize_graph(model=model, input_statistics=input_statistics)
        self._start_state = model.get_start_state()
        self._cached_states = TupleOfTensorsLookup(
            key_dtype=dtypes.int64,
            default_values=self._start_state,
            empty_key=-1,
            deleted_key=-2,
            name="cached_states",
            checkpoint=self._checkpoint_state,
        )

    def _define_loss_with_saved_state(
        self, model: Any, features: dict[str, Any], mode: str
    ) -> ModelOutputs:
        """The loss of windows that begin with kept states, and leave theirs.

        Raises:
          ValueError: there are no tables yet.
        """
        if not self._graph_initialized:
            raise ValueError(
                "ChainingStateManager requires initialize_graph() to be called before "
                "use."
            )
        times = features[TrainEvalFeatures.TIMES]
        loss, states, predictions = model.per_step_batch_loss(
            features=features, mode=mode, state=self._get_cached_states(times[:, 0])
        )
        with control_dependencies([self._save(times, states)]):
            loss = identity.identity(loss)
        predictions["observed"] = features[TrainEvalFeatures.VALUES]
        # The state of the last window, as a batch of one: to predict from it.
        end_state = nest.map_structure(lambda tensor: tensor[:, -1][-1][None], states)
        return ModelOutputs(loss, end_state, predictions, times)

    def _get_chunk_number(self, time: Any) -> Any:
        return time // self._state_saving_interval

    def _get_cached_states(self, times: Any) -> Any:
        """The kept states of times, the start state for the first."""
        numbers = self._get_chunk_number(times)
        found = tuple(self._cached_states.lookup(cast.cast(numbers, dtypes.int64)))
        start_time: Any = 0
        if self._input_statistics is not None:
            start_time = self._input_statistics.start_time
        # Not from the table: gradients reach the start state's own parameters.
        is_start = comparison.equal(numbers, self._get_chunk_number(start_time))
        start = replicate_state(self._start_state, shape.shape(times)[0])
        pairs = zip(nest.flatten(start), nest.flatten(found), strict=True)
        return nest.pack_sequence_as(
            found, [selection.where(is_start, first, kept) for first, kept in pairs]
        )

    def _save(self, times: Any, states: Any) -> Any:
        """Keeps each state for the time after its own, at least one interval on."""
        following = concat.concat([times[:, 1:], times[:, -1:] + 1], axis=1)
        numbers = binary.maximum(
            self._get_chunk_number(following), self._get_chunk_number(times) + 1
        )
        return self._cached_states.insert(keys=numbers, values=states)
