"""`tf.saved_model.*_signature_def`: what a SavedModel takes and gives."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from tensorloom.framework import errors
from tensorloom.framework.export import export
from tensorloom.framework.graph.tensor import Tensor
from tensorloom.framework.types import dtypes
from tensorloom.saved_model import constants
from tensorloom.saved_model.tensor_info import (
    build_tensor_info,
    build_tensor_info_from_op,
    element_from_tensor_info,
)

if TYPE_CHECKING:
    from tensorloom.framework.graph.operation import Operation

_STRING = dtypes.string.as_datatype_enum
_FLOAT = dtypes.float32.as_datatype_enum


@export(
    "saved_model.build_signature_def",
    "saved_model.signature_def_utils.build_signature_def",
)
def build_signature_def(
    inputs: Mapping[str, Any] | None = None,
    outputs: Mapping[str, Any] | None = None,
    method_name: str | None = None,
) -> Any:
    """A `SignatureDef` of `TensorInfo` messages by their keys."""
    from tensorloom.protos import meta_graph_pb2

    result = meta_graph_pb2.SignatureDef()
    for key in inputs or ():
        result.inputs[key].CopyFrom((inputs or {})[key])
    for key in outputs or ():
        result.outputs[key].CopyFrom((outputs or {})[key])
    if method_name is not None:
        result.method_name = method_name
    return result


def _examples_info(examples: Any, kind: str) -> Any:
    """The `TensorInfo` of serialized examples."""
    if examples is None:
        raise ValueError(f"{kind} examples cannot be None.")
    if not isinstance(examples, Tensor):
        raise ValueError(f"{kind} examples must be a string Tensor.")
    return _typed_info(examples, _STRING, f"{kind} examples must be a string Tensor.")


def _typed_info(tensor: Any, dtype: int, message: str) -> Any:
    info = build_tensor_info(tensor)
    if info.dtype != dtype:
        raise ValueError(message)
    return info


@export(
    "saved_model.regression_signature_def",
    "saved_model.signature_def_utils.regression_signature_def",
)
def regression_signature_def(examples: Any, predictions: Any) -> Any:
    """The signature of serialized `tf.Example`s to float predictions.

    Raises:
      ValueError: an argument is None or has another dtype.
    """
    inputs = {constants.REGRESS_INPUTS: _examples_info(examples, "Regression")}
    if predictions is None:
        raise ValueError("Regression predictions cannot be None.")
    info = _typed_info(predictions, _FLOAT, "Regression output must be a float Tensor.")
    outputs = {constants.REGRESS_OUTPUTS: info}
    return build_signature_def(inputs, outputs, constants.REGRESS_METHOD_NAME)


@export(
    "saved_model.classification_signature_def",
    "saved_model.signature_def_utils.classification_signature_def",
)
def classification_signature_def(examples: Any, classes: Any, scores: Any) -> Any:
    """The signature of serialized `tf.Example`s to class names, scores or both.

    Raises:
      ValueError: an argument is None or has another dtype.
    """
    info = _examples_info(examples, "Classification")
    if classes is None and scores is None:
        raise ValueError("Classification classes and scores cannot both be None.")
    outputs = {}
    if classes is not None:
        outputs[constants.CLASSIFY_OUTPUT_CLASSES] = _typed_info(
            classes, _STRING, "Classification classes must be a string Tensor."
        )
    if scores is not None:
        outputs[constants.CLASSIFY_OUTPUT_SCORES] = _typed_info(
            scores, _FLOAT, "Classification scores must be a float Tensor."
        )
    return build_signature_def(
        {constants.CLASSIFY_INPUTS: info}, outputs, constants.CLASSIFY_METHOD_NAME
    )


@export(
    "saved_model.predict_signature_def",
    "saved_model.signature_def_utils.predict_signature_def",
)
def predict_signature_def(inputs: Mapping[str, Any], outputs: Mapping[str, Any]) -> Any:
    """The signature of any tensors to any tensors, each by its key.

    Raises:
      ValueError: there are no inputs or no outputs.
    """
    if not inputs:
        raise ValueError("Prediction inputs cannot be None or empty.")
    if not outputs:
        raise ValueError("Prediction outputs cannot be None or empty.")
    return build_signature_def(
        {key: build_tensor_info(tensor) for key, tensor in inputs.items()},
        {key: build_tensor_info(tensor) for key, tensor in outputs.items()},
        constants.PREDICT_METHOD_NAME,
    )


@export(
    "saved_model.is_valid_signature",
    "saved_model.signature_def_utils.is_valid_signature",
)
def is_valid_signature(signature_def: Any) -> bool:
    """Whether TensorFlow Serving can serve a signature."""
    if signature_def is None:
        return False
    inputs = {key: info.dtype for key, info in signature_def.inputs.items()}
    outputs = {key: info.dtype for key, info in signature_def.outputs.items()}
    method = signature_def.method_name
    if method == constants.PREDICT_METHOD_NAME:
        return bool(inputs and outputs)
    if method == constants.REGRESS_METHOD_NAME:
        return inputs == {constants.REGRESS_INPUTS: _STRING} and outputs == {
            constants.REGRESS_OUTPUTS: _FLOAT
        }
    allowed = {
        constants.CLASSIFY_OUTPUT_CLASSES: _STRING,
        constants.CLASSIFY_OUTPUT_SCORES: _FLOAT,
    }
    return (
        method == constants.CLASSIFY_METHOD_NAME
        and inputs == {constants.CLASSIFY_INPUTS: _STRING}
        and bool(outputs)
        and outputs.items() <= allowed.items()
    )


def op_signature_def(op: Operation, key: str) -> Any:
    """A signature without inputs whose one output, under `key`, is an operation."""
    return build_signature_def(outputs={key: build_tensor_info_from_op(op)})


def load_op_from_signature_def(
    signature_def: Any, key: str, import_scope: str | None = None
) -> Any:
    """The operation or tensor that is the one output of a signature.

    Raises:
      errors.NotFoundError: the default graph does not have it.
    """
    try:
        return element_from_tensor_info(signature_def.outputs[key], import_scope)
    except (KeyError, ValueError):
        raise errors.NotFoundError(
            None,
            None,
            f"The operation {signature_def.outputs[key].name!r} of the signature "
            f"{key!r} is not in the graph. That key is reserved: a signature of the "
            "public API must not have it.",
        ) from None
