"""`tf.estimator.export.*Output`: what a model gives, and the signature that says so."""

from __future__ import annotations

import abc
from collections.abc import Mapping
from typing import Any, Final

from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Tensor
from tensorloom.framework.types import dtypes
from tensorloom.saved_model import signature_defs


@export("estimator.export.ExportOutput")
class ExportOutput(abc.ABC):
    """What a model gives to those who call it, and how the signature says it."""

    _SEPARATOR_CHAR: Final = "/"

    @abc.abstractmethod
    def as_signature_def(self, receiver_tensors: Mapping[str, Any]) -> Any:
        """The `SignatureDef` of a call with these inputs.

        Raises:
          ValueError: this output cannot be served from those inputs.
        """

    def _check_output_key(self, key: Any, error_label: str) -> str:
        """A key as text; tuples are joined.

        Raises:
          ValueError: it is no text.
        """
        if isinstance(key, tuple):
            key = self._SEPARATOR_CHAR.join(key)
        if not isinstance(key, str):
            raise ValueError(f"{error_label} output key must be a string; got {key}.")
        return key

    def _wrap_and_check_outputs(
        self,
        outputs: Any,
        single_output_default_name: str,
        error_label: str | None = None,
    ) -> dict[str, Any]:
        """A dict of tensors; a lone tensor gets the default name.

        Raises:
          ValueError: a key is no text, or a value no tensor.
        """
        if not isinstance(outputs, dict):
            outputs = {single_output_default_name: outputs}
        label = error_label or single_output_default_name
        checked = {}
        for key, value in outputs.items():
            key = self._check_output_key(key, label)
            if not isinstance(value, Tensor):
                raise ValueError(
                    f"{label} output value must be a Tensor; got {value} for '{key}'."
                )
            checked[key] = value
        return checked


@export("estimator.export.ClassificationOutput")
class ClassificationOutput(ExportOutput):
    """What a classifier gives: a score for each class, the classes' names, or both."""

    def __init__(self, scores: Any = None, classes: Any = None) -> None:
        """Makes the output.

        Args:
          scores: floats, of shape `[batch, classes]`.
          classes: strings, of the same shape.

        Raises:
          ValueError: neither is given, or one has another dtype.
        """
        if scores is not None and not (
            isinstance(scores, Tensor) and scores.dtype.is_floating
        ):
            raise ValueError(
                f"Classification scores must be a float32 Tensor; got {scores}"
            )
        if classes is not None and not (
            isinstance(classes, Tensor) and classes.dtype.base_dtype == dtypes.string
        ):
            raise ValueError(
                f"Classification classes must be a string Tensor; got {classes}"
            )
        if scores is None and classes is None:
            raise ValueError("At least one of scores and classes must be set.")
        self._scores = scores
        self._classes = classes

    @property
    def scores(self) -> Any:
        """A score for each class, or None."""
        return self._scores

    @property
    def classes(self) -> Any:
        """The names of the classes, or None."""
        return self._classes

    def as_signature_def(self, receiver_tensors: Mapping[str, Any]) -> Any:
        """The signature `classify`: the input is one tensor of serialized Examples."""
        examples = _only_examples(receiver_tensors, "Classification")
        return signature_defs.classification_signature_def(
            examples, self.classes, self.scores
        )


@export("estimator.export.RegressionOutput")
class RegressionOutput(ExportOutput):
    """What a regression gives: a number for each example."""

    def __init__(self, value: Any) -> None:
        """Makes the output of a float tensor.

        Raises:
          ValueError: it is something else.
        """
        if not (isinstance(value, Tensor) and value.dtype.is_floating):
            raise ValueError(
                f"Regression output value must be a float32 Tensor; got {value}"
            )
        self._value = value

    @property
    def value(self) -> Any:
        """The predicted numbers."""
        return self._value

    def as_signature_def(self, receiver_tensors: Mapping[str, Any]) -> Any:
        """The signature `regress`: the input is one tensor of serialized Examples."""
        examples = _only_examples(receiver_tensors, "Regression")
        return signature_defs.regression_signature_def(examples, self.value)


@export("estimator.export.PredictOutput")
class PredictOutput(ExportOutput):
    """Any tensors, by their keys."""

    _SINGLE_OUTPUT_DEFAULT_NAME: Final = "output"

    def __init__(self, outputs: Any) -> None:
        """Makes the output of a tensor or of a dict of them.

        Raises:
          ValueError: a key is no text, or a value no tensor.
        """
        self._outputs = self._wrap_and_check_outputs(
            outputs, self._SINGLE_OUTPUT_DEFAULT_NAME, error_label="Prediction"
        )

    @property
    def outputs(self) -> dict[str, Any]:
        """The tensors by their keys."""
        return self._outputs

    def as_signature_def(self, receiver_tensors: Mapping[str, Any]) -> Any:
        """The signature `predict`."""
        return signature_defs.predict_signature_def(receiver_tensors, self.outputs)


def _only_examples(receiver_tensors: Mapping[str, Any], kind: str) -> Any:
    """The one string tensor that a model is called with."""
    tensors = list(receiver_tensors.values())
    if len(tensors) != 1 or tensors[0].dtype.base_dtype != dtypes.string:
        raise ValueError(
            f"{kind} input must be a single string Tensor; got {receiver_tensors}"
        )
    return tensors[0]
