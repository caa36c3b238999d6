"""Parts of specs that several families use: FLOATS."""

from __future__ import annotations

FLOATS = ["float16", "float32", "float64"]
