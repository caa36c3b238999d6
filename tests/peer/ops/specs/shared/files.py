"""Parts of specs that several families use: folder, text."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np

FOLDER = Path(tempfile.gettempdir()) / "tensorloom_op_specs"


def folder() -> Path:
    FOLDER.mkdir(exist_ok=True)
    (FOLDER / "one.txt").write_bytes(b"one\ntwo\n")
    (FOLDER / "two.txt").write_bytes(b"")
    return FOLDER


def text(value: Any) -> Any:
    return np.array(str(value).encode(), object)
