"""Python serves loops until machine code is ready; both compute the same."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from typing import Any

import numpy as np
import pytest

from tensorloom.kernels.loops import forms, loop, machine_code
from tensorloom.kernels.loops.forms import Loop


@loop
def _once_more(x: Any) -> Any:
    return x + np.int64(1)


@loop
def _count(x: Any, out: Any) -> Any:
    total = np.int64(0)
    for i in range(len(x)):
        total = _once_more(total)
        out[i] = x[i] * total
    return total


def test_loops_call_each_other_in_their_own_form() -> None:
    x, out = np.arange(3), np.zeros(3, np.int64)
    assert _count.plain(x, out) == 3  # type: ignore[attr-defined]
    assert out.tolist() == [0, 2, 6]
    assert not isinstance(_count.plain.__globals__["_once_more"], Loop)  # type: ignore[attr-defined]
    assert _count(x, out) == 3


class _SlowLoop(Loop):
    """A loop at whose function the making of its module's forms stops."""

    def __init__(self, function: Any) -> None:
        self.is_reached, self.goes_on = threading.Event(), threading.Event()
        super().__init__(function, nogil=True)

    @property
    def function(self) -> Any:
        self.is_reached.set()
        assert self.goes_on.wait(60)
        return self._function

    @function.setter
    def function(self, function: Any) -> None:
        self._function = function


def test_another_thread_gets_no_form_whose_names_are_not_all_there() -> None:
    source = "def first(x):\n    return second(x)\ndef second(x):\n    return x\n"
    module: dict[str, Any] = {"__name__": "two_loops"}
    exec(source, module)
    first = module["first"] = Loop(module["first"], nogil=True)
    second = module["second"] = _SlowLoop(module["second"])
    found: list[Any] = []

    def ask() -> None:
        found.append(machine_code.machine_form(first))

    threads = [threading.Thread(target=ask) for _ in range(2)]
    threads[0].start()
    assert second.is_reached.wait(60)
    threads[1].start()
    threads[1].join(0.05)
    assert not found
    second.goes_on.set()
    for thread in threads:
        thread.join()
    assert found[0] is found[1] is machine_code.machine_form(first)
    names = found[0].py_func.__globals__
    assert names["first"] is found[0]
    assert names["second"] is machine_code.machine_form(second)


def _widened(x: Any, out: Any) -> None:
    for i in range(len(x)):
        out[i] = x[i] * 0.1  # a double to numba, not to Python


@pytest.mark.parametrize(
    ("value", "differs"), [(np.float32(1.1), True), (np.float32(0), False)]
)
def test_a_loop_whose_forms_differ_is_noticed(value: Any, differs: bool) -> None:
    served = loop(_widened)
    x, out = np.full(40, value), np.zeros(40)
    if differs:
        with pytest.raises(AssertionError, match="_widened"):
            served(x, out)
    else:
        served(x, out)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (np.array([np.nan, 1.0]), np.array([-np.nan, 1.0]), True),
        (np.array([0.0]), np.array([-0.0]), False),
        (np.zeros((2, 0)), np.zeros((2, 0)), True),
        (np.zeros(2), np.zeros(3), False),
        ((1, np.int64(2)), (1, 2), True),
        ((1, 2), (1, 3), False),
        (None, None, True),
    ],
)
def test_what_is_the_same_to_the_last_bit(one: Any, other: Any, same: bool) -> None:
    assert forms._are_same(one, other) is same


def test_large_calls_wait_for_machine_code(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(forms.FORMS_VARIABLE, "")
    small, large = np.zeros(forms.MOST_ELEMENTS), np.zeros(forms.MOST_ELEMENTS + 1)
    assert _count.until_compiled((small,)) is not None  # type: ignore[attr-defined]
    assert _count.until_compiled((large,)) is None  # type: ignore[attr-defined]
    assert _count.until_compiled(((small, small),)) is None  # type: ignore[attr-defined]


def run(program: str) -> str:
    done = subprocess.run(
        [sys.executable, "-X", "faulthandler", "-c", program],
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
        env={**os.environ, forms.FORMS_VARIABLE: ""},
    )
    assert done.returncode == 0, done.stderr
    assert not done.stderr, done.stderr
    return done.stdout


_HASHES = """
import os, sys, threading, time
import numpy as np
import tensorloom as tf
from tensorloom.kernels.loops import background
texts = tf.placeholder(tf.string, [None])
found = [
    tf.strings.to_hash_bucket_fast(texts, 1 << 40),
    tf.strings.to_hash_bucket_strong(texts, 1 << 40, [3, 4]),
    tf.strings.split(texts, "l").values,
    tf.strings.to_number(tf.strings.as_string(tf.strings.length(texts)), tf.int64),
]
sess = tf.Session()
def step(count=30):
    values = sess.run(found, {texts: [b"hello %d" % i for i in range(count)]})
    return [value.tolist() for value in values]
first = step()
"""


@pytest.mark.multiprocess
@pytest.mark.slow
def test_python_serves_until_the_thread_has_compiled() -> None:
    run(f"""{_HASHES}
assert "numba" not in sys.modules
background.WORTH_NUMBA_S = 0.0
while background._wanted or background._thread is not None:
    assert step() == first
    background.wait()
assert "numba" in sys.modules
from tensorloom.kernels.host.strings import spans
from tensorloom.kernels.loops.strings import hashes
assert spans._objects is not None and hashes.fingerprints._machine is not None
assert step() == first
assert not [t for t in threading.enumerate() if t.name == "tensorloom-loops"]
""")


@pytest.mark.multiprocess
@pytest.mark.slow
@pytest.mark.parametrize("delay_s", [0.0, 0.4, 1.5])
def test_a_program_may_end_while_the_thread_works(delay_s: float) -> None:
    run(f"""{_HASHES}
background.WORTH_NUMBA_S = 0.0
step()
time.sleep({delay_s})
""")


@pytest.mark.multiprocess
@pytest.mark.slow
def test_a_fork_while_the_thread_works_can_compile() -> None:
    run(f"""{_HASHES}
background.WORTH_NUMBA_S = 0.0
step()
child = os.fork()
assert step() == first
if child == 0:
    # More than Python serves: this process compiles it itself.
    step(40_000)
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
""")
