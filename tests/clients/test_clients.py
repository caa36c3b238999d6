"""The clients in other languages, with the compilers of `make clients-tools`."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TOOLS = {
    "c": "cc",
    "go": "go",
    "javascript": "node",
    "cpp": "g++",
    "java": "javac",
    "rust": "cargo",
}

pytestmark = pytest.mark.clients


@pytest.mark.timeout(3600)
@pytest.mark.parametrize("language", TOOLS)
def test_conformance(language):
    if not (ROOT / "clients" / language / "Makefile").exists():
        pytest.skip("no such client")
    if shutil.which(TOOLS[language]) is None:
        pytest.skip(f"{TOOLS[language]} is not installed: make clients-tools")
    command = [sys.executable, "clients/conformance/run.py", "--only", language]
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
