"""What the tables of hostile values have in common."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

# What happens to the value as a constant, and fed: "fine", or where it fails ("build"
# as the op is made, "run") and with which class; and the op made of it.
Row = tuple[str, str, Callable[[Callable[[Any], Any]], Any]]


def i32(*values: int) -> Any:
    """An int32 vector."""
    return np.array(values, np.int32)


def i64(*values: int) -> Any:
    """An int64 vector."""
    return np.array(values, np.int64)
