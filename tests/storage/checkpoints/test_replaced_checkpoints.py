"""Readers of checkpoints that another program replaces meanwhile."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tensorloom as tf
from tensorloom.storage.checkpoints import bundle_files, checkpoints
from tensorloom.storage.checkpoints.bundle_reader import BundleReader
from tensorloom.storage.checkpoints.bundle_writer import BundleWriter
from tensorloom.storage.files import filesystem


def _save(prefix: str, number: int) -> None:
    with BundleWriter(prefix) as writer:
        for name in (b"a", b"b"):
            writer.add(name, tf.int32, np.full(number, number, np.int32))
        writer.finish()


def _values(reader: Any) -> list[list[int]]:
    return [reader.get_tensor(name).tolist() for name in "ab"]


def test_a_reader_keeps_what_it_opened(tmp_path: Path) -> None:
    """Also when it has read nothing yet, and when all is gone."""
    prefix = str(tmp_path / "m")
    _save(prefix, 1)
    first = tf.train.NewCheckpointReader(prefix)
    _save(prefix, 2)
    second = tf.train.load_checkpoint(prefix)
    tf.train.remove_checkpoint(prefix)
    assert _values(first) == [[1], [1]]
    assert _values(second) == [[2, 2], [2, 2]]
    assert second.get_variable_to_shape_map() == {"a": [2], "b": [2]}


@pytest.mark.parametrize("numbers", [[2], [3, 2]])
def test_replaced_between_index_and_shards(
    numbers: list[int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also by one after the other, while it is opened again."""
    prefix = str(tmp_path / "m")
    _save(prefix, 1)
    read_header = BundleReader._read_header

    def then_replaced(reader: BundleReader) -> Any:
        header = read_header(reader)
        if numbers:
            _save(prefix, numbers.pop(0))
        return header

    monkeypatch.setattr(BundleReader, "_read_header", then_replaced)
    reader = tf.train.NewCheckpointReader(prefix)
    assert reader.get_variable_to_shape_map()["a"] == [2]
    assert _values(reader) == [[2, 2], [2, 2]]


def test_half_replaced(tmp_path: Path) -> None:
    """The new shards have their names, the new index has not: a crash, or about to."""
    prefix = str(tmp_path / "m")
    _save(prefix, 1)
    data = bundle_files.data_name(prefix, 0, 1)
    kept = bundle_files.kept_name(data, filesystem.read_file(f"{prefix}.index"))
    filesystem.rename(data, kept)
    filesystem.write_file(data, b"of another checkpoint")
    assert _values(tf.train.NewCheckpointReader(prefix)) == [[1], [1]]


def test_a_missing_shard_is_told_when_it_is_read(tmp_path: Path) -> None:
    prefix = str(tmp_path / "m")
    _save(prefix, 1)
    filesystem.remove(bundle_files.data_name(prefix, 0, 1))
    reader = tf.train.NewCheckpointReader(prefix)
    assert reader.get_variable_to_shape_map() == {"a": [1], "b": [1]}
    with pytest.raises(tf.errors.NotFoundError) as caught:
        reader.get_tensor("a")
    assert "replaced" not in caught.value.message


def test_a_store_says_that_it_was_replaced() -> None:
    prefix = "memory://replaced_checkpoints/m"
    _save(prefix, 1)
    reader = tf.train.NewCheckpointReader(prefix)
    _save(prefix, 2)
    with pytest.raises(tf.errors.DataLossError, match="replaced or removed after it"):
        reader.get_tensor("a")
    assert _values(tf.train.NewCheckpointReader(prefix)) == [[2, 2], [2, 2]]


def test_many_shards_are_not_all_held(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpoints, "_MOST_HELD", 0)
    prefix = str(tmp_path / "m")
    _save(prefix, 1)
    reader: Any = checkpoints.open_anywhere(prefix)
    assert not reader._files
    assert reader.read(b"a").tolist() == [1]


def test_readers_beside_a_saver(tmp_path: Path) -> None:
    """Each reader gives one checkpoint, however often it is replaced."""
    prefix, stop = str(tmp_path / "m"), threading.Event()
    _save(prefix, 1)
    failures: list[BaseException] = []

    def save() -> None:
        try:
            number = 0
            while not stop.is_set():
                number += 1
                _save(prefix, 1 + number % 5)
        except BaseException as error:
            failures.append(error)

    thread = threading.Thread(target=save)
    thread.start()
    try:
        deadline = time.monotonic() + 0.5
        while time.monotonic() < deadline:
            reader = tf.train.NewCheckpointReader(prefix)
            (size,) = reader.get_variable_to_shape_map()["a"]
            assert _values(reader) == [[size] * size] * 2
    finally:
        stop.set()
        thread.join()
    assert not failures
