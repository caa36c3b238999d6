"""`tf.estimator.BoostedTreesClassifier`, `...Regressor` and `...Estimator`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

from tensorloom.client.variables.variable_store import enable_resource_variables
from tensorloom.estimator.boosted_trees import explanations
from tensorloom.estimator.boosted_trees.columns import TreeColumns
from tensorloom.estimator.boosted_trees.model import TreeModel
from tensorloom.estimator.boosted_trees.options import TreeOptions
from tensorloom.estimator.canned.heads.binary import BinaryHead
from tensorloom.estimator.canned.heads.multi_class import MultiClassHead
from tensorloom.estimator.canned.heads.regression import RegressionHead
from tensorloom.estimator.estimator import Estimator
from tensorloom.estimator.heads import checks
from tensorloom.framework.export import export
from tensorloom.framework.types import dtypes
from tensorloom.losses.weighted import Reduction
from tensorloom.ops.array.identity import identity
from tensorloom.ops.array.shape import size
from tensorloom.ops.math.cast import cast
from tensorloom.ops.math.elementwise import exp, reciprocal
from tensorloom.train.checkpoints.checkpoint_utils import load_checkpoint

if TYPE_CHECKING:
    from collections import OrderedDict

    from tensorloom.estimator.run_config import RunConfig

# Only two classes and one number can be said, by these defaults.
_TWO_CLASSES: Final = object()
_ONE_NUMBER: Final = object()


class _BoostedTrees(Estimator):
    """What models of trees have besides: contributions of features.

    Args:
      model: all but the features.
      model_dir, config: as of every Estimator.
      is_classification: whether predictions are probabilities.
    """

    def __init__(
        self,
        model: TreeModel,
        model_dir: Any,
        config: RunConfig | None,
        is_classification: bool,
    ) -> None:
        # As in TensorFlow: the step compares and sets flags, which references race.
        enable_resource_variables()

        def model_fn(features: Any, labels: Any, mode: str, config: Any) -> Any:
            return model.spec(features, labels, mode, config)

        super().__init__(model_fn, model_dir, config)
        self._model = model
        columns = TreeColumns(model.feature_columns, model.options.num_quantiles)
        self._names = columns.names()
        self._is_classification = is_classification

    def experimental_feature_importances(
        self, normalize: bool = False
    ) -> OrderedDict[str, Any]:
        """How much splits at each column gained, by name, the largest first.

        Args:
          normalize: whether the sum becomes 1.

        Raises:
          ValueError: the model is not trained.
          AssertionError: the sum cannot become 1.
        """
        reader = load_checkpoint(self.model_dir)
        serialized = reader.get_tensor("boosted_trees:0_serialized")
        if not serialized:
            raise ValueError(
                "Found empty serialized string for TreeEnsemble. You should only call "
                "this method after training."
            )
        importances = explanations.feature_importances(
            serialized, len(self._names), normalize
        )
        return explanations.by_column(self._names, list(importances))

    def experimental_predict_with_explanations(
        self,
        input_fn: Callable[..., Any],
        predict_keys: Iterable[str] | None = None,
        hooks: Sequence[Any] | None = None,
        checkpoint_path: str | None = None,
    ) -> Iterator[dict[str, Any]]:
        """Predictions, with "bias" and "dfc": what each column contributes to them.

        Args:
          input_fn: gives the features.
          predict_keys: names of the predictions that are wanted; all when None.
          hooks: session hooks.
          checkpoint_path: the checkpoint to use; the latest one when None.

        Raises:
          ValueError: the model was made without `center_bias`, or its predictions are
            other functions of its logits.
        """
        if not self._model.options.center_bias:
            raise ValueError(
                "center_bias must be enabled during estimator instantiation when using "
                "experimental_predict_with_explanations."
            )
        link = getattr(self._model.head, "_inverse_link_fn", None)
        if not self._is_classification and link not in (None, identity):
            raise ValueError(
                "For now only identity inverse_link_fn in regression_head is supported "
                "for experimental_predict_with_explanations."
            )
        explaining = Estimator(
            lambda features, labels, mode: explanations.explaining_spec(
                self._model, features
            ),
            self.model_dir,
            self.config,
            warm_start_from=self._warm_start_settings,
        )
        if predict_keys is not None:
            predict_keys = {*predict_keys, explanations.DEBUG_KEY}
        for prediction in explaining.predict(
            input_fn,
            predict_keys=predict_keys,
            hooks=hooks,
            checkpoint_path=checkpoint_path,
        ):
            prediction["bias"], prediction["dfc"] = explanations.contributions(
                prediction.pop(explanations.DEBUG_KEY),
                self._names,
                self._is_classification,
            )
            yield prediction


@export("estimator.BoostedTreesClassifier")
class BoostedTreesClassifier(_BoostedTrees):
    """A classifier of two classes."""

    def __init__(
        self,
        feature_columns: Iterable[Any],
        n_batches_per_layer: int,
        model_dir: Any = None,
        n_classes: Any = _TWO_CLASSES,
        weight_column: Any = None,
        label_vocabulary: Sequence[str] | None = None,
        n_trees: int = 100,
        max_depth: int = 6,
        learning_rate: float = 0.1,
        l1_regularization: float = 0.0,
        l2_regularization: float = 0.0,
        tree_complexity: float = 0.0,
        min_node_weight: float = 0.0,
        config: RunConfig | None = None,
        center_bias: bool = False,
        pruning_mode: str = "none",
        quantile_sketch_epsilon: float = 0.01,
        train_in_memory: bool = False,
    ) -> None:
        """Makes a model.

        Args:
          feature_columns: indicator, bucketized and dense columns.
          n_batches_per_layer: how many batches make a layer.
          model_dir: its directory; a temporary one when None.
          n_classes: 2.
          weight_column: the feature that weighs examples, or None.
          label_vocabulary: names of the classes; labels are numbers when None.
          n_trees: how many trees.
          max_depth: how many layers each has.
          learning_rate: by which leaves are multiplied.
          l1_regularization, l2_regularization: of the leaves.
          tree_complexity: what each leaf must gain to stay.
          min_node_weight: the least second derivative of a leaf, as a part of all.
          config: settings; the usual ones when None.
          center_bias: whether the first node gives what labels are on average.
          pruning_mode: "none", "pre" (no split that gains too little) or "post" (such
            leaves go when the tree is grown).
          quantile_sketch_epsilon: how far off the buckets of floats may be; there are
            as many as fit into 1.
          train_in_memory: whether a batch is the whole data.

        Raises:
          ValueError: an argument has an impossible value.
        """
        options = TreeOptions.among(locals())
        if n_classes is not _TWO_CLASSES and n_classes > 2 and pruning_mode is not None:
            raise ValueError("For now pruning is not supported with multi class.")
        if n_classes is not _TWO_CLASSES and n_classes != 2:
            raise ValueError(
                "For now only binary classification is supported."
                f"n_classes given as {n_classes}"
            )
        head = BinaryHead(
            weight_column=weight_column,
            label_vocabulary=label_vocabulary,
            loss_reduction=Reduction.SUM_OVER_BATCH_SIZE,
        )
        plain = weight_column is None and label_vocabulary is None
        model = TreeModel(
            head,
            list(feature_columns),
            options,
            n_batches_per_layer,
            derivatives=_derivatives_of_log_loss if plain else None,
            weight_column=weight_column,
            train_in_memory=train_in_memory,
        )
        super().__init__(model, model_dir, config, is_classification=True)


def _derivatives_of_log_loss(logits: Any, labels: Any) -> tuple[Any, Any]:
    """First and second derivatives of the mean logistic loss by the logits."""
    predictions = reciprocal(exp(-logits) + 1.0)
    normalizer = reciprocal(cast(size(predictions), dtypes.float32))
    labels = checks.check_labels(cast(labels, dtypes.float32), logits, 1)
    first = (predictions - labels) * normalizer
    return first, predictions * (1.0 - predictions) * normalizer


@export("estimator.BoostedTreesRegressor")
class BoostedTreesRegressor(_BoostedTrees):
    """A regression of one number."""

    def __init__(
        self,
        feature_columns: Iterable[Any],
        n_batches_per_layer: int,
        model_dir: Any = None,
        label_dimension: Any = _ONE_NUMBER,
        weight_column: Any = None,
        n_trees: int = 100,
        max_depth: int = 6,
        learning_rate: float = 0.1,
        l1_regularization: float = 0.0,
        l2_regularization: float = 0.0,
        tree_complexity: float = 0.0,
        min_node_weight: float = 0.0,
        config: RunConfig | None = None,
        center_bias: bool = False,
        pruning_mode: str = "none",
        quantile_sketch_epsilon: float = 0.01,
        train_in_memory: bool = False,
    ) -> None:
        """Makes a model; the arguments are those of `BoostedTreesClassifier`.

        Args:
          label_dimension: 1.

        Raises:
          ValueError: an argument has an impossible value.
        """
        options = TreeOptions.among(locals())
        if label_dimension is not _ONE_NUMBER and label_dimension != 1:
            raise ValueError(
                "For now only 1 dimension regression is supported. "
                f"label_dimension given as {label_dimension}"
            )
        head = RegressionHead(
            weight_column=weight_column,
            label_dimension=1,
            loss_reduction=Reduction.SUM_OVER_BATCH_SIZE,
        )
        model = TreeModel(
            head,
            list(feature_columns),
            options,
            n_batches_per_layer,
            weight_column=weight_column,
            train_in_memory=train_in_memory,
        )
        super().__init__(model, model_dir, config, is_classification=False)


@export("estimator.BoostedTreesEstimator")
class BoostedTreesEstimator(_BoostedTrees):
    """A model of trees with any head."""

    def __init__(
        self,
        feature_columns: Iterable[Any],
        n_batches_per_layer: int,
        head: Any,
        model_dir: Any = None,
        weight_column: Any = None,
        n_trees: int = 100,
        max_depth: int = 6,
        learning_rate: float = 0.1,
        l1_regularization: float = 0.0,
        l2_regularization: float = 0.0,
        tree_complexity: float = 0.0,
        min_node_weight: float = 0.0,
        config: RunConfig | None = None,
        center_bias: bool = False,
        pruning_mode: str = "none",
        quantile_sketch_epsilon: float = 0.01,
    ) -> None:
        """Makes a model; the arguments are those of `BoostedTreesClassifier`.

        Args:
          head: makes loss, predictions and metrics of logits.
          weight_column: unused, as in TensorFlow: the head weighs examples.

        Raises:
          ValueError: an argument has an impossible value.
        """
        options = TreeOptions.among(locals())
        model = TreeModel(
            head,
            list(feature_columns),
            options,
            n_batches_per_layer,
        )
        is_classification = isinstance(head, BinaryHead | MultiClassHead)
        super().__init__(model, model_dir, config, is_classification)
