"""The graph of k-means: `tf.contrib.factorization.KMeans`."""

from __future__ import annotations

from typing import Any

from tensorloom.estimator.canned import clustering, initial_clusters
from tensorloom.framework.export import export, export_value

SQUARED_EUCLIDEAN_DISTANCE = clustering.SQUARED_EUCLIDEAN
COSINE_DISTANCE = clustering.COSINE
RANDOM_INIT = initial_clusters.RANDOM
KMEANS_PLUS_PLUS_INIT = initial_clusters.KMEANS_PLUS_PLUS
KMC2_INIT = initial_clusters.KMC2
CLUSTERS_VAR_NAME = clustering.CENTERS

export_value(COSINE_DISTANCE, "contrib.factorization.COSINE_DISTANCE")
export_value(KMEANS_PLUS_PLUS_INIT, "contrib.factorization.KMEANS_PLUS_PLUS_INIT")
export_value(RANDOM_INIT, "contrib.factorization.RANDOM_INIT")
export_value(
    SQUARED_EUCLIDEAN_DISTANCE, "contrib.factorization.SQUARED_EUCLIDEAN_DISTANCE"
)


@export("contrib.factorization.KMeans")
class KMeans:
    """Finds centers of clusters, over whole data or in small batches."""

    def __init__(
        self,
        inputs: Any,
        num_clusters: Any,
        initial_clusters: Any = RANDOM_INIT,
        distance_metric: str = SQUARED_EUCLIDEAN_DISTANCE,
        use_mini_batch: bool = False,
        mini_batch_steps_per_iteration: int = 1,
        random_seed: int = 0,
        kmeans_plus_plus_num_retries: int = 2,
        kmc2_chain_length: int = 200,
    ) -> None:
        """Keeps what the graph is to be made of.

        Args:
          inputs: a float32 tensor [points, depth], or a list of such tensors, of points
            in a random order.
          num_clusters: how many clusters; ignored when `initial_clusters` are centers.
          initial_clusters: `"random"`, `"kmeans_plus_plus"`, `"kmc2"`, the centers
            `[clusters, depth]`, or a function of a list of points and how many centers
            are wanted, which returns so many at most.
          distance_metric: `"squared_euclidean"` or `"cosine"`.
          use_mini_batch: whether a step sees a part of the points, or all of them.
          mini_batch_steps_per_iteration: steps with small batches after which points
            are compared with the moved centers.
          random_seed: of the choice of centers.
          kmeans_plus_plus_num_retries: further candidates drawn for each center; as
            many as the logarithm of the centers tells when negative.
          kmc2_chain_length: points that k-MC2 looks at for each center.

        Raises:
          ValueError: `initial_clusters` or `distance_metric` is unknown.
        """
        choices = (RANDOM_INIT, KMEANS_PLUS_PLUS_INIT, KMC2_INIT)
        if isinstance(initial_clusters, str) and initial_clusters not in choices:
            raise ValueError(
                f"Unsupported initialization algorithm '{initial_clusters}'"
            )
        if distance_metric not in (SQUARED_EUCLIDEAN_DISTANCE, COSINE_DISTANCE):
            raise ValueError(f"Unsupported distance metric '{distance_metric}'")
        self._inputs = inputs if isinstance(inputs, list) else [inputs]
        self._options = clustering.ClusteringOptions(
            num_clusters,
            initial_clusters,
            distance_metric,
            random_seed,
            use_mini_batch,
            int(mini_batch_steps_per_iteration),
            kmeans_plus_plus_num_retries,
            kmc2_chain_length,
        )

    def training_graph(self) -> tuple[Any, Any, Any, Any, Any, Any]:
        """Adds the graph.

        Returns:
          (distances of the points to all centers, [points, clusters]; the index of
          each one's nearest center, int64 [points]; the distance to it, [points]; the
          variable that says whether all centers are chosen; the operation that chooses
          some, to be run until they are; the operation that moves the centers once).
          The first three are tuples with one tensor for each of the inputs. Euclidean
          distances are squared.
        """
        model = clustering.clustering(self._inputs, self._options)
        return (
            model.all_distances,
            model.indices,
            model.distances,
            model.initialized,
            model.init_op,
            model.train_op,
        )
