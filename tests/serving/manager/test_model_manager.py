"""Loading, replacing and unloading, with models of nothing."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tensorloom.framework import errors
from tensorloom.serving.manager.model_manager import ManagerOptions, ModelManager
from tensorloom.serving.manager.model_states import State
from tensorloom.serving.manager.servable import Servable
from tensorloom.serving.manager.transitions import Policy
from tensorloom.serving.manager.transitions import (
    preserve_availability as availability,
)
from tensorloom.serving.manager.transitions import preserve_resources as resources


class _Session:
    """Stands for a session; notes its end."""

    def __init__(self) -> None:
        self.closed = threading.Event()

    def close(self) -> None:
        self.closed.set()


class _Models:
    """Loads models that a test lets through, or fail."""

    def __init__(self) -> None:
        self.sessions: dict[int, _Session] = {}
        self.gates: dict[int, threading.Event] = {}
        self.broken: dict[int, int] = {}
        self.at_once = 0

    def load(self, name: str, version: int, path: str) -> Servable:
        gate = self.gates.get(version)
        if gate is not None:
            assert gate.wait(10)
        if self.broken.get(version, 0) > 0:
            self.broken[version] -= 1
            raise errors.DataLossError(None, None, f"{version} is damaged")
        session: Any = _Session()
        self.sessions[version] = session
        return Servable(name, version, path, session, {}, {}, self.at_once)


class _Rig:
    def __init__(self, path: Path, policy: Policy, **options: Any) -> None:
        self.models = _Models()
        self._path = path
        options = {"load_retries": 0, "retry_interval_s": 0.0, **options}
        self.manager = ModelManager(self.models.load, ManagerOptions(policy, **options))

    def aspire(self, *versions: int) -> None:
        found = {}
        for version in versions:
            folder = self._path / str(version)
            folder.mkdir(exist_ok=True)
            found[version] = str(folder)
        self.manager.aspire("m", found)

    def wait(self, **states: State) -> None:
        """Waits for states, by version: `v1=State.END`."""
        wanted = {int(name[1:]): state for name, state in states.items()}
        for _ in range(1000):
            found = self.manager.states.versions("m")
            if all(v in found and found[v].state is s for v, s in wanted.items()):
                return
            threading.Event().wait(0.01)
        raise AssertionError(found)

    def latest(self) -> int:
        with self.manager.held("m") as servable:
            return servable.version


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Callable[..., _Rig]]:
    rigs: list[_Rig] = []

    def run(policy: Policy = availability, **options: Any) -> _Rig:
        rigs.append(_Rig(tmp_path, policy, **options))
        return rigs[-1]

    yield run
    for rig in rigs:
        for gate in rig.models.gates.values():
            gate.set()
        rig.manager.stop()


def test_a_new_version_takes_over(make: Callable[..., _Rig]) -> None:
    rig = make()
    with pytest.raises(errors.NotFoundError, match=r"Latest\(m\)"):
        rig.latest()
    rig.aspire(1)
    rig.wait(v1=State.AVAILABLE)
    rig.models.gates[2] = threading.Event()
    rig.aspire(2)
    rig.wait(v2=State.LOADING)
    assert rig.latest() == 1
    rig.models.gates[2].set()
    rig.wait(v1=State.END, v2=State.AVAILABLE)
    assert rig.latest() == 2
    assert rig.models.sessions[1].closed.is_set()
    with pytest.raises(errors.NotFoundError, match=r"Specific\(m, 1\)"):
        rig.manager.held("m", 1).__enter__()


def test_a_request_keeps_its_version(make: Callable[..., _Rig]) -> None:
    rig = make()
    rig.aspire(1)
    rig.wait(v1=State.AVAILABLE)
    with rig.manager.held("m") as servable:
        rig.aspire(2)
        rig.wait(v1=State.UNLOADING, v2=State.AVAILABLE)
        assert rig.latest() == 2
        assert servable.version == 1
        assert not rig.models.sessions[1].closed.wait(0.05)
    rig.wait(v1=State.END)


def test_a_request_that_never_ends_is_cancelled(make: Callable[..., _Rig]) -> None:
    rig = make(unload_grace_s=0.05)
    rig.aspire(1)
    rig.wait(v1=State.AVAILABLE)
    with rig.manager.held("m"):
        rig.aspire()
        rig.wait(v1=State.END)
    assert rig.models.sessions[1].closed.is_set()


def test_resources_are_freed_first(make: Callable[..., _Rig]) -> None:
    rig = make(resources)
    rig.aspire(1)
    rig.wait(v1=State.AVAILABLE)
    with rig.manager.held("m"):
        rig.aspire(2)
        rig.wait(v1=State.UNLOADING, v2=State.START)
    rig.wait(v1=State.END, v2=State.AVAILABLE)


def test_a_broken_version_takes_nobodys_place(make: Callable[..., _Rig]) -> None:
    rig = make()
    rig.aspire(1)
    rig.wait(v1=State.AVAILABLE)
    rig.models.broken[2] = 1
    rig.aspire(2)
    rig.wait(v2=State.END)
    entry = rig.manager.states.versions("m")[2]
    assert (entry.error_code, entry.error_message) == (15, "2 is damaged")
    assert rig.latest() == 1
    rig.aspire(2)  # it was tried
    assert rig.latest() == 1
    rig.aspire(3)
    rig.wait(v1=State.END, v3=State.AVAILABLE)


def test_a_load_is_tried_again(make: Callable[..., _Rig]) -> None:
    rig = make(load_retries=2)
    rig.models.broken[1] = 2
    rig.aspire(1)
    rig.wait(v1=State.AVAILABLE)


def test_a_version_that_comes_back(make: Callable[..., _Rig]) -> None:
    rig = make()
    rig.aspire(1)
    rig.wait(v1=State.AVAILABLE)
    with rig.manager.held("m"):
        rig.aspire()
        rig.wait(v1=State.UNLOADING)
        rig.aspire(1)
    rig.wait(v1=State.AVAILABLE)
    assert rig.latest() == 1


def test_as_many_requests_as_may(make: Callable[..., _Rig]) -> None:
    rig = make()
    rig.models.at_once = 1
    rig.aspire(1)
    rig.wait(v1=State.AVAILABLE)
    with (
        rig.manager.held("m"),
        pytest.raises(errors.ResourceExhaustedError, match="as many as it may"),
        rig.manager.held("m"),
    ):
        pass
    assert rig.latest() == 1


def test_memory_that_is_not_there(make: Callable[..., _Rig], tmp_path: Path) -> None:
    rig = make(memory_limit_bytes=1000)
    (tmp_path / "1").mkdir()
    (tmp_path / "1" / "variables").write_bytes(b"x" * 600)
    rig.aspire(1)
    rig.wait(v1=State.AVAILABLE)
    (tmp_path / "2").mkdir()
    (tmp_path / "2" / "variables").write_bytes(b"x" * 600)
    rig.aspire(1, 2)
    rig.wait(v2=State.END)
    entry = rig.manager.states.versions("m")[2]
    assert entry.error_code == errors.RESOURCE_EXHAUSTED
    assert "Insufficient resources to load servable {name: m version: 2}" in (
        entry.error_message
    )


def test_who_waits_for_models_hears_of_failures(make: Callable[..., _Rig]) -> None:
    rig = make()
    rig.models.broken[1] = 1
    rig.aspire(1)
    with pytest.raises(errors.UnknownError, match="1 is damaged"):
        rig.manager.states.wait_available(["m"], 10)
    assert not rig.manager.states.wait_available(["other"], 0.01)
    rig.aspire(2)
    assert rig.manager.states.wait_available(["m"], 10)


@pytest.mark.slow
def test_no_request_meets_a_gap(make: Callable[..., _Rig]) -> None:
    rig = make()
    rig.aspire(1)
    rig.wait(v1=State.AVAILABLE)
    stop, seen, failed = threading.Event(), [], []

    def ask() -> None:
        while not stop.is_set():
            try:
                seen.append(rig.latest())
            except errors.OpError as error:
                failed.append(error)
            stop.wait(0.001)

    threads = [threading.Thread(target=ask) for _ in range(3)]
    for thread in threads:
        thread.start()
    for version in range(2, 5):
        rig.aspire(version)
        rig.wait(**{f"v{version}": State.AVAILABLE, f"v{version - 1}": State.END})
    stop.set()
    for thread in threads:
        thread.join()
    assert not failed
    assert set(seen) <= set(range(1, 5))
