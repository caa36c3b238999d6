"""What the first feature columns have in common.

Columns are named tuples. Their keys are their texts, class names included, which order
the columns of a layer: that is why classes here have the names of TensorFlow's.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import Any, NamedTuple

from tensorloom.contrib.layers.shaping import inner_flatten
from tensorloom.framework.export import export
from tensorloom.ops.array.reshape import expand_dims


class LinearLookup(NamedTuple):
    """What a column says of its weights in a linear model."""

    input_tensor: Any
    weight_tensor: Any
    vocab_size: int
    initializer: Any
    combiner: str


class DeepLookup(NamedTuple):
    """What a column says of its embeddings in a deep model."""

    input_tensor: Any
    weight_tensor: Any
    vocab_size: int
    initializer: Any
    combiner: str
    dimension: int
    shared_embedding_name: str | None
    hash_key: int | None
    max_norm: float | None
    trainable: bool


class _FeatureColumn:
    """A feature, or one that is made of others.

    Attributes:
      name: of the feature.
      config: what `tf.parse_example` parses it from.
      key: orders columns, and says which are the same.
    """

    name: Any
    config: Any

    @property
    def key(self) -> str:
        """The column as a text."""
        return str(self)

    def insert_transformed_feature(self, columns_to_tensors: dict[Any, Any]) -> None:
        """Adds the column's tensor to those of features and of other columns."""
        builder = LazyTensors(columns_to_tensors)
        columns_to_tensors[self] = self._transform_feature(builder)

    def _transform_feature(self, inputs: Any) -> Any:
        raise NotImplementedError(f"Transform is not implemented for {self}.")

    @property
    def _parse_example_spec(self) -> Any:
        return self.config

    def _to_dnn_input_layer(
        self,
        input_tensor: Any,
        weight_collections: Any = None,
        trainable: bool = True,
        output_rank: int = 2,
    ) -> Any:
        raise ValueError("Calling an abstract method.")

    def _deep_embedding_lookup_arguments(self, input_tensor: Any) -> DeepLookup:
        raise NotImplementedError(
            f"No deep embedding lookup arguments for column {self}."
        )

    def _wide_embedding_lookup_arguments(self, input_tensor: Any) -> LinearLookup:
        raise NotImplementedError(
            f"No wide embedding lookup arguments for column {self}."
        )

    def _to_dense_tensor(self, input_tensor: Any) -> Any:
        raise NotImplementedError(f"No dense tensor representation for column {self}.")

    def _checkpoint_path(self) -> tuple[str, str] | None:
        return None

    def _key_without(self, *properties: str) -> str:
        fields = [
            f"{field}={getattr(self, field)}"
            for field in self._fields  # type: ignore[attr-defined]
            if field not in properties
        ]
        return f"{type(self).__name__}({', '.join(fields)})"


class LazyTensors:
    """The tensors of features and columns, which are made when they are asked for."""

    def __init__(self, columns_to_tensors: dict[Any, Any]) -> None:
        self._tensors = columns_to_tensors

    def get(self, key: Any) -> Any:
        """The tensor of a feature, by its name, or of a column.

        Raises:
          ValueError: there is no such feature.
          TypeError: the key is neither.
        """
        if key in self._tensors:
            return self._tensors[key]
        if isinstance(key, str):
            raise ValueError(f"features dictionary doesn't contain key ({key})")
        if not isinstance(key, _FeatureColumn):
            raise TypeError(
                f'"key" must be either a "str" or "_FeatureColumn". Provided: {key}'
            )
        key.insert_transformed_feature(self._tensors)
        if key not in self._tensors:
            raise ValueError(f"Column {key.name} is not supported.")
        return self._tensors[key]

    transform = get  # its name where programs transform columns one by one


@export("contrib.layers.check_feature_columns", "contrib.slim.check_feature_columns")
def check_feature_columns(feature_columns: Iterable[Any]) -> None:
    """Raises ValueError for a dict, and for columns that are the same."""
    if isinstance(feature_columns, dict):
        raise ValueError("Expected feature_columns to be iterable, found dict.")
    seen = set()
    for column in feature_columns:
        if column.key in seen:
            raise ValueError(
                f"Duplicate feature column key found for column: {column.name}. This "
                "usually means that the column is almost identical to another column, "
                "and one must be discarded."
            )
        seen.add(column.key)


def in_order(feature_columns: Collection[Any]) -> Iterator[Any]:
    """Different columns by their keys."""
    return iter(sorted(set(feature_columns), key=lambda column: str(column.key)))


def reshape_to_rank(tensor: Any, rank: int, column_name: str | None = None) -> Any:
    """A dense tensor with its last axes made one, or with one more.

    Raises:
      ValueError: more than one axis is missing.
    """
    given = tensor.get_shape().ndims
    if given is None:
        return inner_flatten(tensor, rank)
    if rank > given + 1:
        where = f"Error while processing column {column_name}." if column_name else ""
        raise ValueError(
            f"{where}Rank of input Tensor ({given}) should be the same as output_rank "
            f"({rank}). For example, sequence data should typically be 3 dimensional "
            "(rank 3) while non-sequence data is typically 2 dimensional (rank 2)."
        )
    if rank == given + 1:
        return expand_dims(tensor, -1, name="expand_dims")
    return tensor if rank == given else inner_flatten(tensor, rank)
