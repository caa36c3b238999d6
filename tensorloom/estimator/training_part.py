"""How an Estimator trains."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Final

from tensorloom.client.program import program_log
from tensorloom.estimator.checkpoints import global_step_of_directory
from tensorloom.estimator.estimator_base import (
    EstimatorBase,
    check_hooks,
    check_listeners,
    check_steps,
)
from tensorloom.estimator.mode_keys import ModeKeys
from tensorloom.estimator.replicated import training_spec
from tensorloom.estimator.task_types import TaskType
from tensorloom.framework.graph.graph import (
    Graph,
    GraphKeys,
    add_to_collection,
    get_collection,
)
from tensorloom.framework.runtime import random_seed
from tensorloom.storage.files import filesystem
from tensorloom.summary import summary
from tensorloom.train import training_util
from tensorloom.train.checkpoints.saver import Saver
from tensorloom.train.hooks.checkpoint_saver import CheckpointSaverHook
from tensorloom.train.hooks.logging_tensor import LoggingTensorHook
from tensorloom.train.hooks.nan_tensor import NanTensorHook
from tensorloom.train.hooks.step_counter import StepCounterHook
from tensorloom.train.hooks.stopping import StopAtStepHook
from tensorloom.train.hooks.summary_saver import SummarySaverHook
from tensorloom.train.sessions.training_session import (
    MonitoredTrainingSession,
)

if TYPE_CHECKING:
    from tensorloom.estimator.spec import EstimatorSpec


# In the place of seconds, which pass differently on each worker.
_STEPS_NOT_SECS: Final = 1000


class TrainingPart(EstimatorBase):
    """Training: steps, checkpoints, summaries."""

    def train(
        self,
        input_fn: Callable[..., Any],
        hooks: Iterable[Any] | None = None,
        steps: int | None = None,
        max_steps: int | None = None,
        saving_listeners: Iterable[Any] | None = None,
    ) -> Any:
        """Trains, from the latest checkpoint on.

        Args:
          input_fn: gives a dataset of (features, labels), or those as tensors. May take
            `mode`, `params` and `config`.
          hooks: hooks of the session.
          steps: how many steps more; until the input ends when None.
          max_steps: or up to which step; nothing is done if it is reached already.
          saving_listeners: called before and after each checkpoint.

        Returns:
          The Estimator.

        Raises:
          ValueError: both numbers, or one that is not positive; or this task is an
            evaluator or a parameter server.
          TypeError: a hook or a listener is something else.
        """
        if self._config.task_type in (TaskType.EVALUATOR, TaskType.PS):
            raise ValueError(
                "Train has been called wrong configuration. Please use "
                "tf.estimator.train_and_evaluate which calls proper API according to "
                f"given configuration. Current configuration: {self.config}."
            )
        if steps is not None and max_steps is not None:
            raise ValueError("Can not provide both steps and max_steps.")
        check_steps("steps", steps)
        check_steps("max_steps", max_steps)
        if max_steps is not None and (
            max_steps <= global_step_of_directory(self._model_dir)
        ):
            program_log.info("Skipping training since max_steps has already saved.")
            return self
        all_hooks = check_hooks(hooks)
        all_hooks.extend(self._convert_train_steps_to_hooks(steps, max_steps))
        listeners = check_listeners(saving_listeners)
        loss = self._train_model(input_fn, all_hooks, listeners)
        program_log.info("Loss for final step: %s.", loss)
        return self

    def _convert_train_steps_to_hooks(
        self, steps: int | None, max_steps: int | None
    ) -> list[Any]:
        if steps is None and max_steps is None:
            return []
        return [StopAtStepHook(steps, max_steps)]

    def _train_model(
        self,
        input_fn: Callable[..., Any],
        hooks: list[Any],
        saving_listeners: list[Any],
    ) -> Any:
        """Trains in a new graph; returns the last loss."""
        if self._train_distribution:
            return self._train_replicas(input_fn, hooks, saving_listeners)
        with Graph().as_default() as graph, graph.device(self._device_fn):
            random_seed.set_random_seed(self._config.tf_random_seed)
            if self._create_and_assert_global_step(graph) is not None:
                training_util._get_or_create_global_step_read(graph)
            features, labels, worker_hooks = (
                self._get_features_and_labels_from_input_fn(input_fn, ModeKeys.TRAIN)
            )
            spec = self._call_model_fn(features, labels, ModeKeys.TRAIN, self.config)
            return self._train_with_estimator_spec(
                spec,
                worker_hooks,
                hooks,
                training_util.get_global_step(graph),
                saving_listeners,
            )

    def _train_replicas(
        self,
        input_fn: Callable[..., Any],
        hooks: list[Any],
        saving_listeners: list[Any],
    ) -> Any:
        """Trains the replicas of a strategy in a new graph; returns the last loss."""
        strategy = self._train_distribution
        if self._config._distribute_coordinator_mode:
            raise ValueError(
                "Only `STANDALONE_CLIENT` mode is supported when you call "
                "`estimator.train`: with a cluster in TF_CONFIG, call "
                "`tf.estimator.train_and_evaluate`."
            )
        strategy.configure(self._session_config)
        scaled = strategy._scale_loss_for_estimator_enabled()
        with Graph().as_default(), strategy.scope(), scaled:
            random_seed.set_random_seed(self._config.tf_random_seed)
            spec, input_hooks, step = training_spec(self, strategy, input_fn)
            return self._train_with_estimator_spec(
                spec, input_hooks, hooks, step, saving_listeners
            )

    def _train_with_estimator_spec(
        self,
        estimator_spec: EstimatorSpec,
        worker_hooks: list[Any],
        hooks: list[Any],
        global_step_tensor: Any,
        saving_listeners: list[Any],
    ) -> Any:
        """Runs training steps until a hook or the end of the input stops them."""
        spec, config = estimator_spec, self._config
        if self._warm_start_settings:
            self._warm_start()
        _add_loss_to_collections(spec.loss)
        worker_hooks = [*worker_hooks, *hooks, NanTensorHook(spec.loss)]
        if config.log_step_count_steps is not None:
            logged = {"loss": spec.loss, "step": global_step_tensor}
            worker_hooks.append(
                LoggingTensorHook(logged, every_n_iter=config.log_step_count_steps)
            )
        worker_hooks.extend(spec.training_hooks)
        self._add_saver(spec)
        if self._is_in_step:
            return self._train_in_step(spec, worker_hooks, saving_listeners)
        chief_hooks = [
            *self._saver_hooks(spec, worker_hooks, saving_listeners),
            *spec.training_chief_hooks,
        ]
        summary_steps = config.save_summary_steps
        log_steps = config.log_step_count_steps
        if _is_legacy_cluster(config):
            # There the first worker writes summaries: the master is busy evaluating.
            summary_steps, log_steps = 0, None
            worker_hooks.extend(self._first_worker_hooks(spec))
        with MonitoredTrainingSession(
            master=config.master,
            is_chief=config.is_chief,
            checkpoint_dir=self._model_dir,
            scaffold=spec.scaffold,
            hooks=worker_hooks,
            chief_only_hooks=tuple(chief_hooks),
            save_checkpoint_secs=0,  # chief_hooks save
            save_summaries_steps=summary_steps,
            config=self._session_config,
            max_wait_secs=config.session_creation_timeout_secs,
            log_step_count_steps=log_steps,
        ) as session:
            return _loss_of_last_step(session, spec)

    @property
    def _is_in_step(self) -> bool:
        """Whether a step waits for those of all other workers."""
        strategy = self._train_distribution
        return bool(
            self._config.cluster_spec
            and strategy
            and strategy.extended._all_workers_step_together
        )

    def _train_in_step(
        self, spec: EstimatorSpec, worker_hooks: list[Any], listeners: list[Any]
    ) -> Any:
        """Training steps, checkpoints and summaries at the same steps as all others.

        What is saved may come from all workers. So each saves, and those that are not
        the chief into a directory that nobody keeps.
        """
        config = self._config
        if listeners:
            raise ValueError(
                "saving_listeners are not supported where all workers train in step: "
                "the cluster's evaluator looks for checkpoints itself."
            )
        save_steps = config.save_checkpoints_steps
        if config.save_checkpoints_secs:
            program_log.warning(
                "Workers that train in step save by steps: save_checkpoints_secs is "
                "replaced by save_checkpoints_steps=%d.",
                _STEPS_NOT_SECS,
            )
            save_steps = _STEPS_NOT_SECS
        directory = self._model_dir
        if config.is_chief:
            worker_hooks.extend(spec.training_chief_hooks)
        else:
            name = f"tmp_{config.task_type}_{config.task_id}"
            directory = os.path.join(directory, name)
        if save_steps:
            worker_hooks.append(
                CheckpointSaverHook(
                    directory, save_steps=save_steps, scaffold=spec.scaffold
                )
            )
        try:
            with MonitoredTrainingSession(
                master=config.master,
                is_chief=True,  # variables begin, or are restored, everywhere
                checkpoint_dir=self._model_dir,
                scaffold=spec.scaffold,
                hooks=worker_hooks,
                save_checkpoint_secs=0,
                save_summaries_steps=config.save_summary_steps,
                config=self._session_config,
                max_wait_secs=config.session_creation_timeout_secs,
                log_step_count_steps=config.log_step_count_steps,
                summary_dir=directory,
            ) as session:
                return _loss_of_last_step(session, spec)
        finally:
            if not config.is_chief and filesystem.exists(directory):
                filesystem.remove_tree(directory)

    def _add_saver(self, spec: EstimatorSpec) -> None:
        """A saver of all variables, unless the model brings one."""
        if spec.scaffold.saver or get_collection(GraphKeys.SAVERS):
            return
        config = self._config
        saver = Saver(
            sharded=True,
            max_to_keep=config.keep_checkpoint_max,
            keep_checkpoint_every_n_hours=config.keep_checkpoint_every_n_hours,
            defer_build=True,
            save_relative_paths=True,
        )
        add_to_collection(GraphKeys.SAVERS, saver)

    def _saver_hooks(
        self, spec: EstimatorSpec, worker_hooks: list[Any], listeners: list[Any]
    ) -> list[Any]:
        """The hook that saves, unless there is one; it gets the listeners."""
        config, made = self._config, []
        found = [
            hook
            for hook in [*worker_hooks, *spec.training_chief_hooks]
            if isinstance(hook, CheckpointSaverHook)
        ]
        if not found and (
            config.save_checkpoints_secs or config.save_checkpoints_steps
        ):
            made = [
                CheckpointSaverHook(
                    self._model_dir,
                    save_secs=config.save_checkpoints_secs,
                    save_steps=config.save_checkpoints_steps,
                    scaffold=spec.scaffold,
                )
            ]
            found = made
        if listeners and not found:
            raise ValueError(
                "There should be a CheckpointSaverHook to use saving_listeners. Please "
                "set one of the RunConfig.save_checkpoints_steps or "
                "RunConfig.save_checkpoints_secs."
            )
        if listeners:
            known = list(found[0]._listeners)
            known.extend(listener for listener in listeners if listener not in known)
            found[0]._listeners = known
        return made

    def _first_worker_hooks(self, spec: EstimatorSpec) -> list[Any]:
        config = self._config
        if config.task_type != TaskType.WORKER or config.task_id != 0:
            return []
        hooks: list[Any] = []
        if config.save_summary_steps:
            hooks.append(
                SummarySaverHook(
                    save_steps=config.save_summary_steps,
                    output_dir=config.model_dir,
                    scaffold=spec.scaffold,
                )
            )
        if config.log_step_count_steps:
            hooks.append(
                StepCounterHook(
                    every_n_steps=config.log_step_count_steps,
                    output_dir=config.model_dir,
                )
            )
        return hooks


def _loss_of_last_step(session: Any, spec: EstimatorSpec) -> Any:
    """Runs steps until the session should stop; None if there was none."""
    loss = None
    step = [spec.train_op, spec.loss]
    any_step_done = False
    while not session.should_stop():
        _, loss = session.run(step)
        any_step_done = True
    if not any_step_done:
        program_log.warning(
            "Training with estimator made no steps. Perhaps input is empty or "
            "misspecified."
        )
    return loss


def _add_loss_to_collections(loss: Any) -> None:
    """The loss as a summary, unless the model has one of that name, and as a loss."""
    if not any(x.op.name == "loss" for x in get_collection(GraphKeys.SUMMARIES)):
        summary.scalar("loss", loss)
    add_to_collection(GraphKeys.LOSSES, loss)


def _is_legacy_cluster(config: Any) -> bool:
    jobs = config.cluster_spec.jobs if config.cluster_spec else []
    return TaskType.WORKER in jobs and TaskType.MASTER in jobs
