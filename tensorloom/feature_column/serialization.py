"""Columns as plain values, and back."""

from __future__ import annotations

import importlib
from typing import Any

from tensorloom.feature_column.interfaces import FeatureColumn
from tensorloom.framework.types import dtypes

# Where the classes are that a configuration may name.
_CLASSES = {
    "BucketizedColumn": "numeric",
    "CrossedColumn": "crossed",
    "EmbeddingColumn": "embedding",
    "HashedCategoricalColumn": "hashed",
    "IdentityCategoricalColumn": "identity",
    "IndicatorColumn": "indicator",
    "NumericColumn": "numeric",
    "SequenceCategoricalColumn": "sequence_ids",
    "SequenceNumericColumn": "sequence_numeric",
    "SharedEmbeddingColumn": "shared_embedding",
    "VocabularyFileCategoricalColumn": "vocabulary",
    "VocabularyListCategoricalColumn": "vocabulary",
    "WeightedCategoricalColumn": "crossed",
}


def serialize_feature_column(column: Any) -> Any:
    """A column as {"class_name", "config"}; the name of a feature as it is.

    Raises:
      ValueError: neither a column nor a name.
    """
    if isinstance(column, str):
        return column
    if isinstance(column, FeatureColumn):
        return {
            "class_name": type(column).__name__,
            "config": column._get_config(),
        }
    raise ValueError(f"Instance: {column} is not a FeatureColumn")


def deserialize_feature_column(
    config: Any, custom_objects: Any = None, columns_by_name: Any = None
) -> Any:
    """The column that `serialize_feature_column` described.

    Args:
      custom_objects: classes and functions of the program by name.
      columns_by_name: columns that exist already, by class and name; an equal one is
        returned instead of a new one, and new ones are added.

    Raises:
      ValueError: an unknown class, one that is no column's, or another form.
    """
    if isinstance(config, str):
        return config
    cls = _class_of(config, custom_objects)
    if not issubclass(cls, FeatureColumn):
        raise ValueError(f"Expected FeatureColumn class, instead found: {cls}")
    column = cls._from_config(
        config["config"],
        custom_objects=custom_objects,
        columns_by_name=columns_by_name,
    )
    known = {} if columns_by_name is None else columns_by_name
    return known.setdefault(column_name_with_class_name(column), column)


def column_name_with_class_name(column: Any) -> str:
    """What tells a column from all others of a model."""
    return f"{type(column).__name__}:{column.name}"


def serialize_feature_columns(feature_columns: Any) -> list[Any]:
    """Each column as `serialize_feature_column` describes it."""
    return [serialize_feature_column(column) for column in feature_columns]


def deserialize_feature_columns(configs: Any, custom_objects: Any = None) -> list[Any]:
    """The columns that were described; equal parents are one column again."""
    known: dict[str, Any] = {}
    return [deserialize_feature_column(c, custom_objects, known) for c in configs]


def _class_of(config: Any, custom_objects: Any) -> Any:
    if not isinstance(config, dict) or not {"class_name", "config"} <= config.keys():
        raise ValueError(f"Improper config format: {config}")
    from tensorloom.keras.named_objects import get_custom_objects

    name = config["class_name"]
    for known in (custom_objects, get_custom_objects()):
        if known and name in known:
            return known[name]
    if name == "TruncatedNormal":
        return importlib.import_module(
            "tensorloom.ops.state.initializers"
        ).TruncatedNormal
    if name not in _CLASSES:
        raise ValueError(f"Unknown feature_column_v2: {name}")
    module = importlib.import_module(f"tensorloom.feature_column.{_CLASSES[name]}")
    return getattr(module, name)


# --- the fields of a column -----------------------------------------------------------


def column_config(column: Any) -> dict[str, Any]:
    """The fields of a column as plain values."""
    return {
        field: _described(field, value)
        for field, value in zip(column._fields, column, strict=True)
    }


def _described(field: str, value: Any) -> Any:
    if field == "dtype":
        return value.name
    if field in ("categorical_column", "source_column"):
        return serialize_feature_column(value)
    if field == "keys":
        return tuple(serialize_feature_column(key) for key in value)
    if field in ("normalizer_fn", "initializer"):
        from tensorloom.keras.named_objects import serialize_keras_object

        return serialize_keras_object(value)
    return value


def column_from_config(
    cls: Any, config: dict[str, Any], custom_objects: Any, columns_by_name: Any
) -> Any:
    """A column of a class, of the fields that `column_config` described.

    Raises:
      ValueError: the fields are other ones.
    """
    if set(config) != set(cls._fields):
        raise ValueError(f"Invalid config: {config}, expected keys: {cls._fields}")
    return cls(
        **{
            field: _restored(field, value, custom_objects, columns_by_name)
            for field, value in config.items()
        }
    )


def _restored(field: str, value: Any, custom_objects: Any, known: Any) -> Any:
    if field == "dtype":
        return dtypes.as_dtype(value)
    if field in ("categorical_column", "source_column"):
        return deserialize_feature_column(value, custom_objects, known)
    if field == "keys":
        return tuple(
            deserialize_feature_column(key, custom_objects, known) for key in value
        )
    if field == "normalizer_fn":
        from tensorloom.keras.named_objects import deserialize_keras_object

        return deserialize_keras_object(value, custom_objects=custom_objects)
    if field == "initializer":
        from tensorloom.keras.initializers import deserialize

        return deserialize(value, custom_objects=custom_objects)
    return tuple(value) if isinstance(value, list) else value
