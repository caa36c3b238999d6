"""A bias that is trained alone, by the labels: it learns their mean."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tensorloom.client.variables.variables import Variable
from tensorloom.framework.graph.graph import name_scope
from tensorloom.ops.array.fill import zeros
from tensorloom.ops.array.pad import tile
from tensorloom.ops.array.reshape import reshape
from tensorloom.ops.array.shape import shape
from tensorloom.ops.reductions.reductions import reduce_mean
from tensorloom.summary import summary
from tensorloom.train.optimizers.adagrad import AdagradOptimizer


def add_centered_bias(logits_dimension: int, head_name: str | None = None) -> Any:
    """The variable `centered_bias_weight` [logits_dimension], zeros at first.

    Args:
      logits_dimension: how long it is.
      head_name: what the summaries of its values end in.
    """
    bias = Variable(
        zeros(shape=(logits_dimension,)), trainable=True, name="centered_bias_weight"
    )
    for index in range(logits_dimension):
        name = f"centered_bias/bias_{index}"
        if head_name:
            name = f"{name}/{head_name}"
        summary.scalar(name, bias[index])
    return bias


def centered_bias_step(
    bias: Any,
    batch_size: Any,
    labels: Any,
    loss_fn: Callable[..., Any],
    weights: Any,
) -> Any:
    """The op that trains the bias with a batch of labels."""
    values = tuple(labels.values()) if isinstance(labels, dict) else (labels,)
    with name_scope(None, "centered_bias_step", values) as name:
        dimension = shape(bias)[0]
        logits = reshape(tile(bias, (batch_size,)), (batch_size, dimension))
        with name_scope(None, "centered_bias", (*values, logits)):
            loss = reduce_mean(loss_fn(labels, logits, weights), name="training_loss")
    return AdagradOptimizer(0.1).minimize(loss, var_list=(bias,), name=name)
