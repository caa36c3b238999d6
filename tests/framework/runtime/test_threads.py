"""Threads that run one task after another."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

_FORK = """
import os, threading, time
from tensorloom.framework.runtime import threads

def run(seconds):
    done = threading.Event()
    threads.start(done.set)
    return done.wait(timeout=seconds)

assert run(60)
while threads._idle.empty():  # the thread is about to say that it is idle
    time.sleep(0)
child = os.fork()
if not child:
    os._exit(0 if run(60) else 7)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
assert run(60)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_forked_process_has_threads_of_its_own() -> None:
    command = [sys.executable, "-W", "ignore", "-c", _FORK]
    subprocess.run(command, check=True, timeout=200)
