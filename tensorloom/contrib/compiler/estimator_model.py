"""`tf.contrib.compiler.xla.estimator_model_fn`: a whole step as one computation."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from tensorloom.client.compilation.xla_compile import compile as xla_compile
from tensorloom.client.program import program_log
from tensorloom.estimator.mode_keys import ModeKeys
from tensorloom.estimator.spec import EstimatorSpec
from tensorloom.framework.export import export
from tensorloom.framework.runtime.scopes import control_dependencies
from tensorloom.ops.array.identity import identity


class _CompiledModel:
    """A `model_fn` whose steps are each built by `xla.compile`."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        self._made: Any = None  # the spec of the step that was built last

    def __call__(
        self, features: Any, labels: Any, mode: str, params: Any
    ) -> EstimatorSpec:
        if mode == ModeKeys.TRAIN:
            return self._training(features, labels, params)
        if mode == ModeKeys.EVAL:
            return self._evaluation(features, labels, params)
        raise NotImplementedError(
            f"{mode} is not implemented, only TRAIN and EVAL are supported"
        )

    def _spec(self, features: Any, labels: Any, mode: str, params: Any) -> Any:
        known = inspect.signature(self._function).parameters
        given: dict[str, Any] = {"mode": mode, "params": params}
        given = {name: value for name, value in given.items() if name in known}
        if "labels" in known:
            given["labels"] = labels
        elif labels is not None:
            raise ValueError(
                "model_fn does not take labels, but input_fn returns labels."
            )
        spec = self._made = self._function(features=features, **given)
        if getattr(spec, "scaffold", None):
            program_log.warning(
                "EstimatorSpec.scaffold is ignored with XLA compilation. Please use "
                "TPUEstimatorSpec.scaffold_fn instead."
            )
        if getattr(spec, "eval_metric_ops", None):
            raise ValueError(
                "EstimatorSpec.eval_metric_ops is not supported with XLA compilation. "
                "Please use TPUEstimatorSpec.eval_metrics instead."
            )
        return spec

    def _scaffold(self) -> Any:
        make = getattr(self._made, "scaffold_fn", None)
        if not make:
            return None
        scaffold = make()
        if scaffold is None:
            raise ValueError(
                "TPUEstimatorSpec.scaffold_fn returns None, which is not allowed"
            )
        return scaffold

    def _training(self, features: Any, labels: Any, params: Any) -> EstimatorSpec:
        def step() -> Any:
            spec = self._spec(features, labels, ModeKeys.TRAIN, params)
            with control_dependencies([spec.train_op]):
                return identity(spec.loss)

        (loss,) = xla_compile(step)
        return EstimatorSpec(
            mode=ModeKeys.TRAIN,
            loss=loss,
            train_op=identity(loss),
            scaffold=self._scaffold(),
        )

    def _evaluation(self, features: Any, labels: Any, params: Any) -> EstimatorSpec:
        metrics: Any = None

        def step() -> Any:
            nonlocal metrics
            spec = self._spec(features, labels, ModeKeys.EVAL, params)
            metrics, values = getattr(spec, "eval_metrics", None) or (None, [])
            return (spec.loss, *_in_order(metrics, values))

        loss, *values = xla_compile(step)
        return EstimatorSpec(
            mode=ModeKeys.EVAL,
            loss=loss,
            eval_metric_ops=metrics(*values) if metrics else None,
            scaffold=self._scaffold(),
        )


def _in_order(metrics: Any, values: Any) -> list[Any]:
    """The values that the function of metrics takes, as a list.

    Raises:
      ValueError: a dict has others than the function has arguments.
    """
    if not isinstance(values, dict):
        return list(values)
    names = list(inspect.signature(metrics).parameters)
    missing = [name for name in names if name not in values]
    if missing:
        raise ValueError(
            f"Arguments {missing} are needed by metric_fn (first element of "
            "TPUEstimatorSpec.eval_metrics) but they are not provided by evaluation "
            "tensors (second element of TPUEstimatorSpec.eval_metrics)."
        )
    more = [name for name in values if name not in names]
    if more:
        raise ValueError(
            f"Arguments {more} are provided by evaluation tensors (second element of "
            "TPUEstimatorSpec.eval_metrics) but they are not needed by metric_fn "
            "(first element of TPUEstimatorSpec.eval_metrics)."
        )
    return [values[name] for name in names]


@export("contrib.compiler.xla.estimator_model_fn")
def estimator_model_fn(target_model_fn: Callable[..., Any] | None = None) -> Any:
    """Makes a `model_fn` build each of its steps as one computation for XLA.

    Args:
      target_model_fn: the function; without it, this is a decorator's maker.

    Returns:
      A function of (features, labels, mode, params), or a decorator.
    """

    def decorated(function: Callable[..., Any]) -> Callable[..., EstimatorSpec]:
        def model_fn(
            features: Any, labels: Any, mode: str, params: Any
        ) -> EstimatorSpec:
            return _CompiledModel(function)(features, labels, mode, params)

        return model_fn

    return decorated if target_model_fn is None else decorated(target_model_fn)
