"""Structural models: level and trend, periods, and deviations that fade."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tensorloom.client.variables.variable_scope import variable_scope
from tensorloom.contrib.timeseries.state_space_models.cycles import (
    CycleStateSpaceModel,
    ResolutionCycleModel,
)
from tensorloom.contrib.timeseries.state_space_models.ensembles import (
    StateSpaceCorrelatedFeaturesEnsemble,
    StateSpaceIndependentEnsemble,
)
from tensorloom.contrib.timeseries.state_space_models.level_trend import (
    AdderStateSpaceModel,
)
from tensorloom.contrib.timeseries.state_space_models.state_space import (
    DEFAULT_CONFIGURATION,
    StateSpaceModel,
    StateSpaceModelConfiguration,
)
from tensorloom.contrib.timeseries.state_space_models.varma import VARMA
from tensorloom.framework.types import nest

_Make = Callable[[StateSpaceModelConfiguration], StateSpaceModel]


def _for_each_feature(
    scope: str, make: _Make, configuration: StateSpaceModelConfiguration
) -> StateSpaceModel:
    """A model of each feature, with correlated noise."""
    of_one = configuration._replace(num_features=1)
    with variable_scope(scope):
        members = []
        for feature in range(configuration.num_features):
            with variable_scope(f"feature{feature}"):
                members.append(make(of_one))
        return StateSpaceCorrelatedFeaturesEnsemble(members, configuration)


class _Structural(StateSpaceIndependentEnsemble):
    """Level and trend, a VARMA part, and a part for each period."""

    def __init__(
        self,
        cycles: Sequence[_Make],
        autoregressive_order: int,
        moving_average_order: int,
        configuration: StateSpaceModelConfiguration,
    ) -> None:
        # The whole has observation noise; its parts have none.
        of_part = configuration._replace(use_observation_noise=False)
        members = [
            _for_each_feature(
                "adder",
                lambda of_one: AdderStateSpaceModel(configuration=of_one),
                of_part,
            )
        ]
        with variable_scope("varma"):
            members.append(
                VARMA(
                    autoregressive_order=autoregressive_order,
                    moving_average_order=moving_average_order,
                    configuration=of_part,
                )
            )
        members += [
            _for_each_feature(f"cycle{number}", make, of_part)
            for number, make in enumerate(cycles)
        ]
        super().__init__(ensemble_members=members, configuration=configuration)


class StructuralEnsemble(_Structural):
    """A structural model whose periods have a value for each step.

    In the spirit of Scott and Varian, "Predicting the present with Bayesian structural
    time series", 2014, with estimates of parameters in place of samples.
    """

    def __init__(
        self,
        periodicities: Any,
        moving_average_order: int,
        autoregressive_order: int,
        use_level_noise: bool = True,
        configuration: StateSpaceModelConfiguration = DEFAULT_CONFIGURATION,
    ) -> None:
        """Describes the model.

        Args:
          periodicities: a number of steps, or a list of them.
          moving_average_order: after how many steps deviations have faded.
          autoregressive_order: how many steps back deviations depend on.
          use_level_noise: changes nothing, as in TensorFlow.
          configuration: of the model.
        """
        cycles = [_plain_cycle(period) for period in nest.flatten(periodicities)]
        super().__init__(
            cycles, autoregressive_order, moving_average_order, configuration
        )


def _plain_cycle(period: int) -> _Make:
    return lambda of_one: CycleStateSpaceModel(periodicity=period, configuration=of_one)


def _cycle_of_resolution(period: Any, values: int) -> _Make:
    return lambda of_one: ResolutionCycleModel(
        num_latent_values=values, periodicity=period, configuration=of_one
    )


class MultiResolutionStructuralEnsemble(_Structural):
    """A structural model whose periods have any length and few values."""

    def __init__(
        self,
        cycle_num_latent_values: Any,
        moving_average_order: int,
        autoregressive_order: int,
        periodicities: Any,
        use_level_noise: bool = True,
        configuration: StateSpaceModelConfiguration = DEFAULT_CONFIGURATION,
    ) -> None:
        """Describes the model.

        Args:
          cycle_num_latent_values: how many values periods have, odd: one number, or a
            list with one for each. Fewer make smoother periods and a smaller model.
          moving_average_order: after how many steps deviations have faded.
          autoregressive_order: how many steps back deviations depend on.
          periodicities: the lengths of the periods in steps, or None.
          use_level_noise: changes nothing, as in TensorFlow.
          configuration: of the model.

        Raises:
          ValueError: the two lists are of different lengths.
        """
        periods = [] if periodicities is None else nest.flatten(periodicities)
        values = nest.flatten(cycle_num_latent_values)
        if len(periods) != len(values):
            if len(values) != 1:
                raise ValueError(
                    "`cycle_num_latent_values` must either be a list with the same "
                    f"size as `periodicity` or a scalar. Received length {len(values)} "
                    "`cycle_num_latent_values`, while `periodicities` has length "
                    f"{len(periods)}."
                )
            values = values * len(periods)
        cycles = [
            _cycle_of_resolution(period, count)
            for period, count in zip(periods, values, strict=True)
        ]
        super().__init__(
            cycles, autoregressive_order, moving_average_order, configuration
        )
