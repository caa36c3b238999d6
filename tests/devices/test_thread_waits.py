"""Threads of kernels sleep before long, unless the user says how they wait."""

from __future__ import annotations

import os

import pytest

from tensorloom.devices import thread_waits


@pytest.fixture(autouse=True)
def _nothing_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("GOMP_SPINCOUNT", "OMP_WAIT_POLICY"):
        monkeypatch.delenv(name, raising=False)


def test_the_limit_is_there_while_a_library_is_loaded() -> None:
    with thread_waits.limited():
        assert os.environ["GOMP_SPINCOUNT"] == str(thread_waits.LOOKS)
    assert "GOMP_SPINCOUNT" not in os.environ


@pytest.mark.parametrize(
    ("name", "value"), [("GOMP_SPINCOUNT", "7"), ("OMP_WAIT_POLICY", "ACTIVE")]
)
def test_what_the_user_chose_stays(
    name: str, value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, value)
    before = dict(os.environ)
    with thread_waits.limited():
        assert dict(os.environ) == before
    assert dict(os.environ) == before
