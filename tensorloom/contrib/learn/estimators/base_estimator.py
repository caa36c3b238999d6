"""`tf.contrib.learn.BaseEstimator`: trains, evaluates and predicts in a directory."""

from __future__ import annotations

import abc
import copy
import os
import tempfile
from collections.abc import Iterator
from typing import Any, Final

from tensorloom.client.program import program_log
from tensorloom.contrib.learn import tensor_signatures as signatures
from tensorloom.contrib.learn.estimators.input_arguments import (
    get_input_fn,
    verify_input_args,
)
from tensorloom.contrib.learn.estimators.metric_arguments import updates_and_values
from tensorloom.contrib.learn.estimators.sk_compat import SKCompat
from tensorloom.contrib.learn.interfaces import Evaluable, Trainable
from tensorloom.contrib.learn.monitors.as_hooks import replace_monitors_with_hooks
from tensorloom.contrib.learn.run_configuration import RunConfig
from tensorloom.contrib.learn.sklearn_names import BaseEstimator as Parameters
from tensorloom.contrib.learn.sklearn_names import NotFittedError
from tensorloom.contrib.learn.utils import export as exports
from tensorloom.contrib.training.evaluations import StopAfterNEvalsHook, evaluate_once
from tensorloom.estimator.result_summaries import write_results
from tensorloom.framework import errors
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import (
    Graph,
    GraphKeys,
    add_to_collection,
    get_collection,
)
from tensorloom.framework.runtime import random_seed
from tensorloom.framework.types.sparse_tensor import SparseTensorValue
from tensorloom.train import training_util
from tensorloom.train.checkpoints.checkpoint_management import latest_checkpoint
from tensorloom.train.checkpoints.checkpoint_utils import list_variables, load_variable
from tensorloom.train.checkpoints.saver import Saver
from tensorloom.train.device_setter import replica_device_setter
from tensorloom.train.hooks.checkpoint_saver import CheckpointSaverHook
from tensorloom.train.hooks.feeding import FeedFnHook
from tensorloom.train.hooks.logging_tensor import LoggingTensorHook
from tensorloom.train.hooks.nan_tensor import NanTensorHook
from tensorloom.train.hooks.stopping import StopAtStepHook
from tensorloom.train.sessions.creators import ChiefSessionCreator
from tensorloom.train.sessions.monitored_session import MonitoredSession
from tensorloom.train.sessions.scaffold import Scaffold
from tensorloom.train.sessions.training_session import MonitoredTrainingSession

# What is placed on the parameter servers.
_PS_OPS: Final = [
    "Variable",
    "VariableV2",
    "AutoReloadVariable",
    "MutableHashTable",
    "MutableHashTableV2",
    "MutableHashTableOfTensors",
    "MutableHashTableOfTensorsV2",
    "MutableDenseHashTable",
    "MutableDenseHashTableV2",
    "VarHandleOp",
]


def get_replica_device_setter(config: Any) -> Any:
    """The device function of a task in a cluster; None without parameter servers."""
    if config.num_ps_replicas <= 0:
        return None
    worker = "/job:worker"
    if config.task_type:
        worker = f"/job:{config.task_type}/task:{config.task_id}"
    return replica_device_setter(
        ps_tasks=config.num_ps_replicas,
        worker_device=worker,
        merge_devices=True,
        ps_ops=_PS_OPS,
        cluster=config.cluster_spec,
    )


def _session_config(config: Any) -> Any:
    from tensorloom.protos import config_pb2

    if config.session_config is not None:
        return config.session_config
    return config_pb2.ConfigProto(allow_soft_placement=True)


@export("contrib.learn.BaseEstimator")
class BaseEstimator(Parameters, Evaluable, Trainable):  # type: ignore[misc]
    """A model in a directory; subclasses say how its graphs are made.

    Args:
      model_dir: where checkpoints and events go; a temporary directory when None.
      config: a `RunConfig`.

    Raises:
      ValueError: `config` has another directory.
    """

    _Config = RunConfig

    def __init__(self, model_dir: Any = None, config: Any = None) -> None:
        if config is None:
            config = BaseEstimator._Config()
            program_log.info("Using default config.")
        self._config = config
        self._session_config = _session_config(config)
        named = config.model_dir
        if model_dir is not None and named is not None and model_dir != named:
            raise ValueError(
                "model_dir are set both in constructor and RunConfig, but with "
                f"different values. In constructor: '{model_dir}', in RunConfig: "
                f"'{named}' "
            )
        self._model_dir = model_dir or named
        if self._model_dir is None:
            self._model_dir = tempfile.mkdtemp()
            program_log.warning(
                "Using temporary folder as model directory: %s", self._model_dir
            )
        if named is None:
            self._config = config.replace(model_dir=self._model_dir)
        program_log.info("Using config: %s", str(vars(self._config)))
        self._device_fn = get_replica_device_setter(self._config)
        # The signatures of what the model was trained with.
        self._features_info: Any = None
        self._labels_info: Any = None
        self._graph: Any = None

    @property
    def config(self) -> Any:
        """A copy of the settings."""
        return copy.deepcopy(self._config)

    @property
    def model_dir(self) -> Any:
        """Where its checkpoints are."""
        return self._model_dir

    @property
    def model_fn(self) -> Any:
        """The model's function of (features, labels, mode, config)."""

        def public_model_fn(features: Any, labels: Any, mode: Any, config: Any) -> Any:
            return self._call_model_fn(features, labels, mode, config=config)

        return public_model_fn

    def get_variable_value(self, name: str) -> Any:
        """The value of a variable in the latest checkpoint."""
        return load_variable(self.model_dir, name)

    def get_variable_names(self) -> list[str]:
        """The names of all variables in the latest checkpoint."""
        return [name for name, _ in list_variables(self.model_dir)]

    # --- training ---------------------------------------------------------------------

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

    # --- evaluation -------------------------------------------------------------------

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
            write_results(eval_dir, results, step)
        return results, step

    def _latest_checkpoint(self) -> str:
        path = latest_checkpoint(self._model_dir)
        if not path:
            raise NotFittedError(f"Couldn't find trained model at {self._model_dir}.")
        return path

    # --- prediction -------------------------------------------------------------------

    def predict(
        self,
        x: Any = None,
        input_fn: Any = None,
        batch_size: int | None = None,
        outputs: Any = None,
        as_iterable: bool = True,
        iterate_batches: bool = False,
    ) -> Any:
        """The predictions of the latest checkpoint, as a generator of examples.

        Args:
          x: features as arrays; or `input_fn`.
          input_fn: gives features as tensors.
          batch_size: of `x`.
          outputs: keys of the predictions that are wanted; all when None.
          as_iterable: False: all predictions of `x`, or the first batch of `input_fn`.
          iterate_batches: whether batches come in place of examples.

        Raises:
          ValueError: both inputs are given, or none, or there is no such output.
          NotFittedError: there is no checkpoint.
        """
        verify_input_args(x, None, input_fn, None, batch_size)
        if x is not None and not as_iterable:
            return SKCompat(self).predict(x, batch_size)
        input_fn, feed_fn = get_input_fn(x, None, input_fn, None, batch_size)
        return self._infer_model(
            input_fn=input_fn,
            feed_fn=feed_fn,
            outputs=outputs,
            as_iterable=as_iterable,
            iterate_batches=iterate_batches,
        )

    def _infer_model(
        self,
        input_fn: Any,
        feed_fn: Any = None,
        outputs: Any = None,
        as_iterable: bool = True,
        iterate_batches: bool = False,
    ) -> Any:
        checkpoint_path = self._latest_checkpoint()
        with Graph().as_default() as graph:
            random_seed.set_random_seed(self._config.tf_random_seed)
            training_util.create_global_step(graph)
            features = self._get_features_from_input_fn(input_fn)
            model = self._get_predict_ops(features)
            predictions = _chosen(model.predictions, outputs)
            session = MonitoredSession(
                session_creator=ChiefSessionCreator(
                    checkpoint_filename_with_path=checkpoint_path,
                    scaffold=model.scaffold,
                    config=self._session_config,
                )
            )
        if as_iterable:
            return self._predict_generator(
                session, predictions, feed_fn, iterate_batches
            )
        with session:
            if not session.should_stop():
                return session.run(predictions, feed_fn() if feed_fn else None)
        return None

    def _predict_generator(
        self, session: Any, predictions: Any, feed_fn: Any, iterate_batches: bool
    ) -> Iterator[Any]:
        with session:
            while not session.should_stop():
                batch = session.run(predictions, feed_fn() if feed_fn else None)
                if iterate_batches:
                    yield batch
                elif not isinstance(predictions, dict):
                    yield from batch
                else:
                    yield from _examples(batch)
                if self._is_input_constant(feed_fn, session.graph):
                    return

    def _is_input_constant(self, feed_fn: Any, graph: Graph) -> bool:
        """Whether each step would predict the same again."""
        return feed_fn is None and not graph.get_collection(GraphKeys.QUEUE_RUNNERS)

    def _get_features_from_input_fn(self, input_fn: Any) -> Any:
        result = input_fn()
        return result[0] if isinstance(result, list | tuple) else result

    # --- what subclasses say ----------------------------------------------------------

    @abc.abstractmethod
    def _get_train_ops(self, features: Any, labels: Any) -> Any:
        """The `ModelFnOps` for training."""

    @abc.abstractmethod
    def _get_predict_ops(self, features: Any) -> Any:
        """The `ModelFnOps` for prediction."""

    @abc.abstractmethod
    def _get_eval_ops(self, features: Any, labels: Any, metrics: Any) -> Any:
        """The `ModelFnOps` for evaluation."""

    # --- inputs that are known --------------------------------------------------------

    def _get_feature_ops_from_example(self, examples_batch: Any) -> Any:
        """The features that the model was trained with, parsed out of Examples."""
        if self._features_info is None:
            raise ValueError("Features information missing, was fit() ever called?")
        return signatures.create_example_parser_from_signatures(
            self._features_info, examples_batch
        )

    def _check_inputs(self, features: Any, labels: Any) -> None:
        """Raises ValueError if they do not fit what came before."""
        self._features_info = _known_signatures(
            "Features", features, self._features_info
        )
        if labels is not None:
            self._labels_info = _known_signatures("Labels", labels, self._labels_info)

    # --- exports ----------------------------------------------------------------------

    def export(
        self,
        export_dir: Any,
        input_fn: Any = exports._default_input_fn,
        input_feature_key: str | None = None,
        use_deprecated_input_fn: bool = True,
        signature_fn: Any = None,
        prediction_key: str | None = None,
        default_batch_size: int | None = 1,
        exports_to_keep: int | None = None,
        checkpoint_path: Any = None,
    ) -> Any:
        """Exports a checkpoint in the format that came before SavedModels.

        Args:
          export_dir: where numbered exports go.
          input_fn: gives the features of a served model: of (estimator, serialized
            Examples), or of nothing if it is not the deprecated one.
          input_feature_key: the key of the serialized Examples among the features.
          use_deprecated_input_fn: which of the two it is.
          signature_fn: makes the signatures of (examples, features, predictions).
          prediction_key: which prediction; all when None.
          default_batch_size: how many Examples; any number when None.
          exports_to_keep: how many stay; all when None.
          checkpoint_path: the checkpoint; the latest when None.

        Returns:
          The directory of the export.
        """
        return exports._export_estimator(
            estimator=self,
            export_dir=export_dir,
            signature_fn=signature_fn,
            prediction_key=prediction_key,
            input_fn=input_fn,
            input_feature_key=input_feature_key,
            use_deprecated_input_fn=use_deprecated_input_fn,
            default_batch_size=default_batch_size,
            exports_to_keep=exports_to_keep,
            checkpoint_path=checkpoint_path,
        )


def _known_signatures(what: str, tensors: Any, known: Any) -> Any:
    if known is None:
        return signatures.create_signatures(tensors)
    if not signatures.tensors_compatible(tensors, known):
        raise ValueError(
            f"{what} are incompatible with given information. Given "
            f"{what.lower()}: {tensors}, required signatures: {known}."
        )
    return known


def _chosen(predictions: Any, outputs: Any) -> Any:
    if not outputs:
        return predictions
    if not isinstance(predictions, dict):
        raise ValueError(
            "outputs argument is not valid in case of non-dict predictions."
        )
    chosen = {key: value for key, value in predictions.items() if key in outputs}
    if not chosen:
        raise ValueError(
            f"Expected to run at least one output from {predictions.keys()}, provided "
            f"{outputs}."
        )
    return chosen


def _examples(batch: dict[str, Any]) -> Iterator[dict[str, Any]]:
    first = next(iter(batch.values()))
    sparse = isinstance(first, SparseTensorValue)
    count = first.dense_shape[0] if sparse else first.shape[0]
    for index in range(count):
        yield {key: value[index] for key, value in batch.items()}
