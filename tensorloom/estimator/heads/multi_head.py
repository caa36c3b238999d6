"""`tf.estimator.MultiHead`: several heads on one model."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tensorloom.estimator.canned.metric_keys import MetricKeys
from tensorloom.estimator.export.outputs import PredictOutput
from tensorloom.estimator.heads.head import Head
from tensorloom.estimator.heads.single_head import training_step, write_summaries
from tensorloom.estimator.heads.streaming_metrics import mean_metric
from tensorloom.estimator.mode_keys import ModeKeys
from tensorloom.estimator.spec import EstimatorSpec
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import name_scope
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.ops.control_flow.builders import no_op
from tensorloom.ops.math.binary import multiply
from tensorloom.ops.reductions.aggregate import add_n

_DEFAULT = "serving_default"


@export("estimator.MultiHead")
class MultiHead(Head):
    """The weighted sum of heads' losses; labels come by the names of the heads."""

    def __init__(
        self, heads: Sequence[Head], head_weights: Sequence[float] | None = None
    ) -> None:
        """Makes a head of heads.

        Args:
          heads: each with a name.
          head_weights: how much each loss counts; all the same when None.

        Raises:
          ValueError: there are none, one has no name, or weights are missing.
        """
        if not heads:
            raise ValueError(f"Must specify heads. Given: {heads}")
        if head_weights and len(head_weights) != len(heads):
            raise ValueError(
                "heads and head_weights must have the same size. Given len(heads): "
                f"{len(heads)}. Given len(head_weights): {len(head_weights)}."
            )
        for head in heads:
            if head.name is None:
                raise ValueError(
                    f"All given heads must have name specified. Given: {head}"
                )
        self._heads = tuple(heads)
        self._head_weights = tuple(head_weights or ())

    @property
    def name(self) -> str:
        """The names of the heads."""
        return "_".join(str(head.name) for head in self._heads)

    @property
    def logits_dimension(self) -> int:
        """The logits of all heads."""
        return sum(head.logits_dimension for head in self._heads)

    @property
    def loss_reduction(self) -> str:
        """That of each head.

        Raises:
          ValueError: they differ.
        """
        found = [head.loss_reduction for head in self._heads]
        if len(set(found)) > 1:
            raise ValueError(
                "The loss_reduction must be the same for different heads. Given: "
                f"{found}"
            )
        return found[0]

    def _split(self, logits: Any, labels: Any = None) -> dict[str | None, Any]:
        """The logits of each head by its name; labels are checked."""
        names = [head.name for head in self._heads]
        if labels is not None:
            if not isinstance(labels, dict):
                raise ValueError(f"labels must be a dict. Given: {labels}")
            _check_names("labels", names, labels)
        if isinstance(logits, dict):
            _check_names("logits", names, logits)
            return logits
        with name_scope(None, "split_logits", values=[logits]):
            logits = convert_to_tensor(logits)
            sizes = [head.logits_dimension for head in self._heads]
            last = logits.shape[-1].value
            if last is not None and last != sum(sizes):
                raise ValueError(
                    f"Could not split logits of shape {logits.shape.as_list()} among "
                    f"the heads with individual logits dimensions: {sizes}. The last "
                    f"dimension of the logits tensor should equal {sum(sizes)} but is "
                    f"{last}."
                )
            found, begin = {}, 0
            for name, size in zip(names, sizes, strict=True):
                found[name] = logits[..., begin : begin + size]
                begin += size
        return found

    def loss(
        self,
        labels: Any,
        logits: Any,
        features: Mapping[Any, Any] | None = None,
        mode: str | None = None,
        regularization_losses: Sequence[Any] | None = None,
    ) -> Any:
        """See `Head.loss`; labels are a dict by the names of the heads."""
        by_name = self._split(logits, labels)
        losses = [
            head.loss(labels[head.name], by_name[head.name], features, mode)
            for head in self._heads
        ]
        with name_scope(None, "merge_losses", values=losses):
            if self._head_weights:
                pairs = zip(losses, self._head_weights, strict=True)
                losses = [multiply(loss, weight) for loss, weight in pairs]
            total = add_n(losses)
            if regularization_losses is None:
                return total
            return total + add_n(regularization_losses)

    def predictions(self, logits: Any, keys: Sequence[str] | None = None) -> Any:
        """Predictions by pairs: the name of a head and its key."""
        by_name = self._split(logits)
        with name_scope(None, "merge_pred"):
            return {
                (head.name, key): value
                for head in self._heads
                for key, value in head.predictions(by_name[head.name]).items()
            }

    def metrics(self, regularization_losses: Sequence[Any] | None = None) -> Any:
        """The losses of the heads; their own metrics come with the update."""
        keys = [f"{MetricKeys.LOSS}/{head.name}" for head in self._heads]
        if regularization_losses is not None:
            keys.append(self._summary_key(MetricKeys.LOSS_REGULARIZATION))
        return {key: mean_metric(key) for key in keys}

    # The abstract method has `mode`, too; heads of TensorFlow 1.15 do not.
    def update_metrics(  # type: ignore[override]
        self,
        eval_metrics: Any,
        features: Mapping[Any, Any],
        logits: Any,
        labels: Any,
        regularization_losses: Sequence[Any] | None = None,
    ) -> Any:
        """See `Head.update_metrics`; adds the metrics of the heads."""
        by_name = self._split(logits, labels)
        if regularization_losses is not None:
            key = self._summary_key(MetricKeys.LOSS_REGULARIZATION)
            eval_metrics[key].update_state(add_n(regularization_losses))
        for head in self._heads:
            own, own_labels = by_name[head.name], labels[head.name]
            loss = head.loss(own_labels, own, features)
            eval_metrics[f"{MetricKeys.LOSS}/{head.name}"].update_state(loss)
            updated = head.update_metrics(head.metrics(), features, own, own_labels)
            eval_metrics.update(updated or {})
        return eval_metrics

    def create_estimator_spec(
        self,
        features: Mapping[Any, Any],
        mode: str,
        logits: Any,
        labels: Any = None,
        optimizer: Any = None,
        trainable_variables: Sequence[Any] | None = None,
        train_op_fn: Callable[[Any], Any] | None = None,
        update_ops: Sequence[Any] | None = None,
        regularization_losses: Sequence[Any] | None = None,
    ) -> EstimatorSpec:
        """See `Head.create_estimator_spec`; labels are a dict by the heads' names."""
        with name_scope(self.name, "multi_head"):
            predictions = self.predictions(logits)
            if mode == ModeKeys.PREDICT:
                return EstimatorSpec(
                    mode,
                    predictions=predictions,
                    export_outputs=self._export_outputs(features, logits),
                )
            loss = self.loss(labels, logits, features, mode, regularization_losses)
            if mode == ModeKeys.EVAL:
                metrics = self.update_metrics(
                    self.metrics(regularization_losses),
                    features,
                    logits,
                    labels,
                    regularization_losses=regularization_losses,
                )
                return EstimatorSpec(
                    mode, predictions=predictions, loss=loss, eval_metric_ops=metrics
                )
            if mode != ModeKeys.TRAIN:
                raise ValueError(f"mode={mode} unrecognized")
            step = training_step(
                loss, optimizer, trainable_variables, train_op_fn, update_ops
            )
            # Each head writes the summary of its own loss.
            self._specs(features, mode, logits, labels)
            write_summaries(loss, regularization_losses, lambda key: key)
            return EstimatorSpec(
                mode, predictions=predictions, loss=loss, train_op=step
            )

    def _specs(
        self, features: Mapping[Any, Any], mode: str, logits: Any, labels: Any
    ) -> list[EstimatorSpec]:
        """The specifications of the heads; their training steps do nothing."""
        by_name = self._split(logits, labels)
        return [
            head.create_estimator_spec(
                features=features,
                mode=mode,
                logits=by_name[head.name],
                labels=labels[head.name] if labels else None,
                train_op_fn=lambda loss: no_op(),
            )
            for head in self._heads
        ]

    def _export_outputs(
        self, features: Mapping[Any, Any], logits: Any
    ) -> dict[str, Any]:
        """The outputs of all heads, and all predictions together."""
        specs = self._specs(features, ModeKeys.PREDICT, logits, None)
        outputs = {_DEFAULT: _default_output(specs[0], self._heads[0])}
        merged: dict[str, Any] = {}
        for head, spec in zip(self._heads, specs, strict=True):
            for key, output in spec.export_outputs.items():
                name = str(head.name) if key == _DEFAULT else f"{head.name}/{key}"
                outputs[name] = output
                if key == "predict" and isinstance(output, PredictOutput):
                    for part, tensor in output.outputs.items():
                        merged[f"{head.name}/{part}"] = tensor
        outputs["predict"] = PredictOutput(merged)
        return outputs


def _check_names(what: str, names: Sequence[Any], given: Mapping[Any, Any]) -> None:
    missing = [name for name in names if name not in given]
    if missing:
        raise ValueError(f"{what} has missing values for head(s): {missing}")


def _default_output(spec: EstimatorSpec, head: Head) -> Any:
    outputs = spec.export_outputs
    if len(outputs) == 1:
        return next(iter(outputs.values()))
    if _DEFAULT not in outputs:
        raise ValueError(
            f"{head.name} did not specify default export_outputs. Given: {outputs} "
            "Suggested fix: Use one of the heads in tf.estimator, or include key "
            f"{_DEFAULT} in export_outputs."
        )
    return outputs[_DEFAULT]
