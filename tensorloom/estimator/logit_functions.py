"""`tf.estimator.experimental.call_logit_fn`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tensorloom.estimator.function_arguments import chosen_arguments
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Tensor


@export("estimator.experimental.call_logit_fn")
def call_logit_fn(
    logit_fn: Callable[..., Any], features: Any, mode: str, params: Any, config: Any
) -> Any:
    """Calls a function of logits with those of the arguments that it takes.

    Args:
      logit_fn: takes `features`, and may take `mode`, `params` and `config`.
      features: tensors by name.
      mode: one of `ModeKeys`.
      params: parameters of the model.
      config: a `RunConfig`.

    Returns:
      A tensor or a dict of tensors.

    Raises:
      ValueError: it returned something else.
    """
    options = {"mode": mode, "params": params, "config": config}
    logits = logit_fn(features=features, **chosen_arguments(logit_fn, options))
    if isinstance(logits, Tensor):
        return logits
    if isinstance(logits, dict) and all(
        isinstance(key, str) and isinstance(value, Tensor)
        for key, value in logits.items()
    ):
        return logits
    raise ValueError(
        "logit_fn should return a Tensor or a dictionary mapping strings to Tensors.  "
        f"logit_fn returned: {logits}"
    )
