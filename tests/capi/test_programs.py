"""Programs in C print the same with this library and with real TensorFlow."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.capi.conftest import Library, run

pytestmark = pytest.mark.capi

EVERYWHERE = (
    "tensors",
    "dtypes",
    "graphs",
    "attrs",
    "imports",
    "functions",
    "loops",
    "sessions",
    "registry",
    "threads",
)


@pytest.mark.parametrize("program", [*EVERYWHERE, "strings", "refusals"])
def test_as_tensorflow_115(
    program: str, ours: Library, tensorflow_115: Library, tmp_path: Path
) -> None:
    """TensorFlow 1.15 prints the same."""
    expected = tensorflow_115.output(program, tmp_path)
    assert ours.output(program, tmp_path) == expected
    assert expected.endswith("end\n")


@pytest.mark.parametrize("program", EVERYWHERE)
def test_as_tensorflow_221(
    program: str, ours: Library, tensorflow_221: Library, tmp_path: Path
) -> None:
    """TensorFlow 2.21 prints the same, and its header serves for this library."""
    expected = tensorflow_221.output(program, tmp_path)
    assert ours.output(program, tmp_path) == expected
    with_its_header = replace(ours, name="header221", include=tensorflow_221.include)
    assert with_its_header.output(program, tmp_path) == expected


def test_what_tensorflow_lacks(ours: Library, tmp_path: Path) -> None:
    """Gradients through loops and of every op; a status for what is NULL."""
    lines = ours.output("own", tmp_path).splitlines()
    assert lines[:6] == [
        "dy/dx: type 1 [] 81",
        "dy/dw: type 1 [] 216",
        "trigamma: type 1 [] 1.64493",
        "no gradient: 1 -1",
        "handle: type 20 rank 0",
        "read: type 1 [] 1",
    ]
    codes = {line.rpartition(": ")[::2] for line in lines if "(" in line}
    deprecated = {code for call, code in codes if "Deprecated" in call}
    assert deprecated == {"12"}
    given_null = {code for call, code in codes if "NULL" in call} - {"12"}
    assert given_null == {"3", "0"}  # to delete nothing is no mistake
    assert lines[-2:] == ["result after its session: type 1 [] 4", "end"]


def test_pure_c_has_no_interpreter(ours: Library, tmp_path: Path) -> None:
    """Statuses, buffers and tensors start no Python: none is found here."""
    executable = ours.compile("tensors", tmp_path)
    printed = run([str(executable)], TENSORLOOM_PYTHON="/no/such/python")
    assert printed.endswith("end\n")
