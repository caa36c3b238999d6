"""Two minutes of training on a cluster leave nothing behind; `tools/soak.py`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "tools" / "soak.py"


@pytest.mark.slow
@pytest.mark.multiprocess
@pytest.mark.timeout(300)
def test_two_minutes() -> None:
    done = subprocess.run(
        [sys.executable, str(SCRIPT), "--seconds", "120"],
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
