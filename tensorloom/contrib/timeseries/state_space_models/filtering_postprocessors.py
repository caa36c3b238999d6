"""What is done to a state after it was corrected: anomalies count less."""

from __future__ import annotations

import abc
from collections.abc import Callable, Sequence
from typing import Any

from tensorloom.contrib.timeseries.distributions import (
    cauchy_log_prob,
    entropy_matched_cauchy_scale,
)
from tensorloom.framework.runtime.scopes import control_dependencies
from tensorloom.framework.types import dtypes, nest
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.ops.array import concat, fill, identity, reshape, shape
from tensorloom.ops.debugging.check import assert_equal
from tensorloom.ops.math import elementwise
from tensorloom.ops.reductions import reductions


class FilteringStepPostprocessor(abc.ABC):
    """Changes states and outputs after each correction."""

    @abc.abstractmethod
    def process_filtering_step(
        self,
        current_times: Any,
        current_values: Any,
        predicted_state: Any,
        filtered_state: Any,
        outputs: dict[str, Any],
    ) -> tuple[Any, dict[str, Any]]:
        """The state and the outputs of a step.

        Args:
          current_times: [batch].
          current_values: [batch, features].
          predicted_state: the state before the values were known.
          filtered_state: the state after.
          outputs: of the step.
        """

    @property
    @abc.abstractmethod
    def output_names(self) -> Sequence[str]:
        """What it adds to the outputs."""


def cauchy_alternative_to_gaussian(
    current_times: Any, current_values: Any, outputs: dict[str, Any]
) -> Any:
    """How probable values are, as anomalies: by Cauchy distributions, [batch].

    They lie where the normal prediction does, with its entropy.

    Args:
      current_times: not looked at.
      current_values: [batch, features].
      outputs: "mean" [batch, features] and "covariance" [batch, features, features].
    """
    log_probs = cauchy_log_prob(
        loc=outputs["mean"],
        scale=entropy_matched_cauchy_scale(outputs["covariance"]),
        x=current_values,
    )
    return reductions.reduce_sum(log_probs, axis=1)


class StateInterpolatingAnomalyDetector(FilteringStepPostprocessor):
    """Moves states as far towards the values as these are no anomalies.

    By Bayes' theorem the odds of an anomaly are p(value | anomaly) prior over
    p(value | none) (1 - prior).
    """

    output_names = ("anomaly_score",)

    def __init__(
        self,
        anomaly_log_likelihood: Callable[..., Any] = cauchy_alternative_to_gaussian,
        anomaly_prior_probability: float = 0.01,
        responsibility_scaling: float = 1.0,
    ) -> None:
        """Describes anomalies.

        Args:
          anomaly_log_likelihood: from current_times, current_values and outputs to the
            logarithm of p(value | anomaly), [batch].
          anomaly_prior_probability: the prior.
          responsibility_scaling: how sharply anomalies are told from others.
        """
        self._anomaly_log_likelihood = anomaly_log_likelihood
        self._responsibility_scaling = responsibility_scaling
        self._anomaly_prior_probability = anomaly_prior_probability

    def process_filtering_step(
        self,
        current_times: Any,
        current_values: Any,
        predicted_state: Any,
        filtered_state: Any,
        outputs: dict[str, Any],
    ) -> tuple[Any, dict[str, Any]]:
        """A state between both, and the loss and "anomaly_score", the log odds."""
        anomaly = self._anomaly_log_likelihood(
            current_times=current_times,
            current_values=current_values,
            outputs=outputs,
        )
        prior = convert_to_tensor(
            self._anomaly_prior_probability, dtype=current_values.dtype
        )
        anomaly = anomaly + elementwise.log(prior)
        normal = outputs["log_likelihood"] + elementwise.log(1.0 - prior)
        odds = anomaly - normal
        share = elementwise.sigmoid(-self._responsibility_scaling * odds)
        outputs["loss"] = -(share * normal + (1.0 - share) * anomaly)
        outputs["anomaly_score"] = odds
        pairs = zip(
            nest.flatten(filtered_state), nest.flatten(predicted_state), strict=True
        )
        state = [_between(first, second, share) for first, second in pairs]
        return nest.pack_sequence_as(filtered_state, state), outputs


def _between(first: Any, second: Any, share: Any) -> Any:
    """A share of the first and the rest of the second; times have to be equal."""
    assert first.dtype == second.dtype, (first.dtype, second.dtype)
    if not first.dtype.is_floating:
        with control_dependencies([assert_equal(first, second)]):
            return identity.identity(first)
    ones = fill.ones([shape.rank(first) - 1], dtype=dtypes.int32)
    share = reshape.reshape(share, concat.concat([shape.shape(share), ones], 0))
    result = share * first + (1.0 - share) * second
    result.set_shape(first.get_shape())
    return result
