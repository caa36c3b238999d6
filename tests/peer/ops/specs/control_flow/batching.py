"""Batches put together out of what several steps bring, and taken apart again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tests.peer.ops.process_count import process_count
from tests.peer.ops.program import Node, Program
from tests.peer.ops.spec import spec

if TYPE_CHECKING:
    from tests.peer.ops.draw import Draw


_NUMBERS = process_count()


_LIMITS: dict[str, Any] = {
    "num_batch_threads": 1,
    "max_batch_size": 8,
    "batch_timeout_micros": 0,
}


def _spec(ops: str, make: Any, **options: Any) -> None:
    common: dict[str, Any] = {"types": (), "gradient": False, "mutate": ()}
    spec(ops, make, alone=True, **{**common, **options})


def _place(word: str) -> dict[str, str]:
    return {"shared_name": f"{word}{next(_NUMBERS)}"}


def _batch(d: Draw, p: Program, *inputs: Any, **attrs: Any) -> Node:
    given = {**_LIMITS, "grad_timeout_micros": 100, **_place("batch"), **attrs}
    return p.op("Batch", list(inputs), **given)


def _one_batch(d: Draw, **attrs: Any) -> Program:
    p = Program(differentiate=False)
    rows = d.integer(1, 5)
    values = [d.array((rows, 2), "float32"), d.array((rows,), "int64")]
    made = _batch(d, p, *values, **attrs)
    p.run(made[0], made[1])
    return p


def _uneven(d: Draw) -> Program:
    p = Program(differentiate=False)
    values = [d.array((3, 2), "float32"), d.array((2,), "int64")]
    p.run(_batch(d, p, *values)[0])
    return p


def _too_large(d: Draw) -> Program:
    p = Program(differentiate=False)
    p.run(_batch(d, p, d.array((9, 2), "float32"))[0])
    return p


def _scalar(d: Draw) -> Program:
    p = Program(differentiate=False)
    p.run(_batch(d, p, d.array((), "float32"))[0])
    return p


_spec(
    "Batch",
    lambda d: _one_batch(d, allowed_batch_sizes=d.choice([[], [6, 8]])),
    bad=(
        _uneven,
        _too_large,
        _scalar,
        lambda d: _one_batch(d, allowed_batch_sizes=[4]),
        lambda d: _one_batch(d, allowed_batch_sizes=[6, 4, 8]),
        lambda d: _one_batch(d, max_batch_size=0),
        lambda d: _one_batch(d, num_batch_threads=0),
    ),
)


def _unbatched(d: Draw, **attrs: Any) -> Program:
    """The rows of a batch of one step go back to that step."""
    p = Program(differentiate=False)
    made = _batch(d, p, d.array((d.integer(1, 5), 2), "float32"))
    double = p.op("AddV2", made[0], made[0])
    settings = {"timeout_micros": 1000000, **_place("unbatch"), **attrs}
    p.run(p.op("Unbatch", double, made[1], made[2], **settings))
    return p


def _wrong_index(d: Draw) -> Program:
    p = Program(differentiate=False)
    index = np.array([[0, 1]], np.int64)
    given = [p.feed(d.array((2,), "float32")), p.feed(index), p.const(5, "int64")]
    p.run(p.op("Unbatch", *given, timeout_micros=1000, **_place("unbatch")))
    return p


_spec("Unbatch", _unbatched, bad=(_wrong_index,))


def _gradient(d: Draw) -> Program:
    p = Program(differentiate=False)
    rows = d.integer(1, 5)
    made = _batch(d, p, d.array((rows, 2), "float32"))
    grad = d.array((rows, 2), "float32")
    p.run(p.op("UnbatchGrad", made[0], made[1], grad, made[2], **_place("grad")))
    return p


_spec("UnbatchGrad", _gradient)


def _function(d: Draw, rows: int = 0, **attrs: Any) -> Program:
    p = Program(differentiate=False)

    def body(f: Program, x: Any, y: Any, extra: Any) -> list[Any]:
        return [f.op("AddV2", x, extra), f.op("AddV2", y, y)]

    rows = rows or d.integer(1, 5)
    made = p.op(
        "BatchFunction",
        [d.array((rows, 2), "float32"), d.array((rows,), "int64")],
        [np.float32(d.integer(1, 5))],
        f=p.function(["float32", "int64", "float32"], body),
        Tout=["float32", "int64"],
        **{**_LIMITS, **_place("function"), **attrs},
    )
    p.run(made)
    return p


_spec(
    "BatchFunction",
    lambda d: _function(d, allowed_batch_sizes=d.choice([[], [6, 8]])),
    bad=(
        lambda d: _function(d, 9),
        lambda d: _function(d, allowed_batch_sizes=[4]),
        lambda d: _function(d, max_batch_size=0),
    ),
)
