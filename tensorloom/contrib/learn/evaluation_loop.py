"""Evaluations of one checkpoint after the other."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, Final

from tensorloom.client.program import program_log
from tensorloom.estimator.function_arguments import argument_names
from tensorloom.framework.graph.graph import GraphKeys
from tensorloom.train.checkpoints.checkpoint_management import latest_checkpoint

# A missing checkpoint is reported so often.
_WARNING_SECS: Final = 600


class EvaluationLoop:
    """Waits for checkpoints and has them evaluated.

    Args:
      predicate_fn: of the last result, and of `checkpoint_path` if it takes one:
        whether to go on; for ever when None.
      model_dir: where checkpoints are.
      train_steps: at which step training stops; unknown when None.
      only_once: whether it waits for a new checkpoint.
      throttle_secs: how far apart evaluations begin at least.

    Raises:
      ValueError: the predicate is no function.
    """

    def __init__(
        self,
        predicate_fn: Any,
        model_dir: Any,
        train_steps: int | None,
        only_once: bool = True,
        throttle_secs: float = 0,
    ) -> None:
        if predicate_fn is not None and not callable(predicate_fn):
            raise ValueError(
                "`continuous_eval_predicate_fn` must be a callable, or None."
            )
        self._predicate_fn = predicate_fn
        self._model_dir = model_dir
        self._train_steps = train_steps
        self._only_once = only_once
        self._throttle_secs = throttle_secs
        self._last_warning = 0.0

    def goes_on(self, result: Any, checkpoint_path: Any) -> bool:
        """Whether the program wants another evaluation."""
        if self._predicate_fn is None:
            return True
        if "checkpoint_path" in argument_names(self._predicate_fn):
            wanted = self._predicate_fn(result, checkpoint_path=checkpoint_path)
        else:
            wanted = self._predicate_fn(result)
        return bool(wanted)

    def has_training_stopped(self, result: Any) -> bool:
        """Whether the result is of the last step."""
        step = result.get(GraphKeys.GLOBAL_STEP) if result else None
        return bool(step and self._train_steps and step >= self._train_steps)

    def run(self, evaluate: Callable[[Any], Any]) -> None:
        """Has checkpoints evaluated until the last step or the predicate says stop.

        Args:
          evaluate: of a checkpoint's path; gives the metrics by their names.
        """
        path = result = None
        while self.goes_on(result, path):
            if self.has_training_stopped(result):
                program_log.info(
                    "Exiting continuous eval, global_step=%s >= train_step=%s",
                    result[GraphKeys.GLOBAL_STEP] if result else None,
                    self._train_steps,
                )
                return
            start = time.time()
            latest = latest_checkpoint(self._model_dir)
            if not latest:
                result = self._waiting(
                    "Estimator is not fitted yet. Will start an evaluation when a "
                    "checkpoint is ready."
                )
            elif self._only_once and latest == path:
                result = self._waiting("No new checkpoint ready for evaluation.")
            else:
                result = evaluate(latest) or {}
                path = latest
                self._last_warning = 0.0
            rest = self._throttle_secs - (time.time() - start)
            if rest > 0:
                program_log.info("Waiting %f secs before starting next eval run.", rest)
                time.sleep(rest)

    def _waiting(self, message: str) -> dict[str, Any]:
        if time.time() - self._last_warning > _WARNING_SECS:
            program_log.warning(message)
            self._last_warning = time.time()
        return {}
