"""Threads of storage, and what forked processes see of them."""

from __future__ import annotations

import os

import pytest

from tensorloom.storage.files import io_threads


@pytest.mark.multiprocess
@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_a_forked_process_starts_its_own() -> None:
    assert io_threads.submit(abs, -1).result(60) == 1
    child = os.fork()
    if not child:
        os._exit(io_threads.submit(abs, -7).result(60))
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
