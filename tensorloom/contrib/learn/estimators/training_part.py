"""How a model is trained."""

from __future__ import annotations

from typing import Any

from tensorloom.client.program import program_log
from tensorloom.contrib.learn.estimators.input_arguments import (
    verify_input_args,
)
from tensorloom.contrib.learn.estimators.model_parts import ModelParts
from tensorloom.contrib.learn.estimators.sk_compat import SKCompat
from tensorloom.contrib.learn.monitors.as_hooks import replace_monitors_with_hooks
from tensorloom.framework import errors
from tensorloom.framework.graph.graph import (
    Graph,
    GraphKeys,
    add_to_collection,
    get_collection,
)
from tensorloom.framework.runtime import random_seed
from tensorloom.train import training_util
from tensorloom.train.checkpoints.checkpoint_utils import load_variable
from tensorloom.train.checkpoints.saver import Saver
from tensorloom.train.hooks.checkpoint_saver import CheckpointSaverHook
from tensorloom.train.hooks.logging_tensor import LoggingTensorHook
from tensorloom.train.hooks.nan_tensor import NanTensorHook
from tensorloom.train.hooks.stopping import StopAtStepHook
from tensorloom.train.sessions.scaffold import Scaffold
from tensorloom.train.sessions.training_session import MonitoredTrainingSession


class TrainingPart(ModelParts):
    """Training: steps, checkpoints, summaries."""

    def fit(
        self,
        x: Any = None,
        y: Any = None,
        input_fn: Any = None,
        steps: int | None = None,
        batch_size: int | None = None,
        monitors: Any = None,
        max_steps: int | None = None,
    ) -> Any:
        """Trains the model, from the latest checkpoint on; gives it back.

        Args:
          x: features as arrays; or `input_fn`.
          y: labels as arrays.
          input_fn: gives features and labels as tensors.
          steps: how many steps more; until the input ends when None.
          batch_size: of `x` and `y`.
          monitors: monitors, or hooks of the session.
          max_steps: or up to which step.

        Raises:
          ValueError: both inputs or both numbers of steps are given, or no input.
        """
        if steps is not None and max_steps is not None:
            raise ValueError("Can not provide both steps and max_steps.")
        verify_input_args(x, y, input_fn, None, batch_size)
        if x is not None:
            SKCompat(self).fit(x, y, batch_size, steps, max_steps, monitors)
            return self
        if max_steps is not None and max_steps <= self._steps_done():
            program_log.info("Skipping training since max_steps has already saved.")
            return self
        hooks = replace_monitors_with_hooks(monitors, self)
        if steps is not None or max_steps is not None:
            hooks.append(StopAtStepHook(steps, max_steps))
        loss = self._train_model(input_fn=input_fn, hooks=hooks)
        program_log.info("Loss for final step: %s.", loss)
        return self

    def _steps_done(self) -> int:
        try:
            return int(load_variable(self._model_dir, GraphKeys.GLOBAL_STEP))
        except (errors.OpError, ValueError):
            return -1  # there is no checkpoint

    def partial_fit(
        self,
        x: Any = None,
        y: Any = None,
        input_fn: Any = None,
        steps: int | None = 1,
        batch_size: int | None = None,
        monitors: Any = None,
    ) -> Any:
        """`fit` for one step, or a few."""
        program_log.warning(
            "The current implementation of partial_fit is not optimized for use in a "
            "loop. Consider using fit() instead."
        )
        return self.fit(
            x=x,
            y=y,
            input_fn=input_fn,
            steps=steps,
            batch_size=batch_size,
            monitors=monitors,
        )

    def _train_model(self, input_fn: Any, hooks: list[Any]) -> Any:
        """Trains in a new graph; gives the last loss."""
        config = self._config
        self._graph = Graph()
        with self._graph.as_default() as graph, graph.device(self._device_fn):
            random_seed.set_random_seed(config.tf_random_seed)
            global_step = training_util.create_global_step(graph)
            features, labels = input_fn()
            self._check_inputs(features, labels)
            training_util._get_or_create_global_step_read()
            model = self._get_train_ops(features, labels)
            add_to_collection(GraphKeys.LOSSES, model.loss)
            logged = {"loss": model.loss, "step": global_step}
            all_hooks = [
                *hooks,
                NanTensorHook(model.loss),
                LoggingTensorHook(logged, every_n_iter=100),
                *model.training_hooks,
            ]
            scaffold = model.scaffold or Scaffold()
            self._add_saver(scaffold)
            chief_hooks = list(model.training_chief_hooks)
            if (config.save_checkpoints_secs or config.save_checkpoints_steps) and (
                not any(isinstance(h, CheckpointSaverHook) for h in all_hooks)
                and not any(isinstance(h, CheckpointSaverHook) for h in chief_hooks)
            ):
                saving = CheckpointSaverHook(
                    self._model_dir,
                    save_secs=config.save_checkpoints_secs,
                    save_steps=config.save_checkpoints_steps,
                    scaffold=scaffold,
                )
                chief_hooks.insert(0, saving)
            with MonitoredTrainingSession(
                master=config.master,
                is_chief=config.is_chief,
                checkpoint_dir=self._model_dir,
                scaffold=scaffold,
                hooks=all_hooks,
                chief_only_hooks=chief_hooks,
                save_checkpoint_secs=0,  # chief_hooks save
                save_summaries_steps=config.save_summary_steps,
                max_wait_secs=config.session_creation_timeout_secs,
                config=self._session_config,
            ) as session:
                loss = None
                while not session.should_stop():
                    _, loss = session.run([model.train_op, model.loss])
            return loss

    def _add_saver(self, scaffold: Any) -> None:
        """A saver of all variables, unless the model brings one."""
        if scaffold.saver or get_collection(GraphKeys.SAVERS):
            return
        saver = Saver(
            sharded=True,
            max_to_keep=self._config.keep_checkpoint_max,
            keep_checkpoint_every_n_hours=self._config.keep_checkpoint_every_n_hours,
            defer_build=True,
            save_relative_paths=True,
        )
        add_to_collection(GraphKeys.SAVERS, saver)
