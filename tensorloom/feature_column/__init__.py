"""`tf.feature_column`: how features of examples come to a model. Loaded when used.

Each kind of column has a module. Columns are values; `input_layer` and `linear_model`
(functions) and `DenseFeatures`, `SequenceFeatures` and `LinearModel` (layers) make
tensors of them.
"""

from __future__ import annotations

import importlib
from typing import Any

_MODULES = {
    "bucketized_column": "numeric",
    "categorical_column_with_hash_bucket": "hashed",
    "categorical_column_with_identity": "identity",
    "categorical_column_with_vocabulary_file": "vocabulary",
    "categorical_column_with_vocabulary_list": "vocabulary",
    "crossed_column": "crossed",
    "embedding_column": "embedding",
    "indicator_column": "indicator",
    "input_layer": "input_layers",
    "linear_model": "linear_models",
    "make_parse_example_spec": "parse_spec",
    "numeric_column": "numeric",
    "sequence_categorical_column_with_hash_bucket": "sequence_ids",
    "sequence_categorical_column_with_identity": "sequence_ids",
    "sequence_categorical_column_with_vocabulary_file": "sequence_ids",
    "sequence_categorical_column_with_vocabulary_list": "sequence_ids",
    "sequence_numeric_column": "sequence_numeric",
    "shared_embedding_columns": "shared_embedding",
    "weighted_categorical_column": "crossed",
}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = importlib.import_module(f"{__name__}.{_MODULES[name]}")
    return getattr(module, name)


def __dir__() -> list[str]:
    return sorted(_MODULES)
