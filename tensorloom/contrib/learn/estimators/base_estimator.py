"""`tf.contrib.learn.BaseEstimator`: trains, evaluates and predicts in a directory."""

from __future__ import annotations

import copy
import tempfile
from typing import Any, Final

from tensorloom.client.program import program_log
from tensorloom.contrib.learn.estimators.evaluation_part import EvaluationPart
from tensorloom.contrib.learn.estimators.prediction_part import PredictionPart
from tensorloom.contrib.learn.estimators.training_part import TrainingPart
from tensorloom.contrib.learn.interfaces import Evaluable, Trainable
from tensorloom.contrib.learn.run_configuration import RunConfig
from tensorloom.contrib.learn.sklearn_names import BaseEstimator as Parameters
from tensorloom.contrib.learn.utils import export as exports
from tensorloom.framework.export import export
from tensorloom.train.checkpoints.checkpoint_utils import list_variables, load_variable
from tensorloom.train.device_setter import replica_device_setter

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
class BaseEstimator(
    Parameters,  # type: ignore[misc]
    TrainingPart,
    EvaluationPart,
    PredictionPart,
    Evaluable,
    Trainable,
):
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
        self._features_info = None
        self._labels_info = None
        self._graph = None

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
