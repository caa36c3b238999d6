"""Mixtures of Gaussians as an Estimator: `tf.contrib.factorization.GMM`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tensorloom.client.variables.framework_variables import local_variable
from tensorloom.contrib.factorization.gaussian_mixture import GmmAlgorithm, gmm
from tensorloom.contrib.learn.estimators.model_fn_estimator import Estimator
from tensorloom.contrib.learn.model_results import ModelFnOps
from tensorloom.estimator.canned.kmeans import InitializeClusters
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import control_dependencies
from tensorloom.ops.array.concat import concat
from tensorloom.ops.array.constant import constant
from tensorloom.ops.array.identity import identity
from tensorloom.ops.state.reference_variable import assign_add
from tensorloom.train import training_util


@export("contrib.factorization.GMM")
class GMM(Estimator):
    """Finds a mixture of Gaussians by expectation and maximization."""

    SCORES = "scores"
    LOG_LIKELIHOOD = "loss"
    ASSIGNMENTS = "assignments"

    def __init__(
        self,
        num_clusters: int,
        model_dir: str | None = None,
        random_seed: int = 0,
        params: str = "wmc",
        initial_clusters: Any = "random",
        covariance_type: str = "full",
        config: Any = None,
    ) -> None:
        """Makes a model.

        Args:
          num_clusters: how many Gaussians.
          model_dir: its directory.
          random_seed: of the draw of the first means.
          params: what is learnt: "w" weights, "m" means, "c" covariances.
          initial_clusters: "random", or the first means, [classes, dimensions].
          covariance_type: "full", or "diag" for the variances alone.
          config: settings.
        """

        def model_fn(features: Any, labels: Any, mode: Any, config: Any) -> ModelFnOps:
            assert labels is None, labels
            if isinstance(features, dict):
                features = concat([features[name] for name in sorted(features)], 1)
            loss, scores, assigned, train, init, known = gmm(
                features,
                initial_clusters,
                num_clusters,
                random_seed,
                covariance_type,
                params,
            )
            step = assign_add(training_util.get_global_step(), 1)
            with control_dependencies([train, step]):
                train_op = identity(loss)
            return ModelFnOps(
                mode=mode,
                predictions={self.ASSIGNMENTS: assigned[0][0]},
                eval_metric_ops={
                    self.SCORES: scores,
                    self.LOG_LIKELIHOOD: _streaming_sum(loss),
                },
                loss=loss,
                train_op=train_op,
                training_hooks=[InitializeClusters(known, init, config.is_chief)],
            )

        super().__init__(model_fn=model_fn, model_dir=model_dir, config=config)

    def predict_assignments(
        self,
        input_fn: Callable[..., Any] | None = None,
        batch_size: int | None = None,
        outputs: Any = None,
    ) -> Iterator[Any]:
        """The likeliest class of each example; see `predict`."""
        results = self.predict(
            input_fn=input_fn, batch_size=batch_size, outputs=outputs
        )
        for result in results:
            yield result[self.ASSIGNMENTS]

    def score(
        self,
        input_fn: Callable[..., Any] | None = None,
        batch_size: int | None = None,
        steps: int | None = None,
    ) -> Any:
        """The logarithm of the sum of the likelihoods of all examples.

        Args:
          input_fn, batch_size, steps: see `evaluate`.
        """
        results = self.evaluate(input_fn=input_fn, batch_size=batch_size, steps=steps)
        return np.log(np.sum(np.exp(results[self.SCORES])))

    def weights(self) -> Any:
        """The weights, [classes]."""
        return self.get_variable_value(GmmAlgorithm.CLUSTERS_WEIGHT)

    def clusters(self) -> Any:
        """The means, [classes, dimensions]."""
        return np.squeeze(self.get_variable_value(GmmAlgorithm.CLUSTERS_VARIABLE), 1)

    def covariances(self) -> Any:
        """The covariances; see `GmmAlgorithm.covariances`."""
        return self.get_variable_value(GmmAlgorithm.CLUSTERS_COVS_VARIABLE)


def _streaming_sum(value: Any) -> tuple[Any, Any]:
    total = local_variable(constant(0.0))
    return total, total.assign_add(value)
