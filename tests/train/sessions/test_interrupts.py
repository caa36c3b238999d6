"""Ctrl-C while a monitored session runs."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import tensorloom as tf
from tensorloom.train.sessions import interrupts


@pytest.fixture(autouse=True)
def _python_hears_ctrl_c() -> Iterator[None]:
    """As in a program of the foreground: those in the background do not hear it."""
    old = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, old)


def press() -> float:
    """Ctrl-C, and what a step computes after it."""
    signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
    return 1.0


def run_all(session: Any, fetches: Any) -> None:
    while not session.should_stop():
        session.run(fetches)


def test_step_ends_before_the_training(tmp_path: Path) -> None:
    step = tf.train.get_or_create_global_step()
    pressed = tf.py_func(press, [], tf.float64)
    with tf.control_dependencies([tf.assign_add(step, 1)]):
        pressed = tf.identity(pressed)
    total = tf.get_variable("total", initializer=0.0)
    train = tf.assign_add(total, tf.cast(pressed, tf.float32))
    with (
        pytest.raises(KeyboardInterrupt),
        tf.train.MonitoredTrainingSession(checkpoint_dir=str(tmp_path)) as session,
    ):
        run_all(session, train)
    assert tf.train.load_variable(str(tmp_path), "total") == 1.0
    assert tf.train.load_variable(str(tmp_path), "global_step") == 1
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_step_that_waits_is_interrupted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(interrupts, "_LONGEST_WAIT_SECS", 0.1)
    never = tf.FIFOQueue(1, [tf.float32], shapes=[[]]).dequeue()
    timer = threading.Timer(1.0, press)
    timer.start()
    with pytest.raises(KeyboardInterrupt), tf.train.MonitoredSession() as session:
        session.run(never)
    timer.join()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_handler_of_the_program_stays() -> None:
    heard: list[int] = []
    old = signal.signal(signal.SIGINT, lambda number, frame: heard.append(number))
    try:
        pressed = tf.py_func(press, [], tf.float64)
        with tf.train.MonitoredSession() as session:
            assert session.run(pressed) == 1.0
        assert heard == [signal.SIGINT]
    finally:
        signal.signal(signal.SIGINT, old)


def test_between_steps_and_nested() -> None:
    a = tf.constant(1.0)
    with tf.train.MonitoredSession() as outer, tf.train.MonitoredSession() as inner:
        assert outer.run(a) == inner.run(a) == 1.0
        with pytest.raises(KeyboardInterrupt):
            press()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
