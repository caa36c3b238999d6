"""Parts of specs that several families use: shaped."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def shaped(types: Sequence[str], shapes: Sequence[Any]) -> dict[str, Any]:
    """The attrs output_types and output_shapes."""
    return {"output_types": list(types), "output_shapes": list(shapes)}
