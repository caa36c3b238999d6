"""Exports models in the format that came before SavedModels."""

from __future__ import annotations

from typing import Any

from tensorloom.client.program import program_log
from tensorloom.client.session.session import Session
from tensorloom.client.variables.variable_lists import (
    global_variables,
    local_variables_initializer,
    tables_initializer,
)
from tensorloom.contrib.learn.utils import gc, session_bundle
from tensorloom.framework.export import export as public
from tensorloom.framework.graph.graph import (
    Graph,
    GraphKeys,
    add_to_collection,
    get_collection,
)
from tensorloom.framework.types import dtypes
from tensorloom.ops.array.placeholder import placeholder
from tensorloom.ops.control_flow.builders import group
from tensorloom.train import training_util
from tensorloom.train.checkpoints.checkpoint_management import latest_checkpoint
from tensorloom.train.checkpoints.saver import Saver

# From examples, features and predictions to the default signature and named ones.
Signatures = tuple[Any, dict[str, Any]]


def _needed(examples: Any) -> Any:
    if examples is None:
        raise ValueError("examples cannot be None when using this signature fn.")
    return examples


def _of(predictions: Any, key: str) -> Any:
    return predictions[key] if isinstance(predictions, dict) else predictions


def generic_signature_fn(
    examples: Any, unused_features: Any, predictions: Any
) -> Signatures:
    """The signature of serialized Examples to all predictions.

    Raises:
      ValueError: `examples` is None.
    """
    tensors = {"inputs": _needed(examples)}
    if not isinstance(predictions, dict):
        predictions = {"outputs": predictions}
    return session_bundle.generic_signature({**tensors, **predictions}), {}


def classification_signature_fn(
    examples: Any, unused_features: Any, predictions: Any
) -> Signatures:
    """The signature of serialized Examples to classes.

    Raises:
      ValueError: `examples` is None.
    """
    signature = session_bundle.classification_signature(
        _needed(examples), classes_tensor=_of(predictions, "classes")
    )
    return signature, {}


def classification_signature_fn_with_prob(
    examples: Any, unused_features: Any, predictions: Any
) -> Signatures:
    """The signature of serialized Examples to probabilities.

    Raises:
      ValueError: `examples` is None.
    """
    signature = session_bundle.classification_signature(
        _needed(examples), scores_tensor=_of(predictions, "probabilities")
    )
    return signature, {}


def regression_signature_fn(
    examples: Any, unused_features: Any, predictions: Any
) -> Signatures:
    """The signature of serialized Examples to numbers.

    Raises:
      ValueError: `examples` is None.
    """
    signature = session_bundle.regression_signature(
        input_tensor=_needed(examples), output_tensor=predictions
    )
    return signature, {}


def logistic_regression_signature_fn(
    examples: Any, unused_features: Any, predictions: Any
) -> Signatures:
    """The signature of serialized Examples to the probability of the second class.

    Raises:
      ValueError: `examples` is None.
    """
    _needed(examples)
    probabilities = _of(predictions, "probabilities")
    shape = probabilities.get_shape()
    if len(shape) != 2:
        program_log.fatal(
            "Expected predictions to have rank 2, but received predictions with rank: "
            "%s and shape: %s",
            len(shape),
            shape,
        )
    if shape[1] != 2:
        program_log.fatal(
            "Expected predictions to have 2nd dimension: 2, but received predictions "
            "with 2nd dimension: %s and shape: %s. Did you mean to use "
            "regression_signature_fn or classification_signature_fn_with_prob instead?",
            shape[1],
            shape,
        )
    signature = session_bundle.regression_signature(
        input_tensor=examples, output_tensor=probabilities[:, 1]
    )
    return signature, {}


def _default_input_fn(estimator: Any, examples: Any) -> Any:
    """The features that the model was trained with, parsed out of Examples."""
    return estimator._get_feature_ops_from_example(examples)


@public("contrib.learn.utils.export_estimator")
def export_estimator(
    estimator: Any,
    export_dir: Any,
    signature_fn: Any = None,
    input_fn: Any = _default_input_fn,
    default_batch_size: int | None = 1,
    exports_to_keep: int | None = None,
) -> None:
    """Exports the latest checkpoint of a model; as `BaseEstimator.export`."""
    _export_estimator(
        estimator=estimator,
        export_dir=export_dir,
        signature_fn=signature_fn,
        input_fn=input_fn,
        default_batch_size=default_batch_size,
        exports_to_keep=exports_to_keep,
    )


def _export_estimator(
    estimator: Any,
    export_dir: Any,
    signature_fn: Any,
    input_fn: Any,
    default_batch_size: int | None,
    exports_to_keep: int | None,
    input_feature_key: str | None = None,
    use_deprecated_input_fn: bool = True,
    prediction_key: str | None = None,
    checkpoint_path: Any = None,
) -> str:
    if not use_deprecated_input_fn and input_fn is None:
        raise ValueError("input_fn must be defined.")
    path = checkpoint_path or latest_checkpoint(estimator._model_dir)
    with Graph().as_default() as graph:
        training_util.create_global_step(graph)
        if use_deprecated_input_fn:
            examples = placeholder(
                dtype=dtypes.string,
                shape=[default_batch_size],
                name="input_example_tensor",
            )
            features = (input_fn or _default_input_fn)(estimator, examples)
        else:
            features, _ = input_fn()
            examples = None
            if input_feature_key is not None:
                examples = features.pop(input_feature_key)
        if (features is None or features == {}) and examples is None:
            raise ValueError("Either features or examples must be defined.")
        predictions = estimator._get_predict_ops(features).predictions
        if prediction_key is not None:
            predictions = predictions[prediction_key]
        make = signature_fn or _signature_fn_of(estimator)
        default_signature, named_signatures = make(examples, features, predictions)
        keep = None
        if exports_to_keep is not None:
            keep = gc.largest_export_versions(exports_to_keep)
        with Session("") as session:
            saver = _saver()
            saver.restore(session, path)
            exporter = session_bundle.Exporter(saver)
            exporter.init(
                init_op=group(local_variables_initializer(), tables_initializer()),
                default_graph_signature=default_signature,
                named_graph_signatures=named_signatures,
                assets_collection=get_collection(GraphKeys.ASSET_FILEPATHS),
            )
            return exporter.export(
                export_dir,
                training_util.get_global_step(),
                session,
                exports_to_keep=keep,
            )


def _signature_fn_of(estimator: Any) -> Any:
    if hasattr(estimator, "_create_signature_fn"):
        return estimator._create_signature_fn()
    program_log.warning(
        "Change warning: `signature_fn` will be required after 2016-08-01.\nUsing "
        "generic signatures for now.  To maintain this behavior, pass:\n  "
        "signature_fn=export.generic_signature_fn\nAlso consider passing a regression "
        "or classification signature."
    )
    return generic_signature_fn


def _saver() -> Any:
    savers = get_collection(GraphKeys.SAVERS)
    if savers:
        return savers[0]
    if not global_variables():
        return None
    saver = Saver()
    add_to_collection(GraphKeys.SAVERS, saver)
    return saver
