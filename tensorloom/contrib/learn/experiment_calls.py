"""How an experiment calls its model, and exports it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import Any

from tensorloom.client.program import program_log
from tensorloom.client.program.compat import as_bytes
from tensorloom.contrib.learn.export_strategies import ExportStrategy
from tensorloom.contrib.learn.interfaces import Evaluable, Trainable
from tensorloom.contrib.learn.monitors.as_hooks import replace_monitors_with_hooks
from tensorloom.estimator.estimator import Estimator as CoreEstimator
from tensorloom.estimator.tpu.tpu_estimator import TPUEstimator
from tensorloom.train.checkpoints.checkpoint_management import latest_checkpoint
from tensorloom.train.hooks.checkpoint_saver import (
    CheckpointSaverListener,
)


class EvalAndExportListener(CheckpointSaverListener):
    """Evaluates and exports each checkpoint."""

    def __init__(
        self, eval_fn: Callable[..., Any], export_fn: Callable[..., Any], model_dir: Any
    ) -> None:
        self._eval_fn = eval_fn
        self._export_fn = export_fn
        self._model_dir = model_dir
        self._latest_path: Any = None
        self.eval_result: Any = None
        self.export_results: Any = None

    def after_save(self, session: Any, global_step_value: Any) -> None:
        """Evaluates and exports what was written."""
        program_log.info("Checking for checkpoint in %s", self._model_dir)
        path = latest_checkpoint(self._model_dir)
        if not path:
            program_log.warning(
                "Skipping evaluation and export since model has not been saved yet."
            )
        elif path == self._latest_path:
            program_log.warning(
                "Skipping evaluation due to same latest checkpoint %s.", path
            )
        else:
            self._latest_path = path
            self.eval_result = self._eval_fn(
                name="intermediate_export", checkpoint_path=path
            )
            self.export_results = self._export_fn(
                self.eval_result, checkpoint_path=path
            )


def check_estimator(estimator: Any, eval_metrics: Any, saving_listeners: Any) -> None:
    if isinstance(estimator, CoreEstimator):
        if eval_metrics is not None:
            raise ValueError(
                "`eval_metrics` must be `None` with `tf.estimator.Estimator`. Use "
                "`eval_metric_ops` in `tf.estimator.EstimatorSpec` instead."
            )
    else:
        for kind in (Evaluable, Trainable):
            if not isinstance(estimator, kind):
                raise ValueError(
                    f"`estimator` must implement `tf.contrib.learn.{kind.__name__}` or "
                    "`tf.estimator.Estimator`."
                )
        if saving_listeners is not None:
            raise ValueError(
                "`saving_listeners` must be `None` with `tf.contrib.learn.Estimator`."
            )
    if isinstance(estimator, TPUEstimator):
        program_log.warning(
            "`Experiment` class cannot work with `tf.contrib.tpu.TPUEstimator`. Please "
            "call `TPUEstimator` train/evaluate directly."
        )


class ExperimentCalls:
    """The model, and what it is called with."""

    _estimator: Any
    _core_estimator_used: bool
    _eval_metrics: Any
    _train_steps: int | None
    _eval_steps: int | None
    _train_monitors: list[Any]
    _export_strategies: tuple[ExportStrategy, ...]

    @property
    def estimator(self) -> Any:
        """The model."""
        return self._estimator

    @property
    def eval_metrics(self) -> Any:
        """The metrics of evaluations."""
        return self._eval_metrics

    @property
    def train_steps(self) -> int | None:
        """Up to which step it is trained."""
        return self._train_steps

    @property
    def eval_steps(self) -> int | None:
        """How many batches an evaluation has."""
        return self._eval_steps

    def _set_export_strategies(self, values: Any) -> None:
        if isinstance(values, ExportStrategy):
            values = (values,)
        for value in values or ():
            if not isinstance(value, ExportStrategy):
                raise ValueError(
                    "`export_strategies` must be an ExportStrategy, an iterable of "
                    f"ExportStrategy, or `None`, found {value}."
                )
        self._export_strategies = tuple(values or ())

    def extend_train_hooks(self, additional_hooks: Iterable[Any]) -> None:
        """Adds monitors or hooks of training."""
        self._train_monitors.extend(additional_hooks)

    def reset_export_strategies(self, new_export_strategies: Any = None) -> Any:
        """Replaces the strategies of exports; gives the old ones."""
        old = self._export_strategies
        self._set_export_strategies(new_export_strategies)
        return old

    def _maybe_export(self, eval_result: Any, checkpoint_path: Any = None) -> list[Any]:
        base = os.path.join(as_bytes(self._estimator.model_dir), b"export")
        return [
            strategy.export(
                self._estimator,
                os.path.join(base, as_bytes(strategy.name)),
                checkpoint_path=checkpoint_path,
                eval_result=eval_result,
            )
            for strategy in self._export_strategies
        ]

    def _call_train(
        self,
        _sentinel: Any = None,
        input_fn: Any = None,
        steps: int | None = None,
        hooks: Any = None,
        max_steps: int | None = None,
        saving_listeners: Any = None,
    ) -> Any:
        if _sentinel is not None:
            raise ValueError("_call_train should be called with keyword args only")
        hooks = replace_monitors_with_hooks(hooks, self._estimator)
        if self._core_estimator_used:
            return self._estimator.train(
                input_fn=input_fn,
                steps=steps,
                max_steps=max_steps,
                hooks=hooks,
                saving_listeners=saving_listeners,
            )
        return self._estimator.fit(
            input_fn=input_fn, steps=steps, max_steps=max_steps, monitors=hooks
        )

    def _call_evaluate(
        self,
        _sentinel: Any = None,
        input_fn: Any = None,
        steps: int | None = None,
        metrics: Any = None,
        name: str | None = None,
        checkpoint_path: Any = None,
        hooks: Any = None,
    ) -> Any:
        if _sentinel is not None:
            raise ValueError("_call_evaluate should be called with keyword args only")
        options: dict[str, Any] = {}
        if not self._core_estimator_used:
            options["metrics"] = metrics
        elif metrics is not None:
            raise ValueError(
                "`eval_metrics` must be `None` with `tf.estimator.Estimator`"
            )
        return self._estimator.evaluate(
            input_fn=input_fn,
            steps=steps,
            name=name,
            checkpoint_path=checkpoint_path,
            hooks=hooks,
            **options,
        )
