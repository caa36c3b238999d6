"""The signatures of an exported model: each output from each way to feed the model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from tensorloom.client.program import program_log
from tensorloom.estimator.export.modes import DEFAULT_KEY
from tensorloom.estimator.export.receivers import SINGLE_RECEIVER_DEFAULT_NAME
from tensorloom.saved_model import constants, supervised_signatures
from tensorloom.saved_model.signature_defs import is_valid_signature

_METHODS: Final = {
    constants.CLASSIFY_METHOD_NAME: "Classify",
    constants.REGRESS_METHOD_NAME: "Regress",
    constants.PREDICT_METHOD_NAME: "Predict",
    supervised_signatures.SUPERVISED_TRAIN_METHOD_NAME: "Train",
    supervised_signatures.SUPERVISED_EVAL_METHOD_NAME: "Eval",
}


def build_all_signature_defs(
    receiver_tensors: Any,
    export_outputs: dict[str, Any],
    receiver_tensors_alternatives: Mapping[str, Any] | None = None,
    serving_only: bool = True,
) -> dict[str, Any]:
    """The `SignatureDef`s of a MetaGraph by their keys.

    Args:
      receiver_tensors: what a caller feeds: a tensor, or tensors by their keys.
      export_outputs: `ExportOutput`s by the keys of their signatures.
      receiver_tensors_alternatives: other ways to feed the model, by their names; their
        signatures are called `NAME:KEY`.
      serving_only: leave out what TensorFlow Serving cannot serve.

    Raises:
      ValueError: `export_outputs` is no dict.
    """
    if not isinstance(export_outputs, dict):
        raise ValueError(
            f"export_outputs must be a dict and not {type(export_outputs)}"
        )
    made: dict[str, Any] = {}
    excluded: dict[str, str] = {}
    ways = {"": receiver_tensors}
    for name, tensors in (receiver_tensors_alternatives or {}).items():
        ways[f"{name or 'None'}:"] = tensors
    for prefix, tensors in ways.items():
        if not isinstance(tensors, dict):
            tensors = {SINGLE_RECEIVER_DEFAULT_NAME: tensors}
        for key, output in export_outputs.items():
            name = f"{prefix}{key or 'None'}"
            try:
                made[name] = output.as_signature_def(tensors)
            except ValueError as error:
                excluded[name] = str(error)
    _log_report(made, excluded)
    if serving_only:
        made = {key: value for key, value in made.items() if is_valid_signature(value)}
    return made


def _log_report(made: Mapping[str, Any], excluded: Mapping[str, str]) -> None:
    by_method: dict[str, list[str]] = {method: [] for method in _METHODS}
    for name, signature in made.items():
        by_method.setdefault(signature.method_name, []).append(name)
    for method, names in by_method.items():
        program_log.info(
            "Signatures INCLUDED in export for %s: %s",
            _METHODS.get(method, method),
            names or "None",
        )
    if excluded:
        program_log.info(
            "Signatures EXCLUDED from export because they cannot be be served via "
            "TensorFlow Serving APIs:"
        )
        for name, problem in excluded.items():
            program_log.info("'%s' : %s", name, problem)
    if not made:
        program_log.warning("Export includes no signatures!")
    elif DEFAULT_KEY not in made:
        program_log.warning("Export includes no default signature!")
