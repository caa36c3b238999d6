"""Served models that follow the checkpoints of their training."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import tensorloom as tf
import tensorloom.dynamic_embedding as de
from tensorloom.kernels.host.embedding.table import EmbeddingTable
from tensorloom.serving.manager import followed_state
from tensorloom.serving.manager.followed_checkpoints import FILE, FollowedCheckpoints
from tensorloom.serving.manager.loader_options import make_loader
from tensorloom.serving.options import ServerOptions
from tests.cluster.processes import eventually
from tests.serving.models import PREDICT, _signature, save

if TYPE_CHECKING:
    from tensorloom.serving.manager.servable import Servable


class Training:
    """Adds one to the rows of keys, and to a bias, in each step."""

    def __init__(self, directory: Path) -> None:
        self.checkpoints = directory / "train"
        self.checkpoints.mkdir()
        self._graph = tf.Graph()
        with self._graph.as_default():
            self._keys, self._scores, self._table = _model(places=2)
            loss = -tf.reduce_sum(self._scores)
            self._train = tf.train.AdagradOptimizer(1.0, 1e-9).minimize(loss)
            self.saver = de.IncrementalSaver()
            self._session = tf.Session()
            self._session.run(tf.global_variables_initializer())

    def step(self, *keys: int) -> None:
        """Trains with these keys."""
        self._session.run(self._train, {self._keys: keys})

    def remove(self, *keys: int) -> None:
        """Removes rows."""
        with self._graph.as_default():
            self._session.run(self._table.remove(list(keys)))

    def save(self, step: int) -> str:
        """A full checkpoint."""
        with self._graph.as_default():
            path = self.saver.save(self._session, str(self.checkpoints / "m"), step)
        return str(path)

    def save_increment(self) -> str:
        """What changed since."""
        with self._graph.as_default():
            return self.saver.incremental_save(self._session)

    def scores(self, keys: list[int]) -> list[float]:
        """What the model says."""
        found = self._session.run(self._scores, {self._keys: keys})
        return [float(score) for score in found]

    def close(self) -> None:
        """Ends it."""
        self._session.close()


def _model(places: int) -> tuple[Any, Any, Any]:
    table = de.get_variable(
        "table",
        dim=2,
        partitioner=tf.fixed_size_partitioner(places),
        initializer=tf.zeros_initializer(),
    )
    bias = tf.get_variable("bias", [], initializer=tf.zeros_initializer())
    keys = tf.placeholder(tf.int64, [None], name="keys")
    return keys, tf.reduce_sum(table.lookup(keys), 1) + bias, table


def _export(path: Path, directory: str, places: int = 1) -> None:
    """A SavedModel for serving, untrained; it has other shards, and no slots."""
    with tf.Graph().as_default(), tf.Session() as session:
        keys, scores, _ = _model(places)
        session.run(tf.global_variables_initializer())
        signature = _signature({"keys": keys}, {"scores": scores}, PREDICT)
        save(session, path, {"serving_default": signature})
    file = path / FILE
    file.parent.mkdir()
    file.write_text(f"{directory}\n")


@pytest.fixture
def training(tmp_path: Path) -> Iterator[Training]:
    """It has saved a checkpoint and an increment."""
    made = Training(tmp_path)
    made.step(1, 2)
    made.save(1)
    made.step(2, 7)
    made.save_increment()
    yield made
    made.close()


@pytest.fixture
def load(tmp_path: Path) -> Iterator[Callable[..., Servable]]:
    """Loads a version that looks for checkpoints so often; it is closed at the end."""
    loaded: list[Servable] = []

    def load(poll_s: float) -> Servable:
        options = ServerOptions(file_system_poll_wait_seconds=poll_s)
        loader = make_loader(options, lambda servable: None)
        loaded.append(loader.load("scores", 1, str(tmp_path / "1")))
        return loaded[-1]

    yield load
    for servable in loaded:
        servable.close()


@pytest.fixture
def looks(monkeypatch: pytest.MonkeyPatch) -> list[FollowedCheckpoints]:
    """Who has looked for checkpoints."""
    found: list[FollowedCheckpoints] = []
    look = FollowedCheckpoints.look

    def look_and_tell(self: FollowedCheckpoints) -> None:
        found.append(self)
        look(self)

    monkeypatch.setattr(FollowedCheckpoints, "look", look_and_tell)
    return found


def _served(servable: Servable, keys: list[int]) -> list[float]:
    signature = servable.signatures["serving_default"]
    feed = {signature.inputs["keys"].tensor: np.array(keys)}
    return [
        float(x) for x in servable.run(feed, [signature.outputs["scores"].tensor])[0]
    ]


KEYS = [1, 2, 7, 9]


@pytest.mark.slow
def test_increments_are_taken_over_while_it_serves(
    training: Training, load: Callable[..., Servable], tmp_path: Path
) -> None:
    _export(tmp_path / "1", "../train")
    servable = load(0.01)
    # When it is loaded it is where the training is.
    assert _served(servable, KEYS) == training.scores(KEYS)
    training.step(9)
    training.remove(1)
    training.save_increment()
    expected = training.scores(KEYS)
    assert eventually(lambda: _served(servable, KEYS) == expected)
    training.step(9)
    training.save(2)
    training.step(1, 7)
    training.save_increment()
    expected = training.scores(KEYS)
    assert eventually(lambda: _served(servable, KEYS) == expected)


@pytest.mark.slow
@pytest.mark.parametrize("has_room", [True, False])
def test_a_large_increment_is_put_in_memory_beside(
    training: Training,
    load: Callable[..., Servable],
    tmp_path: Path,
    looks: list[FollowedCheckpoints],
    monkeypatch: pytest.MonkeyPatch,
    has_room: bool,
) -> None:
    """No step waits for more than a switch, unless there is no room for a copy."""
    _export(tmp_path / "1", str(training.checkpoints), places=2)
    servable = load(0.0)
    (followed,) = looks
    monkeypatch.setattr(followed_state, "_FEW_ROWS", -1)  # also what has none
    free = 1 << 40 if has_room else 0
    monkeypatch.setattr(followed_state, "available_bytes", lambda: free)
    while_steps_wait: list[str] = []
    gate, put_rows = followed._gate, EmbeddingTable.load

    def note(table: Any, *contents: Any) -> None:
        if gate._is_closed:
            while_steps_wait.append("load")
        put_rows(table, *contents)

    monkeypatch.setattr(EmbeddingTable, "load", note)
    training.step(9)
    training.remove(1)
    training.save_increment()
    followed.look()
    assert _served(servable, KEYS) == training.scores(KEYS)
    assert bool(while_steps_wait) is not has_room


@pytest.mark.slow
def test_only_what_changed_is_read(
    training: Training,
    load: Callable[..., Servable],
    tmp_path: Path,
    looks: list[FollowedCheckpoints],
) -> None:
    """The full checkpoint may be gone when it has been read."""
    _export(tmp_path / "1", str(training.checkpoints), places=3)
    servable = load(0.0)
    (followed,) = looks
    for data in training.checkpoints.glob("m-1.data*"):
        shutil.move(data, tmp_path)
    for data in training.checkpoints.glob("m-1.increment-1.data*"):
        shutil.move(data, tmp_path)
    training.step(7)
    training.save_increment()
    followed.look()
    assert _served(servable, KEYS) == training.scores(KEYS)


@pytest.mark.slow
def test_what_is_damaged_is_left_out(
    training: Training,
    load: Callable[..., Servable],
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """It serves what was before, and what comes with the next full checkpoint."""
    _export(tmp_path / "1", "../train")
    before = training.scores(KEYS)
    training.step(7)
    damaged = Path(training.save_increment() + ".index")
    damaged.write_bytes(damaged.read_bytes()[:-3])
    servable = load(0.01)
    assert _served(servable, KEYS) == before
    assert "scores version 1: " in caplog.text
    training.save(3)
    expected = training.scores(KEYS)
    assert eventually(lambda: _served(servable, KEYS) == expected)


def test_no_checkpoint_yet(
    load: Callable[..., Servable], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The version has its own variables until there is one."""
    _export(tmp_path / "1", "/not/there")
    assert _served(load(0.0), KEYS) == [0.0] * 4
    assert "there is no checkpoint in /not/there" in caplog.text


def test_what_cannot_follow(load: Callable[..., Servable], tmp_path: Path) -> None:
    """No variables, or no directory."""
    _export(tmp_path / "1", "")
    with pytest.raises(ValueError, match="is empty"):
        load(0.0)
    (tmp_path / "1" / FILE).write_text("../train")
    shutil.rmtree(tmp_path / "1" / "variables")
    (tmp_path / "1" / "saved_model.pb").unlink()
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, name="x")
        tf.identity(x, name="y")
        graph_def = tf.get_default_graph().as_graph_def()
        (tmp_path / "1" / "model.pb").write_bytes(graph_def.SerializeToString())
    with pytest.raises(ValueError, match="no variables that could follow"):
        load(0.0)


@pytest.mark.slow
def test_what_does_not_fit_changes_nothing(
    training: Training,
    load: Callable[..., Servable],
    tmp_path: Path,
    looks: list[FollowedCheckpoints],
    caplog: pytest.LogCaptureFixture,
) -> None:
    """A checkpoint whose last variable has another shape is left out as a whole."""
    _export(tmp_path / "1", "../train")
    servable = load(0.0)
    before = _served(servable, KEYS)
    with tf.Graph().as_default(), tf.Session() as session:
        de.get_variable("table", dim=2, initializer=tf.ones_initializer())
        tf.get_variable("bias", [3], initializer=tf.ones_initializer())
        session.run(tf.global_variables_initializer())
        de.IncrementalSaver().save(session, str(training.checkpoints / "m"), 9)
    looks[0].look()
    assert _served(servable, KEYS) == before
    assert "has shape [3] for bias" in caplog.text


@pytest.mark.slow
def test_a_step_that_runs_long_is_waited_for(
    training: Training,
    load: Callable[..., Servable],
    tmp_path: Path,
    looks: list[FollowedCheckpoints],
) -> None:
    """Others are answered meanwhile, with what was before."""
    _export(tmp_path / "1", "../train")
    servable = load(0.01)
    before = _served(servable, KEYS)
    gate = looks[0]._gate
    with gate.step():
        training.step(9)
        training.save_increment()
        expected = training.scores(KEYS)
        assert [_served(servable, KEYS) for _ in range(20)] == [before] * 20
    assert eventually(lambda: _served(servable, KEYS) == expected)
