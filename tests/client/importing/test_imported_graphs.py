"""Graphs of real TensorFlow 2.21 give its values: v1 control flow, functions, models.

Those with Switch and Merge run as functions and on the interpreter.
"""

from __future__ import annotations

import json
import lzma
from pathlib import Path
from typing import Any

import pytest

from tensorloom.master.run import master
from tests.client.importing import recorded_graphs

_FILE = Path(__file__).parents[1] / "recorded" / "imported_graphs.json.xz"
RECORDED: dict[str, dict[str, Any]] = json.loads(lzma.decompress(_FILE.read_bytes()))


@pytest.mark.parametrize("name", RECORDED)
def test_values(name: str) -> None:
    recorded_graphs.check(RECORDED[name])


@pytest.mark.parametrize("name", [n for n in RECORDED if not RECORDED[n]["exported"]])
def test_values_on_the_interpreter(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(master, "functionalize", lambda graph: graph)
    recorded_graphs.check(RECORDED[name])
