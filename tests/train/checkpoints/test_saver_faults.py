"""Savers that are killed, meet full disks and closed doors, or each other."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

import tensorloom as tf
from tensorloom.storage.checkpoints import increments
from tensorloom.storage.files import filesystem, spare_files
from tensorloom.storage.files.local_filesystem import LocalFileSystem
from tests.train.checkpoints.stopping_files import StopError, StoppingFiles

if TYPE_CHECKING:
    from tensorloom.storage.files.filesystem_interface import StagedFile

REPOSITORY = Path(__file__).resolve().parents[3]
MODES = ("numbered", "overwrite", "sharded", "background", "incremental")


class Killer:
    """Starts and kills savers."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.train.checkpoints.saver_kill_program"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=REPOSITORY,
        )

    def finished(self, mode: str) -> int:
        """The step of the last save that returned."""
        log = self._directory / f"{mode}.log"
        lines = log.read_text().split("\n")[:-1] if log.exists() else []
        return int(lines[-1]) if lines else 0

    def round(self, mode: str, delay_s: float) -> None:
        """One saver, killed at a moment after its first save."""
        (self._directory / mode).mkdir(exist_ok=True)
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        before = self.finished(mode)
        self._process.stdin.write(f"{mode} {self._directory / mode}\n")
        self._process.stdin.flush()
        child = int(self._process.stdout.readline())
        deadline = time.monotonic() + 30
        while self.finished(mode) == before and time.monotonic() < deadline:
            time.sleep(0.001)
        time.sleep(delay_s)
        os.kill(child, signal.SIGKILL)
        assert self._process.stdout.readline() == "ended\n"

    def check(self, mode: str) -> None:
        """The last whole checkpoint is named, and all of it is there."""
        latest = tf.train.latest_checkpoint(str(self._directory / mode))
        assert latest is not None
        last = latest
        if mode == "incremental" and (found := increments.find(latest).increments):
            last = increments.increment_name(latest, found[-1].number)
        reader = tf.train.NewCheckpointReader(last)
        values = {
            float(x)
            for name in reader.get_variable_to_shape_map()
            for x in np.unique(reader.get_tensor(name))
        }
        assert len(values) == 1, f"{latest} mixes steps: {values}"
        (step,) = values
        assert step >= self.finished(mode)
        if mode not in ("overwrite", "incremental"):
            assert latest.endswith(f"-{step:.0f}")

    def close(self) -> None:
        """Ends the program."""
        self._process.communicate(timeout=30)


@pytest.fixture
def killer(tmp_path: Path) -> Iterator[Killer]:
    killer = Killer(tmp_path)
    yield killer
    killer.close()


def kill_and_check(killer: Killer, rounds: int) -> None:
    chance = random.Random(20)
    for number in range(rounds):
        mode = MODES[number % len(MODES)]
        killer.round(mode, chance.uniform(0, 0.05))
        killer.check(mode)


@pytest.mark.multiprocess
def test_killed_20_times(killer: Killer) -> None:
    kill_and_check(killer, 20)


@pytest.mark.slow
@pytest.mark.multiprocess
@pytest.mark.timeout(900)
def test_killed_200_times(killer: Killer) -> None:
    kill_and_check(killer, 200)


@pytest.mark.parametrize("numbered", [False, True])
@pytest.mark.parametrize("sharded", [False, True])
def test_stopped_at_every_step(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sharded: bool, numbered: bool
) -> None:
    """Every moment between two changes of names leaves a whole checkpoint."""
    monkeypatch.setattr(spare_files, "_LEAST", 1)
    config = tf.ConfigProto(device_count={"CPU": 2})
    with tf.Graph().as_default(), tf.Session(config=config) as sess:
        variables = []
        for index in range(2):
            with tf.device(f"/device:CPU:{index}"):
                variables.append(tf.get_variable(f"v{index}", initializer=0.0))
        step = tf.placeholder(tf.float32, [])
        update = tf.group(*[v.assign(step) for v in variables])
        saver = tf.train.Saver(sharded=sharded, max_to_keep=1)
        directory = str(tmp_path)

        def save(number: int) -> None:
            sess.run(update, {step: number})
            saver.save(sess, directory + "/m", global_step=number if numbered else None)

        save(1)
        done, count = 1, 0
        while True:
            files = StoppingFiles(count)
            with monkeypatch.context() as patch:
                patch.setitem(filesystem._found, "", files)
                try:
                    save(done + 1)
                    finished = True
                except (StopError, tf.errors.OpError):
                    finished = False
            latest = tf.train.latest_checkpoint(directory)
            assert latest is not None
            reader = tf.train.NewCheckpointReader(latest)
            values = {float(reader.get_tensor(f"v{i}")) for i in range(2)}
            assert values <= {done, done + 1}, count
            assert len(values) == 1, count
            if finished:
                break
            done = int(values.pop())
            count += 1
        assert count > 4


def _save_one(sess: tf.Session, path: Path, size: int = 4) -> None:
    variable = tf.get_variable("v", initializer=np.ones(size, np.float32))
    sess.run(variable.initializer)
    tf.train.Saver([variable]).save(sess, str(path))


@pytest.mark.multiprocess
def test_full_disk(tmp_path: Path) -> None:
    """What does not fit gives an error; the older checkpoint stays."""
    program = f"""
import resource, signal, sys
import numpy as np, tensorloom as tf
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
path = {str(tmp_path)!r} + "/m"
with tf.Session() as sess:
    small = tf.get_variable("small", initializer=np.ones(10, np.float32))
    large = tf.get_variable("large", initializer=np.ones(1 << 20, np.float32))
    sess.run(tf.global_variables_initializer())
    tf.train.Saver([small]).save(sess, path, write_meta_graph=False)
    saver = tf.train.Saver()
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, -1))
    try:
        saver.save(sess, path, write_meta_graph=False)
    except tf.errors.OutOfRangeError as error:
        print(error.message)
"""
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=True,
    )
    assert "m.data-00000-of-00001; File too large" in done.stdout
    assert tf.train.list_variables(str(tmp_path)) == [("small", [10])]
    names = {p.name for p in tmp_path.iterdir()}
    assert names == {"checkpoint", "m.index", "m.data-00000-of-00001"}


def test_no_space(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with tf.Session() as sess:
        _save_one(sess, tmp_path / "m")
        before = {p.name: p.read_bytes() for p in tmp_path.iterdir()}

        def fail(descriptor: int) -> None:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(os, "fsync", fail)
        saver = tf.train.Saver()
        with pytest.raises(tf.errors.ResourceExhaustedError, match="No space left"):
            saver.save(sess, str(tmp_path / "m"))
        monkeypatch.undo()
    assert {p.name: p.read_bytes() for p in tmp_path.iterdir()} == before


def test_permission_denied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with tf.Session() as sess:
        _save_one(sess, tmp_path / "m")
        before = {p.name: p.read_bytes() for p in tmp_path.iterdir()}
        saver = tf.train.Saver()

        def refuse(self: LocalFileSystem, path: str) -> StagedFile:
            from tensorloom.storage.files.file_errors import file_error

            raise file_error(path, PermissionError(13, "Permission denied"))

        # The superuser, as whom tests may run, is not refused by the system.
        monkeypatch.setattr(LocalFileSystem, "stage", refuse)
        with pytest.raises(tf.errors.PermissionDeniedError, match="Permission denied"):
            saver.save(sess, str(tmp_path / "m"))
    assert {p.name: p.read_bytes() for p in tmp_path.iterdir()} == before


def test_two_savers_of_one_prefix(tmp_path: Path) -> None:
    """Whoever is last wins; what is there is always of one of them."""
    from tensorloom.storage.checkpoints import checkpoints
    from tensorloom.storage.checkpoints.bundle_reader import BundleReader
    from tensorloom.storage.checkpoints.bundle_writer import BundleWriter

    prefix, stop = str(tmp_path / "m"), threading.Event()
    failures: list[BaseException] = []

    def save(number: int) -> None:
        try:
            while not stop.is_set():
                with BundleWriter(prefix) as writer:
                    for name in (b"a", b"b"):
                        writer.add(name, tf.int32, np.full(1000, number, np.int32))
                    writer.finish()
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=save, args=(i,)) for i in range(2)]
    for thread in threads:
        thread.start()
    seen = set()
    deadline = time.monotonic() + 5
    while (time.monotonic() < deadline and len(seen) < 2) or not seen:
        try:
            a, b = checkpoints.with_checkpoint(
                prefix, lambda reader: (reader.read(b"a"), reader.read(b"b"))
            )
        except tf.errors.NotFoundError:
            continue  # the first is not there yet
        assert (a == a[0]).all()
        assert (a == b).all()
        seen.add(int(a[0]))
    stop.set()
    for thread in threads:
        thread.join()
    assert not failures
    with BundleReader(prefix) as reader:
        assert (reader.read(b"a") == reader.read(b"b")).all()
    assert {p.name for p in tmp_path.iterdir()} == {"m.index", "m.data-00000-of-00001"}


def test_removing_leaves_alone_what_another_saver_writes(tmp_path: Path) -> None:
    """Two programs that save the same steps: one rotates what the other writes."""
    from tensorloom.storage.checkpoints.bundle_reader import BundleReader
    from tensorloom.storage.checkpoints.bundle_writer import BundleWriter

    def add(writer: BundleWriter, number: int) -> None:
        writer.add(b"a", tf.int32, np.full(10, number, np.int32))

    prefix = str(tmp_path / "m-3")
    with BundleWriter(prefix) as first:
        add(first, 1)
        first.finish()
    with BundleWriter(prefix) as second:
        add(second, 2)
        tf.train.remove_checkpoint(prefix)
        assert not tf.train.checkpoint_exists(prefix)
        second.finish()
    with BundleReader(prefix) as reader:
        assert (reader.read(b"a") == 2).all()
