"""One writer of a checkpoint directory."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import tensorloom as tf
from tensorloom.coordination import Coordinator, open_coordinator, writers
from tensorloom.coordination.coordinator import LEASE_VARIABLE, VARIABLE
from tensorloom.coordination.lock import Lock
from tensorloom.coordination.writers import WriterClaim
from tensorloom.storage.checkpoints import write_tokens


@pytest.fixture
def url(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The service of this process's job."""
    url = f"file://{tmp_path}/locks"
    monkeypatch.setenv(VARIABLE, url)
    monkeypatch.setenv(LEASE_VARIABLE, "60")
    yield url
    writers._close_all()
    write_tokens._TOKENS.clear()


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """The directory."""
    path = tmp_path / "model"
    path.mkdir()
    return path


def taken_by_another(other: Coordinator, model: Path) -> WriterClaim:
    """A claim as if of another process: what that one knows, this one does not."""
    claim = WriterClaim(other, str(model))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(write_tokens, "_TOKENS", {})
        claim.take()
    return claim


def saved(model: Path, value: float) -> Any:
    """Saves a variable of a value; returns the checkpoint."""
    with tf.Graph().as_default(), tf.Session() as sess:
        variable = tf.Variable(value, name="v")
        sess.run(variable.initializer)
        saver = tf.train.Saver([variable])
        return saver.save(sess, str(model / "ckpt"), write_meta_graph=False)


def newest_value(model: Path) -> float:
    """What the newest checkpoint has."""
    path = tf.train.latest_checkpoint(str(model))
    return float(tf.train.load_checkpoint(path).get_tensor("v"))


def test_a_second_writer_is_told_of_the_first(url: str, model: Path) -> None:
    with open_coordinator(url, 60.0) as other:
        claim = taken_by_another(other, model)
        with pytest.raises(
            tf.errors.FailedPreconditionError,
            match=rf"are written by process {os.getpid()} on .*, since 20",
        ):
            saved(model, 1.0)
        assert tf.train.latest_checkpoint(str(model)) is None
        claim.release()
        saved(model, 2.0)
        assert newest_value(model) == 2.0
        with pytest.raises(tf.errors.FailedPreconditionError):
            claim.take()


def test_a_late_save_changes_nothing(url: str, model: Path) -> None:
    saved(model, 1.0)
    with open_coordinator(url, 60.0) as other:
        lose(url, model)
        taken_by_another(other, model)
        before = sorted(p.name for p in model.iterdir())
        # As far as this process knows its lease lasts: it was stopped meanwhile, say.
        with pytest.raises(
            tf.errors.AbortedError, match="not its writer any more, but"
        ):
            saved(model, 2.0)
        assert sorted(p.name for p in model.iterdir()) == before
        assert newest_value(model) == 1.0
        with pytest.raises(tf.errors.AbortedError, match="not its writer any more"):
            tf.train.update_checkpoint_state(str(model), "elsewhere")
        assert newest_value(model) == 1.0


@pytest.mark.parametrize("waits", [False, True])
def test_a_service_that_goes_away_when_the_lock_is_taken(
    url: str, model: Path, waits: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It has the lock, and nothing says so in the directory yet."""

    def away(lock: Lock) -> None:
        raise tf.errors.UnavailableError(None, None, "the service is away")

    with monkeypatch.context() as patch:
        patch.setattr(Lock, "holder", away)
        with pytest.raises(tf.errors.UnavailableError):
            writers.claim(str(model), wait=False)
    assert not (model / "checkpoint.writer").exists()
    claim = writers.claim(str(model), wait=waits)
    assert claim is not None
    assert claim.is_taken
    assert claim.fence is not None
    assert (model / "checkpoint.writer").exists()


def lose(url: str, model: Path) -> None:
    """Ends the lease of this process's claim, as the service does."""
    claim = writers.claim(str(model), wait=False)
    assert claim is not None
    held = claim._lock._held
    assert held is not None
    with closing(open_coordinator(url, 60.0)) as service:
        assert service.store.remove(held.lease)


def test_a_lease_that_ended_and_that_nobody_took(url: str, model: Path) -> None:
    saved(model, 1.0)
    claim = writers.claim(str(model), wait=False)
    assert claim is not None
    lose(url, model)
    assert claim._lock._held is not None
    claim._lock._held.is_lost = True
    claim.check()  # it is taken again, and training goes on
    assert claim.is_held
    saved(model, 2.0)
    assert newest_value(model) == 2.0


def test_a_lease_that_another_took_and_gave_back(url: str, model: Path) -> None:
    saved(model, 1.0)
    claim = writers.claim(str(model), wait=False)
    assert claim is not None
    lose(url, model)
    assert claim._lock._held is not None
    claim._lock._held.is_lost = True
    with open_coordinator(url, 60.0) as other:
        taken_by_another(other, model)
    with pytest.raises(tf.errors.AbortedError, match="nobody has it now"):
        claim.check()
    # A new session takes it, with what the other has left.
    assert writers.claim(str(model), wait=True) is claim
    claim.check()


def test_a_save_after_another_has_written_and_ended(url: str, model: Path) -> None:
    saved(model, 1.0)
    claim = writers.claim(str(model), wait=False)
    assert claim is not None
    lose(url, model)
    assert claim._lock._held is not None
    claim._lock._held.is_lost = True
    with open_coordinator(url, 60.0) as other:
        taken_by_another(other, model)
    # The lock is free, but what this process has may be older than the other's.
    with pytest.raises(tf.errors.AbortedError, match="nobody has it now"):
        saved(model, 2.0)
    assert newest_value(model) == 1.0
    saved(model, 3.0)  # it was told, and goes on with what it has made of that
    assert newest_value(model) == 3.0


def test_a_session_writes_and_lets_the_next_one_write(url: str, model: Path) -> None:
    step = tf.train.get_or_create_global_step()
    train = tf.assign_add(step, 1)
    new = model / "new"  # made by the session
    with tf.train.MonitoredTrainingSession(
        checkpoint_dir=str(new), save_checkpoint_steps=1
    ) as session:
        session.run(train)
        with open_coordinator(url, 60.0) as other:
            claim = WriterClaim(other, str(new))
            with pytest.raises(tf.errors.FailedPreconditionError, match="are written"):
                claim.take()
    with open_coordinator(url, 60.0) as other:
        WriterClaim(other, str(new)).take()


def test_a_saved_model_needs_no_writer(url: str, tmp_path: Path) -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.placeholder(tf.float32, [], name="x")
        v = tf.Variable(1.0)
        sess.run(v.initializer)
        tf.saved_model.simple_save(sess, str(tmp_path / "m"), {"x": x}, {"y": x + v})
    assert not (tmp_path / "locks").exists()


@pytest.mark.parametrize("has_checkpoint", [True, False])
def test_a_chief_that_slept_does_not_begin(
    url: str, model: Path, has_checkpoint: bool
) -> None:
    """What it would restore, or initialize, is older than what the next one trains."""
    if has_checkpoint:
        saved(model, 1.0)
    claim = writers.claim(str(model), wait=False)
    assert claim is not None
    lose(url, model)
    assert claim._lock._held is not None
    claim._lock._held.is_lost = True
    with tf.Graph().as_default(), open_coordinator(url, 60.0) as other:
        taken_by_another(other, model)
        variable = tf.Variable(0.0, name="v")
        begun: list[Any] = []
        manager = tf.train.SessionManager()
        with pytest.raises(tf.errors.AbortedError):
            manager.prepare_session(
                "",
                saver=tf.train.Saver([variable]),
                checkpoint_dir=model,
                init_op=variable.initializer,
                init_fn=begun.append,
            )
        assert not begun
        claim.release()
        with manager.prepare_session(
            "",
            saver=tf.train.Saver([variable]),
            checkpoint_dir=model,
            init_op=variable.initializer,
        ) as sess:  # who does not write, reads what is there
            assert writers.fenced(model, None) is None
            assert sess.run(variable) == (1.0 if has_checkpoint else 0.0)
