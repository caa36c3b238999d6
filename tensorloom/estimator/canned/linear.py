"""`tf.estimator.Linear*`: models of weighted sums over feature columns."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from tensorloom.client.variables.variable_scope import variable_scope
from tensorloom.estimator.canned.heads.choice import binary_or_multi_class_head
from tensorloom.estimator.canned.heads.regression import RegressionHead
from tensorloom.estimator.canned.linear_logits import linear_logit_fn_builder
from tensorloom.estimator.canned.linear_sdca import LinearSDCA, check_sdca, sdca_spec
from tensorloom.estimator.canned.optimizers import get_optimizer_instance
from tensorloom.estimator.canned.partitioners import check_features, input_partitioner
from tensorloom.estimator.estimator import Estimator
from tensorloom.framework.export import export
from tensorloom.losses.weighted import Reduction
from tensorloom.train.optimizers.ftrl import FtrlOptimizer

if TYPE_CHECKING:
    from tensorloom.estimator.run_config import RunConfig
    from tensorloom.estimator.spec import EstimatorSpec

_LEARNING_RATE: Final = 0.2


@export("estimator.LinearClassifier")
class LinearClassifier(Estimator):
    """A classifier of weighted sums."""

    def __init__(
        self,
        feature_columns: Iterable[Any],
        model_dir: Any = None,
        n_classes: int = 2,
        weight_column: Any = None,
        label_vocabulary: Sequence[str] | None = None,
        optimizer: Any = "Ftrl",
        config: RunConfig | None = None,
        partitioner: Any = None,
        warm_start_from: Any = None,
        loss_reduction: str = Reduction.SUM,
        sparse_combiner: str = "sum",
    ) -> None:
        """Makes a model.

        Args:
          feature_columns: columns of the features.
          model_dir: its directory; a temporary one when None.
          n_classes: how many classes there are.
          weight_column: the feature that weighs examples, or None.
          label_vocabulary: names of the classes; labels are numbers when None.
          optimizer: an optimizer, its name, or a function that makes one.
          config: settings; the usual ones when None.
          partitioner: cuts the variables of columns into parts.
          warm_start_from: a checkpoint, or `WarmStartSettings`.
          loss_reduction: one of `tf.losses.Reduction`, not `NONE`.
          sparse_combiner: how several values of a categorical column are combined.

        Raises:
          ValueError: an argument has an impossible value.
        """
        columns = tuple(feature_columns or ())
        check_sdca(optimizer, columns, sparse_combiner, n_classes, most=2)
        head = binary_or_multi_class_head(
            n_classes, weight_column, label_vocabulary, loss_reduction
        )
        super().__init__(
            _model_fn(head, columns, optimizer, partitioner, sparse_combiner),
            model_dir,
            config,
            warm_start_from=warm_start_from,
        )


@export("estimator.LinearRegressor")
class LinearRegressor(Estimator):
    """A regression of weighted sums."""

    def __init__(
        self,
        feature_columns: Iterable[Any],
        model_dir: Any = None,
        label_dimension: int = 1,
        weight_column: Any = None,
        optimizer: Any = "Ftrl",
        config: RunConfig | None = None,
        partitioner: Any = None,
        warm_start_from: Any = None,
        loss_reduction: str = Reduction.SUM,
        sparse_combiner: str = "sum",
    ) -> None:
        """Makes a model.

        Args:
          feature_columns: columns of the features.
          model_dir: its directory; a temporary one when None.
          label_dimension: how many numbers a label has.
          weight_column: the feature that weighs examples, or None.
          optimizer: an optimizer, its name, or a function that makes one.
          config: settings; the usual ones when None.
          partitioner: cuts the variables of columns into parts.
          warm_start_from: a checkpoint, or `WarmStartSettings`.
          loss_reduction: one of `tf.losses.Reduction`, not `NONE`.
          sparse_combiner: how several values of a categorical column are combined.

        Raises:
          ValueError: an argument has an impossible value.
        """
        columns = tuple(feature_columns or ())
        check_sdca(optimizer, columns, sparse_combiner, label_dimension, most=1)
        head = RegressionHead(
            weight_column=weight_column,
            label_dimension=label_dimension,
            loss_reduction=loss_reduction,
        )
        super().__init__(
            _model_fn(head, columns, optimizer, partitioner, sparse_combiner),
            model_dir,
            config,
            warm_start_from=warm_start_from,
        )


@export("estimator.LinearEstimator")
class LinearEstimator(Estimator):
    """A model of weighted sums with any head."""

    def __init__(
        self,
        head: Any,
        feature_columns: Iterable[Any],
        model_dir: Any = None,
        optimizer: Any = "Ftrl",
        config: RunConfig | None = None,
        partitioner: Any = None,
        sparse_combiner: str = "sum",
    ) -> None:
        """Makes a model.

        Args:
          head: what makes loss and predictions of logits.
          feature_columns: columns of the features.
          model_dir: its directory; a temporary one when None.
          optimizer: an optimizer, its name, or a function that makes one.
          config: settings; the usual ones when None.
          partitioner: cuts the variables of columns into parts.
          sparse_combiner: how several values of a categorical column are combined.

        Raises:
          ValueError: an argument has an impossible value.
        """
        super().__init__(
            _model_fn(head, feature_columns, optimizer, partitioner, sparse_combiner),
            model_dir,
            config,
        )


def _model_fn(
    head: Any,
    feature_columns: Iterable[Any],
    optimizer: Any,
    partitioner: Any,
    sparse_combiner: str,
) -> Callable[..., EstimatorSpec]:
    columns = tuple(feature_columns or ())

    def model_fn(
        features: Mapping[Any, Any], labels: Any, mode: str, config: Any
    ) -> EstimatorSpec:
        check_features(features)
        with variable_scope(
            "linear",
            values=tuple(features.values()),
            partitioner=partitioner or input_partitioner(config),
        ):
            if isinstance(optimizer, LinearSDCA):
                return sdca_spec(features, labels, mode, head, columns, optimizer)
            logit_fn = linear_logit_fn_builder(
                head.logits_dimension, columns, sparse_combiner
            )
            logits = logit_fn(features)
            chosen = get_optimizer_instance(
                optimizer or _default_optimizer(columns), learning_rate=_LEARNING_RATE
            )
            spec: EstimatorSpec = head.create_estimator_spec(
                features=features,
                mode=mode,
                labels=labels,
                optimizer=chosen,
                logits=logits,
            )
        return spec

    return model_fn


def _default_optimizer(feature_columns: Sequence[Any]) -> FtrlOptimizer:
    """Slower for many columns, whose steps add up."""
    rate = min(_LEARNING_RATE, 1.0 / math.sqrt(len(feature_columns)))
    return FtrlOptimizer(learning_rate=rate)
