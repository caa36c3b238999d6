"""A head with a loss and a link function of the program's own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tensorloom.contrib.learn.head.single_heads import RegressionHead
from tensorloom.framework.types import dtypes
from tensorloom.ops.array.fill import ones
from tensorloom.ops.array.shape import shape
from tensorloom.ops.reductions.reductions import reduce_mean


class CustomLossHead(RegressionHead):
    """Predicts numbers by any loss.

    Args:
      loss_fn: of labels, weights [examples, 1] and logits: (losses, an operation).
      link_fn: from logits to predictions.
      logit_dimension: how many logits an example has.
      head_name: of the scope, and what summaries and metrics end in.
      weight_column_name: the key of the feature that has the weights; None for none.
      metrics_fn: of predictions, labels and weights: a dict of metrics; None for none.
    """

    def __init__(
        self,
        loss_fn: Callable[..., Any],
        link_fn: Callable[[Any], Any],
        logit_dimension: int,
        head_name: str | None = None,
        weight_column_name: str | None = None,
        metrics_fn: Callable[..., Any] | None = None,
    ) -> None:
        def weighted(labels: Any, logits: Any, weight_tensor: Any) -> tuple[Any, Any]:
            if weight_tensor is None:
                weight_tensor = ones([shape(labels)[0], 1], dtypes.float32)
            losses, _ = loss_fn(labels, weight_tensor, logits)
            mean = reduce_mean(losses)
            return mean, mean / reduce_mean(weight_tensor)

        super().__init__(
            label_dimension=logit_dimension,
            loss_fn=weighted,
            link_fn=link_fn,
            head_name=head_name,
            weight_column_name=weight_column_name,
            enable_centered_bias=False,
        )
        self._metrics_fn = metrics_fn

    def _metrics(
        self, eval_loss: Any, predictions: dict[str, Any], labels: Any, weights: Any
    ) -> Any:
        if self._metrics_fn is None:
            return None
        return self._metrics_fn(predictions, labels, weights)
