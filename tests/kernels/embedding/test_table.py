"""Embedding tables against a dictionary, in sequences of random operations."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tensorloom.framework import errors
from tensorloom.framework.types import dtypes
from tensorloom.kernels.host.embedding.table import (
    KINDS,
    Contents,
    EmbeddingTable,
    TableOptions,
)

DIM = 3
SLOT = [("slot", 0.25)]


def options(**changed: Any) -> TableOptions:
    return TableOptions(
        **{
            "dim": DIM,
            "kind": "normal",
            "first": 0.0,
            "second": 1.0,
            "seed": 7,
            "filter_freq": 0,
            "unadmitted_value": -1.0,
            "steps_to_live": 0,
            **changed,
        }
    )


def new(**changed: Any) -> EmbeddingTable:
    return EmbeddingTable("", "t", dtypes.float32, options(**changed))


def formula(rows: tuple[Any, ...], sums: Any) -> tuple[Any, Any]:
    values, slots = rows
    slots = slots + sums
    return values - slots * np.float32(0.5), slots


def rows_of(keys: list[int], value: float) -> Any:
    return np.full((len(keys), DIM), value, np.float32)


def int64(keys: Any) -> Any:
    return np.array(keys, np.int64)


class Model:
    """What a table does, with dictionaries."""

    def __init__(self, filter_freq: int, steps_to_live: int) -> None:
        self.rows: dict[int, tuple[Any, Any]] = {}
        self.counts: dict[int, int] = {}  # of admitted keys and others
        self.steps: dict[int, int] = {}
        self.filter_freq, self.life, self.looked_at = filter_freq, steps_to_live, 0
        self.first = new()

    def first_row(self, key: int) -> Any:
        return self.first.lookup(int64([key]))[0]

    def lookup(self, key: int) -> Any:
        if key in self.rows:
            return self.rows[key][0]
        if self.filter_freq > 1:
            return np.full(DIM, -1.0, np.float32)
        return self.first_row(key)

    def apply(self, keys: list[int], gradient: Any, step: int) -> None:
        for key in dict.fromkeys(keys):
            self.counts[key] = self.counts.get(key, 0) + 1
            self.steps[key] = step
            if key not in self.rows:
                if self.counts[key] < self.filter_freq:
                    continue
                slot = np.full(DIM, 0.25, np.float32)
                self.rows[key] = self.first_row(key), slot
            total = np.zeros(DIM, np.float32)
            for k, g in zip(keys, gradient, strict=True):
                total = total + g if k == key else total
            values, slot = formula(self.rows[key], total)
            self.rows[key] = values, slot
        if self.life and step - self.looked_at >= max(1, self.life // 4):
            self.looked_at = step
            self.evict(step - self.life)

    def evict(self, before: int) -> None:
        self.remove([key for key, step in self.steps.items() if step < before])

    def remove(self, keys: list[int]) -> None:
        for key in keys:
            self.rows.pop(key, None)
            self.counts.pop(key, None)
            self.steps.pop(key, None)

    def upsert(self, keys: list[int], values: Any, step: int) -> None:
        for key, value in zip(keys, values, strict=True):
            if key not in self.rows:
                self.counts[key] = max(0, self.filter_freq - 1)
                self.rows[key] = value, np.full(DIM, 0.25, np.float32)
            self.rows[key] = value, self.rows[key][1]
            self.steps[key] = step


KEYS = st.lists(
    st.one_of(st.integers(-4, 12), st.sampled_from([-(2**63), 2**63 - 1, 2**40])),
    max_size=8,
)
OPERATIONS = st.lists(
    st.tuples(
        st.sampled_from(
            ["apply"] * 4
            + ["upsert", "remove", "evict", "clear", "save", "change", "restart"]
        ),
        KEYS,
    ),
    max_size=25,
)


@settings(max_examples=60)
@given(OPERATIONS, st.sampled_from([0, 1, 2, 3]), st.sampled_from([0, 2, 9]))
def test_random_operations_do_what_they_do_to_a_dictionary(
    operations: list[tuple[str, list[int]]], filter_freq: int, life: int
) -> None:
    made = {"filter_freq": filter_freq, "steps_to_live": life}
    table, model = new(**made), Model(filter_freq, life)
    table.keep_gone(0)
    # A save, the changes since, and of which save they are.
    full, changes, since = table.export(SLOT), [], 0
    since = full[3]
    for step, (kind, keys) in enumerate(operations, start=1):
        values = np.arange(len(keys) * DIM, dtype=np.float32).reshape(-1, DIM) / 8
        if kind == "apply":
            table.apply(formula, SLOT, int64(keys), values, step)
            model.apply(keys, values, step)
        elif kind == "upsert":
            table.upsert(int64(keys), values, step)
            model.upsert(keys, values, step)
        elif kind == "remove":
            table.remove(int64(keys))
            model.remove(keys)
        elif kind == "evict":
            table.evict(step - 3)
            model.evict(step - 3)
        elif kind == "clear":
            table.clear()
            model.remove(list(model.steps))
        elif kind == "save":
            full, changes = table.export(SLOT), []
            since = full[3]
            table.keep_gone(since)
        elif kind == "change":
            changes.append(table.export(SLOT, since))
            since = changes[-1][3]
            table.keep_gone(since)
        else:
            changes.append(table.export(SLOT, since))
            table = restarted(made, full, changes)
            model.looked_at = 0
            table.keep_gone(0)
            full, changes = table.export(SLOT), []
            since = full[3]
        check(table, model, [*keys, *range(-5, 14)])


def restarted(made: dict[str, Any], full: Any, changes: list[Any]) -> EmbeddingTable:
    table = new(**made)
    table.load(full[0], full[1], slots=SLOT)
    for rows, counted, gone, _ in changes:
        table.load(rows, counted, gone, SLOT)
    return table


def check(table: EmbeddingTable, model: Model, keys: list[int]) -> None:
    assert table.size() == len(model.rows)
    found = table.lookup(int64(keys))
    np.testing.assert_array_equal(found, [model.lookup(key) for key in keys])
    rows, counted, _, _ = table.export(SLOT)
    slots = rows.blocks["slot"]
    assert sorted(rows.keys.tolist()) == sorted(model.rows)
    for i, key in enumerate(rows.keys.tolist()):
        np.testing.assert_array_equal(slots[i], model.rows[key][1])
        assert rows.freqs[i] == model.counts[key]
        assert rows.steps[i] == model.steps[key]
    counts = dict(zip(counted.keys.tolist(), counted.freqs.tolist(), strict=True))
    assert counts == {k: n for k, n in model.counts.items() if k not in model.rows}


@pytest.mark.parametrize("kind", list(KINDS))
@pytest.mark.parametrize("dtype", [dtypes.float32, dtypes.float64])
def test_first_values_follow_from_seed_and_key(kind: str, dtype: Any) -> None:
    made = {"kind": kind, "first": 0.5, "second": 2.0, "dim": 5}
    keys = int64([3, -3, 2**50, 3])
    table = EmbeddingTable("", "t", dtype, options(**made))
    rows = table.lookup(keys)
    np.testing.assert_array_equal(rows[0], rows[3])
    other = EmbeddingTable("", "u", dtype, options(**made))
    np.testing.assert_array_equal(other.lookup(keys[::-1]), rows[::-1])
    different = EmbeddingTable("", "t", dtype, options(**made, seed=8)).lookup(keys)
    if kind == "constant":
        assert (rows == 0.5).all()
        return
    assert len(np.unique(rows[:3])) == 15
    assert not (different == rows).any()
    many = table.lookup(np.arange(1000, dtype=np.int64))
    mean, deviation = {
        "uniform": (1.25, 1.5 / 12**0.5),
        "normal": (0.5, 2.0),
        "truncated_normal": (0.5, 2.0 * 0.8796),
    }[kind]
    assert abs(many.mean() - mean) < 0.1
    assert abs(many.std() - deviation) < 0.1
    if kind == "uniform":
        assert many.min() >= 0.5
        assert many.max() < 2.0
    if kind == "truncated_normal":
        assert abs(many - 0.5).max() <= 4.0


def test_many_keys_come_and_go() -> None:
    table, random = new(), np.random.RandomState(0)
    left: set[int] = set()
    for _ in range(5):
        keys = random.randint(-(2**62), 2**62, 500)
        table.upsert(keys, rows_of(keys, 1.0), 0)
        left |= set(keys.tolist())
        gone = random.permutation(np.array(sorted(left), np.int64))[: len(left) // 2]
        table.remove(gone)
        left -= set(gone.tolist())
        assert table.size() == len(left)
        some = np.array(sorted(left), np.int64)
        assert (table.lookup(some) == 1.0).all()
        assert not (table.lookup(gone) == 1.0).any()


def test_a_row_that_is_taken_again_has_new_slots() -> None:
    table = new()
    table.apply(formula, SLOT, int64([1]), rows_of([1], 1.0), 1)
    table.remove(int64([1]))
    table.upsert(int64([2]), rows_of([2], 0.0), 1)
    rows = table.export(SLOT)[0]
    assert rows.keys.tolist() == [2]
    assert (rows.blocks["slot"] == 0.25).all()


def test_changes_since_a_save_are_those_rows_alone() -> None:
    table = new()
    table.keep_gone(0)
    table.upsert(int64([1, 2, 3]), rows_of([1, 2, 3], 1.0), 1)
    since = table.export(SLOT)[3]
    table.apply(formula, SLOT, int64([2]), rows_of([2], 1.0), 2)
    table.remove(int64([3]))
    rows, _, gone, _ = table.export(SLOT, since)
    assert (rows.keys.tolist(), gone.tolist()) == ([2], [3])
    # Until somebody says that they are kept, the next ones have them too.
    rows, _, gone, since = table.export(SLOT, since)
    assert (rows.keys.tolist(), gone.tolist()) == ([2], [3])
    table.keep_gone(since)
    rows, _, gone, _ = table.export(SLOT, since)
    assert (rows.keys.tolist(), gone.tolist()) == ([], [])


@pytest.mark.parametrize("filter_freq", [0, 2])
def test_a_copy_lives_alone_until_its_rows_are_taken(filter_freq: int) -> None:
    table = new(filter_freq=filter_freq, unadmitted_value=-1.0)
    many = np.arange(300, dtype=np.int64)
    for _ in range(2):
        table.apply(formula, SLOT, many, rows_of(list(many), 1.0), 1)
    table.apply(formula, SLOT, int64([400]), rows_of([400], 1.0), 1)
    table.remove(int64([3, 4]))
    before, copy = table.lookup(many), table.copied()
    assert copy.nbytes >= 298 * DIM * 4 * 2
    assert np.array_equal(copy.lookup(many), before)
    copy.upsert(int64([3, 5, 1000]), rows_of([3, 5, 1000], 9.0), 2)
    # It is admitted by the second update, of which each has counted the first.
    copy.apply(formula, SLOT, int64([400]), rows_of([400], 1.0), 1)
    assert np.array_equal(table.lookup(many), before)
    assert table.size() == (299 if filter_freq == 0 else 298)
    expected = copy.lookup(np.append(many, [400, 1000]))
    table.take_rows_of(copy)
    assert np.array_equal(table.lookup(np.append(many, [400, 1000])), expected)
    assert (expected[[3, 5, 301]] == 9.0).all()
    assert new().copied().size() == 0


def test_slots_that_begin_otherwise_are_refused() -> None:
    table = new()
    table.export(SLOT)
    with pytest.raises(errors.InvalidArgumentError, match="begins with"):
        table.export([("slot", 0.5)])


def test_another_table_of_the_name_is_refused() -> None:
    with pytest.raises(errors.InvalidArgumentError, match="embedding table t is"):
        new().check(dtypes.float32, options(seed=8))


def test_facts_name_slots_and_bytes() -> None:
    table = new()
    table.apply(formula, SLOT, int64([1, 2]), rows_of([1, 2], 1.0), 1)
    facts = table.facts()
    assert facts is not None
    assert facts["shape"] == "(2, 3)"
    assert facts["slots"] == ["slot"]
    assert facts["bytes"] == 2 * 2 * DIM * 4


def test_contents_of_other_order_are_the_same() -> None:
    table = new()
    contents = Contents(
        int64([5, 6]), int64([1, 2]), int64([3, 4]), {"": rows_of([5, 6], 2.0)}
    )
    table.load(contents, Contents(int64([]), int64([]), int64([]), {}))
    assert table.size() == 2
    assert (table.lookup(int64([6, 5])) == 2.0).all()
