"""Parts of specs that several families use: VALUES, sparse_parts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from tests.peer.ops.draw import Draw


def sparse_parts(d: Draw) -> tuple[Any, Any, Any]:
    indices = np.array([[0, 1], [1, 0], [1, 2]], np.int64)
    return indices, d.array((3,)), np.array([3, 4], np.int64)


VALUES = ["float32", "int64", "string"]
