"""How a mode is called in a SavedModel: its tag, the key of its signature."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from tensorloom.estimator.export.outputs import ExportOutput, PredictOutput
from tensorloom.estimator.export.supervised_outputs import EvalOutput, TrainOutput
from tensorloom.estimator.mode_keys import KerasModeKeys, ModeKeyMap, ModeKeys
from tensorloom.saved_model import constants

DEFAULT_KEY: Final = constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY

# The tags of a mode's MetaGraph.
EXPORT_TAG_MAP: Final = ModeKeyMap(
    infer=[constants.SERVING], train=[constants.TRAINING], eval=["eval"]
)
# The key of a mode's signature.
SIGNATURE_KEY_MAP: Final = ModeKeyMap(infer=DEFAULT_KEY, train="train", eval="eval")


def export_outputs_for_mode(
    mode: str,
    serving_export_outputs: dict[str, Any] | None = None,
    predictions: Any = None,
    loss: Any = None,
    metrics: Any = None,
) -> dict[str, Any]:
    """What a MetaGraph of a mode gives, by the keys of its signatures.

    Args:
      mode: one of `ModeKeys`, or its name in Keras.
      serving_export_outputs: what a model says that it gives, in prediction.
      predictions: tensors; the output where the model says nothing.
      loss: a tensor or a dict of them.
      metrics: pairs of value and update by name.

    Raises:
      ValueError: there is no such mode.
    """
    if mode in (ModeKeys.PREDICT, KerasModeKeys.PREDICT):
        return get_export_outputs(serving_export_outputs, predictions)
    key = SIGNATURE_KEY_MAP[mode]
    kind = TrainOutput if mode == ModeKeys.TRAIN else EvalOutput
    output = kind(loss=loss, predictions=predictions, metrics=metrics)
    return {key: output}


def get_export_outputs(
    export_outputs: dict[str, Any] | None, predictions: Any
) -> dict[str, Any]:
    """What a model gives in prediction, checked; its predictions where it says nothing.

    A single output is the default one, too.

    Raises:
      TypeError: they are no dict of `ExportOutput`s.
      ValueError: there are several, none of them the default.
    """
    if export_outputs is None:
        export_outputs = {DEFAULT_KEY: PredictOutput(predictions)}
    if not isinstance(export_outputs, dict):
        raise TypeError(f"export_outputs must be dict, given: {export_outputs}")
    _check_kinds(export_outputs)
    if len(export_outputs) == 1:
        export_outputs[DEFAULT_KEY] = next(iter(export_outputs.values()))
    elif export_outputs and DEFAULT_KEY not in export_outputs:
        raise ValueError(
            "Multiple export_outputs were provided, but none of them is specified as "
            "the default.  Do this by naming one of them with "
            "signature_constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY. Expected "
            f"'{DEFAULT_KEY}' among {sorted(export_outputs)}."
        )
    return export_outputs


def _check_kinds(export_outputs: Mapping[str, Any]) -> None:
    for key, value in export_outputs.items():
        if not isinstance(value, ExportOutput):
            raise TypeError(
                "Values in export_outputs must be ExportOutput objects. Given: "
                f"{export_outputs}. That of '{key}' is another one."
            )
