"""A worker's share of a pipeline: of its files where it reads some, as in 1.15."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

import tensorloom as tf
from tensorloom.compat.data.distribute import auto_shard_dataset

D, R, X = tf.data.Dataset, tf.data.TFRecordDataset, tf.data.experimental
FILES, RECORDS = 10, 3
OF_FILES = [f"{f}.{r}" for f in (3, 8) for r in range(RECORDS)]
# Numbers 3, 8, 13, ... of all records.
AT_END = [f"{i // RECORDS}.{i % RECORDS}" for i in range(3, FILES * RECORDS, 5)]


@pytest.fixture(scope="module")
def names(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    directory = tmp_path_factory.mktemp("records")
    paths = [str(Path(directory) / f"records{f}") for f in range(FILES)]
    for f, path in enumerate(paths):
        with tf.io.TFRecordWriter(path) as writer:
            for r in range(RECORDS):
                writer.write(f"{f}.{r}".encode())
    return paths


def share(dataset: Any, workers: int = 5, index: int = 3) -> list[Any]:
    element = auto_shard_dataset(dataset, workers, index).make_one_shot_iterator()
    element = element.get_next()
    found = []
    with tf.Session() as session, suppress(tf.errors.OutOfRangeError):
        while True:
            found.append(session.run(element))
    return found


CASES: list[tuple[str, Callable[[list[str]], Any], list[str]]] = [
    ("of names", lambda n: R(n), OF_FILES),
    ("files in turn", lambda n: D.list_files(n, shuffle=False).flat_map(R), OF_FILES),
    ("behind maps", lambda n: R(n).map(tf.identity).repeat(1), OF_FILES),
    ("filtered", lambda n: R(n).filter(lambda x: True).take(4), OF_FILES[:4]),
    ("another kind", lambda n: R(n).apply(X.unique()), AT_END),
    ("joined", lambda n: R(n[:5]).concatenate(R(n[5:])), OF_FILES),
    # What was sharded before the other input turned out to have no files stays so.
    (
        "joined with no files",
        lambda n: R(n[:5]).concatenate(D.from_tensor_slices(["a", "b"])),
        ["a"],
    ),
]


@pytest.mark.parametrize(
    ("make", "expected"), [c[1:] for c in CASES], ids=[c[0] for c in CASES]
)
def test_share(
    make: Callable[[list[str]], Any], expected: list[str], names: list[str]
) -> None:
    assert [e.decode() for e in share(make(names))] == expected


def test_files_are_shuffled_after_they_are_shared(names: list[str]) -> None:
    found = share(D.list_files(names, shuffle=True).flat_map(R))
    assert sorted(e.decode() for e in found) == OF_FILES


def test_too_few_elements() -> None:
    assert share(D.range(5), 10, 7) == []
    with pytest.raises(
        tf.errors.InvalidArgumentError,
        match=r"aren't enough elements .*# elems = 5, # shards = 10",
    ):
        share(D.range(5), 10, 3)
    with pytest.raises(tf.errors.InvalidArgumentError, match="between 0 and 1"):
        share(D.range(5), 2, 2)
