"""`tf.estimator.Baseline*`: models that look at labels alone.

They learn a bias for each class or number: what any better model must beat.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from tensorloom.client.variables.variable_scope import get_variable, variable_scope
from tensorloom.estimator.canned.heads.choice import binary_or_multi_class_head
from tensorloom.estimator.canned.heads.regression import RegressionHead
from tensorloom.estimator.canned.optimizers import get_optimizer_instance
from tensorloom.estimator.estimator import Estimator
from tensorloom.feature_column.numeric import NumericColumn
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import control_dependencies
from tensorloom.losses.weighted import Reduction
from tensorloom.ops.array.fill import ones
from tensorloom.ops.array.shape import shape as shape_of
from tensorloom.ops.debugging import check
from tensorloom.ops.math.binary import multiply
from tensorloom.ops.state import initializers
from tensorloom.train import training_util

if TYPE_CHECKING:
    from tensorloom.estimator.run_config import RunConfig
    from tensorloom.estimator.spec import EstimatorSpec

_LEARNING_RATE: Final = 0.3


@export("estimator.BaselineClassifier")
class BaselineClassifier(Estimator):
    """Predicts for each example how common the classes are."""

    def __init__(
        self,
        model_dir: Any = None,
        n_classes: int = 2,
        weight_column: Any = None,
        label_vocabulary: Sequence[str] | None = None,
        optimizer: Any = "Ftrl",
        config: RunConfig | None = None,
        loss_reduction: str = Reduction.SUM,
    ) -> None:
        """Makes a model.

        Args:
          model_dir: its directory; a temporary one when None.
          n_classes: how many classes there are.
          weight_column: the feature that weighs examples, or None.
          label_vocabulary: names of the classes; labels are numbers when None.
          optimizer: an optimizer, or its name.
          config: settings; the usual ones when None.
          loss_reduction: one of `tf.losses.Reduction`, not `NONE`.

        Raises:
          ValueError: an argument has an impossible value.
        """
        head = binary_or_multi_class_head(
            n_classes, weight_column, label_vocabulary, loss_reduction
        )
        super().__init__(_model_fn(head, optimizer, weight_column), model_dir, config)


@export("estimator.BaselineRegressor")
class BaselineRegressor(Estimator):
    """Predicts the mean of the labels."""

    def __init__(
        self,
        model_dir: Any = None,
        label_dimension: int = 1,
        weight_column: Any = None,
        optimizer: Any = "Ftrl",
        config: RunConfig | None = None,
        loss_reduction: str = Reduction.SUM,
    ) -> None:
        """Makes a model.

        Args:
          model_dir: its directory; a temporary one when None.
          label_dimension: how many numbers a label has.
          weight_column: the feature that weighs examples, or None.
          optimizer: an optimizer, or its name.
          config: settings; the usual ones when None.
          loss_reduction: one of `tf.losses.Reduction`, not `NONE`.

        Raises:
          ValueError: an argument has an impossible value.
        """
        head = RegressionHead(
            weight_column=weight_column,
            label_dimension=label_dimension,
            loss_reduction=loss_reduction,
        )
        super().__init__(_model_fn(head, optimizer, None), model_dir, config)


@export("estimator.BaselineEstimator")
class BaselineEstimator(Estimator):
    """Learns the logits of any head, the same for all examples."""

    def __init__(
        self,
        head: Any,
        model_dir: Any = None,
        optimizer: Any = "Ftrl",
        config: RunConfig | None = None,
    ) -> None:
        """Makes a model.

        Args:
          head: what makes loss and predictions of logits.
          model_dir: its directory; a temporary one when None.
          optimizer: an optimizer, or its name.
          config: settings; the usual ones when None.
        """
        super().__init__(_model_fn(head, optimizer, None), model_dir, config)


def _model_fn(head: Any, optimizer: Any, weight_column: Any) -> Any:
    def model_fn(
        features: Mapping[Any, Any], labels: Any, mode: str, config: Any
    ) -> EstimatorSpec:
        def train_op_fn(loss: Any) -> Any:
            chosen = get_optimizer_instance(optimizer, learning_rate=_LEARNING_RATE)
            return chosen.minimize(loss, global_step=training_util.get_global_step())

        spec: EstimatorSpec = head.create_estimator_spec(
            features=features,
            mode=mode,
            logits=logits(features, head.logits_dimension, weight_column),
            labels=labels,
            train_op_fn=train_op_fn,
        )
        return spec

    return model_fn


def logits(features: Mapping[Any, Any], dimension: int, weight_column: Any) -> Any:
    """The bias for each example; of the features only their number counts."""
    weights_key = _key_of(weight_column)
    sizes = [
        shape_of(feature)[0] for key, feature in features.items() if key != weights_key
    ]
    checks = [check.assert_equal(sizes[0], size) for size in sizes[1:]]
    with control_dependencies(checks), variable_scope("baseline"):
        bias = get_variable("bias", [dimension], initializer=initializers.Zeros)
        return multiply(bias, ones([sizes[0], dimension]))


def _key_of(weight_column: Any) -> str | None:
    if weight_column is None or isinstance(weight_column, str):
        return weight_column
    if not isinstance(weight_column, NumericColumn):
        raise TypeError(
            "Weight column must be either a string or NumericColumn. Given type: "
            f"{type(weight_column)}."
        )
    return weight_column.key
