"""Parts of specs that several families use: GEOMETRY, Q, SUMS."""

from __future__ import annotations

from tests.peer.ops.spec import Tolerance

SUMS = Tolerance(2e-5, 4e-6, "products are added up in another order", widened=6)


GEOMETRY = ("rank", "dtype")


Q = ["qint8", "quint8", "qint32"]
