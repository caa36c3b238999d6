"""Parts of specs that several families use: bytes_of."""

from __future__ import annotations

from typing import Any

import numpy as np


def bytes_of(value: bytes | str) -> Any:
    return np.array(value.encode() if isinstance(value, str) else value, object)
