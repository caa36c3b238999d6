"""The generated page of docs/."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]


def test_page_is_current(tmp_path: Path) -> None:
    """In a process of its own: other tests register ops."""
    made = tmp_path / "compatibility.md"
    script = REPOSITORY / "tools" / "compatibility_page.py"
    command = [sys.executable, script, made]
    subprocess.run(command, check=True, cwd=REPOSITORY, env={"PYTHONPATH": "."})
    kept = REPOSITORY / "docs" / "compatibility.md"
    assert made.read_text() == kept.read_text(), "make docs"
