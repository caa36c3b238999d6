"""An Estimator whose model is what a SavedModel holds."""

from __future__ import annotations

from typing import Any

from tensorloom.estimator.estimator import Estimator
from tensorloom.estimator.export.modes import EXPORT_TAG_MAP, SIGNATURE_KEY_MAP
from tensorloom.estimator.export.receivers import wrap_and_check_input_tensors
from tensorloom.estimator.mode_keys import ModeKeys
from tensorloom.estimator.spec import EstimatorSpec
from tensorloom.estimator.warm_start import WarmStartSettings
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import (
    get_collection,
    get_collection_ref,
    get_default_graph,
)
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_shape import TensorShape
from tensorloom.saved_model import constants
from tensorloom.saved_model.export_directory import variables_path
from tensorloom.saved_model.loader import SavedModelLoader, get_init_op
from tensorloom.saved_model.supervised_signatures import (
    SUPERVISED_EVAL_METHOD_NAME,
    SUPERVISED_TRAIN_METHOD_NAME,
)
from tensorloom.train import training_util
from tensorloom.train.checkpoints.checkpoint_utils import list_variables
from tensorloom.train.sessions.scaffold import Scaffold

_METHODS = {
    ModeKeys.TRAIN: SUPERVISED_TRAIN_METHOD_NAME,
    ModeKeys.EVAL: SUPERVISED_EVAL_METHOD_NAME,
}
_VALUE, _UPDATE = "/value", "/update_op"
_LEFT_EMPTY = (
    constants.ASSETS_KEY,
    constants.LEGACY_INIT_OP_KEY,
    constants.MAIN_OP_KEY,
    constants.TRAIN_OP_KEY,
)


@export("contrib.estimator.SavedModelEstimator")
class SavedModelEstimator(Estimator):
    """Trains, evaluates and predicts with the graphs of a SavedModel.

    It starts with the SavedModel's variables. What it can do is what was exported:
    `Estimator.export_saved_model` for predictions,
    `experimental_export_all_saved_models` for all modes.
    """

    def __init__(self, saved_model_dir: str, model_dir: Any = None) -> None:
        """Makes an Estimator.

        Args:
          saved_model_dir: the SavedModel.
          model_dir: the directory of new checkpoints; a temporary one when None.

        Raises:
          OSError: there is no SavedModel.
        """
        self.saved_model_loader = SavedModelLoader(saved_model_dir)
        checkpoint = variables_path(saved_model_dir)
        names = [name for name, _ in list_variables(checkpoint)]
        super().__init__(
            self._model_fn_from_saved_model,
            model_dir,
            warm_start_from=WarmStartSettings(checkpoint, names),
        )
        self.saved_model_dir = saved_model_dir

    def _create_and_assert_global_step(self, graph: Any) -> None:
        """The SavedModel brings its own."""

    def _meta_graph(self, mode: str) -> Any:
        """The MetaGraph of a mode. Raises RuntimeError when it was not exported."""
        tags = EXPORT_TAG_MAP[mode]
        try:
            found = self.saved_model_loader.get_meta_graph_def_from_tags(tags)
        except RuntimeError as error:
            raise _unavailable(mode) from error
        if SIGNATURE_KEY_MAP[mode] not in found.signature_def:
            raise _unavailable(mode)
        return found

    def _model_fn_from_saved_model(
        self, features: Any, labels: Any, mode: str
    ) -> EstimatorSpec:
        meta_graph = self._meta_graph(mode)
        graph = get_default_graph()
        if training_util.get_global_step(graph) is not None:
            raise RuntimeError(
                "Graph must not contain a global step tensor before the SavedModel is "
                "loaded. Please make sure that the input function does not create a "
                "global step."
            )
        signature = meta_graph.signature_def[SIGNATURE_KEY_MAP[mode]]
        if mode in _METHODS and signature.method_name != _METHODS[mode]:
            raise RuntimeError(
                f"Invalid SignatureDef method name for mode {mode}.\n\tExpected: "
                f"{_METHODS[mode]}\n\tGot: {signature.method_name}\nPlease ensure that "
                "the SavedModel was exported with "
                "`tf.estimator.experimental_export_all_saved_models()`."
            )
        keys = sorted(signature.outputs)
        _, tensors = self.saved_model_loader.load_graph(
            graph,
            EXPORT_TAG_MAP[mode],
            input_map=_input_map(signature, features, labels),
            return_elements=[signature.outputs[key].name for key in keys],
        )
        outputs = dict(zip(keys, tensors, strict=True))
        step = training_util.get_global_step(graph)
        training_util.assert_global_step(step)
        scaffold = Scaffold(local_init_op=get_init_op(meta_graph))
        train_ops = get_collection(constants.TRAIN_OP_KEY)
        if len(train_ops) > 1:
            raise RuntimeError("Multiple ops found in the train_op collection.")
        for key in _LEFT_EMPTY:
            del get_collection_ref(key)[:]
        if mode == ModeKeys.PREDICT:
            return EstimatorSpec(mode, predictions=outputs, scaffold=scaffold)
        return EstimatorSpec(
            mode,
            scaffold=scaffold,
            loss=outputs["loss"],
            train_op=train_ops[0] if train_ops else None,
            predictions={
                key: value
                for key, value in outputs.items()
                if key.split("/")[0] == "predictions"
            },
            eval_metric_ops=_metrics(outputs),
        )


def _unavailable(mode: str) -> RuntimeError:
    return RuntimeError(
        f"{mode} mode is not available in the SavedModel. Use saved_model_cli to check "
        "that the Metagraph for this mode has been exported."
    )


def _input_map(signature: Any, features: Any, labels: Any) -> dict[str, Any]:
    """What stands in place of the SavedModel's placeholders, by their names."""
    given = dict(wrap_and_check_input_tensors(features, "feature"))
    if labels is not None:
        given = {**wrap_and_check_input_tensors(labels, "label"), **given}
    found = {}
    for key, info in signature.inputs.items():
        if key not in given:
            raise ValueError(
                f'Key "{key}" not found in features or labels passed in to the model '
                f"function. All required keys: {sorted(signature.inputs)}"
            )
        _check_input(given[key], info, key)
        name = info.name.split(":")[0]
        found[name] = found[f"^{name}"] = given[key]
    return found


def _check_input(tensor: Any, info: Any, key: str) -> None:
    wanted, shape = dtypes.as_dtype(info.dtype), TensorShape(info.tensor_shape)
    if tensor.dtype != wanted or not tensor.shape.is_compatible_with(shape):
        raise ValueError(
            f"Tensor shape and/or dtype validation failed for input {key}:\n\t"
            f"Expected dtype: {wanted!r}, Got: {tensor.dtype!r}\n\t"
            f"Expected shape: {shape}, Got: {tensor.shape}"
        )


def _metrics(outputs: dict[str, Any]) -> dict[str, Any]:
    """(value, update) of each metric among the outputs."""
    names = [key.removesuffix(_VALUE) for key in outputs if key.endswith(_VALUE)]
    return {
        name: (outputs[name + _VALUE], outputs[name + _UPDATE])
        for name in names
        if name.split("/")[0] == "metrics" and name + _UPDATE in outputs
    }
