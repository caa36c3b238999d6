"""What all tests share."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator

# Each graph pass is verified in all tests, those that start processes included.
os.environ.setdefault("TENSORLOOM_VERIFY_PASSES", "1")

# Small calls of loops are made in both forms, as Python and in machine code.
os.environ.setdefault("TENSORLOOM_LOOPS", "both")

# No test but those of it starts a compiler beside the others.
os.environ.setdefault("TENSORLOOM_COMPILE", "0")

import pytest
from hypothesis import HealthCheck, settings

# The same examples each time, however slow and busy the machine is. Others are found
# with `pytest --hypothesis-profile=default`.
settings.register_profile(
    "the same everywhere",
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.load_profile("the same everywhere")


@pytest.fixture(autouse=True)
def _fresh_default_graph() -> Iterator[None]:
    """Gives each test that builds graphs an empty default graph."""
    yield
    # Tests of the lower layers do not load the package's front: neither does this.
    tensorloom = sys.modules.get("tensorloom")
    reset = getattr(tensorloom, "reset_default_graph", None)
    if reset is not None:
        reset()


@pytest.fixture(autouse=True)
def _form_of_control_flow() -> Iterator[None]:
    """Takes back what a test says of the nodes that `tf.cond` makes."""
    module = sys.modules.get("tensorloom.framework.graph.classic_node_counts")
    before = None if module is None else module.chosen()
    yield
    if module is not None:
        module.choose(before)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skips tests marked gpu where there is none; torch is asked only for those."""
    marked = [item for item in items if item.get_closest_marker("gpu")]
    if not marked:
        return
    import torch

    if not torch.cuda.is_available():
        for item in marked:
            item.add_marker(pytest.mark.skip(reason="no CUDA device"))
