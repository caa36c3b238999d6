"""Specs of EmptyTensorList, TensorArrayCloseV3, ..."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.peer.ops.program import Program
from tests.peer.ops.spec import spec

if TYPE_CHECKING:
    from tests.peer.ops.draw import Draw


# --- tensor arrays --------------------------------------------------------------


def tensor_array(d: Draw) -> Program:
    p = Program(differentiate=False)
    ta = p.op(
        "TensorArrayV3",
        p.const(4, "int32"),
        dtype=d.dtype,
        element_shape=(2,),
        clear_after_read=False,
    )
    flow = p.op(
        "TensorArrayScatterV3",
        ta[0],
        p.const([0, 2], "int32"),
        p.feed(d.array((2, 2))),
        ta[1],
    )
    flow = p.op(
        "TensorArrayWriteV3", ta[0], p.const(1, "int32"), p.feed(d.array((2,))), flow
    )
    flow = p.op(
        "TensorArrayWriteV3", ta[0], p.const(3, "int32"), p.feed(d.array((2,))), flow
    )
    size = p.op("TensorArraySizeV3", ta[0], flow)
    read = p.op("TensorArrayReadV3", ta[0], p.const(2, "int32"), flow, dtype=d.dtype)
    rows = p.op(
        "TensorArrayGatherV3",
        ta[0],
        p.const([3, 0], "int32"),
        flow,
        dtype=d.dtype,
        element_shape=(2,),
    )
    joined = p.op("TensorArrayConcatV3", ta[0], flow, dtype=d.dtype)
    close = p.op("TensorArrayCloseV3", ta[0], control=[size, read, rows, joined])
    p.run(size, read, rows, joined, close)
    return p


def tensor_array_split(d: Draw) -> Program:
    p = Program(differentiate=False)
    ta = p.op(
        "TensorArrayV3", p.const(3, "int32"), dtype=d.dtype, clear_after_read=False
    )
    flow = p.op(
        "TensorArraySplitV3",
        ta[0],
        p.feed(d.array((6, 2))),
        p.const([1, 3, 2], "int64"),
        ta[1],
    )
    read = p.op("TensorArrayReadV3", ta[0], p.const(1, "int32"), flow, dtype=d.dtype)
    joined = p.op("TensorArrayConcatV3", ta[0], flow, dtype=d.dtype)
    p.run(read, joined)
    return p


def tensor_array_beyond(d: Draw) -> Program:
    p = Program(differentiate=False)
    ta = p.op("TensorArrayV3", p.const(2, "int32"), dtype=d.dtype)
    p.run(
        p.op(
            "TensorArrayWriteV3",
            ta[0],
            p.const(2, "int32"),
            p.feed(d.array((2,))),
            ta[1],
        )
    )
    return p


def tensor_array_twice(d: Draw) -> Program:
    p = Program(differentiate=False)
    ta = p.op("TensorArrayV3", p.const(2, "int32"), dtype=d.dtype)
    flow = p.op(
        "TensorArrayWriteV3", ta[0], p.const(0, "int32"), p.feed(d.array((2,))), ta[1]
    )
    p.run(
        p.op(
            "TensorArrayWriteV3",
            ta[0],
            p.const(0, "int32"),
            p.feed(d.array((2,))),
            flow,
        )
    )
    return p


def tensor_array_unwritten(d: Draw) -> Program:
    p = Program(differentiate=False)
    ta = p.op("TensorArrayV3", p.const(2, "int32"), dtype=d.dtype)
    p.run(p.op("TensorArrayReadV3", ta[0], p.const(0, "int32"), ta[1], dtype=d.dtype))
    return p


def tensor_array_gradient(d: Draw) -> Program:
    p = Program(differentiate=False)
    ta = p.op("TensorArrayV3", p.const(2, "int32"), dtype=d.dtype)
    flow = p.op(
        "TensorArrayWriteV3", ta[0], p.const(0, "int32"), p.feed(d.array((2,))), ta[1]
    )
    extra = [p.const([2], "int32")] if d.op == "TensorArrayGradWithShape" else []
    kind = d.op if d.op.startswith("TensorArrayGrad") else "TensorArrayGradV3"
    grad = p.op(kind, ta[0], flow, *extra, source="g")
    first = p.op(
        "TensorArrayWriteV3",
        grad[0],
        p.const(0, "int32"),
        p.feed(d.array((2,))),
        grad[1],
    )
    again = p.op(
        "TensorArrayWriteV3", grad[0], p.const(0, "int32"), p.feed(d.array((2,))), first
    )
    p.run(p.op("TensorArrayReadV3", grad[0], p.const(0, "int32"), again, dtype=d.dtype))
    return p


ARRAYS = [
    "float16",
    "float32",
    "float64",
    "int32",
    "int64",
    "bool",
    "string",
    "complex64",
]


spec(
    "TensorArrayV3 TensorArrayWriteV3 TensorArrayReadV3 TensorArrayGatherV3 "
    "TensorArrayScatterV3 TensorArrayConcatV3"
    " TensorArraySizeV3 TensorArrayCloseV3",
    tensor_array,
    types=ARRAYS,
    mutate=(),
    bad=(tensor_array_beyond, tensor_array_twice, tensor_array_unwritten),
)


spec("TensorArraySplitV3", tensor_array_split, types=ARRAYS, mutate=())


spec(
    "TensorArrayGradV3",
    tensor_array_gradient,
    types=["float32", "float64", "int32"],
    mutate=(),
)


# --- lists of tensors -----------------------------------------------------------


def tensor_list(d: Draw) -> Program:
    p = Program(differentiate=False)
    shape = p.const([2], "int32")
    made = p.op(
        "TensorListFromTensor", p.feed(d.array((3, 2))), shape, element_dtype=d.dtype
    )
    made = p.op("TensorListSetItem", made, p.const(1, "int32"), p.feed(d.array((2,))))
    item = p.op(
        "TensorListGetItem", made, p.const(2, "int32"), shape, element_dtype=d.dtype
    )
    length = p.op("TensorListLength", made)
    more = p.op("TensorListPushBack", made, p.feed(d.array((2,))))
    popped = p.op("TensorListPopBack", more, shape, element_dtype=d.dtype)
    rows = p.op(
        "TensorListGather", made, p.const([2, 0], "int32"), shape, element_dtype=d.dtype
    )
    element = p.op("TensorListElementShape", made, shape_type="int32")
    whole = p.op("TensorListStack", popped[0], shape, element_dtype=d.dtype)
    p.run(item, length, popped[1], rows, element, whole)
    return p


def tensor_list_reserve(d: Draw) -> Program:
    p = Program(differentiate=False)
    shape = p.const([2], "int32")
    made = p.op("TensorListReserve", shape, p.const(3, "int32"), element_dtype=d.dtype)
    made = p.op("TensorListSetItem", made, p.const(0, "int32"), p.feed(d.array((2,))))
    made = p.op("TensorListSetItem", made, p.const(2, "int32"), p.feed(d.array((2,))))
    made = p.op("TensorListResize", made, p.const(4, "int32"))
    p.run(
        p.op("TensorListLength", made),
        p.op("TensorListStack", made, shape, element_dtype=d.dtype),
    )
    return p


def tensor_list_joined(d: Draw) -> Program:
    p = Program(differentiate=False)
    shape = p.const([-1, 2], "int32")
    empty = p.op("EmptyTensorList", shape, p.const(-1, "int32"), element_dtype=d.dtype)
    made = p.op("TensorListPushBack", empty, p.feed(d.array((1, 2))))
    made = p.op("TensorListPushBack", made, p.feed(d.array((3, 2))))
    joined = p.op("TensorListConcatLists", made, made, element_dtype=d.dtype)
    lead = p.const([], "int64")
    whole = p.op("TensorListConcatV2", joined, shape, lead, element_dtype=d.dtype)
    parts = p.op(
        "TensorListSplit",
        p.feed(d.array((4, 2))),
        shape,
        p.const([1, 3], "int64"),
        element_dtype=d.dtype,
    )
    p.run(whole, p.op("TensorListConcat", parts, element_dtype=d.dtype))
    return p


def tensor_list_scattered(d: Draw) -> Program:
    p = Program(differentiate=False)
    shape = p.const([2], "int32")
    at = p.const([2, 0], "int32")
    if d.op == "TensorListScatterV2":
        made = p.op(
            d.op,
            p.feed(d.array((2, 2))),
            at,
            shape,
            p.const(4, "int32"),
            element_dtype=d.dtype,
        )
    elif d.op == "TensorListScatterIntoExistingList":
        old = p.op(
            "TensorListFromTensor",
            p.feed(d.array((3, 2))),
            shape,
            element_dtype=d.dtype,
        )
        made = p.op(d.op, old, p.feed(d.array((2, 2))), at, element_dtype=d.dtype)
    else:
        made = p.op(d.op, p.feed(d.array((2, 2))), at, shape, element_dtype=d.dtype)
    p.run(p.op("TensorListStack", made, shape, element_dtype=d.dtype))
    return p


def tensor_list_beyond(d: Draw) -> Program:
    p = Program(differentiate=False)
    shape = p.const([2], "int32")
    made = p.op("TensorListReserve", shape, p.const(3, "int32"), element_dtype=d.dtype)
    p.run(
        p.op(
            "TensorListGetItem", made, p.const(5, "int32"), shape, element_dtype=d.dtype
        )
    )
    return p


def tensor_list_empty_pop(d: Draw) -> Program:
    p = Program(differentiate=False)
    shape = p.const([2], "int32")
    made = p.op("EmptyTensorList", shape, p.const(-1, "int32"), element_dtype=d.dtype)
    p.run(p.op("TensorListPopBack", made, shape, element_dtype=d.dtype)[1])
    return p


LISTED = ["float32", "float64", "int32", "int64", "bool", "string", "complex64"]


spec(
    "TensorListFromTensor TensorListSetItem TensorListGetItem TensorListLength "
    "TensorListPushBack TensorListPopBack"
    " TensorListGather TensorListElementShape TensorListStack",
    tensor_list,
    types=LISTED,
    mutate=(),
    bad=(tensor_list_beyond, tensor_list_empty_pop),
)


spec(
    "TensorListReserve TensorListResize",
    tensor_list_reserve,
    types=["float32", "float64", "int32", "int64"],
    mutate=(),
)


spec(
    "EmptyTensorList TensorListConcatLists TensorListConcatV2 TensorListConcat "
    "TensorListSplit",
    tensor_list_joined,
    types=["float32", "float64", "int32", "int64", "bool"],
    mutate=(),
)


spec(
    "TensorListScatter TensorListScatterV2 TensorListScatterIntoExistingList",
    tensor_list_scattered,
    types=["float32", "int32", "bool"],
    mutate=(),
)
