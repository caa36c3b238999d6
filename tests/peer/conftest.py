"""Fixtures with real TensorFlow. `make peer` makes the environments."""

from __future__ import annotations

import os
import pickle
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.peer.peers import ENVIRONMENTS, Peer, python_of

if TYPE_CHECKING:
    from tests.peer.ops.harness import OpResult
    from tests.peer.ops.op_peer import OpPeer

FOLDER = Path(__file__).parent
# Processes that test side by side write the same names, each in a folder of its own.
_WORKER = os.environ.get("PYTEST_XDIST_WORKER")
_OWN_FOLDER = tempfile.mkdtemp(prefix=f"tensorloom-{_WORKER}-") if _WORKER else None
if _OWN_FOLDER is not None:
    tempfile.tempdir = _OWN_FOLDER


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks what is in this folder, except the tests of its own machinery.

    TensorFlow may record graphs for a minute before a test can begin, and for many on a
    slow and busy machine.
    """
    for item in items:
        if FOLDER in item.path.parents and "machinery" not in item.path.name:
            item.add_marker(pytest.mark.peer)
            if item.get_closest_marker("timeout") is None:
                item.add_marker(pytest.mark.timeout(1200))


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Peer tests without any peer would be green and empty: they fail instead."""
    if item.get_closest_marker("peer") and not any(map(python_of, ENVIRONMENTS)):
        pytest.fail("no environment with TensorFlow is here: make peer", pytrace=False)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Options of the op harness."""
    group = parser.getgroup("op harness")
    group.addoption("--op-examples", type=int, default=1, help="seeds for each op")
    group.addoption(
        "--record-ops", action="store_true", help="write the table's data and goldens"
    )


RESULTS = pytest.StashKey["list[OpResult]"]()


@pytest.fixture(scope="session")
def op_results(pytestconfig: pytest.Config) -> list[OpResult]:
    """Where the tests of ops leave their results for the table."""
    return pytestconfig.stash.setdefault(RESULTS, [])


def pytest_sessionfinish(session: pytest.Session) -> None:
    """A worker of xdist hands its results to the process that writes the table."""
    config = session.config
    results = config.stash.get(RESULTS, [])
    if not hasattr(config, "workeroutput"):
        return
    if not config.getoption("--record-ops"):
        for result in results:
            result.goldens.clear()
    config.workeroutput["op_results"] = pickle.dumps(results)


def pytest_unconfigure() -> None:
    """The last that a process does: no test needs its folder any more."""
    if _OWN_FOLDER is not None:
        shutil.rmtree(_OWN_FOLDER, ignore_errors=True)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any, error: Any) -> None:
    """Takes what a worker hands over; of one that crashed there is nothing."""
    handed = getattr(node, "workeroutput", {}).get("op_results")
    if handed:
        results = node.config.stash.setdefault(RESULTS, [])
        results.extend(pickle.loads(handed))


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """The table of ops."""
    results = config.stash.get(RESULTS, [])
    if not results:
        return
    from tests.peer.ops import spec, table

    spec.load()  # with xdist this process has collected nothing
    data = table.agreement(results)
    terminalreporter.section("ops here and in TensorFlow")
    for line in table.lines(data):
        terminalreporter.write_line(line)
    if config.getoption("--record-ops", default=False):
        table.write_agreement(data)
        table.write_goldens(results)


@pytest.fixture(scope="session")
def op_peers() -> Iterator[dict[str, OpPeer]]:
    """Processes that answer batches of ops: 1.15 if it is there, and 2.21."""
    from tests.peer.ops.op_peer import OpPeer

    peers = {v: OpPeer(v) for v in ENVIRONMENTS if python_of(v)}
    if not peers:
        pytest.skip("no TensorFlow is here (make peer)")
    first = next(iter(peers.values()))
    yield {version: peers.get(version, first) for version in ENVIRONMENTS}
    for peer in peers.values():
        peer.close()


def new_peer(version: str) -> Iterator[Peer]:
    """A process of that version, ended with the fixture that yields from this."""
    if python_of(version) is None:
        pytest.skip(f"TensorFlow {version} is not here (make peer)")
    peer = Peer(version)
    yield peer
    peer.close()


@pytest.fixture(scope="session")
def peer115() -> Iterator[Peer]:
    """TensorFlow 1.15, the specification."""
    yield from new_peer("1.15")


@pytest.fixture(scope="session")
def peer221() -> Iterator[Peer]:
    """TensorFlow 2.21 as `compat.v1`."""
    yield from new_peer("2.21")


@pytest.fixture(scope="session")
def reference() -> Iterator[Peer]:
    """TensorFlow 1.15, or 2.21 where there is no Python 3.7."""
    yield from new_peer("1.15" if python_of("1.15") else "2.21")
