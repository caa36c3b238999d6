"""`tf.contrib.learn.ModelFnOps`: what a model function gives."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Sequence
from typing import Any

from tensorloom.client.program import program_log
from tensorloom.contrib.learn.keys import (
    MetricKey,
    ModeKeys,
    PredictionKey,
    ProblemType,
)
from tensorloom.estimator.export import outputs as core_outputs
from tensorloom.estimator.mode_keys import ModeKeys as CoreModeKeys
from tensorloom.estimator.spec import EstimatorSpec
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Operation
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.sparse_tensor import (
    convert_to_tensor_or_sparse_tensor,
)
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.framework.types.tensor_shape import TensorShape
from tensorloom.ops.array.reshape import reshape
from tensorloom.saved_model.constants import DEFAULT_SERVING_SIGNATURE_DEF_KEY
from tensorloom.train.hooks.session_run_hook import SessionRunHook

_Fields = namedtuple(
    "_Fields",
    [
        "predictions",
        "loss",
        "train_op",
        "eval_metric_ops",
        "output_alternatives",
        "training_chief_hooks",
        "training_hooks",
        "scaffold",
        "mode",
    ],
)
_CORE_MODES = {
    ModeKeys.TRAIN: CoreModeKeys.TRAIN,
    ModeKeys.EVAL: CoreModeKeys.EVAL,
    ModeKeys.INFER: CoreModeKeys.PREDICT,
}


@export("contrib.learn.ModelFnOps")
class ModelFnOps(_Fields):
    """Predictions, loss, metrics and what else a model function gives."""

    __slots__ = ()

    def __new__(
        cls,
        mode: str,
        predictions: Any = None,
        loss: Any = None,
        train_op: Any = None,
        eval_metric_ops: dict[str, Any] | None = None,
        output_alternatives: dict[Any, Any] | None = None,
        training_chief_hooks: Sequence[Any] | None = None,
        training_hooks: Sequence[Any] | None = None,
        scaffold: Any = None,
    ) -> ModelFnOps:
        """Checks and holds the results.

        Args:
          mode: a `ModeKeys`.
          predictions: a tensor, or a dict of them; needed unless training.
          loss: a scalar; needed unless predicting.
          train_op: does a step; needed for training.
          eval_metric_ops: (value, update) of metrics by their names.
          output_alternatives: what can be served: by a name, (`ProblemType`, dict of
            tensors).
          training_chief_hooks: hooks of the chief.
          training_hooks: hooks of every worker.
          scaffold: how the graph is initialized and saved.

        Raises:
          ValueError: something that the mode needs is missing, of another graph, or not
            what it should be.
          TypeError: a hook is something else.
        """
        ModeKeys.validate(mode)
        _check_same_graph(predictions, loss, train_op)
        hooks = list(training_hooks or [])
        chief_hooks = list(training_chief_hooks or [])
        for hook in hooks + chief_hooks:
            if not isinstance(hook, SessionRunHook):
                raise TypeError(
                    "All hooks returned from model_fn must be SessionRunHook "
                    f"instances, got instance of {type(hook)}: {hook}"
                )
        train_op = _checked_train_op(train_op, mode)
        loss = _checked_loss(loss, mode)
        if predictions is None and mode in (ModeKeys.INFER, ModeKeys.EVAL):
            raise ValueError("Missing predictions.")
        if isinstance(predictions, dict):
            predictions = {
                key: convert_to_tensor_or_sparse_tensor(value)
                for key, value in predictions.items()
            }
        elif predictions is not None:
            predictions = convert_to_tensor_or_sparse_tensor(predictions)
        if eval_metric_ops is None:
            eval_metric_ops = {}
        elif not isinstance(eval_metric_ops, dict):
            raise ValueError("eval_metric_ops must be a dict.")
        return super().__new__(
            cls,
            predictions=predictions,
            loss=loss,
            train_op=train_op,
            eval_metric_ops=eval_metric_ops,
            output_alternatives=output_alternatives,
            training_chief_hooks=chief_hooks,
            training_hooks=hooks,
            scaffold=scaffold,
            mode=mode,
        )

    def estimator_spec(
        self, default_serving_output_alternative_key: Any = None
    ) -> EstimatorSpec:
        """The same for a `tf.estimator.Estimator`.

        Args:
          default_serving_output_alternative_key: which of several outputs is served
            when a request names none.
        """
        exports = None
        if self.output_alternatives:
            default = DEFAULT_SERVING_SIGNATURE_DEF_KEY
            alternatives = dict(self.output_alternatives)
            if len(alternatives) > 1 and default not in alternatives:
                chosen = alternatives[default_serving_output_alternative_key]
                alternatives[default] = chosen
            exports = {key: _export_output(*it) for key, it in alternatives.items()}
        return EstimatorSpec(
            mode=_CORE_MODES[self.mode],
            predictions=self.predictions,
            loss=self.loss,
            train_op=self.train_op,
            eval_metric_ops={
                key: value
                for key, value in self.eval_metric_ops.items()
                if key != MetricKey.LOSS
            },
            export_outputs=exports,
            training_chief_hooks=self.training_chief_hooks,
            training_hooks=self.training_hooks,
            scaffold=self.scaffold,
        )


def _check_same_graph(predictions: Any, loss: Any, train_op: Any) -> None:
    found = predictions.values() if isinstance(predictions, dict) else [predictions]
    graphs: dict[int, Any] = {}
    for value in (*found, loss, train_op):
        graph = getattr(value, "graph", None)
        if graph is None:
            continue
        first = next(iter(graphs.values()), value)
        graphs.setdefault(id(graph), value)
        if len(graphs) > 1:
            raise ValueError(f"{value} must be from the same graph as {first}.")


def _checked_train_op(train_op: Any, mode: str) -> Any:
    if train_op is None:
        if mode == ModeKeys.TRAIN:
            raise ValueError("Missing train_op.")
        return None
    if isinstance(train_op, Operation):
        return train_op
    return convert_to_tensor(train_op).op


def _checked_loss(loss: Any, mode: str) -> Any:
    if loss is None:
        if mode in (ModeKeys.TRAIN, ModeKeys.EVAL):
            raise ValueError("Missing loss.")
        return None
    loss = convert_to_tensor(loss)
    if loss.get_shape().num_elements() not in (None, 1):
        raise ValueError(f"Loss must be scalar: {loss}.")
    if not loss.get_shape().is_compatible_with(TensorShape([])):
        loss = reshape(loss, [])
    return loss


def scores_of(tensors: dict[str, Any]) -> Any:
    """The scores among outputs, or else the probabilities; or None."""
    scores = tensors.get(PredictionKey.SCORES)
    return tensors.get(PredictionKey.PROBABILITIES) if scores is None else scores


def _class_names(tensors: dict[str, Any]) -> Any:
    classes = tensors.get(PredictionKey.CLASSES)
    why = "None" if classes is None else "not string"
    if classes is None or classes.dtype != dtypes.string:
        program_log.warning(
            "classes is %s, Servo inference will not have class ids.", why
        )
        return None
    return classes


def _export_output(problem_type: int, tensors: dict[str, Any]) -> Any:
    if problem_type == ProblemType.LINEAR_REGRESSION:
        return core_outputs.RegressionOutput(scores_of(tensors))
    if problem_type in (ProblemType.CLASSIFICATION, ProblemType.LOGISTIC_REGRESSION):
        return core_outputs.ClassificationOutput(
            scores=scores_of(tensors), classes=_class_names(tensors)
        )
    if problem_type == ProblemType.UNSPECIFIED:
        return core_outputs.PredictOutput(tensors)
    raise ValueError(f"Unknown problem_type={problem_type}")
