"""Several heads as one, and a head that has a loss and no predictions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tensorloom.client.variables.variable_scope import variable_scope
from tensorloom.contrib.learn.head.base_heads import (
    Head,
    TrainOpFn,
    check_mode,
    checked_train_op_fn,
    loss_summary,
)
from tensorloom.contrib.learn.keys import ModeKeys
from tensorloom.contrib.learn.model_results import ModelFnOps
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import name_scope
from tensorloom.ops.control_flow.builders import group, no_op
from tensorloom.ops.indexing.slice import slice as part
from tensorloom.ops.reductions.aggregate import add_n


@export("contrib.learn.no_op_train_fn", "contrib.learn.head.no_op_train_fn")
def no_op_train_fn(loss: Any) -> Any:
    """An op that does nothing, in place of a training step."""
    return no_op()


class LossOnlyHead(Head):
    """A head that adds a loss.

    Args:
      loss_fn: gives the loss, or a list of losses to be added.
      head_name: its name.
    """

    def __init__(
        self, loss_fn: Callable[[], Any], head_name: str | None = None
    ) -> None:
        self._loss_fn = loss_fn
        self.head_name = head_name or "loss_only_head"

    @property
    def logits_dimension(self) -> int:
        """It has no logits."""
        return 0

    def create_model_fn_ops(
        self,
        features: dict[str, Any],
        mode: str,
        labels: Any = None,
        train_op_fn: TrainOpFn | None = None,
        logits: Any = None,
        logits_input: Any = None,
        scope: Any = None,
    ) -> ModelFnOps:
        """Adds the loss to the graph; see `Head`."""
        check_mode(mode)
        loss = train_op = None
        if mode != ModeKeys.INFER:
            with variable_scope(scope, default_name=self.head_name):
                loss = self._loss_fn()
                if isinstance(loss, list):
                    loss = add_n(loss)
                loss_summary(loss, self.head_name)
                if mode == ModeKeys.TRAIN:
                    make = checked_train_op_fn(train_op_fn)
                    with name_scope(None, "train_op", (loss,)):
                        train_op = make(loss)
        return ModelFnOps(
            mode=mode, loss=loss, train_op=train_op, predictions={}, eval_metric_ops={}
        )


class MultiHead(Head):
    """Several heads, whose losses become one.

    Args:
      heads: heads with names.
      loss_merger: from their losses to one.

    Raises:
      ValueError: a head has no name.
    """

    def __init__(self, heads: Sequence[Any], loss_merger: Callable[[Any], Any]) -> None:
        for head in heads:
            if not head.head_name:
                raise ValueError("Members of MultiHead must have names.")
        self._logits_dimension = sum(int(head.logits_dimension) for head in heads)
        self._heads = heads
        self._loss_merger = loss_merger

    @property
    def logits_dimension(self) -> int:
        """How many logits all heads have."""
        return self._logits_dimension

    def create_model_fn_ops(
        self,
        features: dict[str, Any],
        mode: str,
        labels: Any = None,
        train_op_fn: TrainOpFn | None = None,
        logits: Any = None,
        logits_input: Any = None,
        scope: Any = None,
    ) -> ModelFnOps:
        """Adds the heads to the graph; see `Head`.

        Predictions are by (head's name, key). `logits` may be a dict by the heads'
        names; otherwise they are those of all heads side by side.
        """
        check_mode(mode)
        models = []
        for head, own_logits in zip(self._heads, self._split(logits), strict=True):
            models.append(
                head.create_model_fn_ops(
                    features=features,
                    mode=mode,
                    labels=labels,
                    train_op_fn=no_op_train_fn,
                    logits=own_logits,
                    logits_input=logits_input if logits is None else None,
                    scope=scope,
                )
            )
        if mode == ModeKeys.TRAIN:
            if train_op_fn is None:
                raise ValueError("train_op_fn can not be None in TRAIN mode.")
            return self._merge_train(models, train_op_fn)
        if mode == ModeKeys.INFER:
            return self._merge_infer(models)
        return self._merge_eval(models)

    def _split(self, logits: Any) -> list[Any]:
        """The logits of each head; None for what has none."""
        if logits is None:
            return [None] * len(self._heads)
        if isinstance(logits, dict):
            return [
                None if isinstance(head, LossOnlyHead) else logits[head.head_name]
                for head in self._heads
            ]
        found, begin = [], 0
        for head in self._heads:
            size = head.logits_dimension
            found.append(part(logits, [0, begin], [-1, size]))
            begin += size
        return found

    def _merge_train(
        self, models: list[ModelFnOps], train_op_fn: TrainOpFn
    ) -> ModelFnOps:
        loss = self._loss_merger([model.loss for model in models])
        steps = [model.train_op for model in models]
        return ModelFnOps(
            mode=ModeKeys.TRAIN,
            loss=loss,
            train_op=group(train_op_fn(loss), *steps),
            eval_metric_ops=_all_metrics(models),
        )

    def _merge_infer(self, models: list[ModelFnOps]) -> ModelFnOps:
        alternatives = {
            head.head_name: model.output_alternatives[head.head_name]
            for head, model in zip(self._heads, models, strict=True)
            if not isinstance(head, LossOnlyHead)
        }
        return ModelFnOps(
            mode=ModeKeys.INFER,
            predictions=self._all_predictions(models),
            output_alternatives=alternatives,
        )

    def _merge_eval(self, models: list[ModelFnOps]) -> ModelFnOps:
        return ModelFnOps(
            mode=ModeKeys.EVAL,
            predictions=self._all_predictions(models),
            loss=self._loss_merger([model.loss for model in models]),
            eval_metric_ops=_all_metrics(models),
        )

    def _all_predictions(self, models: list[ModelFnOps]) -> dict[Any, Any]:
        return {
            (head.head_name, key): value
            for head, model in zip(self._heads, models, strict=True)
            for key, value in model.predictions.items()
        }


def _all_metrics(models: list[ModelFnOps]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for model in models:
        found.update(model.eval_metric_ops or {})
    return found
