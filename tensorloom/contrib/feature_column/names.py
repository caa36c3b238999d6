"""The names of `tf.contrib.feature_column`, which are public elsewhere too."""

from __future__ import annotations

from tensorloom.feature_column.sequence_ids import (
    sequence_categorical_column_with_hash_bucket,
    sequence_categorical_column_with_identity,
    sequence_categorical_column_with_vocabulary_file,
    sequence_categorical_column_with_vocabulary_list,
)
from tensorloom.framework.export import export_value

export_value(
    sequence_categorical_column_with_hash_bucket,
    "contrib.feature_column.sequence_categorical_column_with_hash_bucket",
)
export_value(
    sequence_categorical_column_with_identity,
    "contrib.feature_column.sequence_categorical_column_with_identity",
)
export_value(
    sequence_categorical_column_with_vocabulary_file,
    "contrib.feature_column.sequence_categorical_column_with_vocabulary_file",
)
export_value(
    sequence_categorical_column_with_vocabulary_list,
    "contrib.feature_column.sequence_categorical_column_with_vocabulary_list",
)
