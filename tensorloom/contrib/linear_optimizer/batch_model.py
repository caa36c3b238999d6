"""`SdcaModel`: dual coordinate ascent over a program's own tensors and variables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from tensorloom.compat.internals.deprecation import deprecated
from tensorloom.contrib.linear_optimizer.dual_coordinates import SLOT_SUFFIX
from tensorloom.estimator.canned import sdca_model
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import name_scope
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.ops.array import array_ops
from tensorloom.ops.math import math_ops
from tensorloom.ops.nn.activation import relu
from tensorloom.ops.nn.loss import log_poisson_loss, sigmoid_cross_entropy_with_logits

_OLD: Final = (
    None,
    "This class is deprecated. To UPDATE or USE linear optimizers, please check its "
    "latest version in core: "
    "tensorflow_estimator/python/estimator/canned/linear_optimizer/.",
)
_LOSSES: Final = (
    "logistic_loss",
    "squared_loss",
    "hinge_loss",
    "smooth_hinge_loss",
    "poisson_loss",
)
_REGULARIZATIONS: Final = ("symmetric_l1_regularization", "symmetric_l2_regularization")
_WEIGHTS: Final = ("sparse_features_weights", "dense_features_weights")
_FEATURES: Final = ("sparse_features", "dense_features")


@export("contrib.linear_optimizer.SparseFeatureColumn")
class SparseFeatureColumn:
    """The features of examples that have few of many."""

    @deprecated(*_OLD)
    def __init__(
        self, example_indices: Any, feature_indices: Any, feature_values: Any
    ) -> None:
        """Makes a column of n features.

        Args:
          example_indices: int64 `[n]`: which example has the feature.
          feature_indices: int64 `[n]`: which feature it is.
          feature_values: float32 `[n]`; ones if None.
        """
        given = [example_indices, feature_indices]
        with name_scope(None, "SparseFeatureColumn", given):
            self._example_indices = convert_to_tensor(
                example_indices, name="example_indices", dtype=dtypes.int64
            )
            self._feature_indices = convert_to_tensor(
                feature_indices, name="feature_indices", dtype=dtypes.int64
            )
        self._feature_values = None
        if feature_values is not None:
            with name_scope(None, "SparseFeatureColumn", [feature_values]):
                self._feature_values = convert_to_tensor(
                    feature_values, name="feature_values", dtype=dtypes.float32
                )

    @property
    def example_indices(self) -> Any:
        """Which example has the feature, int64 `[n]`."""
        return self._example_indices

    @property
    def feature_indices(self) -> Any:
        """Which feature it is, int64 `[n]`."""
        return self._feature_indices

    @property
    def feature_values(self) -> Any:
        """Its value, float32 `[n]`; None: ones."""
        return self._feature_values


@export("contrib.linear_optimizer.SdcaModel")
class SdcaModel:
    """Trains a linear model by stochastic dual coordinate ascent.

    model = tf.contrib.linear_optimizer.SdcaModel(examples, variables, options)
    step = model.minimize()
    update = model.update_weights(step)
    predictions = model.predictions(examples)
    """

    @deprecated(*_OLD)
    def __init__(
        self,
        examples: Mapping[str, Any],
        variables: Mapping[str, Any],
        options: Mapping[str, Any],
    ) -> None:
        """Makes a model.

        Args:
          examples: a batch of n: `sparse_features` (a list of `SparseFeatureColumn`),
            `dense_features` (a list of float32 `[n, size]`), `example_labels` and
            `example_weights` (float32 `[n]`) and `example_ids` (string `[n]`).
          variables: `sparse_features_weights` and `dense_features_weights`, a list each
            of variables, or of lists of their parts.
          options: `loss_type` (`logistic_loss`, `squared_loss`, `hinge_loss`,
            `smooth_hinge_loss` or `poisson_loss`), `symmetric_l1_regularization`,
            `symmetric_l2_regularization` (1.0 at least is used), and maybe
            `num_loss_partitions`, `num_table_shards` and `adaptive`.

        Raises:
          ValueError: one is missing, no list, or has an impossible value.
        """
        if not examples or not variables or not options:
            raise ValueError("examples, variables and options must all be specified.")
        if options["loss_type"] not in _LOSSES:
            raise ValueError("Unsupported loss_type: ", options["loss_type"])
        columns = ("example_labels", "example_weights", "example_ids")
        _check_specified((*columns, *_FEATURES), examples)
        _check_lists(_FEATURES, examples)
        _check_specified(_WEIGHTS, variables)
        _check_lists(_WEIGHTS, variables)
        _check_specified(("loss_type", *_REGULARIZATIONS), options)
        for name in _REGULARIZATIONS:
            if options[name] < 0.0:
                raise ValueError(
                    f"{name} should be non-negative. Found ({options[name]:f})"
                )
        self._variables = variables
        self._options = options
        self._model = sdca_model.SdcaModel(
            sdca_model.SdcaExamples(
                list(examples["sparse_features"]),
                [convert_to_tensor(part) for part in examples["dense_features"]],
                convert_to_tensor(examples["example_labels"]),
                convert_to_tensor(examples["example_weights"]),
                convert_to_tensor(examples["example_ids"]),
            ),
            variables["sparse_features_weights"],
            variables["dense_features_weights"],
            sdca_model.SdcaOptions(
                loss_type=options["loss_type"],
                l1=options["symmetric_l1_regularization"],
                # The algorithm does not converge with less.
                l2=max(options["symmetric_l2_regularization"], 1.0),
                num_loss_partitions=options.get("num_loss_partitions", 1),
                num_table_shards=options.get("num_table_shards") or 1,
                adaptive=options.get("adaptive", True),
                suffix=SLOT_SUFFIX,
            ),
        )

    def minimize(self, global_step: Any = None, name: str | None = None) -> Any:
        """A step over the batch.

        Args:
          global_step: a variable that counts the steps, or None.
          name: of the scope of the operations.
        """
        return self._model.minimize(global_step, name)

    def update_weights(self, train_op: Any) -> Any:
        """After `train_op`: the weights of the step, shrunk by l1, in the variables."""
        return self._model.update_weights(train_op)

    def approximate_duality_gap(self) -> Any:
        """How far the objective is from its optimum at most, a mean over examples."""
        return self._model.approximate_duality_gap()

    def predictions(self, examples: Mapping[str, Any]) -> Any:
        """What the model says of examples, `[n]`.

        Probabilities of the logistic loss, means of the Poisson loss, else the weighted
        sums of the features.

        Raises:
          ValueError: a part of the examples is missing or no list.
        """
        _check_specified(("example_weights", *_FEATURES), examples)
        _check_lists(_FEATURES, examples)
        result = self._linear(examples)
        kind = self._options["loss_type"]
        if kind == "logistic_loss":
            with name_scope("sdca/logistic_prediction"):
                return math_ops.sigmoid(result)
        if kind == "poisson_loss":
            with name_scope("sdca/poisson_prediction"):
                return math_ops.exp(result)
        return result

    def _linear(self, examples: Mapping[str, Any]) -> Any:
        """The weighted sums of the features of each example."""
        with name_scope("sdca/prediction"):
            sparse: Any = 0.0
            weights = [_whole(v) for v in self._variables["sparse_features_weights"]]
            for column, weight in zip(
                examples["sparse_features"], weights, strict=False
            ):
                found = array_ops.gather(weight, column.feature_indices)
                if column.feature_values is not None:
                    found = math_ops.multiply(found, column.feature_values)
                sparse += math_ops.segment_sum(found, column.example_indices)
            features = [convert_to_tensor(x) for x in examples["dense_features"]]
            dense: Any = 0.0
            weights = [_whole(v) for v in self._variables["dense_features_weights"]]
            for feature, weight in zip(features, weights, strict=False):
                dense += math_ops.matmul(feature, array_ops.expand_dims(weight, -1))
        return array_ops.reshape(dense, [-1]) + sparse

    def unregularized_loss(self, examples: Mapping[str, Any]) -> Any:
        """The mean loss of examples, float64, without regularization.

        Raises:
          ValueError: a part of the examples is missing or no list.
        """
        _check_specified(("example_labels", "example_weights", *_FEATURES), examples)
        _check_lists(_FEATURES, examples)
        with name_scope("sdca/unregularized_loss"):
            predictions = math_ops.cast(self._linear(examples), dtypes.float64)
            labels = _double(examples["example_labels"])
            weights = _double(examples["example_weights"])
            losses = _losses(self._options["loss_type"], labels, predictions)
            total = math_ops.reduce_sum(math_ops.multiply(losses, weights))
            return total / math_ops.reduce_sum(weights)

    def regularized_loss(self, examples: Mapping[str, Any]) -> Any:
        """The mean loss of examples, float64, with regularization.

        Raises:
          ValueError: a part of the examples is missing or no list.
        """
        _check_specified(("example_labels", "example_weights", *_FEATURES), examples)
        _check_lists(_FEATURES, examples)
        with name_scope("sdca/regularized_loss"):
            weights = convert_to_tensor(examples["example_weights"])
            # The regularization as it was given: the optimizer may use more.
            l1, l2 = (self._options[name] for name in _REGULARIZATIONS)
            penalty = self._model.regularization(l1, l2)
            total = math_ops.reduce_sum(math_ops.cast(weights, dtypes.float64))
            return penalty / total + self.unregularized_loss(examples)


def _losses(kind: str, labels: Any, predictions: Any) -> Any:
    if kind == "logistic_loss":
        return sigmoid_cross_entropy_with_logits(labels=labels, logits=predictions)
    if kind == "poisson_loss":
        return log_poisson_loss(targets=labels, log_input=predictions)
    if kind == "squared_loss":
        return math_ops.square(math_ops.subtract(labels, predictions)) / 2.0
    # As in TensorFlow, the smooth hinge loss is reported as the hinge loss.
    ones = array_ops.ones_like(predictions)
    signs = math_ops.subtract(2 * labels, ones)
    return relu(math_ops.subtract(ones, math_ops.multiply(signs, predictions)))


def _double(value: Any) -> Any:
    return math_ops.cast(convert_to_tensor(value), dtypes.float64)


def _whole(variable: Any) -> Any:
    return sdca_model.whole(sdca_model.parts_of(variable))


def _check_specified(names: Iterable[str], given: Mapping[str, Any]) -> None:
    for name in names:
        if given[name] is None:
            raise ValueError(f"{name} must be specified.")


def _check_lists(names: Iterable[str], given: Mapping[str, Any]) -> None:
    for name in names:
        if not isinstance(given[name], list):
            raise ValueError(f"{name} must be a list.")
