"""Monitors that evaluate or export the model while it is trained."""

from __future__ import annotations

import copy
import time
from typing import Any

from tensorloom.client.program import program_log
from tensorloom.contrib.learn.monitors.base_monitors import EveryN
from tensorloom.estimator.estimator import Estimator as CoreEstimator
from tensorloom.framework.export import export
from tensorloom.train.checkpoints.checkpoint_management import latest_checkpoint


@export("contrib.learn.monitors.ValidationMonitor")
class ValidationMonitor(EveryN):
    """Evaluates the model when there is a new checkpoint, and may stop training.

    Args:
      x: features as arrays; or `input_fn`.
      y: labels as arrays.
      input_fn: gives features and labels as tensors.
      batch_size: of `x` and `y`.
      eval_steps: how many batches; all when None.
      every_n_steps: how many steps apart it looks for a checkpoint.
      metrics: `MetricSpec`s by their names.
      hooks: hooks of the evaluations' sessions.
      early_stopping_rounds: training stops when the metric has not become better for so
        many steps; never when None.
      early_stopping_metric: the name of the metric.
      early_stopping_metric_minimize: whether less is better.
      name: of the evaluations.
      check_interval_secs: it looks again after so many seconds at the earliest.

    Raises:
      ValueError: there is no input.
    """

    def __init__(
        self,
        x: Any = None,
        y: Any = None,
        input_fn: Any = None,
        batch_size: int | None = None,
        eval_steps: int | None = None,
        every_n_steps: int = 100,
        metrics: Any = None,
        hooks: Any = None,
        early_stopping_rounds: int | None = None,
        early_stopping_metric: str = "loss",
        early_stopping_metric_minimize: bool = True,
        name: str | None = None,
        check_interval_secs: float | None = 5,
    ) -> None:
        super().__init__(every_n_steps=every_n_steps, first_n_steps=-1)
        if x is None and input_fn is None:
            raise ValueError("Either x or input_fn should be provided.")
        self.x, self.y, self.input_fn = x, y, input_fn
        self.batch_size = batch_size
        self.eval_steps = eval_steps
        self.metrics = metrics
        self.hooks = hooks
        self.early_stopping_rounds = early_stopping_rounds
        self.early_stopping_metric = early_stopping_metric
        self.early_stopping_metric_minimize = early_stopping_metric_minimize
        self.name = name
        self._best_value_step: int | None = None
        self._best_value: Any = None
        self._best_metrics: Any = None
        self._early_stopped = False
        self._latest_path: Any = None
        self._latest_path_step: int | None = None
        self._last_checkpoint_check_time: float | None = None
        self._check_interval_secs = check_interval_secs

    @property
    def early_stopped(self) -> bool:
        """Whether it stopped training."""
        return self._early_stopped

    @property
    def best_step(self) -> int | None:
        """The step of the best evaluation."""
        return self._best_value_step

    @property
    def best_value(self) -> Any:
        """The metric of the best evaluation."""
        return self._best_value

    @property
    def best_metrics(self) -> Any:
        """All metrics of the best evaluation."""
        return self._best_metrics

    def _evaluate_estimator(self) -> Any:
        options: dict[str, Any] = {
            "input_fn": self.input_fn,
            "steps": self.eval_steps,
            "hooks": self.hooks,
            "name": self.name,
        }
        more = {
            "x": self.x,
            "y": self.y,
            "batch_size": self.batch_size,
            "metrics": self.metrics,
        }
        if not isinstance(self._estimator, CoreEstimator):
            options.update(more)
        elif any(value is not None for value in more.values()):
            raise ValueError(
                "tf.estimator.Estimator does not support following arguments: x, y, "
                "batch_size, metrics. Should set as `None` in ValidationMonitor"
            )
        return self._estimator.evaluate(**options)

    def every_n_step_end(self, step: int, outputs: dict[Any, Any]) -> Any:
        """Evaluates a new checkpoint; gives whether training is to stop.

        Raises:
          ValueError: the model was not set, or the metric does not exist.
        """
        super().every_n_step_end(step, outputs)
        if self._estimator is None:
            raise ValueError("Missing call to set_estimator.")
        if not self._is_new_checkpoint(step):
            return False
        results = self._evaluate_estimator()
        shown = ", ".join(f"{name} = {value}" for name, value in results.items())
        program_log.info("Validation (step %d): %s", step, shown)
        return self._is_late(step, results)

    def _is_new_checkpoint(self, step: int) -> bool:
        now, last = time.time(), self._last_checkpoint_check_time
        interval = self._check_interval_secs
        if interval is not None and last is not None and now - last <= interval:
            program_log.debug(
                "Skipping evaluation since less than %d seconds have passed since last "
                "check for a new checkpoint.",
                interval,
            )
            return False
        self._last_checkpoint_check_time = now
        path = latest_checkpoint(self._estimator.model_dir)
        if path is None:
            program_log.debug(
                "Skipping evaluation since model has not been saved yet at step %d.",
                step,
            )
            return False
        if path == self._latest_path:
            program_log.debug(
                "Skipping evaluation due to same checkpoint %s for step %d as for step "
                "%d.",
                path,
                step,
                self._latest_path_step,
            )
            return False
        self._latest_path, self._latest_path_step = path, step
        return True

    def _is_late(self, step: int, results: Any) -> bool:
        """Whether the best evaluation was too long ago."""
        if self.early_stopping_rounds is None:
            return False
        metric = self.early_stopping_metric
        if metric not in results:
            raise ValueError(f"Metric {metric} missing from outputs {set(results)}.")
        value = results[metric]
        if self._best_value is None or (
            value < self._best_value
            if self.early_stopping_metric_minimize
            else value > self._best_value
        ):
            self._best_value = value
            self._best_metrics = copy.deepcopy(results)
            self._best_value_step = step
        assert self._best_value_step is not None
        if step - self._best_value_step < self.early_stopping_rounds:
            return False
        program_log.info(
            "Stopping. Best step: %s with %s = %s.",
            self._best_value_step,
            metric,
            self._best_value,
        )
        self._early_stopped = True
        return True


@export("contrib.learn.monitors.ExportMonitor")
class ExportMonitor(EveryN):
    """Exports the model by its method `export`.

    Args:
      every_n_steps: how many steps apart.
      export_dir: where to.
      input_fn: gives the features of a served model.
      input_feature_key: the key of the serialized Examples among them.
      exports_to_keep: how many stay.
      signature_fn: makes the signatures.
      default_batch_size: of a served model.
    """

    def __init__(
        self,
        every_n_steps: int,
        export_dir: Any,
        input_fn: Any = None,
        input_feature_key: str | None = None,
        exports_to_keep: int | None = 5,
        signature_fn: Any = None,
        default_batch_size: int | None = 1,
    ) -> None:
        super().__init__(every_n_steps=every_n_steps)
        self._export_dir = export_dir
        self._input_fn = input_fn
        self._input_feature_key = input_feature_key
        self._use_deprecated_input_fn = input_fn is None
        self._exports_to_keep = exports_to_keep
        self._signature_fn = signature_fn
        self._default_batch_size = default_batch_size
        self._last_export_dir: Any = None

    @property
    def export_dir(self) -> Any:
        """Where exports go."""
        return self._export_dir

    @property
    def exports_to_keep(self) -> int | None:
        """How many stay."""
        return self._exports_to_keep

    @property
    def signature_fn(self) -> Any:
        """What makes the signatures."""
        return self._signature_fn

    @property
    def last_export_dir(self) -> Any:
        """The directory of the last export."""
        return self._last_export_dir

    def every_n_step_end(self, step: int, outputs: dict[Any, Any]) -> Any:
        """Exports the latest checkpoint."""
        super().every_n_step_end(step, outputs)
        self._export(
            "Skipping exporting because the existing checkpoint has already been "
            "exported. Consider exporting less frequently."
        )

    def end(self, session: Any = None) -> None:
        """Exports the last checkpoint, if there is one."""
        super().end(session=session)
        if latest_checkpoint(self._estimator.model_dir) is None:
            program_log.info(
                "Skipping export at the end since model has not been saved yet."
            )
            return
        self._export("Skipping exporting for the same step.")

    def _export(self, skipped: str) -> None:
        if isinstance(self._estimator, CoreEstimator):
            raise ValueError(
                "ExportMonitor does not support `tf.estimator.Estimator. `. Please "
                "pass an ExportStrategy to Experiment instead."
            )
        try:
            self._last_export_dir = self._estimator.export(
                self.export_dir,
                exports_to_keep=self.exports_to_keep,
                signature_fn=self.signature_fn,
                input_fn=self._input_fn,
                default_batch_size=self._default_batch_size,
                input_feature_key=self._input_feature_key,
                use_deprecated_input_fn=self._use_deprecated_input_fn,
            )
        except RuntimeError:
            program_log.info(skipped)
