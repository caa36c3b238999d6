"""`tf.contrib.learn.KMeansClustering`: finds centers of clusters by k-means."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from tensorloom.contrib.factorization import kmeans_graph
from tensorloom.contrib.learn.estimators.model_fn_estimator import Estimator
from tensorloom.contrib.learn.model_results import ModelFnOps
from tensorloom.estimator.canned.kmeans import (
    InitializeClusters,
    _points,
    _StopAtSmallChange,
)
from tensorloom.framework.export import export
from tensorloom.ops.control_flow.builders import with_dependencies
from tensorloom.ops.reductions.reductions import reduce_sum
from tensorloom.ops.state.reference_variable import assign_add
from tensorloom.summary import summary
from tensorloom.train import training_util


def _kmeans_model_fn(
    features: Any, labels: Any, mode: str, params: dict[str, Any], config: Any
) -> ModelFnOps:
    assert labels is None, labels
    options = dict(params)
    tolerance = options.pop("relative_tolerance")
    points = _points(features, None)
    all_scores, indices, distances, is_ready, init_op, step = kmeans_graph.KMeans(
        points, **options
    ).training_graph()
    count = assign_add(training_util.get_global_step(), 1)
    loss = reduce_sum(distances, name=KMeansClustering.LOSS_OP_NAME)
    summary.scalar("loss/raw", loss)
    hooks: list[Any] = [InitializeClusters(is_ready, init_op, config.is_chief)]
    if tolerance is not None:
        hooks.append(_StopAtSmallChange(loss, tolerance))
    return ModelFnOps(
        mode=mode,
        predictions={
            KMeansClustering.ALL_SCORES: all_scores[0],
            KMeansClustering.CLUSTER_IDX: indices[0],
        },
        eval_metric_ops={KMeansClustering.SCORES: loss},
        loss=loss,
        train_op=with_dependencies([step, count], loss),
        training_hooks=hooks,
    )


@export("contrib.learn.KMeansClustering")
class KMeansClustering(Estimator):
    """Finds centers of clusters by k-means.

    Args:
      num_clusters: how many.
      model_dir: where checkpoints and events go.
      initial_clusters: "random", "kmeans_plus_plus", the centers, or a function of the
        points and how many are wanted.
      distance_metric: "squared_euclidean" or "cosine".
      random_seed: of the choice of centers.
      use_mini_batch: whether a step sees a part of the points, or all of them.
      mini_batch_steps_per_iteration: steps with small batches after which points are
        compared with the moved centers.
      kmeans_plus_plus_num_retries: further candidates drawn for each center.
      relative_tolerance: training stops when the loss changes by less; never when None.
      config: a `RunConfig`.
    """

    SQUARED_EUCLIDEAN_DISTANCE = kmeans_graph.SQUARED_EUCLIDEAN_DISTANCE
    COSINE_DISTANCE = kmeans_graph.COSINE_DISTANCE
    RANDOM_INIT = kmeans_graph.RANDOM_INIT
    KMEANS_PLUS_PLUS_INIT = kmeans_graph.KMEANS_PLUS_PLUS_INIT
    SCORES = "scores"
    CLUSTER_IDX = "cluster_idx"
    CLUSTERS = "clusters"
    ALL_SCORES = "all_scores"
    LOSS_OP_NAME = "kmeans_loss"

    def __init__(
        self,
        num_clusters: Any,
        model_dir: Any = None,
        initial_clusters: Any = kmeans_graph.RANDOM_INIT,
        distance_metric: str = kmeans_graph.SQUARED_EUCLIDEAN_DISTANCE,
        random_seed: int = 0,
        use_mini_batch: bool = True,
        mini_batch_steps_per_iteration: int = 1,
        kmeans_plus_plus_num_retries: int = 2,
        relative_tolerance: float | None = None,
        config: Any = None,
    ) -> None:
        super().__init__(
            model_fn=_kmeans_model_fn,
            params={
                "num_clusters": num_clusters,
                "initial_clusters": initial_clusters,
                "distance_metric": distance_metric,
                "random_seed": random_seed,
                "use_mini_batch": use_mini_batch,
                "mini_batch_steps_per_iteration": mini_batch_steps_per_iteration,
                "kmeans_plus_plus_num_retries": kmeans_plus_plus_num_retries,
                "relative_tolerance": relative_tolerance,
            },
            model_dir=model_dir,
            config=config,
        )

    def predict_cluster_idx(self, input_fn: Any = None) -> Iterator[Any]:
        """The number of the nearest center, for each point."""
        key = KMeansClustering.CLUSTER_IDX
        for one in super().predict(input_fn=input_fn, outputs=[key]):
            yield one[key]

    def score(self, input_fn: Any = None, steps: int | None = None) -> Any:
        """The sum of the distances of all points to their nearest centers."""
        results = self.evaluate(input_fn=input_fn, steps=steps)
        return np.sum(results[KMeansClustering.SCORES])

    def transform(self, input_fn: Any = None, as_iterable: bool = False) -> Any:
        """The distances of all points to all centers.

        Args:
          input_fn: gives points.
          as_iterable: whether a generator of dicts comes, or the array of one batch.
        """
        key = KMeansClustering.ALL_SCORES
        results = super().predict(
            input_fn=input_fn, outputs=[key], as_iterable=as_iterable
        )
        return results if as_iterable else results[key]

    def clusters(self) -> Any:
        """The centers [clusters, depth]."""
        return self.get_variable_value(self.CLUSTERS)
