"""Parts of specs that several families use: FOLDER."""

from __future__ import annotations

import tempfile
from pathlib import Path

FOLDER = Path(tempfile.gettempdir()) / "tensorloom-peer-remaining"
