"""The features of a batch as an ensemble takes them: by kind, in the order of names."""

from __future__ import annotations

import copy
from dataclasses import dataclass, field
from typing import Any

from tensorloom.client.variables.variable_scope import variable_scope
from tensorloom.contrib.layers.columns.embedding import _EmbeddingColumn
from tensorloom.contrib.layers.columns.parsing import (
    transform_features as transform_contrib_features,
)
from tensorloom.feature_column.input_layers import (
    input_layer,
    transform_features,
    transform_features_v2,
)
from tensorloom.feature_column.interfaces import FeatureColumn
from tensorloom.feature_column.layers.state_manager import _StateManagerImpl
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.sparse_tensor import SparseTensor
from tensorloom.ops.array.concat import concat
from tensorloom.ops.array.reshape import expand_dims, reshape
from tensorloom.ops.array.stack import unstack
from tensorloom.ops.indexing.slice import slice as part
from tensorloom.ops.math.cast import cast

_SCOPE = "gbdt"


@dataclass
class TreeFeatures:
    """Tensors of features: dense numbers, then sparse numbers, then categories."""

    dense: list[Any] = field(default_factory=list)  # float32 [examples, 1]
    floats: list[Any] = field(default_factory=list)  # SparseTensors of float32
    ids: list[Any] = field(default_factory=list)  # SparseTensors of int64
    _names: dict[str, list[str]] = field(
        default_factory=lambda: {"dense": [], "floats": [], "ids": []}
    )

    @property
    def names(self) -> list[str]:
        """The names of all, in the same order."""
        return [name for names in self._names.values() for name in names]

    def add(self, kind: str, name: str, tensor: Any) -> None:
        """Adds a feature of a kind."""
        getattr(self, kind).append(tensor)
        self._names[kind].append(name)

    def arguments(self) -> dict[str, list[Any]]:
        """What the operations of ensembles are given."""
        return {
            "dense_float_features": self.dense,
            **_triples("sparse_float", self.floats),
            **_triples("sparse_int", self.ids),
        }

    def inputs(self) -> list[Any]:
        """One tensor of each feature."""
        return self.dense + [column.indices for column in self.floats + self.ids]


def _triples(kind: str, columns: list[Any]) -> dict[str, list[Any]]:
    return {
        f"{kind}_feature_indices": [column.indices for column in columns],
        f"{kind}_feature_values": [column.values for column in columns],
        f"{kind}_feature_shapes": [column.dense_shape for column in columns],
    }


def extract_features(
    features: Any, feature_columns: Any, use_core_columns: bool
) -> Any:
    """The features of columns, by kind.

    Args:
      features: tensors by their names.
      feature_columns: columns that are made of them; None for the features themselves.
      use_core_columns: whether the columns are `tf.feature_column`'s.

    Returns:
      (all names, dense floats, indices, values and shapes of sparse floats, indices,
      values and shapes of sparse integers), each a list.

    Raises:
      ValueError: there are no features, or one of another dtype.
    """
    found = tree_features(features, feature_columns, use_core_columns)
    dense, *sparse = found.arguments().values()
    return found.names, dense, *sparse


def tree_features(
    features: Any, feature_columns: Any, use_core_columns: bool
) -> TreeFeatures:
    """As `extract_features`, as one object."""
    if not features:
        raise ValueError("Features dictionary must be specified.")
    features = copy.copy(features)
    if feature_columns:
        features = _transformed(features, list(feature_columns), use_core_columns)
    found = TreeFeatures()
    for name in sorted(features):
        _add(found, name, features[name])
    return found


def _transformed(features: Any, columns: list[Any], core: bool) -> dict[str, Any]:
    """The tensors of columns, by their names."""
    transformed: dict[str, Any] = {}
    state_manager = _StateManagerImpl(layer=None, trainable=False)
    with variable_scope(_SCOPE):
        for column in columns:
            if core and isinstance(column, FeatureColumn):
                tensors = transform_features_v2(features, [column], state_manager)
                tensor = tensors[column]
            elif core:
                tensor = transform_features(features, [column])[column]
            elif isinstance(column, _EmbeddingColumn):
                tensor = input_layer(features, [column], weight_collections=[_SCOPE])
            else:
                found = transform_contrib_features(features, [column])
                if len(found) > 1:
                    raise ValueError("Unexpected number of output features")
                (tensor,) = found.values()
            transformed[column.name] = tensor
    return transformed


def _add(found: TreeFeatures, name: str, tensor: Any) -> None:
    if isinstance(tensor, tuple) and not isinstance(tensor, SparseTensor):
        tensor = _weighted(*tensor)
    if isinstance(tensor, SparseTensor):
        kinds = {dtypes.float32: "floats", dtypes.int64: "ids"}
        kind = kinds.get(tensor.values.dtype)
        if kind is None:
            raise ValueError(
                f"Unsupported sparse feature {tensor.indices.name} with dtype "
                f"{tensor.dtype}."
            )
        found.add(kind, name, tensor)
        return
    if tensor.dtype != dtypes.float32:
        raise ValueError(
            f"Unsupported dense feature {tensor.name} with dtype {tensor.dtype}."
        )
    width = tensor.shape[1].value if (tensor.shape.rank or 0) > 1 else None
    if width is not None and width > 1:
        for place, column in enumerate(unstack(tensor, axis=1)):
            found.add("dense", f"{name}_{place}", reshape(column, [-1, 1]))
    else:
        found.add("dense", name, tensor)


def _weighted(categories: SparseTensor, weights: SparseTensor) -> SparseTensor:
    """Weights of categories as sparse numbers: each category is a dimension."""
    rows = part(categories.indices, [0, 0], [-1, 1])
    ids = expand_dims(cast(categories.values, dtypes.int64), -1)
    return SparseTensor(
        indices=concat([rows, ids], 1),
        values=weights.values,
        dense_shape=categories.dense_shape,
    )
