"""Classes of a classifier, by number and by name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tensorloom.estimator.export.outputs import ClassificationOutput
from tensorloom.ops.array.pad import tile
from tensorloom.ops.array.reshape import expand_dims
from tensorloom.ops.array.shape import shape as shape_of
from tensorloom.ops.lookup import index_tables
from tensorloom.ops.math.sequence import range as range_of
from tensorloom.ops.strings.string_ops import as_string


def all_class_ids(logits: Any, n_classes: Any) -> Any:
    """The numbers of all classes for each example, `[batch, n_classes]`."""
    return _for_each_example(range_of(n_classes), logits)


def all_classes(
    logits: Any, n_classes: Any, label_vocabulary: Sequence[str] | None = None
) -> Any:
    """The names of all classes for each example, `[batch, n_classes]`."""
    names: Any = label_vocabulary or as_string(range_of(n_classes))
    return _for_each_example(names, logits)


def classification_output(
    scores: Any, n_classes: Any, label_vocabulary: Sequence[str] | None = None
) -> ClassificationOutput:
    """What an exported classifier gives: a score for each class, and its name."""
    names = all_classes(scores, n_classes, label_vocabulary)
    return ClassificationOutput(scores=scores, classes=names)


def ids_of_names(names: Any, label_vocabulary: Sequence[str]) -> Any:
    """The numbers of classes that are given by their names."""
    table = index_tables.index_table_from_tensor(
        tuple(label_vocabulary), name="class_id_lookup"
    )
    return table.lookup(names)


def names_of_ids(class_ids: Any, label_vocabulary: Sequence[str] | None) -> Any:
    """The names of classes that are given by their numbers; the numbers as texts."""
    if not label_vocabulary:
        return as_string(class_ids, name="str_classes")
    table = index_tables.index_to_string_table_from_tensor(
        label_vocabulary, name="class_string_lookup"
    )
    return table.lookup(class_ids)


def _for_each_example(row: Any, logits: Any) -> Any:
    return tile(expand_dims(row, axis=0), multiples=[shape_of(logits)[0], 1])
