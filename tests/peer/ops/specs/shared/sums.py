"""Parts of specs that several families use: SUMS."""

from __future__ import annotations

from tests.peer.ops.spec import Tolerance

SUMS = Tolerance(1e-4, 1e-5, "sums of products in another order", widened=8)
