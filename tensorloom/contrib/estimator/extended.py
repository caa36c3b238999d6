"""What extends Estimators and optimizers, and the exports of all modes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tensorloom.estimator.canned.dnn_logits import dnn_logit_fn_builder
from tensorloom.estimator.canned.linear_logits import linear_logit_fn_builder
from tensorloom.estimator.estimator import Estimator
from tensorloom.estimator.export.outputs import PredictOutput
from tensorloom.estimator.export.receiver_fns import (
    build_raw_supervised_input_receiver_fn,
    build_supervised_input_receiver_fn_from_input_fn,
)
from tensorloom.estimator.extenders import add_metrics
from tensorloom.estimator.logit_functions import call_logit_fn
from tensorloom.estimator.mode_keys import ModeKeys
from tensorloom.framework.export import export, export_value
from tensorloom.framework.graph.graph import Tensor
from tensorloom.framework.types.sparse_tensor import SparseTensor
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.ops.math.clip import clip_by_global_norm
from tensorloom.ops.sparse.sparse_builders import sparse_tensor_to_dense
from tensorloom.train.optimizers.optimizer import Optimizer

export_value(add_metrics, "contrib.estimator.add_metrics")
export_value(call_logit_fn, "contrib.estimator.call_logit_fn")
export_value(dnn_logit_fn_builder, "contrib.estimator.dnn_logit_fn_builder")
export_value(linear_logit_fn_builder, "contrib.estimator.linear_logit_fn_builder")
export_value(
    build_raw_supervised_input_receiver_fn,
    "contrib.estimator.build_raw_supervised_input_receiver_fn",
)
export_value(
    build_supervised_input_receiver_fn_from_input_fn,
    "contrib.estimator.build_supervised_input_receiver_fn_from_input_fn",
)


class _ClippedGradients(Optimizer):
    """An optimizer whose gradients are clipped before they are applied."""

    def __init__(self, optimizer: Any, clip_norm: Any) -> None:
        super().__init__(use_locking=False, name=f"ClipByNorm{optimizer.get_name()}")
        self._optimizer = optimizer
        self._clip_norm = clip_norm

    def compute_gradients(self, *args: Any, **kwargs: Any) -> Any:
        """The optimizer's."""
        return self._optimizer.compute_gradients(*args, **kwargs)

    def apply_gradients(
        self, grads_and_vars: Any, global_step: Any = None, name: str | None = None
    ) -> Any:
        """Applies the gradients, clipped together."""
        gradients, variables = zip(*grads_and_vars, strict=True)
        clipped, _ = clip_by_global_norm(gradients, self._clip_norm)
        pairs = list(zip(clipped, variables, strict=True))
        return self._optimizer.apply_gradients(pairs, global_step, name)

    def get_slot(self, *args: Any, **kwargs: Any) -> Any:
        """The optimizer's."""
        return self._optimizer.get_slot(*args, **kwargs)

    def get_slot_names(self, *args: Any, **kwargs: Any) -> Any:
        """The optimizer's."""
        return self._optimizer.get_slot_names(*args, **kwargs)


@export("contrib.estimator.clip_gradients_by_norm")
def clip_gradients_by_norm(optimizer: Any, clip_norm: Any) -> Optimizer:
    """An optimizer whose gradients have at most a norm, all together.

    Args:
      optimizer: a `tf.train.Optimizer`.
      clip_norm: the largest norm.
    """
    return _ClippedGradients(optimizer, clip_norm)


@export("contrib.estimator.forward_features")
def forward_features(
    estimator: Estimator,
    keys: Any = None,
    sparse_default_values: Mapping[str, Any] | None = None,
) -> Estimator:
    """A model whose predictions have some of the features, too; in exports as well.

    Args:
      estimator: the model; the new one has its directory.
      keys: names of features, or one; all if None.
      sparse_default_values: what is put in the empty places of sparse features, by
        their names.

    Raises:
      TypeError: `keys` are no strings.
    """
    if isinstance(keys, str):
        keys = [keys]
    elif keys is not None and not isinstance(keys, list | tuple):
        raise TypeError(
            f"keys should be either a string or a list of strings. Given: {type(keys)}"
        )
    for key in keys or ():
        if not isinstance(key, str):
            raise TypeError(
                "All items in the given keys list should be a string. There exist an "
                f"item with type: {type(key)}"
            )

    def new_model_fn(features: Any, labels: Any, mode: str, config: Any) -> Any:
        spec = estimator.model_fn(features, labels, mode, config)
        if spec.predictions is None:
            return spec
        chosen = list(features) if keys is None else keys
        _check_keys(chosen, features, spec.predictions)
        added = {
            key: _dense(key, features[key], sparse_default_values) for key in chosen
        }
        spec = spec._replace(predictions={**spec.predictions, **added})
        for name in ("predict", "serving_default"):
            output = (spec.export_outputs or {}).get(name)
            if isinstance(output, PredictOutput):
                output.outputs.update(added)
        return spec

    return Estimator(
        model_fn=new_model_fn, model_dir=estimator.model_dir, config=estimator.config
    )


def _check_keys(keys: Sequence[str], features: Any, predictions: Any) -> None:
    if not isinstance(predictions, dict):
        raise ValueError(
            "Predictions should be a dict to be able to forward features. Given: "
            f"{type(predictions)}"
        )
    for key in keys:
        if key not in features:
            raise ValueError(
                f'keys should be exist in features. Key "{key}" is not in features '
                f"dict. features dict has following keys: {list(features)}. Please "
                "check arguments of forward_features."
            )
        if key in predictions:
            raise ValueError(
                f"Cannot forward feature key ({key}). Since it does exist in "
                f"predictions. Existing prediction keys: {list(predictions)}. Please "
                "check arguments of forward_features."
            )


def _dense(key: str, feature: Any, defaults: Mapping[str, Any] | None) -> Any:
    if not isinstance(feature, SparseTensor):
        feature = convert_to_tensor(feature)
    if defaults and key in defaults:
        if not isinstance(feature, SparseTensor):
            raise ValueError(f"Feature ({key}) is expected to be a `SparseTensor`.")
        return sparse_tensor_to_dense(feature, default_value=defaults[key])
    if not isinstance(feature, Tensor):
        raise ValueError(
            f"Feature ({key}) should be a Tensor. Please use `keys` argument of "
            "forward_features to filter unwanted features, or add key to argument "
            f"`sparse_default_values`. Type of features[{key}] is {type(feature)}."
        )
    return feature


@export("contrib.estimator.export_saved_model_for_mode")
def export_saved_model_for_mode(
    estimator: Estimator,
    export_dir_base: str,
    input_receiver_fn: Any,
    assets_extra: Mapping[str, str] | None = None,
    as_text: bool = False,
    checkpoint_path: str | None = None,
    mode: str = ModeKeys.PREDICT,
) -> Any:
    """`estimator.export_saved_model` of one mode. Returns the new folder."""
    return estimator.export_saved_model(
        export_dir_base,
        input_receiver_fn,
        assets_extra=assets_extra,
        as_text=as_text,
        checkpoint_path=checkpoint_path,
        experimental_mode=mode,
    )


@export("contrib.estimator.export_all_saved_models")
def export_all_saved_models(
    estimator: Estimator,
    export_dir_base: str,
    input_receiver_fn_map: Mapping[str, Any],
    assets_extra: Mapping[str, str] | None = None,
    as_text: bool = False,
    checkpoint_path: str | None = None,
) -> Any:
    """`estimator.experimental_export_all_saved_models`. Returns the new folder."""
    return estimator.experimental_export_all_saved_models(
        export_dir_base,
        input_receiver_fn_map,
        assets_extra=assets_extra,
        as_text=as_text,
        checkpoint_path=checkpoint_path,
    )
