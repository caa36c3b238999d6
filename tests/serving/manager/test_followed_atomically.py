"""No request sees two states of a training that its model follows."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tensorloom as tf
import tensorloom.dynamic_embedding as de
from tensorloom.serving.manager.followed_checkpoints import FILE
from tensorloom.serving.manager.loader_options import make_loader
from tensorloom.serving.options import ServerOptions
from tests.cluster.processes import eventually
from tests.serving.models import PREDICT, _signature, save
from tests.serving.servers import start

TABLES = 4


class Counting:
    """All its rows and variables hold the number of the last step."""

    def __init__(self, directory: Path) -> None:
        self.checkpoints = directory / "train"
        self.checkpoints.mkdir()
        self._graph = tf.Graph()
        with self._graph.as_default():
            self._tables, self._variables, _, _ = _counts()
            self._saver = de.IncrementalSaver()
            self._number = tf.placeholder(tf.float32, [])
            rows = tf.fill([3, 1], self._number)
            self._step = [
                *[table.upsert([1, 2, 3], rows) for table in self._tables],
                *[tf.assign(v, self._number) for v in self._variables],
            ]
            self._session = tf.Session()
            self._session.run(tf.global_variables_initializer())

    def save(self, number: int, is_full: bool) -> None:
        """Steps, and saves that."""
        self._session.run(self._step, {self._number: number})
        with self._graph.as_default():
            if is_full:
                name = str(self.checkpoints / "m")
                self._saver.save(self._session, name, number)
            else:
                self._saver.incremental_save(self._session)

    def close(self) -> None:
        """Ends it."""
        self._session.close()


def _counts() -> tuple[list[Any], list[Any], Any, Any]:
    tables = [
        de.get_variable(f"table{i}", dim=1, initializer=tf.zeros_initializer())
        for i in range(TABLES)
    ]
    variables = [
        tf.get_variable("a", [], initializer=tf.zeros_initializer()),
        tf.get_variable("b", [], initializer=tf.zeros_initializer(), use_resource=True),
    ]
    keys = tf.placeholder(tf.int64, [None], name="keys")
    found = [tf.reshape(table.lookup(keys), [-1]) for table in tables]
    shape = tf.shape(found[0])
    found += [tf.fill(shape, variable) for variable in variables]
    return tables, variables, keys, tf.stack(found, 1)


def export_counts(path: Path) -> None:
    """Exports it for serving; a version with all zeros, which follows `../train`."""
    with tf.Graph().as_default(), tf.Session() as session:
        _, _, keys, found = _counts()
        session.run(tf.global_variables_initializer())
        signature = _signature({"keys": keys}, {"counts": found}, PREDICT)
        save(session, path, {"serving_default": signature})
    file = path / FILE
    file.parent.mkdir()
    file.write_text("../train")


def hammer(
    ask: Callable[[], Any], counting: Counting, last: int, callers: int = 3
) -> None:
    """Requests beside saves: each answer has one number everywhere, and they rise."""
    problems: list[Any] = []
    asked = [0] * callers

    def call(place: int) -> None:
        number = 0.0
        while number < last and not problems:
            try:
                found = np.asarray(ask())
            except Exception as error:
                problems.append(error)
                return
            low, high = found.min(), found.max()
            if low != high or low < number:
                problems.append(found)
            number = low
            asked[place] += 1

    threads = [threading.Thread(target=call, args=(i,)) for i in range(callers)]
    for thread in threads:
        thread.start()
    try:
        for number in range(1, last + 1):
            counting.save(number, is_full=number % 4 == 1)
    except BaseException as error:
        problems.append(error)
        raise
    finally:
        for thread in threads:
            thread.join(120)
    assert not problems
    assert all(asked)
    assert not any(thread.is_alive() for thread in threads)


@pytest.fixture
def counting(tmp_path: Path) -> Iterator[Counting]:
    """It has saved nothing yet, and a version follows it."""
    made = Counting(tmp_path)
    export_counts(tmp_path / "1")
    yield made
    made.close()


@pytest.mark.slow
def test_no_request_sees_two_increments(counting: Counting, tmp_path: Path) -> None:
    options = ServerOptions(file_system_poll_wait_seconds=0.001)
    loader = make_loader(options, lambda servable: None)
    servable = loader.load("counts", 1, str(tmp_path / "1"))
    signature = servable.signatures["serving_default"]
    feed = {signature.inputs["keys"].tensor: np.array([1, 2, 3])}
    fetch = [signature.outputs["counts"].tensor]
    try:
        hammer(lambda: servable.run(feed, fetch)[0], counting, 12)
    finally:
        servable.close()


@pytest.mark.slow
@pytest.mark.multiprocess
def test_no_request_sees_two_increments_of_a_process(
    counting: Counting, tmp_path: Path
) -> None:
    """The process of a model follows for itself; batches and splits change nothing."""
    (tmp_path / "batching").write_text(
        "max_batch_size { value: 3 } enable_large_batch_splitting { value: true } "
        "max_execution_batch_size { value: 2 }"
    )
    served = start(
        tmp_path,
        model_name="counts",
        model_base_path=str(tmp_path),
        model_processes="counts",
        file_system_poll_wait_seconds=0.01,
        enable_batching=True,
        batching_parameters_file=str(tmp_path / "batching"),
    )

    def ask() -> Any:
        status, answer = served.rest("/v1/models/counts:predict", {"inputs": [1, 2, 3]})
        assert status == 200, answer
        return answer["outputs"]

    try:
        hammer(ask, counting, 12)
    finally:
        served.server.stop()


@pytest.mark.slow
@pytest.mark.multiprocess
def test_a_process_that_is_killed_comes_back_where_the_training_is(
    counting: Counting, tmp_path: Path
) -> None:
    served = start(
        tmp_path,
        model_name="counts",
        model_base_path=str(tmp_path),
        model_processes="counts",
        file_system_poll_wait_seconds=0.01,
    )

    def counts() -> Any:
        return served.rest("/v1/models/counts:predict", {"inputs": [1, 3]})

    def has(number: float) -> bool:
        return bool(counts() == (200, {"outputs": [[number] * (TABLES + 2)] * 2}))

    try:
        counting.save(1, is_full=True)
        assert eventually(lambda: has(1.0))
        engine = served.server._processes._engines["counts", 1]
        os.kill(engine._newest.number, signal.SIGKILL)
        counting.save(2, is_full=False)
        counting.save(3, is_full=False)
        assert eventually(lambda: has(3.0))
    finally:
        served.server.stop()
