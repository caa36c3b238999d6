"""`tf.estimator.experimental.LinearSDCA`: an optimizer of linear models alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from tensorloom.estimator.canned.heads.binary import BinaryHead
from tensorloom.estimator.canned.heads.regression import RegressionHead
from tensorloom.estimator.canned.linear_logits import write_summaries
from tensorloom.estimator.canned.sdca_model import (
    SdcaExamples,
    SdcaModel,
    SdcaOptions,
    SparseFeature,
)
from tensorloom.estimator.mode_keys import ModeKeys
from tensorloom.feature_column.interfaces import (
    CategoricalColumn,
    DenseColumn,
    is_feature_column_v2,
)
from tensorloom.feature_column.layers.linear_layer import LinearModel
from tensorloom.feature_column.sources import FeatureTransformationCache
from tensorloom.framework.export import export
from tensorloom.framework.types import dtypes
from tensorloom.ops.array import array_ops
from tensorloom.ops.math import math_ops
from tensorloom.train import training_util
from tensorloom.train.hooks.session_run_hook import SessionRunArgs, SessionRunHook

if TYPE_CHECKING:
    from tensorloom.estimator.spec import EstimatorSpec


@export("estimator.experimental.LinearSDCA")
class LinearSDCA:
    """Stochastic dual coordinate ascent, for `LinearClassifier` and `LinearRegressor`.

    Args:
      example_id_column: the feature with an id of each example, a string.
      num_loss_partitions: how many workers train at the same time.
      num_table_shards: how many tables keep what is known of examples; 1 when None.
      symmetric_l1_regularization: of the weights.
      symmetric_l2_regularization: of the weights, above 0.
      adaptive: whether examples that may help most come more often.
    """

    def __init__(
        self,
        example_id_column: str,
        num_loss_partitions: int = 1,
        num_table_shards: int | None = None,
        symmetric_l1_regularization: float = 0.0,
        symmetric_l2_regularization: float = 1.0,
        adaptive: bool = False,
    ) -> None:
        self._example_id_column = example_id_column
        self._num_loss_partitions = num_loss_partitions
        self._num_table_shards = num_table_shards
        self._symmetric_l1_regularization = symmetric_l1_regularization
        self._symmetric_l2_regularization = symmetric_l2_regularization
        self._adaptive = adaptive

    def get_train_step(
        self,
        state_manager: Any,
        weight_column_name: str | None,
        loss_type: str,
        feature_columns: Any,
        features: Mapping[str, Any],
        targets: Any,
        bias_var: Any,
        global_step: Any,
    ) -> tuple[SdcaModel, Any]:
        """A model of a batch and its training step.

        Raises:
          ValueError: a regularization that is not possible, or a column that has more
            than one dimension or is neither dense nor categorical.
        """
        self._check_regularization()
        batch = array_ops.shape(targets)[0]
        cache = FeatureTransformationCache(features)
        dense, dense_weights, sparse, sparse_weights = [], [], [], []
        for column in sorted(feature_columns, key=lambda column: column.name):
            if isinstance(column, CategoricalColumn):
                pair = column.get_sparse_tensors(cache, state_manager)
                sparse.append(_distinct_ids(pair))
                sparse_weights.append(state_manager.get_variable(column, "weights"))
            else:
                _check_dense(column)
                dense.append(column.get_dense_tensor(cache, state_manager))
                dense_weights.append(state_manager.get_variable(column, "weights"))
        dense.append(array_ops.ones([batch, 1]))
        dense_weights.append(bias_var)
        if weight_column_name:
            weights = array_ops.reshape(features[weight_column_name], shape=[-1])
        else:
            weights = array_ops.ones([batch])
        labels = math_ops.to_float(array_ops.reshape(targets, shape=[-1]))
        ids = features[self._example_id_column]
        model = SdcaModel(
            SdcaExamples(sparse, dense, labels, weights, ids),
            sparse_weights,
            dense_weights,
            self._options(loss_type),
        )
        return model, model.minimize(global_step)

    def _check_regularization(self) -> None:
        if self._symmetric_l2_regularization <= 0.0:
            raise ValueError(
                "symmetric_l2_regularization should be positive. Given: "
                f"{self._symmetric_l2_regularization}"
            )
        if self._symmetric_l1_regularization < 0.0:
            raise ValueError(
                "symmetric_l1_regularization should be non-negative. Given: "
                f"{self._symmetric_l1_regularization}"
            )

    def _options(self, loss_type: str) -> SdcaOptions:
        return SdcaOptions(
            loss_type=loss_type,
            l1=self._symmetric_l1_regularization,
            l2=self._symmetric_l2_regularization,
            num_loss_partitions=self._num_loss_partitions,
            num_table_shards=self._num_table_shards or 1,
            adaptive=self._adaptive,
        )


def _check_dense(column: Any) -> None:
    if not isinstance(column, DenseColumn):
        raise ValueError(
            f"LinearSDCA does not support column type {type(column).__name__}."
        )
    rank = column.variable_shape.ndims
    if rank != 1:
        raise ValueError(
            f"Column {type(column).__name__} has rank {rank}, larger than 1."
        )


def _distinct_ids(pair: Any) -> SparseFeature:
    """Each id once for an example, with the sum of its weights; none below 0."""
    indices, ids = pair.id_tensor.indices, pair.id_tensor.values
    if pair.weight_tensor is not None:
        weights = pair.weight_tensor.values
    else:
        weights = array_ops.ones([array_ops.shape(indices)[0]], dtypes.float32)
    examples = array_ops.reshape(indices[:, 0], [-1])
    ids = math_ops.cast(array_ops.reshape(ids, [-1]), dtypes.int64)
    is_valid = math_ops.greater_equal(ids, 0)
    ids, examples, weights = (
        array_ops.boolean_mask(part, is_valid) for part in (ids, examples, weights)
    )
    # Example and id as one number, so that both can be made distinct at once.
    width = math_ops.reduce_max(ids) + 1
    both, at = array_ops.unique(width * examples + ids)
    count = array_ops.shape(both)[0]
    examples = math_ops.unsorted_segment_min(examples, at, count)
    totals = math_ops.unsorted_segment_sum(weights, at, count)
    return SparseFeature(
        examples, both - width * examples, array_ops.reshape(totals, [-1])
    )


def check_sdca(
    optimizer: Any, feature_columns: Any, sparse_combiner: str, outputs: int, most: int
) -> None:
    """Raises ValueError: the model is none that `LinearSDCA` can train."""
    if not isinstance(optimizer, LinearSDCA):
        return
    if sparse_combiner != "sum":
        raise ValueError(
            'sparse_combiner must be "sum" when optimizer is a LinearSDCA object. '
            f"Given: {sparse_combiner!r}."
        )
    if not is_feature_column_v2(feature_columns):
        raise ValueError(
            "V2 feature columns required when optimizer is a LinearSDCA object."
        )
    if outputs > most:
        raise ValueError(
            "LinearSDCA cannot be used in a multi-class setting."
            if most == 2
            else "LinearSDCA can only be used with one-dimensional label."
        )


def sdca_spec(
    features: Mapping[Any, Any],
    labels: Any,
    mode: str,
    head: Any,
    feature_columns: Any,
    optimizer: LinearSDCA,
) -> EstimatorSpec:
    """What the `model_fn` of a linear model returns.

    Raises:
      ValueError: a head that `LinearSDCA` has no loss for.
    """
    if isinstance(head, BinaryHead):
        loss_type = "logistic_loss"
    elif isinstance(head, RegressionHead) and head.logits_dimension == 1:
        loss_type = "squared_loss"
    else:
        raise ValueError(f"Unsupported head type: {head}")
    model = LinearModel(feature_columns, 1, "sum", name="linear_model")
    logits = model(features)
    write_summaries(1, model)
    if mode != ModeKeys.TRAIN:
        spec: EstimatorSpec = head.create_estimator_spec(
            features=features, mode=mode, labels=labels, logits=logits
        )
        return spec
    sdca, train_op = optimizer.get_train_step(
        model.layer._state_manager,
        head._weight_column,
        loss_type,
        feature_columns,
        features,
        labels,
        model.bias,
        training_util.get_global_step(),
    )
    spec = head.create_estimator_spec(
        features=features,
        mode=mode,
        labels=labels,
        train_op_fn=lambda loss: train_op,
        logits=logits,
    )
    hooks = (*spec.training_chief_hooks, _UpdateWeights(sdca, train_op))
    return spec._replace(training_chief_hooks=hooks)


class _UpdateWeights(SessionRunHook):
    """Sets the model's weights after each step."""

    def __init__(self, model: SdcaModel, train_op: Any) -> None:
        self._model = model
        self._train_op = train_op

    def begin(self) -> None:
        """Makes the operation."""
        self._update = self._model.update_weights(self._train_op)

    def before_run(self, run_context: Any) -> SessionRunArgs:
        """Asks for the operation."""
        return SessionRunArgs(self._update)
