"""`tf.estimator.experimental.KMeans`: clusters of points."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tensorloom.client.program import program_log
from tensorloom.estimator.canned import clustering, initial_clusters
from tensorloom.estimator.estimator import Estimator
from tensorloom.estimator.export.outputs import PredictOutput
from tensorloom.estimator.spec import EstimatorSpec
from tensorloom.feature_column.input_layers import input_layer
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import (
    Graph,
    colocate_with,
    control_dependencies,
    get_default_graph,
)
from tensorloom.framework.runtime.random_seed import get_seed
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.metrics.averages import mean
from tensorloom.ops.array.concat import concat
from tensorloom.ops.array.identity import identity
from tensorloom.ops.reductions.reductions import reduce_sum
from tensorloom.ops.state.reference_variable import assign_add
from tensorloom.saved_model.constants import DEFAULT_SERVING_SIGNATURE_DEF_KEY
from tensorloom.summary import summary
from tensorloom.train import training_util
from tensorloom.train.hooks.session_run_hook import SessionRunArgs, SessionRunHook

if TYPE_CHECKING:
    from tensorloom.estimator.run_config import RunConfig


# Between two looks whether the chief has chosen the centers.
_POLL_S: Final = 1.0


@export("estimator.experimental.KMeans")
class KMeansClustering(Estimator):
    """Finds centers of clusters by k-means."""

    SQUARED_EUCLIDEAN_DISTANCE = clustering.SQUARED_EUCLIDEAN
    COSINE_DISTANCE = clustering.COSINE
    RANDOM_INIT = initial_clusters.RANDOM
    KMEANS_PLUS_PLUS_INIT = initial_clusters.KMEANS_PLUS_PLUS
    SCORE = "score"
    CLUSTER_INDEX = "cluster_index"
    ALL_DISTANCES = "all_distances"
    CLUSTER_CENTERS_VAR_NAME = clustering.CENTERS

    def __init__(
        self,
        num_clusters: Any,
        model_dir: Any = None,
        initial_clusters: Any = RANDOM_INIT,
        distance_metric: str = SQUARED_EUCLIDEAN_DISTANCE,
        seed: int | None = None,
        use_mini_batch: bool = True,
        mini_batch_steps_per_iteration: int = 1,
        kmeans_plus_plus_num_retries: int = 2,
        relative_tolerance: float | None = None,
        config: RunConfig | None = None,
        feature_columns: Iterable[Any] | None = None,
    ) -> None:
        """Makes a model.

        Args:
          num_clusters: how many clusters; ignored when `initial_clusters` are centers.
          model_dir: its directory; a temporary one when None.
          initial_clusters: `RANDOM_INIT`, `KMEANS_PLUS_PLUS_INIT`, the centers
            (`[clusters, depth]`), or a function of a list of points and how many
            centers are wanted, which returns so many at most.
          distance_metric: `SQUARED_EUCLIDEAN_DISTANCE` or `COSINE_DISTANCE`.
          seed: of the choice of centers.
          use_mini_batch: whether a step sees a part of the points, or all of them.
          mini_batch_steps_per_iteration: steps with small batches after which points
            are compared with the moved centers.
          kmeans_plus_plus_num_retries: further candidates drawn for each center; as
            many as the logarithm of the centers tells when negative.
          relative_tolerance: training ends when the loss changes by less than this
            part; never when None.
          config: settings; the usual ones when None.
          feature_columns: columns of the features; all features when None.

        Raises:
          ValueError: `initial_clusters` or `distance_metric` is unknown.
        """
        choices = (self.RANDOM_INIT, self.KMEANS_PLUS_PLUS_INIT)
        if isinstance(initial_clusters, str) and initial_clusters not in choices:
            raise ValueError(
                f"Unsupported initialization algorithm '{initial_clusters}', "
                f"expected one of {', '.join(choices)}"
            )
        metrics = (self.SQUARED_EUCLIDEAN_DISTANCE, self.COSINE_DISTANCE)
        if distance_metric not in metrics:
            raise ValueError(
                f"Unsupported distance metric '{distance_metric}', "
                f"expected one of {', '.join(metrics)}"
            )
        self._distance_metric = distance_metric
        options = clustering.ClusteringOptions(
            num_clusters,
            initial_clusters,
            distance_metric,
            seed,
            use_mini_batch,
            int(mini_batch_steps_per_iteration),
            kmeans_plus_plus_num_retries,
        )
        self._count: Any = None
        super().__init__(
            self._model_of(options, relative_tolerance, feature_columns),
            model_dir,
            config,
        )

    def _create_and_assert_global_step(self, graph: Graph) -> Any:
        step = super()._create_and_assert_global_step(graph)
        # Counted before the input is read: a step whose input has ended counts, as it
        # does in TensorFlow in practice. So centers are saved that were chosen from an
        # input too short for a step as well.
        self._count = assign_add(step, 1)
        return step

    def _step_count(self, graph: Graph) -> Any:
        """What counts a step, in the graph of a model."""
        if self._count is not None and self._count.graph is graph:
            return self._count
        return assign_add(training_util.get_global_step(), 1)

    @staticmethod
    def _op_seed(seed: int | None) -> Any:
        """The seed of the operations that choose centers, for the user's."""
        return get_seed(seed)[0]

    def predict_cluster_index(self, input_fn: Callable[..., Any]) -> Iterator[Any]:
        """The nearest center of each point, by its index."""
        return self._predictions(input_fn, self.CLUSTER_INDEX)

    def score(self, input_fn: Callable[..., Any]) -> Any:
        """The sum of the distances of a first batch of points to their centers.

        Euclidean distances are squared.
        """
        return self.evaluate(input_fn=input_fn, steps=1)[self.SCORE]

    def transform(self, input_fn: Callable[..., Any]) -> Iterator[Any]:
        """The distances of each point to all centers; Euclidean ones not squared."""
        for distances in self._predictions(input_fn, self.ALL_DISTANCES):
            if self._distance_metric == self.SQUARED_EUCLIDEAN_DISTANCE:
                yield np.sqrt(distances)
            else:
                yield distances

    def cluster_centers(self) -> Any:
        """The centers of the latest checkpoint, `[clusters, depth]`."""
        return self.get_variable_value(self.CLUSTER_CENTERS_VAR_NAME)

    def _predictions(self, input_fn: Callable[..., Any], key: str) -> Iterator[Any]:
        for result in self.predict(input_fn=input_fn, predict_keys=[key]):
            yield result[key]

    def _model_of(
        self,
        options: clustering.ClusteringOptions,
        relative_tolerance: float | None,
        feature_columns: Iterable[Any] | None,
    ) -> Callable[..., EstimatorSpec]:
        columns = None if feature_columns is None else list(feature_columns)

        def model_fn(features: Any, mode: str, config: RunConfig) -> EstimatorSpec:
            seeded = replace(options, seed=self._op_seed(options.seed))
            model = clustering.clustering([_points(features, columns)], seeded)
            all_distances, indices = model.all_distances[0], model.indices[0]
            loss = reduce_sum(model.distances)
            summary.scalar("loss/raw", loss)
            step = self._step_count(get_default_graph())
            with control_dependencies([model.train_op, step]):
                train_op = identity(loss)
            hooks: list[SessionRunHook] = [
                InitializeClusters(model.initialized, model.init_op, config.is_chief)
            ]
            if relative_tolerance is not None:
                hooks.append(_StopAtSmallChange(loss, relative_tolerance))
            keys = type(self)
            return EstimatorSpec(
                mode=mode,
                predictions={
                    keys.ALL_DISTANCES: all_distances,
                    keys.CLUSTER_INDEX: indices,
                },
                loss=loss,
                train_op=train_op,
                eval_metric_ops={keys.SCORE: mean(loss)},
                training_hooks=hooks,
                export_outputs={
                    keys.ALL_DISTANCES: PredictOutput(all_distances),
                    keys.CLUSTER_INDEX: PredictOutput(indices),
                    DEFAULT_SERVING_SIGNATURE_DEF_KEY: PredictOutput(indices),
                },
            )

        return model_fn


class InitializeClusters(SessionRunHook):
    """The chief chooses the centers before the first step, the others wait."""

    def __init__(self, initialized: Any, init_op: Any, is_chief: bool) -> None:
        """Makes the hook.

        Args:
          initialized: a variable: whether all centers are chosen.
          init_op: chooses some.
          is_chief: whether this process does that.
        """
        self._initialized = initialized
        self._init_op = init_op
        self._is_chief = is_chief

    def after_create_session(self, session: Any, coord: Any) -> None:
        """Returns when all centers are chosen."""
        while True:
            try:
                if session.run(self._initialized):
                    return
                if self._is_chief:
                    session.run(self._init_op)
                else:
                    time.sleep(_POLL_S)
            except RuntimeError as error:
                program_log.info(str(error))


class _StopAtSmallChange(SessionRunHook):
    """Ends training when the loss changes little."""

    def __init__(self, loss: Any, tolerance: float) -> None:
        self._loss = loss
        self._tolerance = tolerance
        self._previous: Any = None

    def before_run(self, run_context: Any) -> SessionRunArgs:
        """Fetches the loss."""
        return SessionRunArgs(self._loss)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        """Compares the loss with that of the step before."""
        loss, previous = run_values.results, self._previous
        if previous:
            change = abs(loss - previous) / (1 + abs(previous))
            if change < self._tolerance:
                run_context.request_stop()
        self._previous = loss


def _points(features: Any, columns: list[Any] | None) -> Any:
    """The features side by side, `[batch, depth]`, in the order of their names."""
    if not isinstance(features, dict):
        return features
    if columns:
        return input_layer(features, columns)
    values = [convert_to_tensor(features[name]) for name in sorted(features)]
    with colocate_with(values[0]):
        return concat(values, axis=1)
