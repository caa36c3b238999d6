"""`tf.estimator.DNNLinearCombined*`: wide and deep models."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from tensorloom.client.variables.variable_scope import variable_scope
from tensorloom.estimator.canned.dnn_logits import (
    add_layer_summary,
    dnn_logit_fn_builder,
)
from tensorloom.estimator.canned.heads.choice import binary_or_multi_class_head
from tensorloom.estimator.canned.heads.regression import RegressionHead
from tensorloom.estimator.canned.linear_logits import linear_logit_fn_builder
from tensorloom.estimator.canned.optimizers import get_optimizer_instance
from tensorloom.estimator.canned.partitioners import (
    check_features,
    input_partitioner,
    layer_partitioner,
)
from tensorloom.estimator.estimator import Estimator
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import (
    GraphKeys,
    control_dependencies,
    get_collection,
)
from tensorloom.losses.weighted import Reduction
from tensorloom.ops.control_flow.builders import group
from tensorloom.ops.nn.activation import relu
from tensorloom.ops.state.reference_variable import assign_add
from tensorloom.train import training_util
from tensorloom.train.optimizers.sync_replicas import SyncReplicasOptimizer

if TYPE_CHECKING:
    from tensorloom.estimator.run_config import RunConfig
    from tensorloom.estimator.spec import EstimatorSpec

_DNN_LEARNING_RATE: Final = 0.001
_LINEAR_LEARNING_RATE: Final = 0.005


class Columns:
    """The columns of both parts.

    Raises:
      ValueError: there are none at all.
    """

    def __init__(self, linear: Iterable[Any] | None, dnn: Iterable[Any] | None) -> None:
        self.linear = list(linear or ())
        self.dnn = list(dnn or ())
        if not self.linear and not self.dnn:
            raise ValueError(
                "Either linear_feature_columns or dnn_feature_columns must be defined."
            )


@export("estimator.DNNLinearCombinedClassifier")
class DNNLinearCombinedClassifier(Estimator):
    """A classifier whose logits are a linear model's and hidden layers'."""

    def __init__(
        self,
        model_dir: Any = None,
        linear_feature_columns: Iterable[Any] | None = None,
        linear_optimizer: Any = "Ftrl",
        dnn_feature_columns: Iterable[Any] | None = None,
        dnn_optimizer: Any = "Adagrad",
        dnn_hidden_units: Iterable[int] | None = None,
        dnn_activation_fn: Callable[[Any], Any] | None = relu,
        dnn_dropout: float | None = None,
        n_classes: int = 2,
        weight_column: Any = None,
        label_vocabulary: Sequence[str] | None = None,
        input_layer_partitioner: Any = None,
        config: RunConfig | None = None,
        warm_start_from: Any = None,
        loss_reduction: str = Reduction.SUM,
        batch_norm: bool = False,
        linear_sparse_combiner: str = "sum",
    ) -> None:
        """Makes a model.

        Args:
          model_dir: its directory; a temporary one when None.
          linear_feature_columns: of the linear part.
          linear_optimizer: the optimizer of the linear part.
          dnn_feature_columns: dense columns of the deep part.
          dnn_optimizer: the optimizer of the deep part.
          dnn_hidden_units: how many units each hidden layer has.
          dnn_activation_fn: of the hidden layers.
          dnn_dropout: the probability that a unit is dropped in training.
          n_classes: how many classes there are.
          weight_column: the feature that weighs examples, or None.
          label_vocabulary: names of the classes; labels are numbers when None.
          input_layer_partitioner: cuts the variables of columns into parts.
          config: settings; the usual ones when None.
          warm_start_from: a checkpoint, or `WarmStartSettings`.
          loss_reduction: one of `tf.losses.Reduction`, not `NONE`.
          batch_norm: whether the hidden layers are normalized.
          linear_sparse_combiner: how several values of a categorical column are
            combined.

        Raises:
          ValueError: an argument has an impossible value.
        """
        self._feature_columns = Columns(linear_feature_columns, dnn_feature_columns)
        head = binary_or_multi_class_head(
            n_classes, weight_column, label_vocabulary, loss_reduction
        )
        super().__init__(
            made_model_fn(
                head,
                self._feature_columns,
                linear_optimizer,
                dnn_optimizer,
                dnn_hidden_units,
                dnn_activation_fn,
                dnn_dropout,
                input_layer_partitioner,
                batch_norm,
                linear_sparse_combiner,
            ),
            model_dir,
            config,
            warm_start_from=warm_start_from,
        )


@export("estimator.DNNLinearCombinedRegressor")
class DNNLinearCombinedRegressor(Estimator):
    """A regression whose logits are a linear model's and hidden layers'."""

    def __init__(
        self,
        model_dir: Any = None,
        linear_feature_columns: Iterable[Any] | None = None,
        linear_optimizer: Any = "Ftrl",
        dnn_feature_columns: Iterable[Any] | None = None,
        dnn_optimizer: Any = "Adagrad",
        dnn_hidden_units: Iterable[int] | None = None,
        dnn_activation_fn: Callable[[Any], Any] | None = relu,
        dnn_dropout: float | None = None,
        label_dimension: int = 1,
        weight_column: Any = None,
        input_layer_partitioner: Any = None,
        config: RunConfig | None = None,
        warm_start_from: Any = None,
        loss_reduction: str = Reduction.SUM,
        batch_norm: bool = False,
        linear_sparse_combiner: str = "sum",
    ) -> None:
        """Makes a model.

        Args:
          model_dir: its directory; a temporary one when None.
          linear_feature_columns: of the linear part.
          linear_optimizer: the optimizer of the linear part.
          dnn_feature_columns: dense columns of the deep part.
          dnn_optimizer: the optimizer of the deep part.
          dnn_hidden_units: how many units each hidden layer has.
          dnn_activation_fn: of the hidden layers.
          dnn_dropout: the probability that a unit is dropped in training.
          label_dimension: how many numbers a label has.
          weight_column: the feature that weighs examples, or None.
          input_layer_partitioner: cuts the variables of columns into parts.
          config: settings; the usual ones when None.
          warm_start_from: a checkpoint, or `WarmStartSettings`.
          loss_reduction: one of `tf.losses.Reduction`, not `NONE`.
          batch_norm: whether the hidden layers are normalized.
          linear_sparse_combiner: how several values of a categorical column are
            combined.

        Raises:
          ValueError: an argument has an impossible value.
        """
        self._feature_columns = Columns(linear_feature_columns, dnn_feature_columns)
        head = RegressionHead(
            weight_column=weight_column,
            label_dimension=label_dimension,
            loss_reduction=loss_reduction,
        )
        super().__init__(
            made_model_fn(
                head,
                self._feature_columns,
                linear_optimizer,
                dnn_optimizer,
                dnn_hidden_units,
                dnn_activation_fn,
                dnn_dropout,
                input_layer_partitioner,
                batch_norm,
                linear_sparse_combiner,
            ),
            model_dir,
            config,
            warm_start_from=warm_start_from,
        )


@export("estimator.DNNLinearCombinedEstimator")
class DNNLinearCombinedEstimator(Estimator):
    """A model of both parts with any head."""

    def __init__(
        self,
        head: Any,
        model_dir: Any = None,
        linear_feature_columns: Iterable[Any] | None = None,
        linear_optimizer: Any = "Ftrl",
        dnn_feature_columns: Iterable[Any] | None = None,
        dnn_optimizer: Any = "Adagrad",
        dnn_hidden_units: Iterable[int] | None = None,
        dnn_activation_fn: Callable[[Any], Any] | None = relu,
        dnn_dropout: float | None = None,
        input_layer_partitioner: Any = None,
        config: RunConfig | None = None,
        linear_sparse_combiner: str = "sum",
    ) -> None:
        """Makes a model.

        Args:
          head: what makes loss and predictions of logits.
          model_dir: its directory; a temporary one when None.
          linear_feature_columns: of the linear part.
          linear_optimizer: the optimizer of the linear part.
          dnn_feature_columns: dense columns of the deep part.
          dnn_optimizer: the optimizer of the deep part.
          dnn_hidden_units: how many units each hidden layer has.
          dnn_activation_fn: of the hidden layers.
          dnn_dropout: the probability that a unit is dropped in training.
          input_layer_partitioner: cuts the variables of columns into parts.
          config: settings; the usual ones when None.
          linear_sparse_combiner: how several values of a categorical column are
            combined.

        Raises:
          ValueError: an argument has an impossible value.
        """
        self._feature_columns = Columns(linear_feature_columns, dnn_feature_columns)
        super().__init__(
            made_model_fn(
                head,
                self._feature_columns,
                linear_optimizer,
                dnn_optimizer,
                dnn_hidden_units,
                dnn_activation_fn,
                dnn_dropout,
                input_layer_partitioner,
                False,
                linear_sparse_combiner,
            ),
            model_dir,
            config,
        )


def made_model_fn(
    head: Any,
    columns: Columns,
    linear_optimizer: Any,
    dnn_optimizer: Any,
    dnn_hidden_units: Iterable[int] | None,
    dnn_activation_fn: Callable[[Any], Any] | None,
    dnn_dropout: float | None,
    input_layer_partitioner: Any,
    batch_norm: bool,
    linear_sparse_combiner: str,
) -> Callable[..., EstimatorSpec]:
    """The `model_fn` of a linear model and a network under one head."""

    def dnn_part(features: Any, mode: str, config: Any, partitioner: Any) -> _Part:
        chosen = _checked(get_optimizer_instance(dnn_optimizer, _DNN_LEARNING_RATE))
        if not dnn_hidden_units:
            raise ValueError(
                "dnn_hidden_units must be defined when dnn_feature_columns is "
                "specified."
            )
        with variable_scope(
            "dnn",
            values=tuple(features.values()),
            partitioner=layer_partitioner(config),
        ) as scope:
            logit_fn = dnn_logit_fn_builder(
                head.logits_dimension,
                dnn_hidden_units,
                columns.dnn,
                dnn_activation_fn,
                dnn_dropout,
                partitioner,
                batch_norm,
            )
            return _Part(logit_fn(features=features, mode=mode), chosen, scope.name)

    def linear_part(features: Any, partitioner: Any) -> _Part:
        rate = min(_LINEAR_LEARNING_RATE, 1.0 / math.sqrt(len(columns.linear)))
        chosen = _checked(get_optimizer_instance(linear_optimizer, rate))
        with variable_scope(
            "linear", values=tuple(features.values()), partitioner=partitioner
        ) as scope:
            logit_fn = linear_logit_fn_builder(
                head.logits_dimension, columns.linear, linear_sparse_combiner
            )
            logits = logit_fn(features)
            add_layer_summary(logits, scope.name)
            return _Part(logits, chosen, scope.name)

    def model_fn(
        features: Mapping[Any, Any], labels: Any, mode: str, config: Any
    ) -> EstimatorSpec:
        check_features(features)
        partitioner = input_layer_partitioner or input_partitioner(config)
        parts = []
        if columns.dnn:
            parts.append(dnn_part(features, mode, config, partitioner))
        if columns.linear:
            parts.append(linear_part(features, partitioner))
        logits = parts[0].logits
        for part in parts[1:]:
            logits = logits + part.logits
        spec: EstimatorSpec = head.create_estimator_spec(
            features=features,
            mode=mode,
            labels=labels,
            train_op_fn=lambda loss: _training_step(loss, parts),
            logits=logits,
        )
        return spec

    return model_fn


class _Part(NamedTuple):
    logits: Any
    optimizer: Any
    # The scope of its variables.
    scope: str


def _training_step(loss: Any, parts: Sequence[_Part]) -> Any:
    """Each part's optimizer minimizes the loss; the step counts once."""
    steps = [
        part.optimizer.minimize(
            loss,
            var_list=get_collection(GraphKeys.TRAINABLE_VARIABLES, scope=part.scope),
        )
        for part in parts
    ]
    with control_dependencies([group(*steps)]):
        return assign_add(training_util.get_global_step(), 1).op


def _checked(optimizer: Any) -> Any:
    if isinstance(optimizer, SyncReplicasOptimizer):
        raise ValueError(
            "SyncReplicasOptimizer does not support multi optimizers case. Therefore, "
            "it "
            "is not supported in DNNLinearCombined model. If you want to use this "
            "optimizer, please use either DNN or Linear model."
        )
    return optimizer
