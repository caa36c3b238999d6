"""Which checkpoint a path on a command line means."""

from __future__ import annotations

from pathlib import Path

import pytest

from tensorloom.inspect.model_files import checkpoint_prefix

DATA = Path(__file__).resolve().parents[1] / "storage" / "data"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("v2_1_15", "v2_1_15"),
        ("v2_1_15.index", "v2_1_15"),
        ("v2_1_15.data-00000-of-00001", "v2_1_15"),
        ("v1_1_15", "v1_1_15"),
        ("damaged_records", None),
        ("nothing", None),
    ],
)
def test_paths(name: str, expected: str | None) -> None:
    found = checkpoint_prefix(str(DATA / name))
    assert found == (None if expected is None else str(DATA / expected))
