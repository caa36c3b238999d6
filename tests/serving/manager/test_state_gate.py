"""Steps and changes of their state, in turns."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest

from tensorloom.serving.manager.state_gate import StateGate

WAIT_S = 60.0


def _thread(task: Callable[[], None]) -> threading.Thread:
    thread = threading.Thread(target=task)
    thread.start()
    return thread


def test_a_step_waits_for_a_change() -> None:
    """It begins when that has ended."""
    gate = StateGate()
    order: list[str] = []

    def step() -> None:
        with gate.step():
            order.append("step")

    def change() -> None:
        threads.append(_thread(step))
        threads[0].join(0.05)  # it would have ended by now if it did not wait
        order.append("change")

    threads: list[threading.Thread] = []
    assert gate.change(change, WAIT_S)
    threads[0].join(WAIT_S)
    assert order == ["change", "step"]


def test_a_change_waits_for_steps() -> None:
    """All that run when it comes; they run beside each other."""
    gate = StateGate()
    order: list[str] = []
    began, is_wanted = threading.Barrier(3), threading.Event()

    def step() -> None:
        with gate.step():
            began.wait(WAIT_S)
            is_wanted.wait(WAIT_S)
            order.append("step")

    threads = [_thread(step), _thread(step)]
    began.wait(WAIT_S)
    done: list[bool] = []
    changing = _thread(lambda: done.append(gate.change(lambda: None, WAIT_S)))
    changing.join(0.05)
    assert not done
    is_wanted.set()
    for thread in (changing, *threads):
        thread.join(WAIT_S)
    assert (done, order) == ([True], ["step", "step"])


def test_a_long_step_is_waited_for_with_patience() -> None:
    """Then nothing has changed, and further steps run."""
    gate = StateGate()
    with gate.step():
        assert not gate.change(pytest.fail, 0.0)
        with gate.step():
            pass
    changes: list[int] = []
    assert gate.change(lambda: changes.append(1), WAIT_S)
    assert changes == [1]


def test_a_change_that_fails_lets_steps_run() -> None:
    gate = StateGate()

    def fail() -> None:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        gate.change(fail, WAIT_S)
    with gate.step():
        pass
