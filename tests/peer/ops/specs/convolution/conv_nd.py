"""Specs of Conv."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.peer.ops.spec import Tolerance, call, spec

if TYPE_CHECKING:
    from tests.peer.ops.draw import Draw


# --- Conv of TensorFlow 2.x --------------------------------------------------


def _conv(d: Draw, wrong: int = 0) -> Any:
    spatial, batch_dims = d.integer(2, 3), d.integer(0, 3)
    batch = [d.integer(1, 2) for _ in range(batch_dims)]
    depth = d.integer(1, 3)
    explicit = spatial == 2 and d.maybe(0.3)
    pads = [0, 0, *(d.integer(0, 2) for _ in range(4)), 0, 0] if explicit else []
    padding = "EXPLICIT" if explicit else d.choice(["SAME", "VALID"])
    # TensorFlow dilates no volumes on a CPU.
    dilated = spatial == 2 and padding == "SAME" and d.maybe(0.5)
    return call(
        d.array((*batch, *(d.integer(4, 6) for _ in range(spatial)), depth)),
        d.array((*[d.integer(1, 3)] * spatial, depth + wrong, d.integer(1, 3))),
        strides=[1, *[d.integer(1, 2)] * spatial, 1],
        dilations=[1, 2, 1, 1] if dilated else [],
        padding=padding,
        explicit_paddings=pads,
        batch_dims=batch_dims,
    )


spec(
    "Conv",
    _conv,
    tolerance=Tolerance(1e-4, 1e-5, reason="sums of products in another order"),
    gradient=False,
    mutate=("rank", "dtype"),
    bad=(lambda d: _conv(d, 1),),
)
