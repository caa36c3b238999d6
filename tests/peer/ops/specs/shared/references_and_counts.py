"""Parts of specs that several families use: COUNTED, bincount, bytes_of, referenced."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tests.peer.ops.draw import K
from tests.peer.ops.program import Program
from tests.peer.ops.spec import call

if TYPE_CHECKING:
    from tests.peer.ops.draw import Draw


def bytes_of(value: bytes | str) -> Any:
    return np.array(value.encode() if isinstance(value, str) else value, object)


AT = np.array([[0, 1], [1, 0], [1, 2]], np.int64)


SIZES = np.array([3, 4], np.int64)


COUNTED = ["int32", "int64"]


def bincount(d: Draw) -> Any:
    values, size = d.array((3,), low=0, high=5), K(6, d.dtype)
    weights = np.array([], np.float32)
    binary = d.maybe()
    if d.op == "RaggedBincount":
        return call(
            np.array([0, 1, 3], np.int64), values, size, weights, binary_output=binary
        )
    return call(AT, values, SIZES, size, weights, binary_output=binary)


def referenced(d: Draw) -> Program:
    from tests.peer.ops.specs.shared.updates import ref_variable

    p = Program(differentiate=False)
    a, init_a = ref_variable(p, d.array((2,)))
    b, init_b = ref_variable(p, d.array((2,)))
    if d.op == "RefSwitch":
        made = p.op("RefSwitch", a, p.feed(np.array(d.maybe())))
        out = p.op(
            "Merge",
            [
                p.op("Identity", made[0])[0],
                p.op("Neg" if d.dtype.name != "string" else "Identity", made[1])[0],
            ],
        )
    elif d.op == "RefSelect":
        out = p.op(
            "Identity", p.op("RefSelect", p.feed(np.int32(d.integer(0, 1))), [a, b])
        )
    elif d.op == "RefMerge":
        which = p.op("RefSwitch", a, p.feed(np.array(d.maybe())))
        out = p.op("Identity", p.op("RefMerge", [which[0], which[1]]))
    else:
        out = p.op("Identity", p.op(d.op, a))
    p.run(init_a, init_b)
    p.run(out)
    return p
