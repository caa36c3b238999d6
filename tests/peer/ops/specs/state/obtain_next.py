"""Spec of ObtainNext."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tests.peer.ops.program import Program
from tests.peer.ops.spec import spec
from tests.peer.ops.specs.shared.updates import read, ref_variable

if TYPE_CHECKING:
    from tests.peer.ops.draw import Draw


def _round_robin(d: Draw) -> Program:
    """Three elements, and where the counter is then."""
    p = Program(differentiate=False)
    elements = np.array([b"a", b"b", b"c", b"d"], object)[: d.integer(1, 4)]
    counter, init = ref_variable(p, np.array(d.integer(-1, 5), np.int64))
    node = p.op("ObtainNext", p.feed(elements), counter)
    p.run(init)
    p.run(node)
    p.run(node)
    p.run(node)
    p.run(read(p, counter, None))
    return p


spec("ObtainNext", _round_robin, types=(), gradient=False, mutate=("rank", "dtype"))
