"""Whether a dense column that stands on ids stands on a sequence of them."""

from __future__ import annotations

from typing import Any

from tensorloom.feature_column.sequence_ids import SequenceLogic


def check_no_sequence(column: Any, function: str, is_earlier: bool) -> None:
    """Raises ValueError: the column stands on a sequence, but is used as a whole."""
    ids = column.categorical_column
    if not isinstance(ids, SequenceLogic):
        return
    kind = "_SequenceCategoricalColumn" if is_earlier else "SequenceCategoricalColumn"
    use, sequence_use = ("DenseFeatures", "SequenceFeatures")
    if is_earlier:
        use, sequence_use = ("input_layer", "SequenceFeatures")
    raise ValueError(
        f"In {function}: {column.name}. categorical_column must not be of type {kind}. "
        f"Suggested fix A: If you wish to use {use}, use a non-sequence "
        "categorical_column_with_*. Suggested fix B: If you wish to create sequence "
        f"input, use {sequence_use} instead of {use}. Given (type {type(ids)}): {ids}"
    )


def check_is_sequence(column: Any, function: str, is_earlier: bool) -> None:
    """Raises ValueError: the column stands on no sequence, but is used as one."""
    ids = column.categorical_column
    if isinstance(ids, SequenceLogic):
        return
    kind = "_SequenceCategoricalColumn" if is_earlier else "SequenceCategoricalColumn"
    raise ValueError(
        f"In {function}: {column.name}. categorical_column must be of type {kind} to "
        "use SequenceFeatures. Suggested fix: Use one of "
        f"sequence_categorical_column_with_*. Given (type {type(ids)}): {ids}"
    )
