"""Lock services, one server of each kind for all tests of a process."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator

import pytest

from tests.coordination.services import KINDS, Service

_numbers = itertools.count()


@pytest.fixture(scope="session")
def _services(
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Callable[..., Service]]:
    started: dict[str, Service] = {}

    def service(kind: str) -> Service:
        if kind not in started:
            started[kind] = KINDS[kind](tmp_path_factory.mktemp(kind))
        return started[kind]

    yield service
    for one in started.values():
        one.close()


@pytest.fixture
def service(
    request: pytest.FixtureRequest, _services: Callable[..., Service]
) -> Service:
    """The service of the kind that the test's parameter names."""
    return _services(request.param)


@pytest.fixture
def name() -> str:
    """A name that no other test uses."""
    return f"name/{next(_numbers)}"
