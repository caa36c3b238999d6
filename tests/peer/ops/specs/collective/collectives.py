"""Collectives in a group of one, which is all that one device can be."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tests.peer.ops.draw import K
from tests.peer.ops.process_count import process_count
from tests.peer.ops.program import Program
from tests.peer.ops.spec import call, spec

if TYPE_CHECKING:
    from tests.peer.ops.draw import Draw


_TYPES = ["float32", "float64", "int32", "int64"]


_KEYS = process_count(1000)


def _spec(ops: str, make: Any, **options: Any) -> None:
    common: dict[str, Any] = {"attr": "T", "types": _TYPES, "gradient": False}
    spec(ops, make, alone=True, **{**common, "mutate": (), **options})


def _keys() -> dict[str, int]:
    number = next(_KEYS)
    return {"group_key": number, "instance_key": number}


def _fold(d: Draw) -> dict[str, Any]:
    return {
        "merge_op": d.choice(["Add", "Mul"]),
        "final_op": d.choice(["Id", "Div"]),
    }


def _reduce(d: Draw) -> Any:
    value = d.array(d.shape(0, 2, empty=0))
    return call(value, group_size=1, subdiv_offsets=[0], **_fold(d), **_keys())


_spec("CollectiveReduce", _reduce)


def _gather(d: Draw, group: int = 1, **attrs: Any) -> Any:
    shape = d.shape(1, 2, empty=0)
    value = d.array(shape)
    return call(value, group_size=group, **{"shape": shape, **_keys(), **attrs})


_spec("CollectiveGather", _gather, bad=(lambda d: _gather(d, shape=(99,)),))


def _alone_with_itself(d: Draw) -> Any:
    """A broadcast needs somebody to send to."""
    p = Program(differentiate=False)
    shape = (2,)
    inputs = [d.array(shape)] if "Send" in d.op else []
    sent = p.op(d.op, *inputs, group_size=1, shape=shape, T=d.dtype, **_keys())
    p.run(sent)
    p.run(sent)
    return p


_spec("CollectiveBcastSend", _alone_with_itself)


# --- 2.x ----------------------------------------------------------------------


def _numbers(size: int = 1) -> list[Any]:
    number = next(_KEYS)
    return [K(one, "int32") for one in (size, number, number)]


_spec(
    "CollectiveReduceV2",
    lambda d: call(d.array(d.shape(0, 2, empty=0)), *_numbers(), [], **_fold(d)),
    bad=(lambda d: call(d.array((2,)), *_numbers(0), [], **_fold(d)),),
)


_spec(
    "CollectiveGatherV2",
    lambda d: call(d.array(d.shape(1, 2, empty=0)), *_numbers(), []),
)


def _twice(d: Draw) -> Program:
    """Broadcasts of 2.x in a group of one; a second step, as they may fail."""
    p = Program(differentiate=False)
    inputs: list[Any] = [d.array((2,))] if "Send" in d.op else []
    number = next(_KEYS)
    inputs += [p.const(one, "int32") for one in (1, number, number)]
    if "Recv" in d.op:
        inputs.append(p.const([2], "int32"))
    sent = p.op(d.op, *inputs, T=d.dtype)
    p.run(sent)
    p.run(sent)
    return p


_spec("CollectiveBcastSendV2 CollectiveBcastRecvV2", _twice)


def _groups(d: Draw, *rows: Any) -> Program:
    p = Program(differentiate=False)
    groups = np.array(rows or [[0, 1], [2, 3]], np.int32)
    given = [p.const(groups), p.const(d.integer(0, 3), "int32"), p.const(7, "int32")]
    p.run(p.op(d.op, *given))
    return p


spec(
    "CollectiveAssignGroupV2",
    _groups,
    types=(),
    gradient=False,
    mutate=("dtype",),
    bad=(
        lambda d: _groups(d, [7, 8]),
        lambda d: _groups(d, [0, 0], [1, 1]),
        lambda d: _groups(d, 0, 1, 2, 3),
    ),
)
