"""Iterators: initializing, sharing, handles, positions, and their mistakes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tensorloom as tf

D, X = tf.data.Dataset, tf.data.experimental


def test_positions_are_saved_and_restored() -> None:
    dataset = D.range(30).shuffle(5, seed=2).map(lambda x: x).repeat(2).cache()
    iterator = dataset.make_initializable_iterator()
    element = iterator.get_next()
    handle = iterator._iterator_resource
    state = tf.raw_ops.SerializeIterator(resource_handle=handle)
    restore = tf.raw_ops.DeserializeIterator(resource_handle=handle, serialized=state)
    with tf.Session() as session:
        session.run(iterator.initializer)
        whole = [int(session.run(element)) for _ in range(50)]
        session.run(iterator.initializer)
        for _ in range(35):
            session.run(element)
        session.run(restore)
        assert [int(session.run(element)) for _ in range(15)] == whole[35:]


def test_an_iterator_on_another_device() -> None:
    with tf.device("/cpu:1"):
        iterator = D.range(5).map(lambda x: x * 2).make_initializable_iterator()
        element = iterator.get_next()
    result = element + 1
    config = tf.ConfigProto(device_count={"CPU": 2})
    with tf.Session(config=config) as session:
        session.run(iterator.initializer)
        assert [int(session.run(result)) for _ in range(3)] == [1, 3, 5]


def test_one_shot_iterators_begin_once_a_session() -> None:
    element = D.range(4).make_one_shot_iterator().get_next()
    doubled = element * 2
    for _ in range(2):
        with tf.Session() as session:
            first = [int(session.run(element)) for _ in range(2)]
            then = [int(session.run(doubled)) for _ in range(2)]
            assert first + then == [0, 1, 4, 6]
            with pytest.raises(tf.errors.OutOfRangeError, match="End of sequence"):
                session.run(doubled)


def test_one_shot_iterator_over_files_that_are_listed(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).write_text(name)
    with tf.Graph().as_default(), tf.Session() as session:
        files = tf.data.Dataset.list_files(str(tmp_path / "*"), shuffle=False)
        element = files.make_one_shot_iterator().get_next()
        names = [session.run(element) for _ in range(2)]
    assert names == [str(tmp_path / name).encode() for name in ("a", "b")]


def test_uninitialized() -> None:
    element = D.range(4).make_initializable_iterator().get_next()
    with (
        tf.Session() as session,
        pytest.raises(tf.errors.FailedPreconditionError, match="not been initialized"),
    ):
        session.run(element)


@pytest.mark.parametrize(
    ("dataset", "message"),
    [
        (
            lambda: D.from_tensors(1.0),
            "Data type mismatch at component 0: expected int",
        ),
        (lambda: D.from_tensors(np.zeros(2, np.int64)), "Incompatible shapes at compo"),
        (lambda: D.from_tensors((np.int64(1), 2)), "Number of components does not mat"),
    ],
)
def test_a_dataset_of_another_structure(dataset: Any, message: str) -> None:
    iterator = tf.data.Iterator.from_structure(tf.int64, [])
    wrong = tf.raw_ops.MakeIterator(
        dataset=dataset()._variant_tensor, iterator=iterator._iterator_resource
    )
    with (
        tf.Session() as session,
        pytest.raises(tf.errors.InvalidArgumentError, match=message),
    ):
        session.run(wrong)


def test_elements_stay_as_they_were() -> None:
    data = np.zeros((4, 2), np.float32)
    iterator = D.from_tensor_slices(data).batch(2).make_initializable_iterator()
    element = iterator.get_next()
    with tf.Session() as session:
        session.run(iterator.initializer)
        first = session.run(element)
        first += 5
        assert session.run(element).tolist() == [[0, 0], [0, 0]]
        session.run(iterator.initializer)
        assert session.run(element).tolist() == [[0, 0], [0, 0]]


def test_options_merge_and_refuse() -> None:
    first, second = tf.data.Options(), tf.data.Options()
    first.experimental_slack = True
    second.experimental_threading.private_threadpool_size = 3
    merged = D.range(2).with_options(first).with_options(second).options()
    assert merged.experimental_slack is True
    assert merged.experimental_threading.private_threadpool_size == 3
    second.experimental_slack = False
    with pytest.raises(ValueError, match="incompatible"):
        first.merge(second)
    with pytest.raises(AttributeError):
        first.nothing = 1
    with pytest.raises(TypeError):
        first.experimental_slack = 1


@pytest.mark.slow
def test_importing_loads_no_checksums() -> None:
    import subprocess
    import sys

    code = "import sys, tensorloom; print('google_crc32c' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "False"
