"""The calls for `tf.Example`s: Classify, Regress, and both at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tensorloom.framework import errors
from tensorloom.framework.types import dtypes
from tensorloom.serving.calls.predict import fill_model_spec
from tensorloom.serving.calls.step import run_step
from tensorloom.serving.calls.tensor_values import type_name
from tensorloom.serving.manager import signature as signatures

if TYPE_CHECKING:
    from tensorloom.serving.calls.limits import CallLimits
    from tensorloom.serving.manager.servable import Servable
    from tensorloom.serving.manager.signature import Signature, Slot

_INPUTS: Final = "inputs"
_CLASSES, _SCORES, _REGRESSIONS = "classes", "scores", "outputs"


def serialized_examples(message: Any) -> np.ndarray[Any, Any]:
    """The examples of an `Input`, serialized, with its context in each: [count].

    Raises:
      errors.InvalidArgumentError: there are none.
    """
    kind = message.WhichOneof("kind")
    found: list[bytes] = []
    if kind == "example_list":
        found = [e.SerializeToString() for e in message.example_list.examples]
    elif kind == "example_list_with_context":
        together = message.example_list_with_context
        # A later feature of the same name counts: merged messages are appended ones.
        context = together.context.SerializeToString()
        found = [context + e.SerializeToString() for e in together.examples]
    if not found:
        raise errors.InvalidArgumentError(None, None, "Input is empty.")
    array = np.empty(len(found), dtype=object)
    array[:] = found
    return array


@dataclass(frozen=True, slots=True)
class Head:
    """What one call asks of a signature."""

    signature: Signature
    input: str
    #: The output slots, by what they are.
    outputs: dict[str, Slot]
    #: (this head, values by output, number of examples, result message)
    fill: Callable[[Head, dict[str, Any], int, Any], None]

    def fill_result(self, values: dict[str, Any], count: int, result: Any) -> None:
        """Fills a result from fetched values by tensor name."""
        found = {key: values[slot.tensor] for key, slot in self.outputs.items()}
        self.fill(self, found, count, result)


def classify(servable: Servable, request: Any, limits: CallLimits) -> Any:
    """The `ClassificationResponse` to a `ClassificationRequest`.

    Raises:
      errors.InvalidArgumentError: the signature is no classifier, or there are no
        examples.
      errors.OpError: the step failed.
    """
    from tensorloom.protos.serving.classification_pb2 import ClassificationResponse

    found = _found(servable, request.model_spec.signature_name)
    head = _classifier(found, servable.checks_methods)
    return _call(servable, request, head, ClassificationResponse(), limits)


def regress(servable: Servable, request: Any, limits: CallLimits) -> Any:
    """The `RegressionResponse` to a `RegressionRequest`; raises as `classify`."""
    from tensorloom.protos.serving.regression_pb2 import RegressionResponse

    found = _found(servable, request.model_spec.signature_name)
    head = _regressor(found, servable.checks_methods)
    return _call(servable, request, head, RegressionResponse(), limits)


def _call(
    servable: Servable, request: Any, head: Head, response: Any, limits: CallLimits
) -> Any:
    examples = serialized_examples(request.input)
    values = _run(servable, [head], examples, limits)
    spec = request.model_spec
    fill_model_spec(response.model_spec, spec.name, spec.signature_name, servable)
    response.result.SetInParent()
    head.fill_result(values, len(examples), response.result)
    return response


def multi_inference(servable: Servable, request: Any, limits: CallLimits) -> Any:
    """The `MultiInferenceResponse`: all tasks in one step.

    Raises:
      errors.InvalidArgumentError, errors.UnimplementedError: a task is wrong.
      errors.OpError: the step failed.
    """
    from tensorloom.protos.serving.inference_pb2 import MultiInferenceResponse

    check_tasks(request)
    heads: list[Head] = []
    for task in request.tasks:
        key = task.model_spec.signature_name or signatures.DEFAULT_KEY
        if any(head.signature.key == key for head in heads):
            raise _invalid(f"Duplicate evaluation of signature: {key}")
        heads.append(_head_of_task(servable, key, task.method_name))
    if len({head.input for head in heads}) > 1:
        raise _invalid("Input tensor must be the same for all Signatures.")
    examples = serialized_examples(request.input)
    values = _run(servable, heads, examples, limits)
    response = MultiInferenceResponse()
    for task, head in zip(request.tasks, heads, strict=True):
        result = response.results.add()
        is_classifier = task.method_name == signatures.CLASSIFY_METHOD
        part = (
            result.classification_result if is_classifier else result.regression_result
        )
        part.SetInParent()
        head.fill_result(values, len(examples), part)
        spec = task.model_spec
        fill_model_spec(result.model_spec, spec.name, spec.signature_name, servable)
    return response


def check_tasks(request: Any) -> None:
    """Checks that the tasks of a `MultiInferenceRequest` name one model.

    Raises:
      errors.InvalidArgumentError: they do not.
    """
    if not request.tasks:
        raise _invalid("Inference request has no tasks.")
    names = [task.model_spec.name for task in request.tasks]
    if not all(names):
        raise _invalid("Found ModelSpec with an empty model name.")
    if len(set(names)) > 1:
        raise _invalid(
            "All ModelSpecs in a MultiInferenceRequest must access the same model name."
        )


def _head_of_task(servable: Servable, key: str, method: str) -> Head:
    signature = servable.signature(key)
    if signature is None:
        raise _invalid(f"Requested signature not found in model graph: {key}")
    if method == signatures.CLASSIFY_METHOD:
        return _classifier(signature, servable.checks_methods)
    if method == signatures.REGRESS_METHOD:
        return _regressor(signature, servable.checks_methods)
    raise errors.UnimplementedError(
        None, None, f"Unsupported signature method_name: {method}"
    )


def _run(
    servable: Servable, heads: Sequence[Head], examples: Any, limits: CallLimits
) -> dict[str, Any]:
    """The values of all heads' outputs, by tensor name."""
    fetches = list(
        dict.fromkeys(slot.tensor for head in heads for slot in head.outputs.values())
    )
    feeds = {heads[0].input: examples}
    values = run_step(servable, feeds, fetches, limits)
    return dict(zip(fetches, values, strict=True))


def _found(servable: Servable, key: str) -> Signature:
    found = servable.signature(key)
    if found is None:
        name = key or signatures.DEFAULT_KEY
        raise _invalid(f"No signature was found with the name: {name}")
    return found


# --- classification ------------------------------------------------------------------


def _classifier(signature: Signature, checks_method: bool) -> Head:
    if checks_method:
        _check_method(signature, signatures.CLASSIFY_METHOD, "classification")
    if len(signature.outputs) not in (1, 2):
        raise _invalid(
            f"Expected one or two output Tensors, found {len(signature.outputs)}"
        )
    slot = _input_of(signature, "classification")
    outputs = {
        key: signature.outputs[key]
        for key in (_CLASSES, _SCORES)
        if key in signature.outputs
    }
    if not outputs:
        raise _invalid(
            "Expected classification signature outputs to contain at least one of "
            f'"{_CLASSES}" or "{_SCORES}". Signature was: {signature.key}'
        )
    return Head(signature, slot.tensor, outputs, _fill_classes)


def _fill_classes(head: Head, values: dict[str, Any], count: int, result: Any) -> None:
    for key, wanted in ((_CLASSES, dtypes.string), (_SCORES, dtypes.float32)):
        if key in values:
            _check_matrix(head, key, values[key], count, wanted)
    classes: Any = values.get(_CLASSES)
    scores: Any = values.get(_SCORES)
    if len(values) == 2 and classes.shape[1] != scores.shape[1]:
        raise _invalid(
            "Tensors class and score should match in dim_size(1). Got "
            f"{classes.shape[1]} vs. {scores.shape[1]}"
        )
    columns = (classes if classes is not None else scores).shape[1]
    labels = None if classes is None else [[_text(v) for v in r] for r in classes]
    numbers = None if scores is None else scores.tolist()
    for row in range(count):
        filled = result.classifications.add()
        for column in range(columns):
            entry = filled.classes.add()
            if labels is not None:
                entry.label = labels[row][column]
            if numbers is not None:
                entry.score = numbers[row][column]


def _check_matrix(head: Head, key: str, value: Any, count: int, wanted: Any) -> None:
    if np.ndim(value) != 2:
        raise _invalid(
            "Expected Tensor shape: [batch_size num_classes] but got "
            f"{list(np.shape(value))}"
        )
    dtype = head.outputs[key].dtype
    if dtype is not wanted:
        raise _invalid(f"Expected {key} Tensor of {_enum(wanted)}. Got: {_enum(dtype)}")
    if value.shape[0] != count:
        raise _invalid(
            f"Expected {key} output batch size of {count}. Got: {value.shape[0]}"
        )


def _text(label: bytes) -> str:
    """A label; what is no UTF-8 cannot be sent as one.

    Raises:
      errors.InvalidArgumentError: it is not.
    """
    try:
        return label.decode()
    except UnicodeDecodeError:
        raise _invalid(f"The class label {label!r} is no UTF-8") from None


# --- regression ----------------------------------------------------------------------


def _regressor(signature: Signature, checks_method: bool) -> Head:
    if checks_method:
        _check_method(signature, signatures.REGRESS_METHOD, "regression")
    if len(signature.outputs) != 1:
        raise _invalid("Expected one output Tensor.")
    slot = _input_of(signature, "regression")
    output = signature.outputs.get(_REGRESSIONS)
    if output is None:
        raise _invalid(f"No regression outputs found in SignatureDef: {signature.key}")
    return Head(signature, slot.tensor, {_REGRESSIONS: output}, _fill_regressions)


def _fill_regressions(
    head: Head, values: dict[str, Any], count: int, result: Any
) -> None:
    value, dtype = values[_REGRESSIONS], head.outputs[_REGRESSIONS].dtype
    shape = np.shape(value)
    if not (len(shape) == 1 or (len(shape) == 2 and shape[1] == 1)):
        raise _invalid(
            "Expected output Tensor shape to be either [batch_size] or [batch_size, 1] "
            f"but got {list(shape)}"
        )
    if shape[0] != count:
        raise _invalid(
            f"Input batch size did not match output batch size: {count} vs. {shape[0]}"
        )
    if dtype is not dtypes.float32:
        raise _invalid(f"Expected output Tensor of DT_FLOAT.  Got: {_enum(dtype)}")
    for number in value.reshape(-1).tolist():
        result.regressions.add().value = number


# --- both ----------------------------------------------------------------------------


def _check_method(signature: Signature, method: str, what: str) -> None:
    if signature.method_name != method:
        raise _invalid(
            f"Expected {what} signature method_name to be {method}. Was: "
            f"{signature.method_name}"
        )


def _input_of(signature: Signature, what: str) -> Slot:
    if len(signature.inputs) != 1:
        raise _invalid("Expected one input Tensor.")
    slot = signature.inputs.get(_INPUTS)
    if slot is None:
        raise _invalid(f"No {what} inputs found in SignatureDef: {signature.key}")
    if slot.dtype is not dtypes.string:
        raise _invalid(
            f"Input '{_INPUTS}': Expects arg to be {type_name(slot.dtype)} but string "
            "is provided"
        )
    return slot


def _enum(dtype: Any) -> str:
    return "DT_" + type_name(dtype).upper()


def _invalid(message: str) -> errors.InvalidArgumentError:
    return errors.InvalidArgumentError(None, None, message)
