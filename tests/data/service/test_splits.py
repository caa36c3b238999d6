"""Splits: their elements, one split after the other, are those of the dataset."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tensorloom as tf
from tensorloom.data.service.pipelines import Pipeline
from tensorloom.framework.runtime import input_service
from tensorloom.framework.runtime.input_service import ENDLESS, INDIVISIBLE

D = tf.data.Dataset


class Notebook:
    """A client that writes down what is registered."""

    def register(self, address: str, dataset_id: str, found: Any) -> str:
        """Keeps a registration."""
        self.found = found
        return dataset_id or "made up"

    def open(self, reading: Any) -> Any:
        """Nobody reads."""
        raise AssertionError(reading)


@pytest.fixture
def registration(monkeypatch: pytest.MonkeyPatch) -> Callable[[Any], Any]:
    """Gives what a dispatcher is told of a dataset."""
    notebook = Notebook()
    monkeypatch.setattr(input_service, "client", lambda: notebook)

    def of(dataset: Any) -> Any:
        service = tf.data.experimental.service
        named = service.register_dataset("grpc://nobody:1", dataset)
        with tf.Session() as session:
            session.run(named)
        return notebook.found

    return of


def parts(registration: Any, bounds: list[tuple[int, int]]) -> list[list[Any]]:
    """The elements of each part."""
    pipeline = Pipeline(registration.graph, registration.types, registration.shapes)
    found = []
    try:
        for begin, end in bounds:
            pipeline.begin(begin, end, 7)
            found.append(elements(pipeline))
    finally:
        pipeline.close()
    return found


def elements(pipeline: Pipeline) -> list[Any]:
    """What is left of a pipeline."""
    found: list[Any] = []
    while True:
        try:
            found.append([np.asarray(value).tolist() for value in pipeline.next()])
        except tf.errors.OutOfRangeError:
            return found


def numbers(count: int) -> Any:
    """A source that has its elements in memory."""
    return D.from_tensor_slices(np.arange(count))


# Pipelines; how many elements are divided, and the multiple of a split.
CASES: dict[str, tuple[Callable[[], Any], int, int]] = {
    "range": (lambda: D.range(10), 10, 1),
    "slices": (lambda: numbers(10), 10, 1),
    "map": (lambda: numbers(10).map(lambda x: (x, x * x)), 10, 1),
    "parallel map": (lambda: D.range(10).map(lambda x: -x, 2).prefetch(2), 10, 1),
    "batches": (lambda: D.range(20).batch(4), 20, 4),
    "a short batch": (lambda: D.range(10).batch(4), 10, 4),
    "no short batch": (lambda: numbers(10).batch(4, drop_remainder=True), 10, 4),
    "batches of batches": (lambda: D.range(24).batch(2).batch(3), 24, 6),
    "repeated, then batches": (lambda: D.range(5).repeat(4).batch(3), 20, 3),
    "repeated slices": (lambda: numbers(5).repeat(3).map(lambda x: x + 1), 15, 1),
    "filter": (lambda: D.range(20).filter(lambda x: x % 3 > 0), 20, 1),
    "batches of what is left": (
        lambda: D.range(24).batch(2).filter(lambda x: x[0] % 4 > 0),
        24,
        2,
    ),
    "flat map": (lambda: D.range(6).flat_map(lambda x: D.range(x)), 6, 1),
    "a cache": (lambda: D.range(10).map(lambda x: x + 1).cache(), 10, 1),
    "take and skip": (lambda: D.range(30).skip(3).take(10).map(lambda x: x), 10, 1),
    "zip": (lambda: D.zip((D.range(6), numbers(8))).batch(2), 6, 2),
    "concatenated": (lambda: D.range(4).concatenate(D.range(3)), 7, 1),
    "empty": (lambda: D.range(0).map(lambda x: x), 0, 1),
}


@pytest.mark.parametrize("name", CASES)
def test_splits_are_the_dataset(name: str, registration: Any) -> None:
    make, count, multiple = CASES[name]
    found = registration(make())
    splits = found.splits
    assert (splits.elements, splits.multiple) == (count, multiple)
    assert splits.size % multiple == 0
    size = multiple * 2
    bounds = [(at, min(at + size, count)) for at in range(0, count, size)]
    whole, *each = parts(found, [(-1, -1), *bounds])
    assert [element for part in each for element in part] == whole


def test_shuffled_splits_have_all_elements_in_one_order(registration: Any) -> None:
    found = registration(D.range(30).shuffle(8).map(lambda x: x * 2))
    bounds = [(0, 15), (15, 30), (15, 30)]
    first, second, again = parts(found, bounds)
    assert sorted(first + second) == [[2 * number] for number in range(30)]
    assert second == again  # whoever goes on with it finds the same
    assert first != sorted(first)


def test_files_are_divided_as_files(tmp_path: Path, registration: Any) -> None:
    paths = [str(tmp_path / f"{number}") for number in range(3)]
    for number, path in enumerate(paths):
        with tf.python_io.TFRecordWriter(path) as writer:
            for at in range(number + 2):
                writer.write(b"%d %d" % (number, at))
    found = registration(tf.data.TFRecordDataset(paths).repeat(2))
    assert (found.splits.elements, found.splits.size) == (6, 1)
    second, both = parts(found, [(1, 2), (4, 6)])
    assert second == [[b"1 0"], [b"1 1"], [b"1 2"]]
    assert len(both) == 3 + 4


def test_what_has_no_number_of_elements(registration: Any) -> None:
    assert registration(D.range(5).repeat()).splits.elements == ENDLESS
    endless = registration(tf.data.experimental.Counter()).splits
    assert endless.elements == INDIVISIBLE
    assert "is endless" in endless.reason
    scanned = D.range(9).apply(
        tf.data.experimental.scan(np.int64(0), lambda s, x: (s + x, s))
    )
    assert registration(scanned.filter(lambda x: x > 1)).splits.elements == 9
    splits = registration(D.range(9).filter(lambda x: x > 1).take(3)).splits
    assert splits.elements == INDIVISIBLE
    assert "TakeDataset" in splits.reason


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (
            lambda: D.range(3).map(lambda x: tf.py_func(lambda y: y, [x], tf.int64)),
            r"calls a Python function \(PyFunc\)",
        ),
        (
            lambda: D.range(3).map(
                lambda x: x + tf.get_variable("v", [], tf.int64, use_resource=True)
            ),
            "which is a part of this session",
        ),
    ],
    ids=["a Python function", "a variable"],
)
def test_what_workers_do_not_have(make: Any, said: str, registration: Any) -> None:
    with pytest.raises(tf.errors.FailedPreconditionError, match=said):
        registration(make())
