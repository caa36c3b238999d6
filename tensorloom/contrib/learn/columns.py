"""The feature columns of models: `tf.contrib.layers`', or `tf.feature_column`'s."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from tensorloom.feature_column.input_layers import input_layer
from tensorloom.feature_column.interfaces import FeatureColumn
from tensorloom.feature_column.linear_models import linear_model
from tensorloom.framework import export
from tensorloom.framework.graph.graph import get_collection


def _layers(name: str, *args: Any, **kwargs: Any) -> Any:
    return export.find(f"contrib.layers.{name}")(*args, **kwargs)


def _are_core(columns: Iterable[Any]) -> bool:
    """Whether they are of `tf.feature_column`."""
    return any(isinstance(column, FeatureColumn) for column in columns)


def infer_real_valued_columns(features: Any) -> list[Any]:
    """A real-valued column for each feature."""
    found: list[Any] = _layers("infer_real_valued_columns", features)
    return found


def create_feature_spec_for_parsing(feature_columns: Any) -> dict[str, Any]:
    """What Examples have that hold the features of these columns."""
    spec: dict[str, Any] = _layers("create_feature_spec_for_parsing", feature_columns)
    return spec


def parsed_features(examples: Any, columns: Any) -> Any:
    """The features of serialized Examples that the columns need."""
    return _layers("parse_feature_columns_from_examples", examples, columns)


def as_dict(features: Any) -> dict[str, Any]:
    """Features by their keys; a tensor alone has the empty one."""
    return features if isinstance(features, dict) else {"": features}


def dense_input(
    features: Mapping[str, Any], columns: Any, collection: str, scope: Any
) -> Any:
    """The columns side by side: [batch, size].

    Args:
      features: tensors by their keys.
      columns: columns of one kind.
      collection: gets the variables.
      scope: the variable scope that is open.
    """
    if _are_core(columns):
        return input_layer(
            features=features, feature_columns=columns, weight_collections=[collection]
        )
    return _layers(
        "input_from_feature_columns",
        columns_to_tensors=features,
        feature_columns=columns,
        weight_collections=[collection],
        scope=scope,
    )


def linear_logits(
    features: Mapping[str, Any],
    columns: Any,
    outputs: int,
    collection: str,
    scope: Any,
    joint: bool = False,
) -> Any:
    """A linear function of the columns: [batch, outputs].

    Args:
      features: tensors by their keys.
      columns: columns of one kind.
      outputs: how many.
      collection: gets the variables.
      scope: the variable scope that is open.
      joint: whether all weights are in one variable.
    """
    if _are_core(columns):
        return linear_model(
            features=features,
            feature_columns=columns,
            units=outputs,
            weight_collections=[collection],
        )
    logits, _, _ = weighted_sum(features, columns, outputs, [collection], scope, joint)
    return logits


def weighted_sum(
    features: Mapping[Any, Any],
    columns: Any,
    outputs: int,
    collections: list[str] | None,
    scope: Any,
    joint: bool = False,
) -> tuple[Any, dict[Any, Any], Any]:
    """A linear function of columns, its variables, and its bias."""
    name = "weighted_sum_from_feature_columns"
    found: tuple[Any, dict[Any, Any], Any] = _layers(
        f"joint_{name}" if joint else name,
        columns_to_tensors=features,
        feature_columns=columns,
        num_outputs=outputs,
        weight_collections=collections,
        scope=scope,
    )
    return found


def transformed(features: Mapping[str, Any], columns: Any) -> dict[Any, Any]:
    """The tensors of `tf.contrib.layers`' columns, by columns."""
    found: dict[Any, Any] = _layers("transform_features", features, columns)
    return found


def real_valued_column(name: str) -> Any:
    """A real-valued column of one number."""
    return _layers("real_valued_column", name)


def embedding_multipliers(
    multipliers: Mapping[Any, float] | None, collection: str, input_scope: str
) -> dict[Any, float] | None:
    """What the gradients of embeddings are multiplied with, by variables.

    Args:
      multipliers: by columns; None for none.
      collection: has the variables.
      input_scope: the scope of the columns.

    Raises:
      ValueError: a column is none of embeddings, or has no variable.
    """
    if not multipliers:
        return None
    found: dict[Any, float] = {}
    for column, multiplier in multipliers.items():
        if not hasattr(column, "sparse_id_column") or not hasattr(column, "dimension"):
            raise ValueError(
                "learning rate multipler can only be defined for embedding columns. It "
                f"is defined for {column}"
            )
        variables = get_embedding_variable(column, collection, input_scope)
        if not variables:
            raise ValueError(f"Couldn't find a variable for column {column}")
        found.update(dict.fromkeys(variables, multiplier))
    return found


def get_embedding_variable(column: Any, collection: str, input_scope: str) -> list[Any]:
    """The variables of a column of embeddings."""
    return get_collection(collection, f"{input_scope}/{column.name}")


def sequence_input(
    features: Mapping[Any, Any], columns: Any, collections: Any, scope: Any
) -> Any:
    """`tf.contrib.layers`' columns side by side, for each step: [batch, time, size]."""
    return _layers(
        "sequence_input_from_feature_columns",
        columns_to_tensors=features,
        feature_columns=columns,
        weight_collections=collections,
        scope=scope,
    )


def old_dense_input(
    features: Mapping[Any, Any], columns: Any, collections: Any, scope: Any
) -> Any:
    """`tf.contrib.layers`' columns side by side: [batch, size]."""
    return _layers(
        "input_from_feature_columns",
        columns_to_tensors=features,
        feature_columns=columns,
        weight_collections=collections,
        scope=scope,
    )


def target(name: str, **options: Any) -> Any:
    """What makes predictions and losses of activations, of `tf.contrib.layers`."""
    return _layers(name, **options)
