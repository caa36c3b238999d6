"""A context for each test, closed at its end."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tensorloom.eager import Context


@pytest.fixture
def context() -> Iterator[Context]:
    """A context with this machine's devices."""
    with Context() as made:
        yield made
