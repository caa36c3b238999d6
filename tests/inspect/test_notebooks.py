"""Notebooks are audited as the programs that their cells make."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tensorloom.framework import errors
from tensorloom.inspect.audit import audit
from tensorloom.inspect.notebooks import program_of


def notebook(*sources: Any) -> bytes:
    """A notebook with cells of code, after one of text."""
    cells = [{"cell_type": "code", "source": source} for source in sources]
    text = {"cell_type": "markdown", "source": ["# not code ("]}
    return json.dumps({"cells": [text, *cells], "nbformat": 4}).encode()


@pytest.mark.parametrize(
    ("source", "program"),
    [
        ("a = 1\nb = 2", "a = 1\nb = 2"),
        (["a = 1\n", "b = 2"], "a = 1\nb = 2"),
        ("%matplotlib inline\na = 1", "pass\na = 1"),
        ("if a:\n    !ls -l", "if a:\n    pass"),
        ("files = !ls\nn = %env N", "files = None\nn = None"),
        ("a?\n?a\n# why?\na = 1", "pass\npass\n# why?\na = 1"),
        ("%%time\na = 1", "\na = 1"),
        ("%%bash\nif then\nfi", "\n\n"),
        ("a = (b\n% c)", "a = (b\n% c)"),
    ],
)
def test_what_is_beyond_python(source: Any, program: str) -> None:
    assert program_of(notebook(source), "n").decode() == program


@pytest.mark.parametrize(
    "data", [b"", b"[]", b"{}", b"\xff", b'{"cells": 3}', b'{"cells": [{}]}']
)
def test_no_notebook(data: bytes) -> None:
    with pytest.raises(errors.InvalidArgumentError, match="not a notebook"):
        program_of(data, "n.ipynb")


def test_audit(tmp_path: Path) -> None:
    path = tmp_path / "n.ipynb"
    use = "!pip install x\nx = tf.no_such_name(3)"
    path.write_bytes(notebook("import tensorflow as tf", use))
    for place in (path, tmp_path):
        (found,) = audit(str(place)).findings
        assert found.subject == "tf.no_such_name"
        assert found.where == f"{path}:3"
