"""The feature columns of models: `tf.contrib.layers`', or `tf.feature_column`'s."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from tensorloom.contrib.layers.columns.embedding import _EmbeddingColumn
from tensorloom.contrib.layers.columns.input_layers import input_from_feature_columns
from tensorloom.contrib.layers.columns.interfaces import _FeatureColumn
from tensorloom.contrib.layers.columns.weighted_sums import (
    joint_weighted_sum_from_feature_columns,
    weighted_sum_from_feature_columns,
)
from tensorloom.feature_column.input_layers import input_layer
from tensorloom.feature_column.linear_models import linear_model
from tensorloom.framework.graph.graph import get_collection


def _are_of_layers(columns: Iterable[Any]) -> bool:
    """Whether they are of `tf.contrib.layers`."""
    return all(isinstance(column, _FeatureColumn) for column in columns)


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
    if _are_of_layers(columns):
        return input_from_feature_columns(
            columns_to_tensors=dict(features),
            feature_columns=columns,
            weight_collections=[collection],
            scope=scope,
        )
    return input_layer(
        features=features, feature_columns=columns, weight_collections=[collection]
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
    if not _are_of_layers(columns):
        return linear_model(
            features=features,
            feature_columns=columns,
            units=outputs,
            weight_collections=[collection],
        )
    layer = weighted_sum_from_feature_columns
    if joint:
        layer = joint_weighted_sum_from_feature_columns
    logits, _, _ = layer(
        columns_to_tensors=dict(features),
        feature_columns=columns,
        num_outputs=outputs,
        weight_collections=[collection],
        scope=scope,
    )
    return logits


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
        if not isinstance(column, _EmbeddingColumn):
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
