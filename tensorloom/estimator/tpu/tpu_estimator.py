"""`tf.estimator.tpu.TPUEstimator` without TPUs: it hands batch sizes out."""

from __future__ import annotations

import enum
import math
from collections.abc import Callable, Mapping
from typing import Any, Final

from tensorloom.client.program import program_log
from tensorloom.client.variables.variable_scope import get_variable
from tensorloom.estimator.estimator import Estimator
from tensorloom.estimator.function_arguments import argument_names, chosen_arguments
from tensorloom.estimator.mode_keys import ModeKeys
from tensorloom.estimator.model_functions import verify_model_fn_args
from tensorloom.estimator.spec import EstimatorSpec
from tensorloom.estimator.spec import TPUEstimatorSpec as DeviceIndependentSpec
from tensorloom.estimator.tpu.tpu_config import (
    InputPipelineConfig,
    RunConfig,
    check_positive,
    loop_length,
)
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Graph, GraphKeys, device
from tensorloom.framework.types import dtypes
from tensorloom.ops.state.initializers import Zeros
from tensorloom.train import training_util
from tensorloom.train.hooks.step_counter import StepCounterHook

_BATCH_SIZE: Final = "batch_size"
_RESERVED: Final = [_BATCH_SIZE, "context"]


class ExportSavedModelApiVersion(enum.Enum):
    """How models are exported for TPUs."""

    V1 = 1
    V2 = 2


@export("estimator.tpu.TPUEstimator", "contrib.tpu.TPUEstimator")
class TPUEstimator(Estimator):
    """An Estimator of a program for TPUs, which runs on this machine's devices.

        def input_fn(params):
            return dataset.repeat().batch(params["batch_size"], drop_remainder=True)

        def model_fn(features, labels, mode, params):
            ...
            return tf.contrib.tpu.TPUEstimatorSpec(mode, loss=loss, train_op=train_op)

        estimator = tf.contrib.tpu.TPUEstimator(
            model_fn, config=tf.contrib.tpu.RunConfig(model_dir="/tmp/model"),
            use_tpu=False, train_batch_size=32, eval_batch_size=8)
        estimator.train(input_fn, max_steps=1000)

    Both functions get the batch size of the mode as `params["batch_size"]`, and the
    model's function `params["use_tpu"]`, which is False.
    """

    def __init__(
        self,
        model_fn: Callable[..., Any] | None = None,
        model_dir: Any = None,
        config: Any = None,
        params: Any = None,
        use_tpu: bool = True,
        train_batch_size: int | None = None,
        eval_batch_size: int | None = None,
        predict_batch_size: int | None = None,
        batch_axis: Any = None,
        eval_on_tpu: bool = True,
        export_to_tpu: bool = True,
        export_to_cpu: bool = True,
        warm_start_from: Any = None,
        embedding_config_spec: Any = None,
        export_saved_model_api_version: Any = ExportSavedModelApiVersion.V1,
    ) -> None:
        """Makes an Estimator.

        Args:
          model_fn: takes `features`, `params`, and may take `labels`, `mode` and
            `config`; returns a `TPUEstimatorSpec` or an `EstimatorSpec`.
          model_dir: the directory of checkpoints; that of `config` when None.
          config: a `tf.estimator.tpu.RunConfig`.
          params: what the functions get as `params`, with more items.
          use_tpu: must be False.
          train_batch_size: the batch size in training.
          eval_batch_size: the batch size in evaluation.
          predict_batch_size: the batch size in prediction.
          batch_axis: of TPUs alone.
          eval_on_tpu: of TPUs alone.
          export_to_tpu: exports hold a graph for TPUs, too: that one is left out, with
            a warning.
          export_to_cpu: exports hold a graph for other devices.
          warm_start_from: as of `tf.estimator.Estimator`.
          embedding_config_spec: of TPUs alone.
          export_saved_model_api_version: of TPUs alone.

        Raises:
          RuntimeError: `use_tpu` is true.
          ValueError: `config` is no such `RunConfig`, `params` has a reserved key, or
            as `tf.estimator.Estimator`.
        """
        if not isinstance(config, RunConfig):
            raise ValueError(
                "`config` must be provided with type `tpu_config.RunConfig`, given: "
                f"{config}"
            )
        if params is not None and any(key in params for key in _RESERVED):
            raise ValueError(
                f"{_RESERVED} are reserved keys but existed in params {params}."
            )
        if use_tpu:
            _refuse_tpus(train_batch_size, eval_batch_size, predict_batch_size)
        if embedding_config_spec and embedding_config_spec.partition_strategy == "mod":
            raise ValueError("Mod sharding of embedding tables not supported on CPU.")
        if not isinstance(export_saved_model_api_version, ExportSavedModelApiVersion):
            raise ValueError(
                "export_saved_model_api_version should be of type "
                f"ExportSavedModelApiVersion; got {export_saved_model_api_version}."
            )
        if model_fn is None:
            raise ValueError("model_fn must be provided to Estimator.")
        verify_model_fn_args(model_fn, params)
        self._batch_sizes = {
            ModeKeys.TRAIN: train_batch_size,
            ModeKeys.EVAL: eval_batch_size,
            ModeKeys.PREDICT: predict_batch_size,
        }
        self._export_to_cpu = export_to_cpu
        self._export_to_tpu = export_to_tpu
        # Exporting calls the model's function without it.
        self._is_input_fn_invoked = False
        loop = loop_length(config.tpu_config.iterations_per_loop)
        self._speed_interval: dict[str, int | None] = {}
        if loop.unit == "seconds":
            self._speed_interval = {"every_n_steps": None, "every_n_secs": loop.value}
        elif config.log_step_count_steps is not None:
            steps = math.ceil(config.log_step_count_steps / loop.value)
            self._speed_interval = {"every_n_steps": steps}
        super().__init__(
            model_fn=self._with_batch_sizes(model_fn),
            model_dir=model_dir,
            config=config.replace(log_step_count_steps=None),
            params=params or {},
            warm_start_from=warm_start_from,
        )

    def _with_batch_sizes(self, model_fn: Callable[..., Any]) -> Callable[..., Any]:
        """A model's function that adds to `params`, and gives an `EstimatorSpec`."""

        def function(
            features: Any, labels: Any, mode: str, config: Any, params: Any
        ) -> Any:
            exporting = not self._is_input_fn_invoked
            self._is_input_fn_invoked = False
            program_log.info("Running %s on CPU", mode)
            names = argument_names(model_fn)
            if labels is not None and "labels" not in names:
                raise ValueError(
                    "model_fn does not take labels, but input_fn returns labels."
                )
            _check_takes_params("model_fn", model_fn)
            if not exporting:
                _add_batch_size(params, self._batch_sizes[mode])
            _add_item(params, "use_tpu", False)
            options = {
                "labels": labels,
                "mode": mode,
                "config": config,
                "params": params,
            }
            spec = model_fn(features=features, **chosen_arguments(model_fn, options))
            if isinstance(spec, DeviceIndependentSpec):
                spec = spec.as_estimator_spec()
            if isinstance(spec, EstimatorSpec) and self._speed_interval:
                hook = self._speed_hook(mode, config)
                spec = spec._replace(training_hooks=[*spec.training_hooks, hook])
            return spec

        return function

    def _speed_hook(self, mode: str, config: Any) -> ExamplesPerSecondHook:
        return ExamplesPerSecondHook(
            self._batch_sizes[mode],
            output_dir=self.model_dir if config.save_summary_steps else None,
            **self._speed_interval,
        )

    def _call_input_fn(
        self, input_fn: Callable[..., Any], mode: str, input_context: Any = None
    ) -> Any:
        _check_takes_params("input_fn", input_fn)
        tpu_config = self._config.tpu_config  # type: ignore[attr-defined]
        sliced = tpu_config.eval_training_input_configuration
        if mode != ModeKeys.TRAIN and sliced == InputPipelineConfig.SLICED:
            raise ValueError(
                "Invalid TPUConfig `eval_training_input_configuration` value. SLICED "
                "mode only works on use_tpu = True."
            )
        params = self.params
        _add_batch_size(params, self._batch_sizes[mode])
        options = {"mode": mode, "params": params, "config": self.config}
        self._is_input_fn_invoked = True
        with device("/device:CPU:0"):
            return input_fn(**chosen_arguments(input_fn, options))

    def _validate_features_in_predict_input(self, features: Any) -> None:
        """Nothing: as on TPUs, any input will do."""

    def _create_global_step(self, graph: Graph) -> Any:
        """The global step of a new graph: a resource variable."""
        if training_util.get_global_step(graph) is not None:
            raise ValueError('"global_step" already exists.')
        with graph.as_default() as default, default.name_scope(None):
            return get_variable(
                GraphKeys.GLOBAL_STEP,
                shape=[],
                dtype=dtypes.int64,
                initializer=Zeros(),
                trainable=False,
                use_resource=True,
                collections=[GraphKeys.GLOBAL_VARIABLES, GraphKeys.GLOBAL_STEP],
            )

    def _export_all_saved_models(
        self,
        export_dir_base: Any,
        input_receiver_fn_map: Mapping[str, Any],
        assets_extra: Mapping[str, Any] | None = None,
        as_text: bool = False,
        checkpoint_path: Any = None,
        strip_default_attrs: bool = True,
    ) -> bytes:
        if not self._export_to_cpu:
            if not self._export_to_tpu:
                raise ValueError("One of export_to_cpu and export_to_tpu must be true.")
            raise RuntimeError(
                "export_to_cpu is False: a graph for TPUs alone cannot be exported "
                "here. Set export_to_cpu=True."
            )
        if self._export_to_tpu:
            program_log.warning(
                "export_to_tpu is True, but no graph for TPUs can be made here: the "
                "export holds the graph for other devices alone."
            )
        return super()._export_all_saved_models(
            export_dir_base,
            input_receiver_fn_map,
            assets_extra=assets_extra,
            as_text=as_text,
            checkpoint_path=checkpoint_path,
            strip_default_attrs=strip_default_attrs,
        )


class ExamplesPerSecondHook(StepCounterHook):
    """Reports steps and examples per second."""

    def __init__(self, batch_size: int | None, **options: Any) -> None:
        """Makes the hook.

        Args:
          batch_size: examples of a step; None: they are not reported.
          **options: as of `tf.train.StepCounterHook`.
        """
        self._batch_size = batch_size
        super().__init__(**options)

    def _log_and_record(
        self, elapsed_steps: Any, elapsed_time: float, global_step: int
    ) -> None:
        super()._log_and_record(elapsed_steps, elapsed_time, global_step)
        if self._batch_size is None or not elapsed_time:
            return
        speed = self._batch_size * elapsed_steps / elapsed_time
        if self._summary_writer is not None:
            from tensorloom.protos.summary_pb2 import Summary

            value = Summary.Value(tag="examples/sec", simple_value=speed)
            self._summary_writer.add_summary(Summary(value=[value]), global_step)
        program_log.info("examples/sec: %g", speed)


def _refuse_tpus(train: Any, evaluation: Any, prediction: Any) -> None:
    """Says what is wrong with the batch sizes, or that there are no TPUs."""
    if train is None:
        raise ValueError("`train_batch_size` cannot be `None`")
    check_positive(train, "train_batch_size")
    if evaluation is not None:
        check_positive(evaluation, "eval_batch_size")
    if prediction is not None:
        check_positive(prediction, "predict_batch_size")
    raise RuntimeError(
        "TPUEstimator: tensorloom has no TPUs, and use_tpu is True. Pass "
        "use_tpu=False: the model then runs on this machine's GPU or CPU, with the "
        "same batch sizes."
    )


def _check_takes_params(kind: str, function: Callable[..., Any]) -> None:
    if "params" not in argument_names(function):
        raise ValueError(
            f"{kind} ({function}) does not include params argument, required by "
            "TPUEstimator to pass batch size as params['batch_size']"
        )


def _add_batch_size(params: Any, batch_size: int | None) -> None:
    if batch_size is not None:
        _add_item(params, _BATCH_SIZE, batch_size)


def _add_item(params: Any, key: str, value: Any) -> None:
    """Sets an item of a dict, or of `HParams`."""
    if not hasattr(params, "set_hparam"):
        params[key] = value
    elif key in params:
        params.set_hparam(key, value)
    else:
        params.add_hparam(key, value)
