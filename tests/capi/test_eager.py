"""The eager C API prints the same with this library and with real TensorFlow."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from tests.capi.conftest import Library

pytestmark = pytest.mark.capi


def test_as_tensorflow_115(
    ours: Library, tensorflow_115: Library, tmp_path: Path
) -> None:
    """TensorFlow 1.15 prints the same, without ops that call functions: it crashes."""
    expected = tensorflow_115.output("eager", tmp_path, "without calls")
    assert ours.output("eager", tmp_path, "without calls") == expected
    assert expected.endswith("end\n")


def test_in_a_cluster_as_tensorflow_115(
    ours: Library, tensorflow_115: Library, tmp_path: Path
) -> None:
    """A context that joins servers runs ops on their devices."""
    expected = tensorflow_115.output("eager_cluster", tmp_path)
    assert ours.output("eager_cluster", tmp_path) == expected
    assert expected.endswith("end\n")


def test_as_tensorflow_221(
    ours: Library, tensorflow_221: Library, tmp_path: Path
) -> None:
    """TensorFlow 2.21 prints the same, and its header serves for this library."""
    expected = tensorflow_221.output("eager", tmp_path)
    assert ours.output("eager", tmp_path) == expected
    with_its_header = replace(ours, name="header221", include=tensorflow_221.include)
    assert with_its_header.output("eager", tmp_path) == expected


def test_what_is_null_or_gone(ours: Library, tmp_path: Path) -> None:
    """A status where TensorFlow ends with a signal."""
    lines = ours.output("eager_own", tmp_path).splitlines()
    codes = dict(line.rpartition(": ")[::2] for line in lines if ", status)" in line)
    others = {
        'TFE_ContextRemoveFunction(ctx, "none", status)': "5",
        "TFE_Execute(op, results, &count, status)": "9",  # the last: no context
    }
    assert {call: code for call, code in codes.items() if code != "3"} == others
    assert len(codes) > 30
    assert lines[-3:] == ["a value after its context: 3", "has a function: 0", "end"]
