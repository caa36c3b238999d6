"""What a model gives while it is trained or evaluated, as a signature."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from tensorloom.estimator.export.outputs import ExportOutput
from tensorloom.framework.graph.graph import Operation, Tensor, control_dependencies
from tensorloom.ops.array import constant as constant_op
from tensorloom.saved_model import supervised_signatures


class SupervisedOutput(ExportOutput):
    """Loss, predictions and metrics; each key starts with which of them it is."""

    LOSS_NAME: Final = "loss"
    PREDICTIONS_NAME: Final = "predictions"
    METRICS_NAME: Final = "metrics"
    METRIC_VALUE_SUFFIX: Final = "value"
    METRIC_UPDATE_SUFFIX: Final = "update_op"

    def __init__(
        self, loss: Any = None, predictions: Any = None, metrics: Any = None
    ) -> None:
        """Makes the output.

        Args:
          loss: a tensor or a dict of them.
          predictions: a tensor or a dict of them.
          metrics: pairs of value and update by name, or one pair.

        Raises:
          ValueError: a key is no text, or a value no tensor.
        """
        self._loss = self._prefixed(loss, self.LOSS_NAME)
        self._predictions = self._prefixed(predictions, self.PREDICTIONS_NAME)
        self._metrics = None
        if metrics is not None:
            self._metrics = self._wrap_and_check_metrics(metrics)

    @property
    def loss(self) -> dict[str, Any] | None:
        """The losses by their keys."""
        return self._loss

    @property
    def predictions(self) -> dict[str, Any] | None:
        """The predictions by their keys."""
        return self._predictions

    @property
    def metrics(self) -> dict[str, Any] | None:
        """Values and updates of the metrics: `NAME/value` and `NAME/update_op`."""
        return self._metrics

    def _get_signature_def_fn(self) -> Any:
        raise NotImplementedError("Calling an abstract method.")

    def as_signature_def(self, receiver_tensors: Mapping[str, Any]) -> Any:
        """The signature of the mode."""
        return self._get_signature_def_fn()(
            receiver_tensors, self.loss, self.predictions, self.metrics
        )

    def _prefixed(self, outputs: Any, name: str) -> dict[str, Any] | None:
        if outputs is None:
            return None
        checked = self._wrap_and_check_outputs(outputs, name)
        return {self._prefix_key(key, name): value for key, value in checked.items()}

    def _prefix_key(self, key: str, output_name: str) -> str:
        if key.startswith(output_name):
            return key
        return output_name + self._SEPARATOR_CHAR + key

    def _wrap_and_check_metrics(self, metrics: Any) -> dict[str, Any]:
        if not isinstance(metrics, dict):
            metrics = {self.METRICS_NAME: metrics}
        outputs = {}
        for key, metric in metrics.items():
            value, update = _value_and_update(metric)
            key = self._check_output_key(key, self.METRICS_NAME)
            key = self._prefix_key(key, self.METRICS_NAME) + self._SEPARATOR_CHAR
            if not isinstance(value, Tensor):
                raise ValueError(
                    f"{key[:-1]} output value must be a Tensor; got {value}."
                )
            if not isinstance(update, Tensor | Operation):
                raise ValueError(
                    f"{key[:-1]} update_op must be a Tensor or Operation; got {update}."
                )
            if isinstance(update, Operation):
                # A signature names tensors only.
                with control_dependencies([update]):
                    update = constant_op.constant([], name="metric_op_wrapper")
            outputs[key + self.METRIC_VALUE_SUFFIX] = value
            outputs[key + self.METRIC_UPDATE_SUFFIX] = update
        return outputs


def _value_and_update(metric: Any) -> tuple[Any, Any]:
    """The pair of a metric, which may be an object that has made its update."""
    if isinstance(metric, tuple):
        value, update = metric
        return value, update
    (update,) = metric.updates
    return metric.result(), update


class TrainOutput(SupervisedOutput):
    """What a model gives in training."""

    def _get_signature_def_fn(self) -> Any:
        return supervised_signatures.supervised_train_signature_def


class EvalOutput(SupervisedOutput):
    """What a model gives in evaluation."""

    def _get_signature_def_fn(self) -> Any:
        return supervised_signatures.supervised_eval_signature_def
