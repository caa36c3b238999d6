"""`tf.contrib.estimator.multi_head`: a model of several tasks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tensorloom.estimator.canned.heads.base import (
    DEFAULT_SERVING_KEY,
    PREDICT_SERVING_KEY,
    CannedHead,
    LossSpec,
)
from tensorloom.estimator.canned.metric_keys import MetricKeys
from tensorloom.estimator.export.outputs import PredictOutput
from tensorloom.estimator.mode_keys import ModeKeys
from tensorloom.estimator.spec import EstimatorSpec
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import name_scope
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.metrics.averages import mean
from tensorloom.ops.control_flow.builders import no_op
from tensorloom.ops.math import math_ops
from tensorloom.summary import summary
from tensorloom.train import training_util


@export("contrib.estimator.multi_head")
def multi_head(
    heads: Sequence[CannedHead], head_weights: Sequence[float] | None = None
) -> _MultiHead:
    """A head of several heads. Its loss is the sum of theirs.

    Labels are a dict by the heads' names; logits are too, or one tensor with those of
    all heads one after the other.

    Args:
      heads: each with a name.
      head_weights: what each head's loss is multiplied by; 1 if None.

    Raises:
      ValueError: no heads, a head without a name, or another number of weights.
    """
    if head_weights and len(head_weights) != len(heads):
        raise ValueError(
            "heads and head_weights must have the same size. Given len(heads): "
            f"{len(heads)}. Given len(head_weights): {len(head_weights)}."
        )
    if not heads:
        raise ValueError(f"Must specify heads. Given: {heads}")
    for head in heads:
        if not head.name:
            raise ValueError(f"All given heads must have name specified. Given: {head}")
    return _MultiHead(tuple(heads), tuple(head_weights or ()))


class _MultiHead:
    """Several heads as one."""

    def __init__(
        self, heads: tuple[CannedHead, ...], weights: tuple[float, ...]
    ) -> None:
        self._heads = heads
        self._weights = weights

    @property
    def name(self) -> str:
        """All names, joined."""
        return "_".join(sorted(str(head.name) for head in self._heads))

    @property
    def logits_dimension(self) -> int:
        """The logits of all heads together."""
        return sum(head.logits_dimension for head in self._heads)

    def _weighted(self, losses: Sequence[Any]) -> list[Any]:
        if not self._weights:
            return list(losses)
        pairs = zip(losses, self._weights, strict=True)
        return [math_ops.multiply(loss, weight) for loss, weight in pairs]

    def _merged(self, losses: Sequence[Any]) -> Any:
        with name_scope("merge_losses", values=[*losses, *self._weights]):
            return math_ops.add_n(self._weighted(losses))

    def create_loss(
        self, features: Mapping[Any, Any], mode: str, logits: Any, labels: Any
    ) -> LossSpec:
        """The sum of the heads' losses; what it was made of, by the heads' names."""
        logits = self._split(logits)
        parts = [
            head.create_loss(features, mode, logits[head.name], labels[head.name])
            for head in self._heads
        ]
        names = [head.name for head in self._heads]

        def by_name(values: Sequence[Any]) -> dict[Any, Any]:
            return dict(zip(names, values, strict=True))

        return LossSpec(
            self._merged([part.training_loss for part in parts]),
            by_name(self._weighted([part.unreduced_loss for part in parts])),
            by_name(self._weighted([part.weights for part in parts])),
            by_name([part.processed_labels for part in parts]),
        )

    def create_estimator_spec(
        self,
        features: Mapping[Any, Any],
        mode: str,
        logits: Any,
        labels: Any = None,
        optimizer: Any = None,
        train_op_fn: Callable[[Any], Any] | None = None,
    ) -> EstimatorSpec:
        """What a `model_fn` returns.

        Args:
          features: tensors by name.
          mode: one of `ModeKeys`.
          logits: a dict by the heads' names, or one tensor.
          labels: a dict by the heads' names; not needed in prediction.
          optimizer: minimizes the loss in training;
          train_op_fn: or a function of the loss that gives the training step.

        Raises:
          ValueError: labels are no dict, logits do not fit, or both or none of
            `optimizer` and `train_op_fn` in training.
        """
        logits = self._split(logits)
        if labels and not isinstance(labels, dict):
            raise ValueError(f"labels must be a dict. Given: {labels}")
        specs = [
            head.create_estimator_spec(
                features,
                mode,
                logits[head.name],
                labels[head.name] if labels else None,
                train_op_fn=lambda loss: no_op(),
            )
            for head in self._heads
        ]
        predictions = {
            (head.name, key): value
            for head, spec in zip(self._heads, specs, strict=True)
            for key, value in spec.predictions.items()
        }
        if mode == ModeKeys.PREDICT:
            outputs = self._export_outputs(specs)
            return EstimatorSpec(mode, predictions=predictions, export_outputs=outputs)
        if mode == ModeKeys.EVAL:
            return self._evaluation(specs, predictions)
        if mode != ModeKeys.TRAIN:
            raise ValueError(f"mode={mode} unrecognized")
        loss = self._merged([spec.loss for spec in specs])
        if optimizer is not None:
            if train_op_fn is not None:
                raise ValueError("train_op_fn and optimizer cannot both be set.")
            step = training_util.get_global_step()
            train_op = optimizer.minimize(loss, global_step=step)
        elif train_op_fn is not None:
            train_op = train_op_fn(loss)
        else:
            raise ValueError("train_op_fn and optimizer cannot both be None.")
        with name_scope(""):
            summary.scalar(MetricKeys.LOSS, loss)
        return EstimatorSpec(
            mode, loss=loss, train_op=train_op, predictions=predictions
        )

    def _split(self, logits: Any) -> dict[Any, Any]:
        if isinstance(logits, dict):
            return logits
        with name_scope(None, "split_logits", values=[logits]):
            logits = convert_to_tensor(logits)
            sizes = [head.logits_dimension for head in self._heads]
            found = logits.shape.as_list()[-1]
            if found is not None and found != sum(sizes):
                raise ValueError(
                    f"Could not split logits of shape {logits.shape.as_list()!r} among "
                    f"the heads with individual logits dimensions: {sizes!r}. The last "
                    f"dimension of the logits tensor should equal {sum(sizes)} but is "
                    f"{found}."
                )
            parts: dict[Any, Any] = {}
            start = 0
            for head, size in zip(self._heads, sizes, strict=True):
                parts[head.name] = logits[..., start : start + size]
                start += size
        return parts

    def _export_outputs(self, specs: Sequence[EstimatorSpec]) -> dict[str, Any]:
        merged: dict[str, Any] = {}
        first = specs[0].export_outputs
        outputs = {DEFAULT_SERVING_KEY: first[DEFAULT_SERVING_KEY]}
        for head, spec in zip(self._heads, specs, strict=True):
            for key, output in spec.export_outputs.items():
                is_default = key == DEFAULT_SERVING_KEY
                name = str(head.name) if is_default else f"{head.name}/{key}"
                outputs[name] = output
                if key == PREDICT_SERVING_KEY:
                    for part, value in output.outputs.items():
                        merged[f"{head.name}/{part}"] = value
        outputs[PREDICT_SERVING_KEY] = PredictOutput(merged)
        return outputs

    def _evaluation(
        self, specs: Sequence[EstimatorSpec], predictions: dict[Any, Any]
    ) -> EstimatorSpec:
        metrics: dict[str, Any] = {}
        with name_scope("merge_eval"):
            for head, spec in zip(self._heads, specs, strict=True):
                name = f"{MetricKeys.LOSS}/{head.name}"
                metrics[name] = mean(spec.loss, name=name)
                metrics.update(spec.eval_metric_ops or {})
            loss = self._merged([spec.loss for spec in specs])
        return EstimatorSpec(
            ModeKeys.EVAL, predictions=predictions, loss=loss, eval_metric_ops=metrics
        )
