"""K-means as an Estimator: `tf.contrib.factorization.KMeansClustering`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from tensorloom.contrib.factorization.kmeans_graph import (
    RANDOM_INIT,
    SQUARED_EUCLIDEAN_DISTANCE,
)
from tensorloom.estimator.canned.kmeans import KMeansClustering as _KMeans
from tensorloom.framework.export import export


@export("contrib.factorization.KMeansClustering")
class KMeansClustering(_KMeans):
    """Finds centers of clusters by k-means.

    It is `tf.estimator.experimental.KMeans` with a seed that is 0 unless another one is
    given, and with distances that are squared in `transform`, too.
    """

    def __init__(
        self,
        num_clusters: Any,
        model_dir: Any = None,
        initial_clusters: Any = RANDOM_INIT,
        distance_metric: str = SQUARED_EUCLIDEAN_DISTANCE,
        random_seed: int = 0,
        use_mini_batch: bool = True,
        mini_batch_steps_per_iteration: int = 1,
        kmeans_plus_plus_num_retries: int = 2,
        relative_tolerance: float | None = None,
        config: Any = None,
        feature_columns: Iterable[Any] | None = None,
    ) -> None:
        """Makes a model; see `tf.estimator.experimental.KMeans`.

        Args:
          random_seed: of the choice of centers.
          num_clusters, model_dir, initial_clusters, distance_metric, use_mini_batch,
            mini_batch_steps_per_iteration, kmeans_plus_plus_num_retries,
            relative_tolerance, config, feature_columns: as there.

        Raises:
          ValueError: `initial_clusters` or `distance_metric` is unknown.
        """
        super().__init__(
            num_clusters,
            model_dir,
            initial_clusters,
            distance_metric,
            random_seed,
            use_mini_batch,
            mini_batch_steps_per_iteration,
            kmeans_plus_plus_num_retries,
            relative_tolerance,
            config,
            feature_columns,
        )

    @staticmethod
    def _op_seed(seed: int | None) -> Any:
        return seed

    def transform(self, input_fn: Callable[..., Any]) -> Iterator[Any]:
        """The distances of each point to all centers; Euclidean ones squared."""
        return self._predictions(input_fn, self.ALL_DISTANCES)
