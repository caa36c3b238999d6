"""From an EstimatorSpec of `tf.estimator` to what `tf.contrib.learn` takes."""

from __future__ import annotations

from typing import Any

from tensorloom.contrib.learn.keys import ModeKeys, PredictionKey, ProblemType
from tensorloom.contrib.learn.model_results import ModelFnOps
from tensorloom.estimator.export.outputs import ClassificationOutput
from tensorloom.estimator.mode_keys import ModeKeys as CoreModeKeys

_MODES = {
    CoreModeKeys.TRAIN: ModeKeys.TRAIN,
    CoreModeKeys.EVAL: ModeKeys.EVAL,
    CoreModeKeys.PREDICT: ModeKeys.INFER,
}


def _alternatives(export_outputs: Any) -> dict[Any, Any] | None:
    """What can be served, of classes alone."""
    if export_outputs is None:
        return None
    return {
        key: (
            ProblemType.CLASSIFICATION,
            {
                PredictionKey.SCORES: output.scores,
                PredictionKey.CLASSES: output.classes,
            },
        )
        for key, output in export_outputs.items()
        if isinstance(output, ClassificationOutput)
    }


def estimator_spec_to_model_fn_ops(
    estimator_spec: Any, export_alternatives: bool = False
) -> ModelFnOps:
    """A ModelFnOps with the parts of an EstimatorSpec.

    Args:
      estimator_spec: of a head of `tf.estimator`.
      export_alternatives: whether its outputs can be served under their names.
    """
    alternatives: Any = []
    if export_alternatives:
        alternatives = _alternatives(estimator_spec.export_outputs)
    return ModelFnOps(
        mode=_MODES[estimator_spec.mode],
        predictions=estimator_spec.predictions,
        loss=estimator_spec.loss,
        train_op=estimator_spec.train_op,
        eval_metric_ops=estimator_spec.eval_metric_ops,
        output_alternatives=alternatives,
    )
