"""Signatures of MetaGraphs that train or evaluate a model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from tensorloom.saved_model.signature_defs import build_signature_def
from tensorloom.saved_model.tensor_info import build_tensor_info

SUPERVISED_TRAIN_METHOD_NAME: Final = "tensorflow/supervised/training"
SUPERVISED_EVAL_METHOD_NAME: Final = "tensorflow/supervised/eval"


def supervised_train_signature_def(
    inputs: Mapping[str, Any],
    loss: Mapping[str, Any] | None,
    predictions: Mapping[str, Any] | None = None,
    metrics: Mapping[str, Any] | None = None,
) -> Any:
    """The signature of a training step.

    Raises:
      ValueError: there are no inputs.
    """
    return _signature(SUPERVISED_TRAIN_METHOD_NAME, inputs, loss, predictions, metrics)


def supervised_eval_signature_def(
    inputs: Mapping[str, Any],
    loss: Mapping[str, Any] | None,
    predictions: Mapping[str, Any] | None = None,
    metrics: Mapping[str, Any] | None = None,
) -> Any:
    """The signature of an evaluation step.

    Raises:
      ValueError: there are no inputs.
    """
    return _signature(SUPERVISED_EVAL_METHOD_NAME, inputs, loss, predictions, metrics)


def _signature(
    method: str, inputs: Mapping[str, Any], *outputs: Mapping[str, Any] | None
) -> Any:
    if not inputs:
        raise ValueError(f"{method} inputs cannot be None or empty.")
    return build_signature_def(
        {key: build_tensor_info(tensor) for key, tensor in inputs.items()},
        {
            key: build_tensor_info(tensor)
            for tensors in outputs
            for key, tensor in (tensors or {}).items()
        },
        method,
    )
