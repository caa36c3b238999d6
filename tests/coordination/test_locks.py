"""Locks, groups and barriers on each service: processes die, networks break."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from tensorloom.coordination import open_coordinator
from tensorloom.framework import errors
from tests.cluster.processes import Proxy, eventually
from tests.coordination.services import ALL, SERVERS, Redis, Server, Service

# Held by a process that is to keep it, however slow the machine.
LONG_S = 60.0
# The same while its server is restarted: kazoo waits two thirds of it for an answer, if
# it reaches a ZooKeeper that has just opened its port and does not serve yet.
RESTART_S = 110.0
# Held by one that is to lose it.
SHORT_S = 1.0
# Until something comes that must come.
WAIT_S = 120.0

on_each = pytest.mark.parametrize("service", ALL, indirect=True)
on_servers = pytest.mark.parametrize("service", SERVERS, indirect=True)


class HolderProcess:
    """A process with a lock; see `holder.py`."""

    def __init__(self, service: Service, name: str, lease_s: float) -> None:
        self._process = subprocess.Popen(
            [
                *[sys.executable, "-m", "tests.coordination.holder"],
                *[service.url(), str(lease_s), name],
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=Path(__file__).parents[2],
        )
        self.pid = self._process.pid
        self.token = json.loads(self._line())

    def _line(self) -> str:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert line, f"the holder ended with {self._process.wait()}"
        return line.strip()

    def ask(self, command: str) -> str:
        """Has it do something; returns its answer."""
        assert self._process.stdin is not None
        self._process.stdin.write(command + "\n")
        self._process.stdin.flush()
        return self._line()

    def send(self, number: int) -> None:
        """Sends it a signal."""
        self._process.send_signal(number)

    def close(self) -> None:
        """Kills it."""
        self._process.kill()
        self._process.wait(60)
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None
            pipe.close()


@contextmanager
def coordinators(service: Service, *leases: float) -> Iterator[list[Any]]:
    """Connections with leases."""
    with ExitStack() as stack:
        yield [
            stack.enter_context(open_coordinator(service.url(), lease_s))
            for lease_s in leases
        ]


def reached(ask: Callable[[], Any]) -> Any:
    """What an answer is, once the service is there again."""
    answers = []

    def answered() -> bool:
        try:
            answers.append(ask())
        except errors.UnavailableError:
            return False
        return True

    assert eventually(answered, WAIT_S)
    return answers[0]


def outcome(ask: Callable[[], None]) -> str:
    """The class of what `ask` raises, or `done`."""
    try:
        ask()
    except errors.UnavailableError:
        raise
    except errors.OpError as error:
        return type(error).__name__
    return "done"


@on_each
def test_one_has_it_and_the_next_has_a_greater_token(
    service: Service, name: str
) -> None:
    with coordinators(service, LONG_S, LONG_S) as (first, second):
        one, other = first.lock(name), second.lock(name)
        assert one.holder() is None
        assert one.acquire(note="the first")
        assert one.is_held
        one.check()
        waited = []
        assert not other.acquire(timeout_s=0, on_wait=waited.append)
        assert [(h.pid, h.note) for h in waited] == [(os.getpid(), "the first")]
        assert str(waited[0]).startswith(f"process {os.getpid()} on ")
        with pytest.raises(errors.FailedPreconditionError, match="held already"):
            one.acquire()
        token = one.token
        assert one.release()
        assert not one.release()
        with other:
            assert other.token > token
        assert other.holder() is None


@on_each
def test_what_is_kept_under_a_lock(service: Service, name: str) -> None:
    with coordinators(service, LONG_S) as (one,):
        lock = one.lock(name)
        with pytest.raises(errors.FailedPreconditionError, match="was not taken"):
            lock.keep(name, 1)
        assert lock.kept(name) is None
        with lock:
            lock.keep(name, {"step": 7})
        assert lock.kept(name) == {"step": 7}


@on_each
def test_who_waits_gets_what_is_given_back(service: Service, name: str) -> None:
    with coordinators(service, LONG_S, LONG_S) as (first, second):
        one, other = first.lock(name), second.lock(name)
        one.acquire()
        waits = threading.Event()
        got = []
        thread = threading.Thread(
            target=lambda: got.append(
                other.acquire(WAIT_S, on_wait=lambda holder: waits.set())
            )
        )
        thread.start()
        assert waits.wait(WAIT_S)
        one.release()
        thread.join(WAIT_S)
        assert got == [True]
        other.release()


@on_each
def test_a_holder_that_is_killed(service: Service, name: str) -> None:
    with (
        closing(HolderProcess(service, name, SHORT_S)) as holder,
        coordinators(service, LONG_S) as (one,),
    ):
        lock = one.lock(name)
        holder.send(signal.SIGKILL)
        assert lock.acquire(WAIT_S)
        assert lock.token > holder.token


@on_each
def test_a_holder_that_is_stopped_and_wakes_up(service: Service, name: str) -> None:
    with (
        closing(HolderProcess(service, name, SHORT_S)) as holder,
        coordinators(service, LONG_S) as (one,),
    ):
        lock = one.lock(name)
        assert holder.ask("keep early") == "done"
        holder.send(signal.SIGSTOP)
        assert lock.acquire(WAIT_S)
        assert lock.kept("value") == "early"
        lock.keep("value", "later")
        holder.send(signal.SIGCONT)
        # Whether or not it has found out itself by now, the service knows.
        assert holder.ask("keep late") == "AbortedError"
        assert holder.ask("check") == "AbortedError"
        assert lock.kept("value") == "later"
        lock.check()


@on_servers
def test_a_server_that_is_restarted(service: Server, name: str) -> None:
    with coordinators(service, RESTART_S, RESTART_S) as (first, second):
        one, other = first.lock(name), second.lock(name)
        one.acquire()
        token = one.token
        service.close()
        assert service.start()
        reached(one.check)
        reached(lambda: one.keep(name, "after"))
        assert not reached(lambda: other.acquire(timeout_s=0))
        one.release()
        assert reached(lambda: other.acquire(WAIT_S))
        assert other.token > token
        assert outcome(lambda: other.keep(name, "other")) == "done"


@on_servers
def test_a_holder_that_is_cut_off(service: Server, name: str) -> None:
    with (
        closing(Proxy(service.address)) as proxy,
        coordinators(service, LONG_S) as (other,),
        open_coordinator(service.url(proxy.address), SHORT_S) as first,
    ):
        one, another = first.lock(name), other.lock(name)
        group = first.group(name)
        group.join("cut off", {"says": "hello"})
        one.acquire()
        proxy.cut()
        assert eventually(lambda: not one.is_held, WAIT_S)
        assert another.acquire(WAIT_S)
        other.group(name).wait_for(lambda members: not members, WAIT_S)
        proxy.heal()
        late = lambda: outcome(lambda: one.keep(name, "late"))
        assert reached(late) == "AbortedError"
        assert another.kept(name) is None
        # A member is one again by itself.
        members = other.group(name).wait_for(bool, WAIT_S)
        assert members["cut off"]["says"] == "hello"


@pytest.mark.engines
@pytest.mark.parametrize("service", ["redis"], indirect=True)
def test_a_server_that_forgets_everything(service: Redis, name: str) -> None:
    with coordinators(service, LONG_S, LONG_S) as (first, second):
        one, other = first.lock(name), second.lock(name)
        one.acquire()
        service.forget()
        assert outcome(one.check) == "AbortedError"
        assert other.acquire(WAIT_S)
        assert other.token > one.token
        assert outcome(lambda: one.keep(name, "late")) == "AbortedError"


@on_each
def test_members_join_and_leave(service: Service, name: str) -> None:
    with coordinators(service, LONG_S, LONG_S) as (first, second):
        mine, theirs = first.group(name), second.group(name)
        assert mine.members() == {}
        mine.join("a/b", {"address": "here:1"})
        theirs.join("c", {"address": "there:2"})
        with pytest.raises(errors.AlreadyExistsError, match="'c' is a member"):
            mine.join("c", {})
        found = mine.members()
        assert {m: d["address"] for m, d in found.items()} == {
            "a/b": "here:1",
            "c": "there:2",
        }
        assert found["c"]["pid"] == os.getpid()
        mine.leave("a/b")
        mine.leave("a/b")
        assert list(theirs.members()) == ["c"]
        second.close()
        assert mine.members() == {}
        with pytest.raises(errors.DeadlineExceededError, match=r"has the members \[\]"):
            mine.wait_for(bool, timeout_s=0)


@on_each
def test_a_barrier(service: Service, name: str) -> None:
    with coordinators(service, LONG_S, LONG_S, LONG_S) as all_three:
        with pytest.raises(errors.DeadlineExceededError, match="1 of 3 have come"):
            all_three[0].barrier(name, 3).wait("early", timeout_s=0)
        passed = []

        def come(number: int) -> None:
            all_three[number].barrier(name, 3).wait(str(number), WAIT_S)
            passed.append(number)

        threads = [threading.Thread(target=come, args=(i,)) for i in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(WAIT_S)
        assert sorted(passed) == [0, 1, 2]
        all_three[0].barrier(name, 3).wait("late")  # it stays open


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("consul://here", "No lock service at 'consul://here'; the URLs are file://"),
        ("file://host/dir", "The URL of a directory is file:///dir"),
    ],
)
def test_urls(url: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        open_coordinator(url, LONG_S)


def test_a_lease_that_only_seems_to_have_ended(tmp_path: Path) -> None:
    """The answer came late: the service has the lock still, and it is renewed."""
    with open_coordinator(f"file://{tmp_path}", 60.0) as coordinator:
        lock = coordinator.lock("all")
        assert lock.acquire(timeout_s=0)
        before = lock.token
        assert lock._held is not None
        lock._held.ends = 0.0
        assert not lock.is_held
        assert lock.acquire(timeout_s=0)
        assert lock.token > before
        lock.release()
        assert lock.holder() is None


def test_a_library_that_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tooz", None)
    with pytest.raises(ImportError, match=r"pip install 'tensorloom\[locks\]'"):
        open_coordinator("redis://localhost:1", LONG_S)


@on_servers
def test_a_service_that_is_not_there(service: Server) -> None:
    # The port of the test's own machine that nobody listens at.
    url = service.url("127.0.0.1:1")
    with pytest.raises(
        errors.UnavailableError, match=r"127\.0\.0\.1:1 cannot be asked"
    ):
        open_coordinator(url, SHORT_S)
