"""Specs of SparseFillEmptyRowsGrad."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tests.peer.ops.spec import call, spec

if TYPE_CHECKING:
    from tests.peer.ops.draw import Draw


# --- arrays ------------------------------------------------------------------


def _fill_gradient(d: Draw) -> Any:
    return call(np.array([1, 0, 3], np.int64), d.array((5,)))


spec("SparseFillEmptyRowsGrad", _fill_gradient, gradient=False, mutate=("dtype",))
