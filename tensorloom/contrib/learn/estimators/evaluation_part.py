"""How a model is evaluated."""

from __future__ import annotations

import os
from typing import Any

from tensorloom.client.program import program_log
from tensorloom.contrib.learn.estimators.input_arguments import (
    verify_input_args,
)
from tensorloom.contrib.learn.estimators.metric_arguments import updates_and_values
from tensorloom.contrib.learn.estimators.model_parts import ModelParts
from tensorloom.contrib.learn.estimators.sk_compat import SKCompat
from tensorloom.contrib.training.evaluations import StopAfterNEvalsHook, evaluate_once
from tensorloom.estimator.result_summaries import write_results
from tensorloom.framework.graph.graph import (
    Graph,
)
from tensorloom.framework.runtime import random_seed
from tensorloom.train import training_util
from tensorloom.train.hooks.feeding import FeedFnHook


class EvaluationPart(ModelParts):
    """Evaluation: metrics of a checkpoint."""

    def evaluate(
        self,
        x: Any = None,
        y: Any = None,
        input_fn: Any = None,
        feed_fn: Any = None,
        batch_size: int | None = None,
        steps: int | None = None,
        metrics: Any = None,
        name: str | None = None,
        checkpoint_path: Any = None,
        hooks: Any = None,
        log_progress: bool = True,
    ) -> Any:
        """Evaluates a checkpoint; gives the metrics by their names, and `global_step`.

        Args:
          x: features as arrays; or `input_fn`.
          y: labels as arrays.
          input_fn: gives features and labels as tensors.
          feed_fn: gives feeds for each step.
          batch_size: of `x` and `y`.
          steps: how many batches; all when None.
          metrics: `MetricSpec`s by their names.
          name: of the evaluation: its events go into `eval_NAME`.
          checkpoint_path: the checkpoint; the latest when None.
          hooks: hooks of the session.
          log_progress: whether steps are logged.

        Raises:
          ValueError: both inputs are given, or none; `metrics` is no dict.
          NotFittedError: there is no checkpoint.
        """
        verify_input_args(x, y, input_fn, feed_fn, batch_size)
        if x is not None:
            return SKCompat(self).score(x, y, batch_size, steps, metrics, name)
        if metrics is not None and not isinstance(metrics, dict):
            raise ValueError(f"Metrics argument should be None or dict. Got {metrics}.")
        results, global_step = self._evaluate_model(
            input_fn=input_fn,
            feed_fn=feed_fn,
            steps=steps,
            metrics=metrics,
            name=name,
            checkpoint_path=checkpoint_path,
            hooks=hooks,
            log_progress=log_progress,
        )
        if results is not None:
            results.update({"global_step": global_step})
        return results

    def _evaluate_model(
        self,
        input_fn: Any,
        steps: int | None,
        feed_fn: Any = None,
        metrics: Any = None,
        name: str | None = "",
        checkpoint_path: Any = None,
        hooks: Any = None,
        log_progress: bool = True,
    ) -> tuple[Any, Any]:
        """The metrics by their names, and the global step."""
        checkpoint_path = checkpoint_path or self._latest_checkpoint()
        eval_dir = os.path.join(self._model_dir, f"eval_{name}" if name else "eval")
        with Graph().as_default() as graph:
            random_seed.set_random_seed(self._config.tf_random_seed)
            global_step = training_util.create_global_step(graph)
            features, labels = input_fn()
            self._check_inputs(features, labels)
            model = self._get_eval_ops(features, labels, metrics)
            update, values = updates_and_values(model.eval_metric_ops)
            all_hooks = list(hooks or [])
            if feed_fn:
                all_hooks.append(FeedFnHook(feed_fn))
            if steps == 0:
                program_log.warning(
                    "evaluation steps are 0. If `input_fn` does not raise "
                    "`OutOfRangeError`, the evaluation will never stop. Use steps=None "
                    "if intended."
                )
            if steps:
                all_hooks.append(StopAfterNEvalsHook(steps, log_progress=log_progress))
            step_key = "global_step"
            while step_key in values:
                step_key = f"_{step_key}"
            values[step_key] = global_step
            results = evaluate_once(
                checkpoint_path=checkpoint_path,
                master=self._config.evaluation_master,
                scaffold=model.scaffold,
                eval_ops=update,
                final_ops=values,
                hooks=all_hooks,
                config=self._session_config,
            )
            step = results[step_key]
            write_results(eval_dir, results, step, numbered=False)
        return results, step
