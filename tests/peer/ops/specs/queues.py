"""Queues, stacks, tensor arrays, tables, lists of what a session keeps."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tests.peer.ops.program import Node, Program
from tests.peer.ops.spec import spec

if TYPE_CHECKING:
    from tests.peer.ops.draw import Draw

# --- queues ---------------------------------------------------------------------


def make_queue(d: Draw, p: Program, kind: str) -> Node:
    types = [d.dtype, "int32"]
    if kind.startswith("PriorityQueue"):
        return p.op(kind, component_types=[d.dtype], shapes=[(2,)], capacity=10)
    attrs: dict[str, Any] = {
        "component_types": types,
        "shapes": [(2,), ()],
        "capacity": 10,
    }
    if kind.startswith("PaddingFIFOQueue"):
        attrs["shapes"] = [(None,), ()]
    if kind.startswith("RandomShuffleQueue"):
        attrs |= {"min_after_dequeue": 0, "seed": 3, "seed2": 5}
    return p.op(kind, **attrs)


def queue(d: Draw, kind: str) -> Program:
    p = Program(differentiate=False)
    # The ops of the first version have handles that are references to strings.
    v = "V2" if d.op.endswith("V2") else ""
    q = make_queue(d, p, kind if v else kind.removesuffix("V2"))
    one = [p.feed(d.array((2,))), p.feed(np.int32(7))]
    many = [p.feed(d.array((3, 2))), p.feed(np.arange(3, dtype=np.int32))]
    types = [d.dtype, "int32"]
    if kind == "PriorityQueueV2":
        one = [p.feed(np.int64(2)), one[0]]
        many = [p.feed(np.array([3, 1, 2], np.int64)), many[0]]
        types = ["int64", d.dtype]
    put = p.op("QueueEnqueue" + v, q, one)
    put_many = p.op("QueueEnqueueMany" + v, q, many)
    size = p.op("QueueSize" + v, q)
    closed = p.op("QueueIsClosedV2", q) if v else size
    get = p.op("QueueDequeue" + v, q, component_types=types)
    get_many = p.op(
        "QueueDequeueMany" + v, q, p.const(2, "int32"), component_types=types
    )
    get_up_to = p.op(
        "QueueDequeueUpTo" + v, q, p.const(4, "int32"), component_types=types
    )
    close = p.op("QueueClose" + v, q)
    p.run(put)
    p.run(put_many)
    p.run(size, closed)
    p.run(get)
    p.run(get_many)
    p.run(put)
    p.run(close)
    p.run(size, closed)
    if kind != "PriorityQueueV2":  # which loses elements when it has too few of them
        p.run(get_up_to)
    p.run(put)
    return p


QUEUED = ["float32", "int64", "bool", "string", "complex64"]
spec(
    "FIFOQueueV2 QueueEnqueueV2 QueueEnqueueManyV2 QueueDequeueV2 "
    "QueueDequeueManyV2 QueueDequeueUpToV2"
    " QueueSizeV2 QueueCloseV2 QueueIsClosedV2",
    lambda d: queue(d, "FIFOQueueV2"),
    types=QUEUED,
    mutate=("dtype",),
)
spec(
    "PaddingFIFOQueueV2",
    lambda d: queue(d, "PaddingFIFOQueueV2"),
    types=QUEUED,
    mutate=("dtype",),
)
spec(
    "PriorityQueueV2",
    lambda d: queue(d, "PriorityQueueV2"),
    types=QUEUED,
    mutate=("dtype",),
)


spec(
    "FIFOQueue QueueEnqueue QueueEnqueueMany QueueDequeue QueueDequeueMany "
    "QueueDequeueUpTo QueueSize QueueClose",
    lambda d: queue(d, "FIFOQueueV2"),
    types=QUEUED,
    mutate=("dtype",),
)
spec(
    "PaddingFIFOQueue",
    lambda d: queue(d, "PaddingFIFOQueueV2"),
    types=QUEUED,
    mutate=("dtype",),
)
spec(
    "PriorityQueue",
    lambda d: queue(d, "PriorityQueueV2"),
    types=QUEUED,
    mutate=("dtype",),
)


def set_of_values(arrays: list[Any]) -> list[Any]:
    """The order in which a shuffling queue gives its elements is its own."""
    return [np.sort(np.ravel(array)) for array in arrays] if len(arrays) == 1 else []


def shuffle_queue(d: Draw) -> Program:
    p = Program(differentiate=False)
    q = p.op(
        "RandomShuffleQueueV2",
        component_types=[d.dtype],
        shapes=[()],
        capacity=10,
        seed=3,
        seed2=5,
    )
    p.run(p.op("QueueEnqueueManyV2", q, [p.feed(d.array((6,)))]))
    p.run(p.op("QueueSizeV2", q))
    p.run(p.op("QueueDequeueManyV2", q, p.const(6, "int32"), component_types=[d.dtype]))
    return p


spec(
    "RandomShuffleQueueV2",
    shuffle_queue,
    types=QUEUED[:4],
    mutate=("dtype",),
    canonical=set_of_values,
)

# --- stacks ---------------------------------------------------------------------


def stack(d: Draw) -> Program:
    p = Program(differentiate=False)
    v = "V2" if d.op.endswith("V2") else ""
    size = [p.const(-1, "int32")] if v else []
    s = p.op("Stack" + v, *size, elem_type=d.dtype)
    a = p.op("StackPush" + v, s, d.array((2,)))
    b = p.op("StackPush" + v, s, d.array((3,)), control=[a])
    x = p.op("StackPop" + v, s, control=[b], elem_type=d.dtype)
    y = p.op("StackPop" + v, s, control=[x], elem_type=d.dtype)
    close = p.op("StackClose" + v, s, control=[y])
    p.run(x, y, close)
    return p


def empty_stack(d: Draw) -> Program:
    p = Program(differentiate=False)
    s = p.op("StackV2", p.const(-1, "int32"), elem_type=d.dtype)
    p.run(p.op("StackPopV2", s, elem_type=d.dtype))
    return p


spec(
    "StackV2 StackPushV2 StackPopV2 StackCloseV2",
    stack,
    types=["float32", "int32", "string", "bool"],
    bad=(empty_stack,),
    mutate=(),
)

spec(
    "Stack StackPush StackPop StackClose",
    stack,
    types=["float32", "int32", "string", "bool"],
    mutate=(),
)

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

# --- tables ---------------------------------------------------------------------


def table(d: Draw) -> Program:
    p = Program(differentiate=False)
    made = p.op("HashTableV2", key_dtype="string", value_dtype="int64")
    keys, values = p.const([b"a", b"b", b"c"]), p.const([1, 2, 3], "int64")
    init = p.op("InitializeTableV2", made, keys, values)
    default = p.const(-1, "int64")
    find = p.op("LookupTableFindV2", made, p.feed([b"c", b"nothing", b"a"]), default)
    size = p.op("LookupTableSizeV2", made)
    p.run(find)
    p.run(init)
    p.run(find, size)
    return p


def mutable_table(d: Draw) -> Program:
    p = Program(differentiate=False)
    made = p.op("MutableHashTableV2", key_dtype="int64", value_dtype="float32")
    put = p.op(
        "LookupTableInsertV2",
        made,
        np.array([5, 7], np.int64),
        np.array([0.5, 0.7], np.float32),
    )
    load = p.op(
        "LookupTableImportV2",
        made,
        np.array([1], np.int64),
        np.array([0.1], np.float32),
    )
    default = p.const(-1.0)
    find = p.op(
        "LookupTableFindV2", made, np.array([[5, 1], [9, 7]], np.int64), default
    )
    size = p.op("LookupTableSizeV2", made)
    remove = p.op("LookupTableRemoveV2", made, np.array([5, 6], np.int64))
    export = p.op("LookupTableExportV2", made, Tkeys="int64", Tvalues="float32")
    p.run(put)
    p.run(find, size)
    p.run(remove)
    p.run(find, size)
    p.run(load)
    p.run(find, size)
    p.run(export)
    return p


def table_of_vectors(d: Draw) -> Program:
    p = Program(differentiate=False)
    dense = d.op == "MutableDenseHashTableV2"
    if dense:
        made = p.op(
            d.op,
            p.const(-1, "int64"),
            p.const(-2, "int64"),
            value_dtype="float32",
            value_shape=(2,),
        )
    else:
        made = p.op(d.op, key_dtype="int64", value_dtype="float32", value_shape=(2,))
    p.run(
        p.op(
            "LookupTableInsertV2",
            made,
            np.array([5, 7], np.int64),
            d.array((2, 2), dtype="float32"),
        )
    )
    p.run(
        p.op("LookupTableFindV2", made, np.array([7, 1], np.int64), p.const([9.0, 9.0]))
    )
    p.run(p.op("LookupTableSizeV2", made))
    return p


spec("HashTableV2 InitializeTableV2", table, types=(), mutate=())


def table_from_file(d: Draw) -> Program:
    path = Path(tempfile.gettempdir()) / "tensorloom_op_specs_words.txt"
    path.write_bytes(b"a\nb\nc\n")
    p = Program(differentiate=False)
    made = p.op("HashTableV2", key_dtype="string", value_dtype="int64")
    init = p.op(
        "InitializeTableFromTextFileV2",
        made,
        p.const(np.array(str(path).encode(), object)),
        key_index=-2,
        value_index=-1,
        vocab_size=d.choice([-1, 3]),
    )
    p.run(init)
    p.run(
        p.op("LookupTableFindV2", made, p.feed([b"c", b"none"]), p.const(-1, "int64")),
        p.op("LookupTableSizeV2", made),
    )
    return p


spec("InitializeTableFromTextFileV2", table_from_file, types=(), mutate=())
spec(
    "MutableHashTableV2 LookupTableInsertV2 LookupTableFindV2 LookupTableSizeV2 "
    "LookupTableImportV2 LookupTableRemoveV2"
    " LookupTableExportV2",
    mutable_table,
    types=(),
    mutate=(),
)
spec(
    "MutableHashTableOfTensorsV2 MutableDenseHashTableV2",
    table_of_vectors,
    types=(),
    mutate=(),
)

# --- sets -----------------------------------------------------------------------


def sets(d: Draw) -> Any:
    from tests.peer.ops.spec import call

    a = np.asarray(d.array((2, 4), low=0, high=5))
    b = np.asarray(d.array((2, 3), low=0, high=5))
    operation = d.choice(["a-b", "b-a", "intersection", "union"])
    return call(a, b, set_operation=operation, validate_indices=True)


SETS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "string"]
spec("DenseToDenseSetOperation", sets, types=SETS, mutate=("dtype",))


def sparse_rows(d: Draw, low: int = 0) -> tuple[Any, Any, Any]:
    """A sparse [2, 3] matrix whose rows are sorted sets."""
    rows = [np.unique(d.array((d.integer(low, 3),), low=0, high=5)) for _ in range(2)]
    at = np.array(
        [[i, j] for i, row in enumerate(rows) for j in range(len(row))], np.int64
    ).reshape(-1, 2)
    values = np.concatenate(rows) if len(at) else np.asarray(d.array((0,)))
    return at, values, np.array([2, 3], np.int64)


def dense_sparse_sets(d: Draw) -> Any:
    from tests.peer.ops.spec import call

    a = np.asarray(d.array((2, 4), low=0, high=5))
    return call(
        a,
        *sparse_rows(d, 1),
        set_operation=d.choice(["a-b", "b-a", "intersection", "union"]),
    )


def sparse_sparse_sets(d: Draw) -> Any:
    from tests.peer.ops.spec import call

    operation = d.choice(["a-b", "b-a", "intersection", "union"])
    return call(*sparse_rows(d, 1), *sparse_rows(d, 1), set_operation=operation)


spec("DenseToSparseSetOperation", dense_sparse_sets, types=SETS, mutate=("dtype",))
spec("SparseToSparseSetOperation", sparse_sparse_sets, types=SETS, mutate=("dtype",))
spec("SetSize", lambda d: sparse_rows(d, 1), types=SETS, mutate=("dtype",))
