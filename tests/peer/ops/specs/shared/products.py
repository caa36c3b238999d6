"""Parts of specs that several families use: PRODUCTS."""

from __future__ import annotations

from tests.peer.ops.spec import Tolerance

PRODUCTS = Tolerance(2e-5, 4e-6, "products are added up in another order", widened=4)
