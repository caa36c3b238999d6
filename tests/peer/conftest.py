"""Fixtures with real TensorFlow. `make peer` makes the environments."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.peer.peers import ENVIRONMENTS, Peer, python_of

FOLDER = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks what is in this folder, except the tests of its own machinery."""
    for item in items:
        if FOLDER in item.path.parents and "machinery" not in item.path.name:
            item.add_marker(pytest.mark.peer)


def pytest_collection_finish(session: pytest.Session) -> None:
    """Peer tests without any peer would be green and empty: they fail instead."""
    wanted = any(item.get_closest_marker("peer") for item in session.items)
    if wanted and not any(python_of(version) for version in ENVIRONMENTS):
        raise pytest.UsageError("no environment with TensorFlow is here: make peer")


def _peer(version: str) -> Iterator[Peer]:
    if python_of(version) is None:
        pytest.skip(f"TensorFlow {version} is not here (make peer)")
    peer = Peer(version)
    yield peer
    peer.close()


@pytest.fixture(scope="session")
def peer115() -> Iterator[Peer]:
    """TensorFlow 1.15, the specification."""
    yield from _peer("1.15")


@pytest.fixture(scope="session")
def peer221() -> Iterator[Peer]:
    """TensorFlow 2.21 as `compat.v1`."""
    yield from _peer("2.21")


@pytest.fixture(scope="session")
def reference() -> Iterator[Peer]:
    """TensorFlow 1.15, or 2.21 where there is no Python 3.7."""
    yield from _peer("1.15" if python_of("1.15") else "2.21")
