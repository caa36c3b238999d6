"""Earlier tensor arrays and tables, recurrent blocks, random numbers by keys."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tests.peer.ops.draw import K
from tests.peer.ops.program import Program
from tests.peer.ops.spec import Tolerance, call, spec

if TYPE_CHECKING:
    from tests.peer.ops.draw import Draw

_SUMS = Tolerance(1e-4, 1e-5, "sums of products in another order", widened=8)


def _text(value: bytes | str) -> Any:
    return np.array(value.encode() if isinstance(value, str) else value, object)


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

# --- tables of the first version -----------------------------------------------


def _table(d: Draw) -> Program:
    p = Program(differentiate=False)
    made = p.op("HashTable", key_dtype="string", value_dtype="int64")
    if d.op == "InitializeTableFromTextFile":
        path = Path(tempfile.gettempdir()) / "tensorloom_op_specs_table.txt"
        path.write_bytes(b"a\nb\nc\n")
        init = p.op(d.op, made, p.const(_text(str(path))), key_index=-2, value_index=-1)
    else:
        init = p.op(
            "InitializeTable",
            made,
            p.const([b"a", b"b", b"c"]),
            p.const([1, 2, 3], "int64"),
        )
    find = p.op(
        "LookupTableFind", made, p.feed([b"c", b"nothing", b"a"]), p.const(-1, "int64")
    )
    p.run(find)
    p.run(init)
    p.run(find, p.op("LookupTableSize", made))
    return p


def _mutable_table(d: Draw) -> Program:
    p = Program(differentiate=False)
    made = p.op("MutableHashTable", key_dtype="int64", value_dtype="float32")
    p.run(
        p.op(
            "LookupTableInsert",
            made,
            np.array([5, 7], np.int64),
            np.array([0.5, 0.7], np.float32),
        )
    )
    find = p.op(
        "LookupTableFind", made, np.array([[5, 1], [9, 7]], np.int64), p.const(-1.0)
    )
    size = p.op("LookupTableSize", made)
    p.run(find, size)
    p.run(
        p.op(
            "LookupTableImport",
            made,
            np.array([1], np.int64),
            np.array([0.1], np.float32),
        )
    )
    p.run(find, size)
    p.run(p.op("LookupTableExport", made, Tkeys="int64", Tvalues="float32"))
    return p


def _table_of_vectors(d: Draw) -> Program:
    p = Program(differentiate=False)
    made = p.op(d.op, key_dtype="int64", value_dtype="float32", value_shape=(2,))
    p.run(
        p.op(
            "LookupTableInsert",
            made,
            np.array([5, 7], np.int64),
            d.array((2, 2), dtype="float32"),
        )
    )
    p.run(
        p.op("LookupTableFind", made, np.array([7, 1], np.int64), p.const([9.0, 9.0]))
    )
    p.run(p.op("LookupTableSize", made))
    return p


spec(
    "HashTable InitializeTable InitializeTableFromTextFile", _table, types=(), mutate=()
)
spec(
    "MutableHashTable LookupTableInsert LookupTableFind LookupTableSize"
    " LookupTableImport LookupTableExport",
    _mutable_table,
    types=(),
    mutate=(),
)
spec("MutableHashTableOfTensors", _table_of_vectors, types=(), mutate=())

# --- recurrent blocks ------------------------------------------------------------


def _cell_inputs(d: Draw, steps: tuple[int, ...]) -> list[Any]:
    batch, width, units = 2, 3, 2

    def some(*shape: int) -> Any:
        return d.array(shape, low=-1, high=1)

    return [
        some(*steps, batch, width),
        some(batch, units),
        some(batch, units),
        some(width + units, 4 * units),
        *(some(units) for _ in range(3)),
        some(4 * units),
    ]


def _block(d: Draw) -> Any:
    attrs: dict[str, Any] = {
        "use_peephole": d.maybe(),
        "cell_clip": d.choice((-1.0, 0.5)),
    }
    if not d.op.endswith("V2"):
        attrs["forget_bias"] = 1.0
    if d.op == "LSTMBlockCell":
        return call(*_cell_inputs(d, ()), **attrs)
    # What lies beyond a shorter sequence is memory that TensorFlow does not set.
    return call(K(3, "int64"), *_cell_inputs(d, (3,)), **attrs)


def _block_gradient(d: Draw) -> Program:
    p = Program(differentiate=False)
    forward = d.op.replace("Grad", "")
    peephole = d.maybe()
    steps = () if forward == "LSTMBlockCell" else (3,)
    given: list[Any] = [p.feed(one) for one in _cell_inputs(d, steps)]
    if steps:
        given.insert(0, p.const(3, "int64"))
    made = p.op(forward, *given, use_peephole=peephole, cell_clip=-1.0)
    outputs = list(made.outputs) if steps else list(made.outputs)[:6]
    back = [p.feed(d.array((*steps, 2, 2), low=-1, high=1)) for _ in range(2)]
    p.run(p.op(d.op, *given, *outputs, *back, use_peephole=peephole))
    return p


def _gru_gradient(d: Draw) -> Program:
    p = Program(differentiate=False)
    shapes = [(2, 3), (2, 2), (5, 4), (5, 2), (4,), (2,)]
    given = [p.feed(d.array(shape, low=-1, high=1)) for shape in shapes]
    made = p.op("GRUBlockCell", *given)
    back = p.feed(d.array((2, 2), low=-1, high=1))
    p.run(p.op(d.op, *given, *list(made.outputs)[:3], back))
    return p


spec(
    "BlockLSTM BlockLSTMV2 LSTMBlockCell",
    _block,
    tolerance=_SUMS,
    gradient=False,
    mutate=("dtype",),
)
spec(
    "BlockLSTMGrad BlockLSTMGradV2 LSTMBlockCellGrad",
    _block_gradient,
    tolerance=_SUMS,
    mutate=(),
)
spec("GRUBlockCellGrad", _gru_gradient, tolerance=_SUMS, mutate=())

# --- CTC -----------------------------------------------------------------------


def _beam_search(d: Draw) -> Any:
    inputs = d.array((4, 2, 3), distinct=True)
    return call(
        inputs,
        np.array([4, 3], np.int32),
        beam_width=d.integer(4, 8),
        top_paths=2,
        merge_repeated=d.maybe(),
    )


spec(
    "CTCBeamSearchDecoder",
    _beam_search,
    gradient=False,
    tolerance=_SUMS,
    mutate=("rank", "dtype"),
)

# --- stateless random numbers of the second version ------------------------------


def _keyed(d: Draw) -> Any:
    key, counter = (
        np.array([d.integer(0, 2**40)], np.uint64),
        np.array([d.integer(0, 99), 7], np.uint64),
    )
    more = (
        [d.array((), low=-3, high=0), d.array((), low=5, high=99)]
        if d.op.endswith("UniformIntV2")
        else []
    )
    return call(K([3, 5], "int32"), key, counter, np.int32(1), *more)


spec(
    "StatelessRandomNormalV2 StatelessRandomUniformV2 StatelessTruncatedNormalV2"
    " StatelessRandomUniformFullIntV2"
    " StatelessRandomUniformIntV2",
    _keyed,
    attr="dtype",
    gradient=False,
    mutate=("dtype",),
)
spec(
    "StatelessRandomUniformFullInt",
    lambda d: (K([3, 5], "int32"), np.array([d.integer(0, 99), 3], np.int64)),
    attr="dtype",
    gradient=False,
    mutate=("dtype",),
)
spec("StatelessRandomGetAlg", lambda d: call(), types=(), mutate=())
spec(
    "StatelessRandomPoisson",
    lambda d: (
        K([3, 4], "int32"),
        np.array([5, 3], np.int64),
        d.array((4,), low=1, high=20),
    ),
    attr="dtype",
    types=["float32", "float64"],
    gradient=False,
    mutate=("dtype",),
)
spec(
    "NonDeterministicInts",
    lambda d: (K([3, 5], "int64"),),
    attr="dtype",
    types=["int32", "int64", "uint32", "uint64"],
    canonical=lambda arrays: [np.array(a.shape) for a in arrays],
    gradient=False,
    mutate=("dtype",),
)

# --- optimizers --------------------------------------------------------------------


def _adagrad_da(d: Draw) -> Any:
    from tests.peer.ops.specs.state import updated

    sparse = "Sparse" in d.op
    values = [d.array((3, 2), low=0.5, high=2) for _ in range(3)]
    grad = d.array((2, 2) if sparse else (3, 2))
    rest = [d.array((), low=0.05, high=0.5) for _ in range(3)]
    ids = [np.array([2, 0], np.int32)] if sparse else []
    return updated(d, values, [grad, *ids, *rest, np.int64(d.integer(1, 3))])


def _amsgrad(d: Draw) -> Any:
    from tests.peer.ops.specs.state import updated

    values = [d.array((3, 2), low=0.5, high=2) for _ in range(4)]
    return updated(
        d,
        values,
        [d.array((), low=0.05, high=0.9) for _ in range(6)] + [d.array((3, 2))],
    )


spec(
    "ApplyAdagradDA ResourceApplyAdagradDA SparseApplyAdagradDA"
    " ResourceSparseApplyAdagradDA",
    _adagrad_da,
    types=["float16", "float32", "float64"],
    gradient=False,
    tolerance=_SUMS,
    mutate=("dtype",),
)
spec(
    "ResourceApplyAdamWithAmsgrad",
    _amsgrad,
    types=["float16", "float32", "float64"],
    gradient=False,
    tolerance=_SUMS,
    mutate=("dtype",),
)
