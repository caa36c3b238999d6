"""The line about the machine that stands above the table."""

from __future__ import annotations

import pytest

from benchmarks.machine import description, this_machine


@pytest.mark.parametrize(
    ("about", "line"),
    [
        (
            {"model name": "A processor", "flags": "fpu fma sse4_2 avx2 avx512_vnni"},
            "A processor, 4 cores, load 0.3; sse4_2, avx2, fma, avx512_vnni",
        ),
        ({"Features": "fp asimd"}, "unknown processor, 4 cores, load 0.3; asimd"),
        ({}, "unknown processor, 4 cores, load 0.3; instruction sets unknown"),
    ],
)
def test_description(about: dict[str, str], line: str) -> None:
    assert description(about, 4, 0.26) == line


def test_this_machine() -> None:
    assert "cores, load " in this_machine()
