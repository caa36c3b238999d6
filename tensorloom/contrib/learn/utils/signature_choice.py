"""The signatures of an exported model, by what it takes and what it gives."""

from __future__ import annotations

from typing import Any, Final

from tensorloom.contrib.learn.keys import PredictionKey, ProblemType
from tensorloom.contrib.learn.model_results import scores_of
from tensorloom.contrib.learn.utils.input_fn_utils import InputFnOps
from tensorloom.framework.types import dtypes
from tensorloom.saved_model import constants, signature_defs

DEFAULT_INPUT_ALTERNATIVE_KEY: Final = "default_input_alternative"
FEATURES_INPUT_ALTERNATIVE_KEY: Final = "features_input_alternative"
_FALLBACK_DEFAULT_OUTPUT_ALTERNATIVE_KEY: Final = "default_output_alternative"
_CLASS_PROBLEMS: Final = (ProblemType.CLASSIFICATION, ProblemType.LOGISTIC_REGRESSION)


def build_standardized_signature_def(
    input_tensors: dict[str, Any], output_tensors: dict[str, Any], problem_type: int
) -> Any:
    """The `SignatureDef`: for classification or regression if it can be so.

    Args:
      input_tensors: what a request feeds.
      output_tensors: what it gets.
      problem_type: a `ProblemType`.

    Raises:
      ValueError: there are no inputs or no outputs.
    """
    if not input_tensors:
        raise ValueError("input_tensors must be provided.")
    if not output_tensors:
        raise ValueError("output_tensors must be provided.")
    if _is_classification_problem(problem_type, input_tensors, output_tensors):
        (examples,) = input_tensors.values()
        classes = _get_classification_classes(output_tensors)
        scores = scores_of(output_tensors)
        if classes is None and scores is None:
            (only,) = output_tensors.values()
            is_text = only.dtype == dtypes.string
            classes, scores = (only, None) if is_text else (None, only)
        return signature_defs.classification_signature_def(examples, classes, scores)
    if _is_regression_problem(problem_type, input_tensors, output_tensors):
        (examples,) = input_tensors.values()
        (predictions,) = output_tensors.values()
        return signature_defs.regression_signature_def(examples, predictions)
    return signature_defs.predict_signature_def(input_tensors, output_tensors)


def _get_classification_classes(output_tensors: dict[str, Any]) -> Any:
    classes = output_tensors.get(PredictionKey.CLASSES)
    return None if classes is None or classes.dtype != dtypes.string else classes


def _is_classification_problem(
    problem_type: int, inputs: dict[str, Any], outputs: dict[str, Any]
) -> bool:
    given = (_get_classification_classes(outputs), scores_of(outputs))
    return (
        problem_type in _CLASS_PROBLEMS
        and len(inputs) == 1
        and (any(one is not None for one in given) or len(outputs) == 1)
    )


def _is_regression_problem(
    problem_type: int, inputs: dict[str, Any], outputs: dict[str, Any]
) -> bool:
    linear = problem_type == ProblemType.LINEAR_REGRESSION
    return linear and len(inputs) == 1 and len(outputs) == 1


def get_input_alternatives(input_ops: Any) -> tuple[dict[str, Any], Any]:
    """What can be fed, by a name, and the features.

    Args:
      input_ops: an `InputFnOps`, or (features, labels).

    Raises:
      ValueError: there are no features.
    """
    alternatives = {}
    if isinstance(input_ops, InputFnOps):
        features = input_ops.features
        alternatives[DEFAULT_INPUT_ALTERNATIVE_KEY] = input_ops.default_inputs
    else:
        features, _ = input_ops
    if not features:
        raise ValueError("Features must be defined.")
    return alternatives, features


def get_output_alternatives(
    model_fn_ops: Any, default_output_alternative_key: Any = None
) -> tuple[dict[Any, Any], Any]:
    """What a model can give, by a name, and the name of the default one.

    Args:
      model_fn_ops: a `ModelFnOps`.
      default_output_alternative_key: which one, where there are several.

    Raises:
      ValueError: it is not there, or needed and not given.
    """
    alternatives = model_fn_ops.output_alternatives
    key = default_output_alternative_key
    if not alternatives:
        if key:
            raise ValueError(
                f"Requested default_output_alternative: {key}, but available "
                "output_alternatives are: []"
            )
        outputs = model_fn_ops.predictions
        if not isinstance(outputs, dict):
            outputs = {PredictionKey.GENERIC: outputs}
        fallback = _FALLBACK_DEFAULT_OUTPUT_ALTERNATIVE_KEY
        return {fallback: (ProblemType.UNSPECIFIED, outputs)}, fallback
    if key:
        if key in alternatives:
            return alternatives, key
        raise ValueError(
            f"Requested default_output_alternative: {key}, but available "
            f"output_alternatives are: {sorted(alternatives)}"
        )
    if len(alternatives) == 1:
        return alternatives, next(iter(alternatives))
    raise ValueError(
        "Please specify a default_output_alternative.  Available output_alternatives "
        f"are: {sorted(alternatives)}"
    )


def build_all_signature_defs(
    input_alternatives: dict[str, Any],
    output_alternatives: dict[Any, Any],
    actual_default_output_alternative_key: Any,
) -> dict[str, Any]:
    """A signature of each input to each output, and the default one.

    Raises:
      ValueError: there is no default input.
    """
    signatures = {
        f"{input_key}:{output_key or 'None'}": build_standardized_signature_def(
            inputs, outputs, problem_type
        )
        for input_key, inputs in input_alternatives.items()
        for output_key, (problem_type, outputs) in output_alternatives.items()
    }
    inputs = input_alternatives.get(DEFAULT_INPUT_ALTERNATIVE_KEY)
    if not inputs:
        raise ValueError("A default input_alternative must be provided.")
    problem_type, outputs = output_alternatives[actual_default_output_alternative_key]
    signatures[constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY] = (
        build_standardized_signature_def(inputs, outputs, problem_type)
    )
    return signatures
