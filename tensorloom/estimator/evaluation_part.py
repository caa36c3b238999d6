"""How an Estimator evaluates."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import nullcontext
from typing import Any

from tensorloom.client.distribution.thread_modes import current_strategy
from tensorloom.estimator.checkpoints import latest_of
from tensorloom.estimator.estimator_base import (
    EstimatorBase,
    check_hooks,
    check_steps,
)
from tensorloom.estimator.mode_keys import ModeKeys
from tensorloom.estimator.replicated import LOSS, check_metric_names, evaluation_parts
from tensorloom.estimator.result_summaries import write_checkpoint_path, write_results
from tensorloom.framework.graph.graph import Graph, GraphKeys, get_default_graph
from tensorloom.framework.runtime import random_seed
from tensorloom.metrics.averages import mean
from tensorloom.ops.control_flow.builders import group
from tensorloom.storage.files import filesystem
from tensorloom.train import training_util
from tensorloom.train.sessions.evaluation import (
    _evaluate_once,
    _get_or_create_eval_step,
    _StopAfterNEvalsHook,
)
from tensorloom.train.sessions.scaffold import Scaffold


class EvaluationPart(EstimatorBase):
    """Evaluation: metrics of a checkpoint."""

    def eval_dir(self, name: str | None = None) -> str:
        """Where the events of an evaluation go."""
        return filesystem.join(self._model_dir, f"eval_{name}" if name else "eval")

    def evaluate(
        self,
        input_fn: Callable[..., Any],
        steps: int | None = None,
        hooks: Iterable[Any] | None = None,
        checkpoint_path: Any = None,
        name: str | None = None,
    ) -> Any:
        """Evaluates a checkpoint.

        Args:
          input_fn: as in training.
          steps: how many batches; until the input ends when None.
          hooks: hooks of the session.
          checkpoint_path: the checkpoint; the latest one when None; variables are
            initialized if there is none.
          name: of the evaluation, where there are several: its events are apart.

        Returns:
          The metrics by name, with `loss` and `global_step`.

        Raises:
          ValueError: `steps` is not positive, or a metric has a reserved name.
        """
        check_steps("steps", steps)
        return self._actual_eval(
            input_fn,
            steps=steps,
            hooks=hooks,
            checkpoint_path=checkpoint_path,
            name=name,
        )

    def _actual_eval(
        self,
        input_fn: Callable[..., Any],
        strategy: Any = None,
        steps: int | None = None,
        hooks: Iterable[Any] | None = None,
        checkpoint_path: Any = None,
        name: str | None = None,
    ) -> Any:
        strategy = strategy or self._eval_distribution
        all_hooks = check_hooks(hooks)
        all_hooks.extend(self._convert_eval_steps_to_hooks(steps))
        if not checkpoint_path:
            checkpoint_path = latest_of(self._model_dir, "evaluate")
        with Graph().as_default(), strategy.scope() if strategy else nullcontext():
            scaffold, update_op, eval_dict, all_hooks = self._evaluate_build_graph(
                input_fn, all_hooks, checkpoint_path
            )
            return self._evaluate_run(
                checkpoint_path=checkpoint_path,
                scaffold=scaffold,
                update_op=update_op,
                eval_dict=eval_dict,
                all_hooks=all_hooks,
                output_dir=self.eval_dir(name),
            )

    def _convert_eval_steps_to_hooks(self, steps: int | None) -> list[Any]:
        check_steps("steps", steps)
        return [] if steps is None else [_StopAfterNEvalsHook(num_evals=steps)]

    def _evaluate_build_graph(
        self,
        input_fn: Callable[..., Any],
        hooks: Iterable[Any] = (),
        checkpoint_path: Any = None,
    ) -> tuple[Any, Any, dict[str, Any], list[Any]]:
        """Makes the graph: scaffold, updates, values by name, and all hooks."""
        random_seed.set_random_seed(self._config.tf_random_seed)
        self._create_and_assert_global_step(get_default_graph())
        scaffold, own_hooks, input_hooks, metrics = self._evaluation_parts(input_fn)
        update_op, eval_dict = _updates_and_values(metrics)
        self._maybe_warm_start(checkpoint_path)
        eval_dict[GraphKeys.GLOBAL_STEP] = training_util.get_global_step()
        all_hooks = [*input_hooks, *(hooks or ()), *own_hooks]
        if scaffold.local_init_op:
            # The count of runs is a local variable, too: it must be there by now.
            _get_or_create_eval_step()
            init_op = group(scaffold.local_init_op, Scaffold.default_local_init_op())
            scaffold = Scaffold(local_init_op=init_op, copy_from_scaffold=scaffold)
        return scaffold, update_op, eval_dict, all_hooks

    def _evaluation_parts(
        self, input_fn: Callable[..., Any]
    ) -> tuple[Any, Any, list[Any], dict[str, Any]]:
        """The scaffold, hooks of the model and of the input, and metrics by name."""
        strategy = current_strategy()
        if strategy is not None:
            return evaluation_parts(self, strategy, input_fn)
        features, labels, input_hooks = self._get_features_and_labels_from_input_fn(
            input_fn, ModeKeys.EVAL
        )
        spec = self._call_model_fn(features, labels, ModeKeys.EVAL, self.config)
        check_metric_names(spec.eval_metric_ops)
        metrics = {**spec.eval_metric_ops, LOSS: mean(spec.loss)}
        return spec.scaffold, spec.evaluation_hooks, input_hooks, metrics

    def _evaluate_run(
        self,
        checkpoint_path: Any,
        scaffold: Any,
        update_op: Any,
        eval_dict: dict[str, Any],
        all_hooks: list[Any],
        output_dir: str,
    ) -> Any:
        """Runs an evaluation and writes its results."""
        results = _evaluate_once(
            checkpoint_path=checkpoint_path,
            master=self._config.evaluation_master,
            scaffold=scaffold,
            eval_ops=update_op,
            final_ops=eval_dict,
            hooks=all_hooks,
            config=self._session_config,
        )
        step = results[GraphKeys.GLOBAL_STEP]
        write_results(output_dir, results, step)
        if checkpoint_path:
            write_checkpoint_path(output_dir, checkpoint_path, step)
        return results


def _updates_and_values(metrics: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """All updates as one operation, and the values by name."""
    # In the order of names: every task's graph is the same.
    pairs = sorted(metrics.items(), key=lambda item: item[0])
    update = group(*(update for _, (_, update) in pairs))
    return update, {name: value for name, (value, _) in pairs}
