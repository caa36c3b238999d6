"""Parts of specs that several families use: F, LOOSE, unit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tests.peer.ops.spec import Tolerance

if TYPE_CHECKING:
    from tests.peer.ops.draw import Draw

F = np.float32


LOOSE = Tolerance(1e-4, 1e-5, reason="sums of many float32 in another order")


def unit(d: Draw, *shape: int) -> Any:
    return d.rng.random(shape).astype(F)
