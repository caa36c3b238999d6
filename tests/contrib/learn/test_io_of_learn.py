"""`tf.contrib.learn.io`: readers of files, generators, and data feeders."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import tensorloom as tf
from tensorloom.contrib.learn.io import data_feeder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

learn = tf.contrib.learn


def _run_all(tensors: Any) -> list[Any]:
    """Values until the input is over."""
    found = []
    with tf.Session() as session:
        session.run(
            [tf.global_variables_initializer(), tf.local_variables_initializer()]
        )
        coordinator = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(session, coordinator)
        try:
            while True:
                found.append(session.run(tensors))
        except tf.errors.OutOfRangeError:
            pass
        coordinator.request_stop()
        coordinator.join(threads)
    return found


def _lines(directory: Path) -> str:
    (directory / "a.txt").write_text("1\n2\n3\n")
    (directory / "b.txt").write_text("4\n5\n")
    return str(directory / "*.txt")


def test_lines_in_order(tmp_path: Path) -> None:
    batch = learn.read_batch_examples(
        _lines(tmp_path),
        2,
        tf.TextLineReader,
        randomize_input=False,
        num_epochs=1,
        parse_fn=lambda line: tf.string_to_number(line),
    )
    assert [values.tolist() for values in _run_all(batch)] == [[1, 2], [3, 4], [5]]


@pytest.mark.parametrize("shared", [False, True])
def test_random_lines_with_keys(tmp_path: Path, shared: bool) -> None:
    read = (
        learn.read_keyed_batch_examples_shared_queue
        if shared
        else learn.read_keyed_batch_examples
    )
    pattern = [_lines(tmp_path)]
    keyed = read(pattern, 2, tf.TextLineReader, num_epochs=2, queue_capacity=9, seed=1)
    found = _run_all(keyed)
    values = [value for _, batch in found for value in batch]
    assert sorted(values) == [
        b"1",
        b"1",
        b"2",
        b"2",
        b"3",
        b"3",
        b"4",
        b"4",
        b"5",
        b"5",
    ]
    keys = {key.rpartition(b"/")[2] for batch, _ in found for key in batch}
    assert keys == {b"a.txt:1", b"a.txt:2", b"a.txt:3", b"b.txt:1", b"b.txt:2"}


def test_parsed_features_of_records(tmp_path: Path) -> None:
    path = str(tmp_path / "records")
    with tf.python_io.TFRecordWriter(path) as writer:
        for number in range(3):
            example = tf.train.Example()
            example.features.feature["x"].float_list.value.append(number)
            example.features.feature["s"].int64_list.value.extend([number] * number)
            writer.write(example.SerializeToString())
    features = learn.read_batch_record_features(
        path,
        3,
        {"x": tf.FixedLenFeature([1], tf.float32), "s": tf.VarLenFeature(tf.int64)},
        randomize_input=False,
        num_epochs=1,
    )
    assert features["x"].shape.as_list() == [None, 1]
    (found,) = _run_all(features)
    assert found["x"].tolist() == [[0.0], [1.0], [2.0]]
    assert found["s"].values.tolist() == [1, 2, 2]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"file_pattern": []}, "No files given"),
        ({"file_pattern": "no such file"}, "No files match"),
        ({"batch_size": 0}, "batch_size"),
        ({"batch_size": 10000}, "batch_size"),
        ({"queue_capacity": 0}, "queue_capacity"),
        ({"num_threads": 0}, "num_threads"),
        ({"read_batch_size": 0}, "read_batch_size"),
        ({"num_epochs": 0}, "num_epochs"),
    ],
)
def test_impossible_numbers_are_refused(
    tmp_path: Path, options: dict[str, Any], message: str
) -> None:
    given = {"file_pattern": _lines(tmp_path), "batch_size": 1, **options}
    with pytest.raises(ValueError, match=message):
        learn.read_batch_examples(reader=tf.TextLineReader, **given)


@pytest.mark.slow
def test_generator_of_examples() -> None:
    def examples() -> Iterator[dict[str, Any]]:
        for number in range(4):
            yield {"x": np.ones(2) * number, "y": np.array(number)}

    input_fn = learn.io.generator_input_fn(
        examples, target_key="y", batch_size=2, shuffle=False
    )
    features, labels = input_fn()
    found = _run_all([features["x"], labels])
    # As in TensorFlow, the last batch has the first example again.
    assert [y.ravel().tolist() for _, y in found] == [[0, 1], [2, 3], [0]]
    assert found[1][0].tolist() == [[2, 2], [3, 3]]


@pytest.mark.parametrize(
    ("x", "target", "error"),
    [
        (1, None, TypeError),
        (lambda: 1, None, TypeError),
        (lambda: (n for n in range(2)), None, TypeError),
        (lambda: ({"a": n} for n in range(2)), 1, TypeError),
        (lambda: ({"a": n} for n in range(2)), [1], TypeError),
        (lambda: ({"a": n} for n in range(2)), ["b"], KeyError),
    ],
)
def test_what_is_no_generator_of_dicts(
    x: Any, target: Any, error: type[Exception]
) -> None:
    with pytest.raises(error):
        learn.io.generator_input_fn(x, target_key=target)


def _first(feeder: Any) -> Any:
    """The values that the first feeds have, by the placeholders' roles."""
    with tf.Graph().as_default():
        inputs, outputs = feeder.input_builder()
        feeds = feeder.get_feed_dict_fn()()
        return feeds[inputs.name], None if outputs is None else feeds[outputs.name]


_X: Any = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], np.float32)


@pytest.mark.parametrize(
    ("make", "x", "y"),
    [
        (lambda: (_X, np.array([0, 1, 1]), None), [[1, 2], [3, 4]], [0, 1]),
        (lambda: (_X, np.array([0, 1, 1]), 2), [[1, 2], [3, 4]], [[1, 0], [0, 1]]),
        (lambda: (_X[:, 0], [[1.0], [2.0], [3.0]], None), [[1], [3]], [1, 2]),
        (
            lambda: (iter(_X), iter([0, 2, 1]), 3),
            [[1, 2], [3, 4]],
            [[1, 0, 0], [0, 0, 1]],
        ),
        (lambda: (_X, None, None), [[1, 2], [3, 4]], None),
    ],
)
def test_feeders(make: Callable[[], Any], x: Any, y: Any) -> None:
    features, labels, classes = make()
    feeder = data_feeder.setup_train_data_feeder(
        features, labels, classes, batch_size=2, shuffle=False
    )
    found_x, found_y = _first(feeder)
    np.testing.assert_array_equal(found_x, x)
    if y is not None:
        np.testing.assert_array_equal(found_y, y)


def test_feeders_of_dicts_and_their_end() -> None:
    feeder = data_feeder.setup_train_data_feeder(
        {"a": _X, "b": _X[:, 0]},
        {"c": np.array([1, 0, 1])},
        {"c": 2},
        batch_size=2,
        epochs=1,
    )
    with tf.Graph().as_default():
        inputs, outputs = feeder.input_builder()
        assert inputs["b"].name == "input_b:0"
        feed = feeder.get_feed_dict_fn()
        shapes = [feed()[outputs["c"].name].shape for _ in range(2)]
        assert shapes == [(2, 2), (1, 2)]
        with pytest.raises(StopIteration):
            feed()


def test_feeders_refuse_one_iterator_and_bad_sizes() -> None:
    with pytest.raises(ValueError, match="Both x and y"):
        data_feeder.setup_train_data_feeder(iter(_X), _X, None)
    with pytest.raises(ValueError, match="batch_size"):
        data_feeder.setup_train_data_feeder(_X, None, None, batch_size=0)
    batches = data_feeder.setup_predict_data_feeder(_X, batch_size=2)
    assert [len(batch) for batch in batches] == [2, 1]
    streamed = data_feeder.setup_predict_data_feeder(iter(_X), batch_size=2)
    assert [batch.shape for batch in streamed] == [(2, 2), (1, 2)]
