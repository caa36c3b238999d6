"""DNN models that note in their graph which tensors are features and columns."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tensorloom.estimator.canned.dnn import DNNClassifier, DNNRegressor
from tensorloom.estimator.estimator import Estimator
from tensorloom.feature_column.earlier.embedding import _EmbeddingColumn
from tensorloom.feature_column.input_layers import telling_of_input_layers
from tensorloom.feature_column.parse_spec import make_parse_example_spec
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import add_to_collection
from tensorloom.framework.types.indexed_slices import IndexedSlices
from tensorloom.framework.types.sparse_tensor import convert_to_tensor_or_sparse_tensor
from tensorloom.losses.weighted import Reduction
from tensorloom.ops.nn.activation import relu
from tensorloom.saved_model.tensor_info import build_tensor_info
from tensorloom.train.checkpoints.message_text import type_url

if TYPE_CHECKING:
    from tensorloom.estimator.run_config import RunConfig


class LayerAnnotationsCollectionNames:
    """Names of the graph's collections with the notes."""

    UNPROCESSED_FEATURES = "layer_annotations/unprocessed_features"
    # Spelled like this in TensorFlow, and so in its exported models.
    PROCESSED_FEATURES = "layer_annotatons/processed_features"
    FEATURE_COLUMNS = "layer_annotations/feature_columns"

    @classmethod
    def keys(cls, collection_name: str) -> str:
        """The collection of the tensors' names."""
        return f"{collection_name}/keys"

    @classmethod
    def values(cls, collection_name: str) -> str:
        """The collection of the tensors, as `TensorInfo` in `Any`."""
        return f"{collection_name}/values"


def _pickled(column: Any) -> bytes:
    if isinstance(column, _EmbeddingColumn):
        # A function within a function cannot be pickled, and nobody needs it.
        column = column._replace(layer_creator=None)  # type: ignore[arg-type]
    return pickle.dumps(column)


def _wrapped_info(tensor: Any) -> Any:
    from google.protobuf.any_pb2 import Any as AnyMessage

    info = build_tensor_info(tensor)
    return AnyMessage(type_url=type_url(type(info)), value=info.SerializeToString())


def _note(collection: str, name: str, tensor: Any) -> None:
    names = LayerAnnotationsCollectionNames
    add_to_collection(names.keys(collection), name)
    add_to_collection(names.values(collection), _wrapped_info(tensor))


def _annotate(
    features: Mapping[Any, Any],
    feature_columns: Any,
    outputs: Mapping[Any, Any],
) -> None:
    """Notes the features that the columns read, the columns, and their tensors."""
    names = LayerAnnotationsCollectionNames
    for key in make_parse_example_spec(feature_columns):
        tensor = features[key]
        if not isinstance(tensor, IndexedSlices):
            tensor = convert_to_tensor_or_sparse_tensor(tensor)
        _note(names.UNPROCESSED_FEATURES, key, tensor)
    for column in feature_columns:
        add_to_collection(names.FEATURE_COLUMNS, _pickled(column))
    for column, tensor in outputs.items():
        _note(names.PROCESSED_FEATURES, column.name, tensor)


def _annotated(
    original: Estimator, model_dir: Any, config: Any, warm_start_from: Any
) -> Estimator:
    def model_fn(features: Any, labels: Any, mode: str, config: Any) -> Any:
        with telling_of_input_layers(_annotate):
            return original.model_fn(features, labels, mode, config)

    return Estimator(
        model_fn=model_fn,
        model_dir=model_dir,
        config=config,
        warm_start_from=warm_start_from,
    )


@export("contrib.estimator.DNNClassifierWithLayerAnnotations")
def DNNClassifierWithLayerAnnotations(
    hidden_units: Iterable[int],
    feature_columns: Iterable[Any],
    model_dir: Any = None,
    n_classes: int = 2,
    weight_column: Any = None,
    label_vocabulary: Sequence[str] | None = None,
    optimizer: Any = "Adagrad",
    activation_fn: Callable[[Any], Any] | None = relu,
    dropout: float | None = None,
    input_layer_partitioner: Any = None,
    config: RunConfig | None = None,
    warm_start_from: Any = None,
    loss_reduction: str = Reduction.SUM,
) -> Estimator:
    """A `DNNClassifier` whose graph notes the tensors of features and columns.

    Integrated gradients, which tell how much each feature adds to a prediction, need
    them. Checkpoints are those of `tf.estimator.DNNClassifier`, and so are the
    arguments. As in TensorFlow, columns of `tf.feature_column` leave no notes: only
    those of the earlier interface do.

    Raises:
      ValueError: an argument has an impossible value.
    """
    original = DNNClassifier(
        hidden_units=hidden_units,
        feature_columns=feature_columns,
        model_dir=model_dir,
        n_classes=n_classes,
        weight_column=weight_column,
        label_vocabulary=label_vocabulary,
        optimizer=optimizer,
        activation_fn=activation_fn,
        dropout=dropout,
        input_layer_partitioner=input_layer_partitioner,
        config=config,
        warm_start_from=warm_start_from,
        loss_reduction=loss_reduction,
    )
    return _annotated(original, model_dir, config, warm_start_from)


@export("contrib.estimator.DNNRegressorWithLayerAnnotations")
def DNNRegressorWithLayerAnnotations(
    hidden_units: Iterable[int],
    feature_columns: Iterable[Any],
    model_dir: Any = None,
    label_dimension: int = 1,
    weight_column: Any = None,
    optimizer: Any = "Adagrad",
    activation_fn: Callable[[Any], Any] | None = relu,
    dropout: float | None = None,
    input_layer_partitioner: Any = None,
    config: RunConfig | None = None,
    warm_start_from: Any = None,
    loss_reduction: str = Reduction.SUM,
) -> Estimator:
    """A `DNNRegressor` whose graph notes the tensors of features and columns.

    See `DNNClassifierWithLayerAnnotations`; the arguments are those of
    `tf.estimator.DNNRegressor`.

    Raises:
      ValueError: an argument has an impossible value.
    """
    original = DNNRegressor(
        hidden_units=hidden_units,
        feature_columns=feature_columns,
        model_dir=model_dir,
        label_dimension=label_dimension,
        weight_column=weight_column,
        optimizer=optimizer,
        activation_fn=activation_fn,
        dropout=dropout,
        input_layer_partitioner=input_layer_partitioner,
        config=config,
        warm_start_from=warm_start_from,
        loss_reduction=loss_reduction,
    )
    return _annotated(original, model_dir, config, warm_start_from)
