"""Linear models by dual coordinate ascent, and `tf.contrib.learn.SVM`."""

from __future__ import annotations

from typing import Any, Final

from tensorloom.client.variables.variable_scope import variable_scope
from tensorloom.contrib.layers.columns.parsing import transform_features
from tensorloom.contrib.layers.columns.real_valued import real_valued_column
from tensorloom.contrib.layers.columns.weighted_sums import (
    weighted_sum_from_feature_columns,
)
from tensorloom.contrib.learn.estimators.canned_calls import CannedModel
from tensorloom.contrib.learn.head.makers import binary_svm_head
from tensorloom.contrib.learn.head.single_heads import (
    BinaryLogisticHead,
    BinarySvmHead,
    RegressionHead,
)
from tensorloom.contrib.learn.keys import PredictionKey
from tensorloom.contrib.linear_optimizer.dual_coordinates import SDCAOptimizer
from tensorloom.framework.export import export
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.constant_value import constant_value
from tensorloom.framework.types.sparse_tensor import SparseTensor
from tensorloom.ops.array.fill import ones
from tensorloom.ops.array.shape import shape
from tensorloom.train import training_util
from tensorloom.train.hooks.session_run_hook import SessionRunArgs, SessionRunHook

_BIAS_COLUMN: Final = "tf_virtual_bias_column"


class SdcaUpdateWeightsHook(SessionRunHook):
    """Sets the model's weights after each step."""

    def set_parameters(self, sdca_model: Any, train_op: Any) -> None:
        """Takes the model and its step, when the graph is made."""
        self._sdca_model = sdca_model
        self._train_op = train_op

    def begin(self) -> None:
        """Makes the op."""
        self._update_op = self._sdca_model.update_weights(self._train_op)

    def before_run(self, run_context: Any) -> SessionRunArgs:
        """Asks for the op."""
        return SessionRunArgs(self._update_op)


def _loss_type(head: Any) -> str:
    if isinstance(head, BinarySvmHead):
        return "hinge_loss"
    if isinstance(head, BinaryLogisticHead):
        return "logistic_loss"
    if isinstance(head, RegressionHead):
        assert head.logits_dimension == 1, "SDCA only applies for logits_dimension=1."
        return "squared_loss"
    raise ValueError(f"Unsupported head type: {head}")


def sdca_model_fn(features: Any, labels: Any, mode: str, params: dict[str, Any]) -> Any:
    """The model function of linear models that an `SDCAOptimizer` trains.

    Args:
      features: tensors by their keys.
      labels: labels as the head takes them.
      mode: a `ModeKeys`.
      params: `head`, `feature_columns`, `optimizer`, `weight_column_name`,
        `update_weights_hook`.

    Raises:
      ValueError: the optimizer or the head is of another kind.
    """
    head = params["head"]
    feature_columns = params["feature_columns"]
    optimizer = params["optimizer"]
    hook = params.get("update_weights_hook")
    if not isinstance(optimizer, SDCAOptimizer):
        raise ValueError("Optimizer must be of type SDCAOptimizer")
    loss_type = _loss_type(head)
    with variable_scope(
        "linear", values=list(features.values()), partitioner=optimizer.partitioner
    ) as scope:
        features = dict(features)
        features.update(transform_features(features, feature_columns))
        logits, variables, bias = weighted_sum_from_feature_columns(
            columns_to_tensors=features,
            feature_columns=feature_columns,
            num_outputs=1,
            scope=scope,
        )
        _add_bias_column(feature_columns, features, bias, variables)

    def train_op_fn(unused_loss: Any) -> Any:
        model, train_op = optimizer.get_train_step(
            variables,
            params["weight_column_name"],
            loss_type,
            features,
            labels,
            training_util.get_global_step(),
        )
        if hook is not None:
            hook.set_parameters(model, train_op)
        return train_op

    made = head.create_model_fn_ops(
        features=features,
        labels=labels,
        mode=mode,
        train_op_fn=train_op_fn,
        logits=logits,
    )
    if hook is None:
        return made
    return made._replace(training_chief_hooks=[*made.training_chief_hooks, hook])


def _add_bias_column(
    feature_columns: Any, tensors: dict[Any, Any], bias: Any, variables: dict[Any, Any]
) -> None:
    """Makes a column of ones of the bias."""
    if any(column.name == _BIAS_COLUMN for column in feature_columns):
        raise ValueError(f"{_BIAS_COLUMN} is a reserved column name.")
    if not feature_columns:
        raise ValueError("feature_columns can't be empty.")
    column = real_valued_column(_BIAS_COLUMN)
    tensors[column] = ones([_batch_size(tensors), 1], dtype=dtypes.float32)
    variables[column] = [bias]


def _batch_size(tensors: dict[Any, Any]) -> Any:
    for value in tensors.values():
        tensor = value[0] if isinstance(value, tuple) else value
        if not isinstance(tensor, SparseTensor):
            return shape(tensor)[0]
        sizes = constant_value(tensor.dense_shape)
        if sizes is not None:
            return sizes[0]
    raise ValueError("Could not infer batch size from input features.")


@export("contrib.learn.SVM")
class SVM(CannedModel):
    """A support vector machine: two classes, with the hinge loss.

    Args:
      example_id_column: the key of the feature that has the examples' ids, string.
      feature_columns: columns of `tf.contrib.layers`.
      weight_column_name: the key of the feature that has the weights; None for none.
      model_dir: where checkpoints and events go.
      l1_regularization: by the weights' absolute values.
      l2_regularization: by their squares.
      num_loss_partitions: how many workers train on parts of the data.
      kernels: None: there are only linear ones.
      config: a `RunConfig`.
      feature_engineering_fn: from (features, labels) of the input to the model's.

    Raises:
      ValueError: kernels are given.
    """

    def __init__(
        self,
        example_id_column: str,
        feature_columns: Any,
        weight_column_name: str | None = None,
        model_dir: Any = None,
        l1_regularization: float = 0.0,
        l2_regularization: float = 0.0,
        num_loss_partitions: int = 1,
        kernels: Any = None,
        config: Any = None,
        feature_engineering_fn: Any = None,
    ) -> None:
        if kernels is not None:
            raise ValueError("Kernel SVMs are not currently supported.")
        optimizer = SDCAOptimizer(
            example_id_column=example_id_column,
            num_loss_partitions=num_loss_partitions,
            symmetric_l1_regularization=l1_regularization,
            symmetric_l2_regularization=l2_regularization,
        )
        self._feature_columns = feature_columns
        head = binary_svm_head(weight_column_name=weight_column_name)
        super().__init__(
            model_fn=sdca_model_fn,
            model_dir=model_dir,
            config=config,
            params={
                "head": head,
                "feature_columns": feature_columns,
                "optimizer": optimizer,
                "weight_column_name": weight_column_name,
                "update_weights_hook": SdcaUpdateWeightsHook(),
            },
            feature_engineering_fn=feature_engineering_fn,
        )

    def predict_classes(
        self,
        x: Any = None,
        input_fn: Any = None,
        batch_size: int | None = None,
        as_iterable: bool = True,
    ) -> Any:
        """The class of each example; see `LinearClassifier.predict_classes`."""
        key = PredictionKey.CLASSES
        return self._one_output(key, x, input_fn, batch_size, as_iterable)

    def predict_proba(
        self,
        x: Any = None,
        input_fn: Any = None,
        batch_size: int | None = None,
        outputs: Any = None,
        as_iterable: bool = True,
    ) -> Any:
        """As in TensorFlow: an SVM has no probabilities.

        Raises:
          ValueError: always.
        """
        key = PredictionKey.PROBABILITIES
        return self._one_output(key, x, input_fn, batch_size, as_iterable)

    def export(  # type: ignore[override]
        self,
        export_dir: Any,
        signature_fn: Any = None,
        input_fn: Any = None,
        default_batch_size: int | None = 1,
        exports_to_keep: int | None = None,
    ) -> Any:
        """Exports all predictions; see `BaseEstimator.export`."""
        return self.export_with_defaults(
            export_dir=export_dir,
            signature_fn=signature_fn,
            input_fn=input_fn,
            default_batch_size=default_batch_size,
            exports_to_keep=exports_to_keep,
        )

    def export_with_defaults(
        self,
        export_dir: Any,
        signature_fn: Any = None,
        input_fn: Any = None,
        default_batch_size: int | None = 1,
        exports_to_keep: int | None = None,
    ) -> Any:
        """`export`."""
        return self._exported(
            signature_fn,
            input_fn,
            export_dir=export_dir,
            default_batch_size=default_batch_size,
            exports_to_keep=exports_to_keep,
        )
