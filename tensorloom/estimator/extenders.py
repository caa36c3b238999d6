"""`tf.estimator.add_metrics`: more metrics for a model."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from tensorloom.estimator.estimator import Estimator
from tensorloom.estimator.function_arguments import argument_names, chosen_arguments
from tensorloom.estimator.mode_keys import ModeKeys
from tensorloom.framework.export import export

if TYPE_CHECKING:
    from tensorloom.estimator.spec import EstimatorSpec

_ARGUMENTS: Final = {"features", "labels", "predictions", "config"}


@export("estimator.add_metrics")
def add_metrics(estimator: Estimator, metric_fn: Callable[..., Any]) -> Estimator:
    """A model with more metrics; it shares its directory with the given one.

    Args:
      estimator: the model.
      metric_fn: takes any of `features`, `labels`, `predictions` and `config`; gives
        metrics by name, which win over the model's of the same name.

    Raises:
      ValueError: the function takes other arguments.
    """
    unknown = sorted(set(argument_names(metric_fn)) - _ARGUMENTS)
    if unknown:
        raise ValueError(
            f"metric_fn ({metric_fn}) has following not expected args: {unknown}"
        )

    def new_model_fn(
        features: Any, labels: Any, mode: str, config: Any
    ) -> EstimatorSpec:
        spec = estimator.model_fn(features, labels, mode, config)
        if mode != ModeKeys.EVAL:
            return spec
        available = {
            "features": features,
            "labels": labels,
            "predictions": spec.predictions,
            "config": config,
        }
        added = metric_fn(**chosen_arguments(metric_fn, available))
        metrics = {**(spec.eval_metric_ops or {}), **added}
        return spec._replace(eval_metric_ops=metrics)

    return Estimator(
        model_fn=new_model_fn,
        model_dir=estimator.model_dir,
        config=estimator.config,
        warm_start_from=estimator._warm_start_settings,
    )
