"""Increments of checkpoints: what is saved, restored, left out, removed, refused."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tensorloom as tf
import tensorloom.dynamic_embedding as de
from tensorloom.storage.checkpoints import increments, write_tokens
from tensorloom.storage.checkpoints.write_tokens import WriteToken
from tensorloom.storage.files import filesystem
from tests.train.checkpoints.stopping_files import StopError, StoppingFiles

KEYS = 9


class Program:
    """A model with an embedding variable in two places, a dense one, and a saver."""

    def __init__(self, directory: Path, sharded: bool = False, **options: Any) -> None:
        self.directory = directory
        with tf.Graph().as_default() as graph, tf.device("/cpu:0"):
            self.table = de.get_variable(
                "table", dim=2, devices=["/cpu:0", "/cpu:1"], **options
            )
            self.dense = tf.get_variable("dense", initializer=0.0, use_resource=True)
            self.ids = tf.placeholder(tf.int64, [None])
            loss = tf.reduce_sum(self.table.lookup(self.ids)) + self.dense
            self.step = tf.train.get_or_create_global_step()
            optimizer = tf.train.MomentumOptimizer(0.5, 0.5)
            self.train = optimizer.minimize(loss, self.step)
            self.remove = self.table.remove(self.ids)
            self.exported = self.table.export()
            self.init = tf.global_variables_initializer()
            self.saver = de.IncrementalSaver(max_to_keep=2, sharded=sharded)
        self.graph = graph
        self.start()

    def start(self) -> None:
        """As a new process would, with nothing in its variables."""
        config = tf.ConfigProto(device_count={"CPU": 2})
        self.sess = tf.Session(graph=self.graph, config=config)
        self.sess.run(self.init)

    def save(self) -> str:
        with self.graph.as_default():
            path = self.saver.save(
                self.sess, str(self.directory / "m"), self.step, write_meta_graph=False
            )
        assert path is not None
        return path

    def increment(self) -> str:
        return self.saver.incremental_save(self.sess, self.step)

    def run(self, op: Any, keys: list[int]) -> None:
        self.sess.run(op, {self.ids: keys})

    def state(self) -> Any:
        """All there is, slots too."""
        rows, dense, step = self.sess.run([self.exported, self.dense, self.step])
        order = np.argsort(rows.keys)
        return [column[order].tolist() for column in rows] + [float(dense), int(step)]

    def restored(self) -> Any:
        """What a program that starts again begins with."""
        self.sess.close()
        self.start()
        latest = tf.train.latest_checkpoint(str(self.directory))
        assert latest is not None
        self.saver.restore(self.sess, latest)
        return self.state()


@pytest.mark.parametrize("sharded", [False, True])
def test_a_program_goes_on_from_the_last_increment(
    tmp_path: Path, sharded: bool
) -> None:
    program = Program(tmp_path, sharded)
    program.run(program.train, [1, 2, 3])
    program.save()
    program.run(program.train, [1, 7])
    program.run(program.remove, [2])
    path = program.increment()
    assert path == str(tmp_path / "m-1.increment-1")
    shapes = tf.train.NewCheckpointReader(path).get_variable_to_shape_map()
    rows = [shapes[f"table/part_{shard}-values"] for shard in range(2)]
    assert rows == [[0, 2], [2, 2]]  # 1 and 7 alone
    expected = program.state()
    assert program.restored() == expected
    # Slots came with them: the next step is as it would have been.
    program.run(program.train, [1, 2])
    program.increment()
    expected = program.state()
    assert program.restored() == expected
    assert program.saver.saved_step == 3


@pytest.mark.parametrize("seed", [pytest.param(0, marks=pytest.mark.slow), 1, 2])
def test_random_programs_restore_what_they_saved_last(
    tmp_path: Path, seed: int
) -> None:
    chance = random.Random(seed)
    filters = de.CounterFilter(2) if seed == 1 else None
    lives = de.GlobalStepEvict(4) if seed == 2 else None
    program = Program(tmp_path, filter_option=filters, evict_option=lives)
    program.save()
    saved = program.state()
    for _ in range(40):
        keys = [chance.randrange(KEYS) for _ in range(3)]
        match chance.choice(["train"] * 4 + ["remove", "full", "increment", "start"]):
            case "train":
                program.run(program.train, keys)
            case "remove":
                program.run(program.remove, keys[:1])
            case "full":
                program.save()
                saved = program.state()
            case "increment":
                program.increment()
                saved = program.state()
            case _:
                assert program.restored() == saved


@pytest.mark.parametrize("sharded", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_stopped_at_every_step(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sharded: bool
) -> None:
    """Every moment between two changes of names leaves a state that was saved."""
    program = Program(tmp_path, sharded)
    program.save()
    finished, count = False, 0
    while not finished:
        for save in (program.increment, program.save):
            before = program.state()
            program.run(program.train, [count % KEYS, 3])
            after = program.state()
            with monkeypatch.context() as patch:
                patch.setitem(filesystem._found, "", StoppingFiles(count))
                try:
                    save()
                    finished = True
                except (StopError, tf.errors.OpError):
                    finished = False
            found = program.restored()
            assert found == after if finished else found in (before, after), count
        count += 1
    assert count > 4


def broken(path: Path, kind: str) -> None:
    index = path.with_name("m-0.increment-2.index")
    data = path.with_name("m-0.increment-2.data-00000-of-00001")
    match kind:
        case "missing":
            index.unlink()
        case "without data":
            data.unlink()
        case "half":
            data.write_bytes(data.read_bytes()[:-5])
        case "damaged":
            content = bytearray(data.read_bytes())
            content[len(content) // 2] ^= 1
            data.write_bytes(content)
        case "another":
            other = path.with_name("m-0.increment-1.index")
            index.write_bytes(other.read_bytes())
        case "another checkpoint":
            listed = increments._read_list(str(path))[0]
            assert listed is not None
            increments.write(str(path), 1, listed[1])
        case "list damaged":
            path.with_name("m-0.increments").write_bytes(b'{"checkpoint": 1, "incr')
        case "no list":
            path.with_name("m-0.increments").unlink()


@pytest.mark.parametrize(
    ("kind", "left", "warning"),
    [
        ("missing", 1, "m-0.increment-2"),
        ("without data", 1, "m-0.increment-2"),
        ("half", 1, "m-0.increment-2"),
        ("damaged", 1, "m-0.increment-2"),
        ("another", 1, "m-0.increment-2 is another one"),
        ("another checkpoint", 0, "m-0.increments is of another"),
        ("list damaged", 0, "m-0.increments cannot be read"),
        ("no list", 0, ""),
    ],
)
def test_what_is_damaged_is_left_out_with_what_follows(
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    kind: str,
    left: int,
    warning: str,
) -> None:
    program = Program(tmp_path)
    path, states = Path(program.save()), [program.state()]
    for key in (1, 2, 3):
        program.run(program.train, [key])
        program.increment()
        states.append(program.state())
    broken(path, kind)
    with caplog.at_level("WARNING", logger="tensorflow"):
        assert program.restored() == states[left]
    if warning:
        assert warning in caplog.text
    else:
        assert "m-0.increment" not in caplog.text
    # What comes next takes the place of what was left out.
    program.run(program.train, [4])
    assert program.increment().endswith(f"increment-{left + 1}")
    expected = program.state()
    assert program.restored() == expected


def test_increments_are_removed_with_their_checkpoint(tmp_path: Path) -> None:
    program = Program(tmp_path)
    for number in range(4):
        program.run(program.train, [number])
        program.save()
        for _ in range(2):
            program.run(program.train, [number])
            program.increment()
    names = {path.name for path in tmp_path.iterdir()} - {"checkpoint"}
    assert {name.split(".")[0] for name in names} == {"m-7", "m-10"}
    assert len(names) == 2 * (2 + 1 + 2 * 2)


def test_a_save_in_the_background_begins_anew(tmp_path: Path) -> None:
    program = Program(tmp_path)
    program.save()
    path = str(tmp_path / "m")
    future = program.saver.save_in_background(
        program.sess, path, 5, write_meta_graph=False
    )
    program.run(program.train, [4])
    assert program.increment() == str(tmp_path / "m-5.increment-1")
    assert future.result() == path + "-5"
    expected = program.state()
    assert program.restored() == expected


def test_what_cannot_be_is_refused(tmp_path: Path) -> None:
    program = Program(tmp_path)
    with pytest.raises(tf.errors.FailedPreconditionError, match="no checkpoint that"):
        program.increment()
    program.save()
    # A task that was started again, and that nobody told: its table knows nothing.
    program.sess.close()
    program.start()
    program.run(program.train, [1])
    with pytest.raises(tf.errors.FailedPreconditionError, match="began anew"):
        program.increment()
    program.save()
    program.increment()
    with program.graph.as_default():
        with pytest.raises(ValueError, match="version 2"):
            de.IncrementalSaver(write_version=tf.train.SaverDef.V1)
        with pytest.raises(ValueError, match="no saver_def"):
            de.IncrementalSaver(saver_def=program.saver.saver_def)


def test_another_writer_ends_the_increments(tmp_path: Path) -> None:
    program = Program(tmp_path)
    directory = str(tmp_path)
    write_tokens.claim(directory, WriteToken("service", 1, "me"))
    try:
        program.save()
        program.increment()
        expected = program.state()
        # As another process does.
        mine = write_tokens._TOKENS.copy()
        write_tokens.claim(directory, WriteToken("service", 2, "the next one"))
        write_tokens._TOKENS.update(mine)
        program.run(program.train, [1])
        with pytest.raises(tf.errors.AbortedError, match="the next one"):
            program.increment()
    finally:
        write_tokens.release(directory)
    assert program.restored() == expected


def test_a_training_session_saves_and_restores_increments(tmp_path: Path) -> None:
    def train(until: int) -> tuple[int, int]:
        with tf.Graph().as_default():
            table = de.get_variable("table", dim=1)
            step = tf.train.get_or_create_global_step()
            op = tf.group(table.upsert([step], [[1.0]]), tf.assign_add(step, 1))
            scaffold = tf.train.Scaffold(saver=de.IncrementalSaver())
            hooks = [
                de.IncrementalSaverHook(scaffold=scaffold, incremental_save_steps=2)
            ]
            size = table.size()
            with tf.train.MonitoredTrainingSession(
                checkpoint_dir=str(tmp_path),
                scaffold=scaffold,
                save_checkpoint_steps=6,
                save_checkpoint_secs=None,
                chief_only_hooks=hooks,
            ) as sess:
                begun = sess.run_step_fn(
                    lambda step_context: step_context.session.run([step, size])
                )
                for _ in range(until):
                    sess.run(op)
        return int(begun[0]), int(begun[1])

    assert train(9) == (0, 0)
    latest = tf.train.latest_checkpoint(str(tmp_path))
    assert latest is not None
    assert [i.step for i in increments.find(latest).increments] == []
    # As after a kill before the full one at the end.
    earlier = str(tmp_path / "model.ckpt-6")
    found = increments.find(earlier).increments
    assert [i.step for i in found] == [8, 9]
    tf.train.update_checkpoint_state(str(tmp_path), earlier)
    assert train(0) == (9, 9)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"incremental_save_steps": 1}, "Exactly one of saver and scaffold"),
        ({"scaffold": object()}, "Either every_secs or every_steps"),
    ],
)
def test_a_hook_needs_a_saver_and_an_interval(
    options: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        de.IncrementalSaverHook(**options)
