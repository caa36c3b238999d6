"""`tf.estimator.DNN*`: models of hidden layers over feature columns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from tensorloom.client.variables.variable_scope import variable_scope
from tensorloom.estimator.canned.dnn_logits import dnn_logit_fn_builder
from tensorloom.estimator.canned.heads.choice import binary_or_multi_class_head
from tensorloom.estimator.canned.heads.regression import RegressionHead
from tensorloom.estimator.canned.optimizers import get_optimizer_instance
from tensorloom.estimator.canned.partitioners import (
    check_features,
    input_partitioner,
    layer_partitioner,
)
from tensorloom.estimator.estimator import Estimator
from tensorloom.framework.export import export
from tensorloom.losses.weighted import Reduction
from tensorloom.ops.nn.activation import relu

if TYPE_CHECKING:
    from tensorloom.estimator.run_config import RunConfig
    from tensorloom.estimator.spec import EstimatorSpec

_LEARNING_RATE: Final = 0.05


@export("estimator.DNNClassifier")
class DNNClassifier(Estimator):
    """A classifier of hidden layers."""

    def __init__(
        self,
        hidden_units: Iterable[int],
        feature_columns: Iterable[Any],
        model_dir: Any = None,
        n_classes: int = 2,
        weight_column: Any = None,
        label_vocabulary: Sequence[str] | None = None,
        optimizer: Any = "Adagrad",
        activation_fn: Callable[[Any], Any] | None = relu,
        dropout: float | None = None,
        input_layer_partitioner: Any = None,
        config: RunConfig | None = None,
        warm_start_from: Any = None,
        loss_reduction: str = Reduction.SUM,
        batch_norm: bool = False,
    ) -> None:
        """Makes a model.

        Args:
          hidden_units: how many units each hidden layer has.
          feature_columns: columns of the features.
          model_dir: its directory; a temporary one when None.
          n_classes: how many classes there are.
          weight_column: the feature that weighs examples, or None.
          label_vocabulary: names of the classes; labels are numbers when None.
          optimizer: an optimizer, its name, or a function that makes one.
          activation_fn: of the hidden layers.
          dropout: the probability that a unit is dropped in training.
          input_layer_partitioner: cuts the variables of columns into parts.
          config: settings; the usual ones when None.
          warm_start_from: a checkpoint, or `WarmStartSettings`.
          loss_reduction: one of `tf.losses.Reduction`, not `NONE`.
          batch_norm: whether the hidden layers are normalized.

        Raises:
          ValueError: an argument has an impossible value.
        """
        head = binary_or_multi_class_head(
            n_classes, weight_column, label_vocabulary, loss_reduction
        )
        super().__init__(
            made_model_fn(
                head,
                hidden_units,
                feature_columns,
                optimizer,
                activation_fn,
                dropout,
                input_layer_partitioner,
                batch_norm,
            ),
            model_dir,
            config,
            warm_start_from=warm_start_from,
        )


@export("estimator.DNNRegressor")
class DNNRegressor(Estimator):
    """A regression of hidden layers."""

    def __init__(
        self,
        hidden_units: Iterable[int],
        feature_columns: Iterable[Any],
        model_dir: Any = None,
        label_dimension: int = 1,
        weight_column: Any = None,
        optimizer: Any = "Adagrad",
        activation_fn: Callable[[Any], Any] | None = relu,
        dropout: float | None = None,
        input_layer_partitioner: Any = None,
        config: RunConfig | None = None,
        warm_start_from: Any = None,
        loss_reduction: str = Reduction.SUM,
        batch_norm: bool = False,
    ) -> None:
        """Makes a model.

        Args:
          hidden_units: how many units each hidden layer has.
          feature_columns: columns of the features.
          model_dir: its directory; a temporary one when None.
          label_dimension: how many numbers a label has.
          weight_column: the feature that weighs examples, or None.
          optimizer: an optimizer, its name, or a function that makes one.
          activation_fn: of the hidden layers.
          dropout: the probability that a unit is dropped in training.
          input_layer_partitioner: cuts the variables of columns into parts.
          config: settings; the usual ones when None.
          warm_start_from: a checkpoint, or `WarmStartSettings`.
          loss_reduction: one of `tf.losses.Reduction`, not `NONE`.
          batch_norm: whether the hidden layers are normalized.

        Raises:
          ValueError: an argument has an impossible value.
        """
        head = RegressionHead(
            weight_column=weight_column,
            label_dimension=label_dimension,
            loss_reduction=loss_reduction,
        )
        super().__init__(
            made_model_fn(
                head,
                hidden_units,
                feature_columns,
                optimizer,
                activation_fn,
                dropout,
                input_layer_partitioner,
                batch_norm,
            ),
            model_dir,
            config,
            warm_start_from=warm_start_from,
        )


@export("estimator.DNNEstimator")
class DNNEstimator(Estimator):
    """A model of hidden layers with any head."""

    def __init__(
        self,
        head: Any,
        hidden_units: Iterable[int],
        feature_columns: Iterable[Any],
        model_dir: Any = None,
        optimizer: Any = "Adagrad",
        activation_fn: Callable[[Any], Any] | None = relu,
        dropout: float | None = None,
        input_layer_partitioner: Any = None,
        config: RunConfig | None = None,
        warm_start_from: Any = None,
        batch_norm: bool = False,
    ) -> None:
        """Makes a model.

        Args:
          head: what makes loss and predictions of logits.
          hidden_units: how many units each hidden layer has.
          feature_columns: columns of the features.
          model_dir: its directory; a temporary one when None.
          optimizer: an optimizer, its name, or a function that makes one.
          activation_fn: of the hidden layers.
          dropout: the probability that a unit is dropped in training.
          input_layer_partitioner: cuts the variables of columns into parts.
          config: settings; the usual ones when None.
          warm_start_from: a checkpoint, or `WarmStartSettings`.
          batch_norm: whether the hidden layers are normalized.

        Raises:
          ValueError: an argument has an impossible value.
        """
        super().__init__(
            made_model_fn(
                head,
                hidden_units,
                feature_columns,
                optimizer,
                activation_fn,
                dropout,
                input_layer_partitioner,
                batch_norm,
            ),
            model_dir,
            config,
            warm_start_from=warm_start_from,
        )


def made_model_fn(
    head: Any,
    hidden_units: Iterable[int],
    feature_columns: Iterable[Any],
    optimizer: Any,
    activation_fn: Callable[[Any], Any] | None,
    dropout: float | None,
    input_layer_partitioner: Any,
    batch_norm: bool,
) -> Callable[..., EstimatorSpec]:
    """The `model_fn` of a network under a head."""
    hidden_units = list(hidden_units)
    columns = tuple(feature_columns or ())

    def model_fn(
        features: Mapping[Any, Any], labels: Any, mode: str, config: Any
    ) -> EstimatorSpec:
        chosen = get_optimizer_instance(optimizer, learning_rate=_LEARNING_RATE)
        check_features(features)
        with variable_scope(
            "dnn",
            values=tuple(features.values()),
            partitioner=layer_partitioner(config),
        ):
            logit_fn = dnn_logit_fn_builder(
                head.logits_dimension,
                hidden_units,
                columns,
                activation_fn,
                dropout,
                input_layer_partitioner or input_partitioner(config),
                batch_norm,
            )
            spec: EstimatorSpec = head.create_estimator_spec(
                features=features,
                mode=mode,
                labels=labels,
                optimizer=chosen,
                logits=logit_fn(features=features, mode=mode),
            )
        return spec

    return model_fn
