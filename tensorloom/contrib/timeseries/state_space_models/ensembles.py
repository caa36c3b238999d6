"""Ensembles of state-space models: one model whose state is all of theirs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tensorloom.client.variables.variable_scope import variable_scope
from tensorloom.contrib.timeseries.matrices import block_diagonal
from tensorloom.contrib.timeseries.state_space_models.state_space import (
    StateSpaceModel,
    StateSpaceModelConfiguration,
)
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.ops.array import concat
from tensorloom.ops.reductions import aggregate


class StateSpaceEnsemble(StateSpaceModel):
    """Models whose transitions stand along the diagonal of one."""

    def __init__(
        self,
        ensemble_members: Sequence[StateSpaceModel],
        configuration: StateSpaceModelConfiguration,
    ) -> None:
        """Takes the members."""
        self._ensemble_members = list(ensemble_members)
        super().__init__(configuration=configuration)

    def _set_input_statistics(self, input_statistics: Any = None) -> None:
        super()._set_input_statistics(input_statistics)
        for member in self._ensemble_members:
            member._set_input_statistics(input_statistics)

    def _loss_additions(self, times: Any, values: Any, mode: str) -> Any:
        own = super()._loss_additions(times, values, mode)
        additions = [
            member._loss_additions(times, values, mode)
            for member in self._ensemble_members
        ]
        return own + aggregate.add_n(additions)

    def _compute_blocked(self, member_fn: Callable[[Any], Any], name: str) -> Any:
        with variable_scope(self._variable_scope):
            blocks = [member_fn(member) for member in self._ensemble_members]
            return block_diagonal(blocks, dtype=self.dtype, name=name)

    def transition_to_powers(self, powers: Any) -> Any:
        """The members' powers along the diagonal."""
        return self._compute_blocked(
            lambda member: member.transition_to_powers(powers),
            "ensemble_transition_to_powers",
        )

    def _define_parameters(
        self, observation_transition_tradeoff_log: Any = None
    ) -> None:
        with variable_scope(self._variable_scope):
            tradeoff = observation_transition_tradeoff_log
            if tradeoff is None:
                tradeoff = self._variable_observation_transition_tradeoff_log()
            for member in self._ensemble_members:
                member._define_parameters(tradeoff)
            super()._define_parameters(tradeoff)

    def random_model_parameters(self, seed: int | None = None) -> dict[Any, Any]:
        """Random values of all members' parameters, and of the ensemble's own."""
        parameters: dict[Any, Any] = {}
        for number, member in enumerate(self._ensemble_members):
            own_seed = seed + number if seed else None
            parameters.update(member.random_model_parameters(seed=own_seed))
        parameters.update(super().random_model_parameters(seed=seed))
        return parameters

    def get_prior_mean(self) -> Any:
        """The members' means, one after the other."""
        means = [member.get_prior_mean() for member in self._ensemble_members]
        return concat.concat(means, axis=0, name="ensemble_prior_state_mean")

    def get_state_transition(self) -> Any:
        """The members' transitions along the diagonal."""
        return self._compute_blocked(
            lambda member: member.get_state_transition(), "ensemble_state_transition"
        )

    def get_noise_transform(self) -> Any:
        """The members' transforms along the diagonal."""
        return self._compute_blocked(
            lambda member: member.get_noise_transform(), "ensemble_noise_transform"
        )

    def get_observation_model(self, times: Any) -> Any:
        """Raises NotImplementedError: `get_broadcasted_observation_model` has it."""
        raise NotImplementedError(
            "No un-broadcasted observation model defined for ensembles."
        )

    def get_broadcasted_observation_model(self, times: Any) -> Any:
        """The members' models next to each other: what they observe is added."""
        models = [
            convert_to_tensor(
                member.get_broadcasted_observation_model(times), dtype=self.dtype
            )
            for member in self._ensemble_members
        ]
        return concat.concat(models, axis=2)


class StateSpaceIndependentEnsemble(StateSpaceEnsemble):
    """Models with noise of their own, whose observations are added."""

    def transition_power_noise_accumulator(self, num_steps: Any) -> Any:
        """The members' noise along the diagonal."""
        return self._compute_blocked(
            lambda member: member.transition_power_noise_accumulator(num_steps),
            "ensemble_power_noise_accumulator",
        )

    def get_prior_covariance(self) -> Any:
        """The members' covariances along the diagonal."""
        return self._compute_blocked(
            lambda member: member.get_prior_covariance(),
            "ensemble_prior_state_covariance",
        )

    def get_state_transition_noise_covariance(
        self, minimum_initial_variance: float = 1e-5
    ) -> Any:
        """The members' noise along the diagonal."""
        return self._compute_blocked(
            lambda member: member.state_transition_noise_covariance,
            "ensemble_state_transition_noise",
        )


class StateSpaceCorrelatedFeaturesEnsemble(StateSpaceEnsemble):
    """A model for each feature, with noise that may be correlated among them."""

    def __init__(
        self,
        ensemble_members: Sequence[StateSpaceModel],
        configuration: StateSpaceModelConfiguration,
    ) -> None:
        """Takes a model of one feature for each feature.

        Raises:
          ValueError: there are more or fewer models, or one has more features.
        """
        if len(ensemble_members) != configuration.num_features:
            raise ValueError(
                "The number of members in a StateSpaceCorrelatedFeaturesEnsemble must "
                "equal the number of features in the time series."
            )
        if any(member.num_features != 1 for member in ensemble_members):
            raise ValueError(
                "StateSpaceCorrelatedFeaturesEnsemble components must be univariate."
            )
        super().__init__(ensemble_members, configuration)

    def transition_power_noise_accumulator(self, num_steps: Any) -> Any:
        """The noise of so many steps; a single member may have a formula for it."""
        if len(self._ensemble_members) == 1:
            member = self._ensemble_members[0]
            return member.transition_power_noise_accumulator(num_steps=num_steps)
        return super().transition_power_noise_accumulator(num_steps=num_steps)

    def get_broadcasted_observation_model(self, times: Any) -> Any:
        """The members' models along the diagonal: each observes its feature."""
        return self._compute_blocked(
            lambda member: convert_to_tensor(
                member.get_broadcasted_observation_model(times), dtype=self.dtype
            ),
            "feature_ensemble_observation_model",
        )
