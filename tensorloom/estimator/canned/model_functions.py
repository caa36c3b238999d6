"""The model functions of canned estimators, as TensorFlow's modules have them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from tensorloom.estimator.canned import baseline, dnn, dnn_linear_combined
from tensorloom.estimator.canned.linear_logits import fraction_of_zero
from tensorloom.framework.types import nest
from tensorloom.ops.nn.nn_ops import relu

if TYPE_CHECKING:
    from tensorloom.estimator.spec import EstimatorSpec


def dnn_model_fn(
    features: Mapping[Any, Any],
    labels: Any,
    mode: str,
    head: Any,
    hidden_units: Iterable[int],
    feature_columns: Iterable[Any],
    optimizer: Any = "Adagrad",
    activation_fn: Callable[[Any], Any] | None = relu,
    dropout: float | None = None,
    input_layer_partitioner: Any = None,
    config: Any = None,
    use_tpu: bool = False,
    batch_norm: bool = False,
) -> EstimatorSpec:
    """The `EstimatorSpec` of a network; see `tf.estimator.DNNEstimator`.

    Args:
      features, labels, mode, config: what a `model_fn` gets.
      use_tpu: not used.
      The others are the constructor's.
    """
    model_fn = dnn.made_model_fn(
        head,
        hidden_units,
        feature_columns,
        optimizer,
        activation_fn,
        dropout,
        input_layer_partitioner,
        batch_norm,
    )
    return model_fn(features, labels, mode, config)


def dnn_linear_combined_model_fn(
    features: Mapping[Any, Any],
    labels: Any,
    mode: str,
    head: Any,
    linear_feature_columns: Iterable[Any] | None = None,
    linear_optimizer: Any = "Ftrl",
    dnn_feature_columns: Iterable[Any] | None = None,
    dnn_optimizer: Any = "Adagrad",
    dnn_hidden_units: Iterable[int] | None = None,
    dnn_activation_fn: Callable[[Any], Any] | None = relu,
    dnn_dropout: float | None = None,
    input_layer_partitioner: Any = None,
    config: Any = None,
    batch_norm: bool = False,
    linear_sparse_combiner: str = "sum",
) -> EstimatorSpec:
    """The `EstimatorSpec` of both; see `tf.estimator.DNNLinearCombinedEstimator`.

    Args:
      features, labels, mode, config: what a `model_fn` gets.
      The others are the constructor's.

    Raises:
      ValueError: features are no dict, or there are no columns.
    """
    if not isinstance(features, dict):
        raise ValueError(
            "features should be a dictionary of `Tensor`s. Given type: "
            f"{type(features)}"
        )
    model_fn = dnn_linear_combined.made_model_fn(
        head,
        dnn_linear_combined.Columns(linear_feature_columns, dnn_feature_columns),
        linear_optimizer,
        dnn_optimizer,
        dnn_hidden_units,
        dnn_activation_fn,
        dnn_dropout,
        input_layer_partitioner,
        batch_norm,
        linear_sparse_combiner,
    )
    return model_fn(features, labels, mode, config)


def baseline_logit_fn_builder(
    num_outputs: int, weight_column: Any = None
) -> Callable[[Mapping[Any, Any]], Any]:
    """A function of features that gives a bias for each example."""
    return lambda features: baseline.logits(features, num_outputs, weight_column)


def compute_fraction_of_zero(variables: Any) -> Any:
    """How much of a structure of variables is zero."""
    return fraction_of_zero(nest.flatten(variables))
