"""Evaluations of new checkpoints, with exports after them."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from tensorloom.client.program import program_log
from tensorloom.client.program.compat import as_str_any
from tensorloom.estimator.training.specs import EvalSpec, check_eval_spec
from tensorloom.framework.graph.graph import GraphKeys
from tensorloom.storage.files import filesystem

_WARNING_INTERVAL_SECS: Final = 600


class EvalStatus:
    """What became of an evaluation."""

    EVALUATED: Final = "evaluated"
    MISSING_CHECKPOINT: Final = "missing checkpoint"
    NO_NEW_CHECKPOINT: Final = "no new checkpoint"


class _Result(NamedTuple):
    status: str
    metrics: Any
    checkpoint_path: Any


class EvalResult(_Result):
    """An evaluation: its metrics and its checkpoint, if there was one.

    Raises:
      ValueError: it took place and metrics or checkpoint are missing, or the reverse.
      TypeError: the metrics are no dict.
    """

    __slots__ = ()

    def __new__(
        cls,
        status: str,
        metrics: Mapping[str, Any] | None = None,
        checkpoint_path: Any = None,
    ) -> EvalResult:
        if status != EvalStatus.EVALUATED:
            for name, value in (("metrics", metrics), ("checkpoint", checkpoint_path)):
                if value:
                    raise ValueError(
                        f"{name} must be `None` if status is not "
                        f"{EvalStatus.EVALUATED}; got status {status}, {name} {value}"
                    )
            return super().__new__(cls, status, metrics, checkpoint_path)
        if not metrics:
            raise ValueError(
                "Internal error: `Estimator.evaluate` should never return empty "
                "metrics."
            )
        if not isinstance(metrics, dict):
            raise TypeError(
                f"`Estimator.evaluate` should return dict. Given {type(metrics)}."
            )
        if GraphKeys.GLOBAL_STEP not in metrics:
            raise ValueError(
                "Internal error: `Estimator.evaluate` result should have `global_step` "
                f"in result. Given {metrics}"
            )
        if not checkpoint_path:
            raise ValueError("Internal error: `checkpoint_path` should never be empty.")
        return super().__new__(cls, status, metrics, checkpoint_path)


class Evaluator:
    """Evaluates and exports each checkpoint once."""

    def __init__(
        self, estimator: Any, eval_spec: EvalSpec, max_training_steps: int | None
    ) -> None:
        check_eval_spec(eval_spec)
        self._estimator = estimator
        self._eval_spec = eval_spec
        self._max_training_steps = max_training_steps
        self._is_final_export_triggered = False
        self._previous_ckpt_path: Any = None
        self._last_warning_time = 0.0

    @property
    def is_final_export_triggered(self) -> bool:
        """Whether the checkpoint at the end of the training was exported."""
        return self._is_final_export_triggered

    def evaluate_and_export(self) -> tuple[EvalResult, list[Any]]:
        """Evaluates the latest checkpoint, if it is a new one, and calls the exporters.

        Returns:
          The result, and what the exporters returned.
        """
        path = self._estimator.latest_checkpoint()
        if not path:
            self._warn(
                "Estimator is not trained yet. Will start an evaluation when a "
                "checkpoint is ready."
            )
            return EvalResult(EvalStatus.MISSING_CHECKPOINT), []
        if path == self._previous_ckpt_path:
            self._warn(
                "No new checkpoint ready for evaluation. Skip the current evaluation "
                "pass as evaluation results are expected to be same for the same "
                "checkpoint."
            )
            return EvalResult(EvalStatus.NO_NEW_CHECKPOINT), []
        spec = self._eval_spec
        metrics = self._estimator.evaluate(
            input_fn=spec.input_fn,
            steps=spec.steps,
            name=spec.name,
            checkpoint_path=path,
            hooks=spec.hooks,
        )
        result = EvalResult(EvalStatus.EVALUATED, metrics, path)
        is_last = bool(
            self._max_training_steps
            and metrics[GraphKeys.GLOBAL_STEP] >= self._max_training_steps
        )
        exports = self._export(result, is_last)
        if is_last:
            program_log.debug("Calling exporter with the `is_the_final_export=True`.")
            self._is_final_export_triggered = True
        self._last_warning_time = 0.0
        self._previous_ckpt_path = path
        return result, exports

    def _warn(self, message: str) -> None:
        """Warns every ten minutes."""
        now = time.time()
        if now - self._last_warning_time > _WARNING_INTERVAL_SECS:
            program_log.warning(message)
            self._last_warning_time = now

    def _export(self, result: EvalResult, is_last: bool) -> list[Any]:
        base = filesystem.join(as_str_any(self._estimator.model_dir), "export")
        return [
            exporter.export(
                estimator=self._estimator,
                export_path=filesystem.join(base, exporter.name),
                checkpoint_path=result.checkpoint_path,
                eval_result=result.metrics,
                is_the_final_export=is_last,
            )
            for exporter in self._eval_spec.exporters
        ]


class ContinuousEvalListener:
    """Is asked before and after each evaluation; False ends the evaluations."""

    def before_eval(self) -> bool:
        """Called before an evaluation."""
        return True

    def after_eval(self, eval_result: EvalResult) -> bool:
        """Called after an evaluation."""
        return True
