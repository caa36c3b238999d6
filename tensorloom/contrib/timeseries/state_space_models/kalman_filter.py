"""`KalmanFilter`: states and observations of linear models with normal noise."""

from __future__ import annotations

from typing import Any

from tensorloom.client.control_flow.cond import cond
from tensorloom.contrib.timeseries.distributions import mvn_tril_log_prob
from tensorloom.contrib.timeseries.matrices import batch_times_matrix
from tensorloom.framework.runtime.scopes import control_dependencies
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.ops.array import permute, reshape, shape
from tensorloom.ops.control_flow.builders import Assert
from tensorloom.ops.debugging.check_type import assert_all_finite
from tensorloom.ops.linalg import matrix_decomposition, matrix_diag, matrix_solve
from tensorloom.ops.linalg.builders import eye
from tensorloom.ops.linalg.matmul import matmul
from tensorloom.ops.math import comparison
from tensorloom.ops.reductions import reductions

_ADVICE = (
    "This may occur due to numerically unstable filtering when there is a large "
    "difference in posterior variances, or when inferences are near-deterministic. "
    "Considering tuning the 'filtering_maximum_posterior_variance_ratio' or "
    "'filtering_minimum_posterior_variance' parameters in your "
    "StateSpaceModelConfiguration, or tuning the transition matrix."
)


class KalmanFilter:
    """Inference of states that change by T and are observed by M, with normal noise.

    States are a mean [batch, n] and a covariance [batch, n, n], observations
    [batch, m] and [batch, m, m].
    """

    def __init__(
        self,
        dtype: Any = dtypes.float32,
        simplified_posterior_covariance_computation: bool = False,
    ) -> None:
        """Makes the filter.

        Args:
          dtype: of floating point.
          simplified_posterior_covariance_computation: compute covariances by a shorter
            formula, which rounds worse.
        """
        self._simplified = simplified_posterior_covariance_computation
        self.dtype = dtype

    def do_filter(
        self,
        estimated_state: Any,
        estimated_state_covariance: Any,
        predicted_observation: Any,
        predicted_observation_covariance: Any,
        observation: Any,
        observation_model: Any,
        observation_noise: Any,
    ) -> tuple[Any, Any, Any]:
        """Corrects a state by an observation, and tells how probable that was.

        Args:
          estimated_state, estimated_state_covariance: of the state before.
          predicted_observation, predicted_observation_covariance: of
            `observed_from_state`.
          observation: [batch, m].
          observation_model: M, [batch, m, n].
          observation_noise: a covariance, [m, m] or [batch, m, m].

        Returns:
          Mean and covariance of the state, and the logarithm of the density, [batch].
          A step fails if the covariance is not finite, or a variance negative.
        """
        symmetric = 0.5 * (
            predicted_observation_covariance
            + permute.matrix_transpose(predicted_observation_covariance)
        )
        symmetric = assert_all_finite(
            symmetric, f"Predicted observation covariance was not finite. {_ADVICE}"
        )
        least = reductions.reduce_min(matrix_diag.matrix_diag_part(symmetric))
        message = (
            "The predicted observation covariance has a negative diagonal entry. "
            f"{_ADVICE}"
        )
        with control_dependencies([Assert(least >= 0.0, [message, least])]):
            factor = matrix_decomposition.cholesky(symmetric)
        log_prob = mvn_tril_log_prob(predicted_observation, factor, observation)
        mean, covariance = self.posterior_from_prior_state(
            prior_state=estimated_state,
            prior_state_var=estimated_state_covariance,
            observation=observation,
            observation_model=observation_model,
            predicted_observations=(
                predicted_observation,
                predicted_observation_covariance,
            ),
            observation_noise=observation_noise,
        )
        return mean, covariance, log_prob

    def predict_state_mean(self, prior_state: Any, transition_matrices: Any) -> Any:
        """The mean after transitions.

        Args:
          prior_state: [batch, n].
          transition_matrices: [batch, n, n], to the power of the number of steps.
        """
        moved = matmul(transition_matrices, prior_state[..., None])
        return reshape.squeeze(moved, axis=[-1])

    def predict_state_var(
        self, prior_state_var: Any, transition_matrices: Any, transition_noise_sums: Any
    ) -> Any:
        """The covariance after transitions.

        Args:
          prior_state_var: [batch, n, n].
          transition_matrices: [batch, n, n], to the power of the number of steps.
          transition_noise_sums: the covariance of all noise of these steps.
        """
        left = matmul(transition_matrices, prior_state_var)
        return matmul(left, transition_matrices, adjoint_b=True) + transition_noise_sums

    def posterior_from_prior_state(
        self,
        prior_state: Any,
        prior_state_var: Any,
        observation: Any,
        observation_model: Any,
        predicted_observations: tuple[Any, Any],
        observation_noise: Any,
    ) -> tuple[Any, Any]:
        """Mean and covariance of a state after an observation; see `do_filter`."""
        observed_mean, observed_var = predicted_observations
        # Transposed, though it is symmetric: so rounding does less harm.
        gain = matrix_solve.matrix_solve(
            matrix=observed_var,
            rhs=matmul(observation_model, prior_state_var, adjoint_b=True),
            adjoint=True,
        )
        residual = reshape.expand_dims(observation - observed_mean, -1)
        mean = prior_state + reshape.squeeze(
            matmul(gain, residual, adjoint_a=True), axis=[-1]
        )
        observed = matmul(gain, observation_model, adjoint_a=True)
        unit = eye(shape.shape(observed)[1], dtype=observed.dtype)[None]
        left = matmul(unit - observed, prior_state_var)
        if self._simplified:
            return mean, left
        # Joseph's form, which any gain suits.
        kept = matmul(unit - observed, left, adjoint_b=True)
        return mean, kept + self._noise_through_gain(gain, observation_noise)

    def _noise_through_gain(self, gain: Any, observation_noise: Any) -> Any:
        noise = convert_to_tensor(observation_noise)

        def of_batch() -> Any:
            return matmul(matmul(gain, noise, adjoint_a=True), gain)

        def of_matrix() -> Any:
            return matmul(batch_times_matrix(gain, noise, adj_x=True), gain)

        rank = noise.get_shape().ndims
        if rank is None:
            return cond(comparison.equal(shape.rank(noise), 2), of_matrix, of_batch)
        return of_matrix() if rank == 2 else of_batch()

    def observed_from_state(
        self,
        state_mean: Any,
        state_var: Any,
        observation_model: Any,
        observation_noise: Any,
    ) -> tuple[Any, Any]:
        """Mean and covariance of an observation of a state.

        Args:
          state_mean, state_var: of the state.
          observation_model: M, [batch, m, n].
          observation_noise: a covariance, [batch, m, m] or what broadcasts; 0 for none.
        """
        row = reshape.expand_dims(state_mean, 1)
        mean = reshape.squeeze(matmul(row, observation_model, adjoint_b=True), axis=[1])
        left = matmul(observation_model, state_var)
        return mean, matmul(left, observation_model, adjoint_b=True) + observation_noise
