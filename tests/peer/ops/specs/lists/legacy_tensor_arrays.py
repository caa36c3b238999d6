"""Specs of TensorArray, TensorArrayClose, ..."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tests.peer.ops.program import Program
from tests.peer.ops.spec import spec

if TYPE_CHECKING:
    from tests.peer.ops.draw import Draw


# --- tensor arrays of the first and second version -----------------------------

_ARRAYS = ["float32", "float64", "int32", "bool", "string", "complex64"]


def _tensor_array(d: Draw) -> Program:
    v = "V2" if d.op.endswith("V2") else ""
    # The first version was removed from graphs of version 16, the second of 26.
    p = Program(25 if v else 15, differentiate=False)
    made = p.op(
        "TensorArray" + v, p.const(4, "int32"), dtype=d.dtype, clear_after_read=False
    )
    flow: Any = p.const(np.float32(0))
    flow = p.op(
        "TensorArrayScatter" + v,
        made,
        p.const([0, 2], "int32"),
        p.feed(d.array((2, 2))),
        flow,
    )
    for index in (1, 3):
        flow = p.op(
            "TensorArrayWrite" + v,
            made,
            p.const(index, "int32"),
            p.feed(d.array((2,))),
            flow,
        )
    size = p.op("TensorArraySize" + v, made, flow)
    item = p.op("TensorArrayRead" + v, made, p.const(2, "int32"), flow, dtype=d.dtype)
    rows = p.op(
        "TensorArrayGather" + v, made, p.const([3, 0], "int32"), flow, dtype=d.dtype
    )
    joined = p.op("TensorArrayConcat" + v, made, flow, dtype=d.dtype)
    reads = [size, item, rows, joined]
    if not v:
        reads.append(p.op("TensorArrayPack", made, flow, dtype=d.dtype))
    close = p.op("TensorArrayClose" + v, made, control=reads)
    p.run(*reads, close)
    return p


def _split_array(d: Draw) -> Program:
    v = "V2" if d.op.endswith("V2") else ""
    p = Program(25 if v else 15, differentiate=False)
    made = p.op("TensorArray" + v, p.const(3, "int32"), dtype=d.dtype)
    zero = p.const(np.float32(0))
    if d.op == "TensorArrayUnpack":
        flow = p.op(d.op, made, p.feed(d.array((3, 2))), zero)
    else:
        flow = p.op(
            d.op, made, p.feed(d.array((6, 2))), p.const([1, 3, 2], "int64"), zero
        )
    p.run(p.op("TensorArrayRead" + v, made, p.const(1, "int32"), flow, dtype=d.dtype))
    return p


def _array_gradient(d: Draw) -> Program:
    v = "V2" if d.op.endswith("V2") else ""
    p = Program(25 if v else 15, differentiate=False)
    made = p.op("TensorArray" + v, p.const(2, "int32"), dtype=d.dtype)
    flow = p.op(
        "TensorArrayWrite" + v,
        made,
        p.const(0, "int32"),
        p.feed(d.array((2,))),
        p.const(np.float32(0)),
    )
    grad = p.op("TensorArrayGrad" + v, made, flow, source="g")
    again: Any = flow
    for _ in range(2):
        again = p.op(
            "TensorArrayWrite" + v,
            grad,
            p.const(0, "int32"),
            p.feed(d.array((2,))),
            again,
        )
    p.run(p.op("TensorArrayRead" + v, grad, p.const(0, "int32"), again, dtype=d.dtype))
    return p


def _grad_with_shape(d: Draw) -> Program:
    p = Program(differentiate=False)
    made = p.op("TensorArrayV3", p.const(2, "int32"), dtype=d.dtype, element_shape=(2,))
    flow = p.op(
        "TensorArrayWriteV3",
        made[0],
        p.const(0, "int32"),
        p.feed(d.array((2,))),
        made[1],
    )
    grad = p.op(
        "TensorArrayGradWithShape", made[0], flow, p.const([3], "int32"), source="g"
    )
    written = p.op(
        "TensorArrayWriteV3",
        grad[0],
        p.const(0, "int32"),
        p.feed(d.array((3, 2))),
        grad[1],
    )
    p.run(
        p.op("TensorArrayReadV3", grad[0], p.const(0, "int32"), written, dtype=d.dtype)
    )
    return p


for _v in ("", "V2"):
    _names = [
        "TensorArray",
        "Write",
        "Read",
        "Gather",
        "Scatter",
        "Concat",
        "Size",
        "Close",
    ]
    _ops = " ".join(_names[:1] + [f"TensorArray{name}" for name in _names[1:]])
    if _v:
        _ops = " ".join(name + _v for name in _ops.split())
    spec(_ops, _tensor_array, types=_ARRAYS, mutate=())


spec("TensorArrayPack", _tensor_array, types=_ARRAYS, mutate=())


spec(
    "TensorArraySplit TensorArraySplitV2 TensorArrayUnpack",
    _split_array,
    types=_ARRAYS,
    mutate=(),
)


spec(
    "TensorArrayGrad TensorArrayGradV2",
    _array_gradient,
    types=["float32", "float64"],
    mutate=(),
)


spec(
    "TensorArrayGradWithShape",
    _grad_with_shape,
    types=["float32", "float64"],
    mutate=(),
)


def _push_batch(d: Draw) -> Program:
    p = Program(differentiate=False)
    shape = p.const([2], "int32")
    lists = [
        p.op("EmptyTensorList", shape, p.const(-1, "int32"), element_dtype=d.dtype)[0]
        for _ in range(3)
    ]
    handles = p.op("Pack", [*lists])
    pushed = p.op(
        "TensorListPushBackBatch",
        handles,
        p.feed(d.array((3, 2))),
        element_dtype=d.dtype,
    )
    ends = [p.const([n], "int32") for n in (1, 2, 1)]
    one = p.op("StridedSlice", pushed, *ends, shrink_axis_mask=1)
    p.run(p.op("TensorListStack", one, shape, element_dtype=d.dtype))
    return p


spec(
    "TensorListPushBackBatch",
    _push_batch,
    types=["float32", "int32", "bool"],
    mutate=(),
)
