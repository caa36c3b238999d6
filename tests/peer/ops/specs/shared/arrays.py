"""Parts of specs that several families use: Q, rank_of, shape_of."""

from __future__ import annotations

from typing import Any

import numpy as np

Q = ["qint8", "quint8", "qint32"]


def rank_of(x: Any) -> int:
    return int(np.ndim(getattr(x, "value", x)))


def shape_of(x: Any) -> tuple[int, ...]:
    return tuple(np.shape(getattr(x, "value", x)))
