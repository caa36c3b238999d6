"""The table of module paths as a text, and as it stands."""

from __future__ import annotations

import importlib
import importlib.util

import pytest

from tensorloom.compat.module_paths import table


def test_what_a_table_says() -> None:
    found: dict[str, table.PathEntry] = {}
    text = (
        "a.b  # a comment\n    + a.c\n    tf.nn: relu elu=other\n        tanh\n"
        "    ops: Add\n\na.c\n    = tensorloom.protos.graph_pb2\na.d\n"
    )
    table.parse(text, found)
    names = {"relu": "relu", "elu": "other", "tanh": "tanh"}
    assert found == {
        "a.b": table.PathEntry(
            "", ["a.c"], [("tf.nn", names), ("ops", {"Add": "Add"})]
        ),
        "a.c": table.PathEntry("tensorloom.protos.graph_pb2"),
        "a.d": table.PathEntry(),
    }


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("    tf: x\n", "line 1: no path above 'tf: x'"),
        ("a\nb\na\n", "line 3: a stands here twice"),
        ("a\n    relu elu\n", "line 2: 'relu elu' says nothing of the path"),
    ],
)
def test_what_cannot_be_read(text: str, message: str) -> None:
    with pytest.raises(ValueError) as caught:
        table.parse(text, {})
    assert str(caught.value) == message


def _sources() -> list[tuple[str, str, dict[str, str]]]:
    return [
        (path, where, names)
        for path, entry in table.entries().items()
        for where, names in entry.sources
        if where.startswith("tensorloom.")
    ]


def test_included_paths_exist() -> None:
    table_entries = table.entries()
    for path, entry in table_entries.items():
        for included in entry.includes:
            assert included in table_entries, path


def test_modules_that_paths_are_exist() -> None:
    for path, entry in table.entries().items():
        if entry.same_as:
            assert importlib.util.find_spec(entry.same_as), path


@pytest.mark.slow
def test_names_of_our_own_modules_exist() -> None:
    missing = [
        f"{path}: {where}.{other}"
        for path, where, names in _sources()
        for other in names.values()
        if other != table.ALL and not hasattr(importlib.import_module(where), other)
    ]
    assert not missing
