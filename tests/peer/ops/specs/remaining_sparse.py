"""Sparse tensors, counts, ragged rows, strings, references."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tests.peer.ops.draw import K
from tests.peer.ops.program import Program
from tests.peer.ops.spec import call, spec

if TYPE_CHECKING:
    from tests.peer.ops.draw import Draw


def _text(value: bytes | str) -> Any:
    return np.array(value.encode() if isinstance(value, str) else value, object)


# --- sparse ------------------------------------------------------------------------

_AT = np.array([[0, 1], [1, 0], [1, 2]], np.int64)
_SIZES = np.array([3, 4], np.int64)


def _kept_rows(d: Draw) -> Program:
    p = Program(differentiate=False)
    name = f"{d.op}{d.cell}{d.example}"
    handles = p.op(
        "AddManySparseToTensorsMap", _AT, d.array((3,)), _SIZES, shared_name=name
    )
    p.run(
        p.op("TakeManySparseFromTensorsMap", handles, dtype=d.dtype, shared_name=name)
    )
    return p


def _kept(d: Draw) -> Program:
    p = Program(differentiate=False)
    name = f"{d.op}{d.cell}{d.example}"
    handle = p.op("AddSparseToTensorsMap", _AT, d.array((3,)), _SIZES, shared_name=name)
    rows = p.op("ExpandDims", handle, p.const(0, "int32"))
    p.run(p.op("TakeManySparseFromTensorsMap", rows, dtype=d.dtype, shared_name=name))
    return p


_KEPT = ["float32", "int64", "string", "bool"]
spec(
    "AddManySparseToTensorsMap TakeManySparseFromTensorsMap",
    _kept_rows,
    types=_KEPT,
    mutate=(),
)
spec("AddSparseToTensorsMap", _kept, types=_KEPT, mutate=())
spec(
    "SparseAddGrad",
    lambda d: (
        d.array((4,)),
        _AT,
        np.array([[0, 1], [2, 2]], np.int64),
        np.array([[0, 1], [1, 0], [1, 2], [2, 2]], np.int64),
    ),
    gradient=False,
    mutate=("dtype",),
)
spec(
    "SparseDenseCwiseDiv",
    lambda d: (_AT, d.array((3,)), _SIZES, d.array((1, 4), low=1, high=5)),
    mutate=("dtype",),
)
spec(
    "SparseSliceGrad",
    lambda d: (
        d.array((2,)),
        _AT,
        np.array([1, 0], np.int64),
        np.array([[0, 0], [0, 2]], np.int64),
    ),
    gradient=False,
    mutate=("dtype",),
)


def _cross_parts(d: Draw) -> list[Any]:
    words = np.array([b"a", b"b", b"c"], object)
    numbers = np.array([4, 5, 6], np.int64)
    dense = np.array([[7], [8], [9]], np.int64)
    return [[_AT, _AT], [words, numbers], [_SIZES, _SIZES], [dense]]


def _cross(d: Draw) -> Any:
    # Not hashed, TensorFlow's kernel crashes on numbers beside strings.
    return call(
        *_cross_parts(d),
        hashed_output=True,
        num_buckets=d.choice((0, 100)),
        hash_key=956888297470,
        out_type="int64",
        internal_type="string",
    )


spec("SparseCross", _cross, types=(), mutate=("dtype",))
spec(
    "SparseCrossV2", lambda d: call(*_cross_parts(d), _text("_X_")), types=(), mutate=()
)


def _segments(d: Draw) -> Any:
    ids = [np.array([0, 2, 1], np.int32), np.array([0, 0, 1], np.int32), np.int32(3)]
    return d.array((2, 3)), *ids


spec("SparseSegmentSumGrad", _segments, gradient=False, mutate=("dtype",))
spec(
    "SparseSegmentSumGradV2 SparseSegmentMeanGradV2 SparseSegmentSqrtNGradV2",
    _segments,
    gradient=False,
    mutate=("dtype",),
)

# --- counts ------------------------------------------------------------------------

_COUNTED = ["int32", "int64"]


def _dense_counts(d: Draw) -> Any:
    values = d.array((2, 4), low=0, high=5)
    weights = (
        d.array((2, 4), dtype="float32") if d.maybe() else np.array([], np.float32)
    )
    return call(
        values,
        weights,
        binary_output=not weights.size and d.maybe(),
        maxlength=d.choice((-1, 4)),
    )


def _sparse_counts(d: Draw) -> Any:
    return call(
        _AT,
        d.array((3,), low=0, high=5),
        _SIZES,
        np.array([], np.int64),
        binary_output=d.maybe(),
    )


def _ragged_counts(d: Draw) -> Any:
    return call(
        np.array([0, 1, 1, 3], np.int64),
        d.array((3,), low=0, high=5),
        np.array([], np.int64),
        binary_output=False,
    )


spec(
    "DenseCountSparseOutput",
    _dense_counts,
    types=_COUNTED,
    gradient=False,
    mutate=("dtype",),
)
spec(
    "SparseCountSparseOutput",
    _sparse_counts,
    types=_COUNTED,
    gradient=False,
    mutate=("dtype",),
)
spec(
    "RaggedCountSparseOutput",
    _ragged_counts,
    types=_COUNTED,
    gradient=False,
    mutate=("dtype",),
)


def _bincount(d: Draw) -> Any:
    values, size = d.array((3,), low=0, high=5), K(6, d.dtype)
    weights = np.array([], np.float32)
    binary = d.maybe()
    if d.op == "RaggedBincount":
        return call(
            np.array([0, 1, 3], np.int64), values, size, weights, binary_output=binary
        )
    return call(_AT, values, _SIZES, size, weights, binary_output=binary)


spec(
    "RaggedBincount SparseBincount",
    _bincount,
    attr="Tidx",
    types=_COUNTED,
    gradient=False,
    mutate=("dtype",),
)


def _ragged_rows(d: Draw) -> Any:
    return np.array([0, 0, 2], np.int64), d.array((3,)), np.int64(4), d.array(())


spec("RaggedFillEmptyRows", _ragged_rows, gradient=False, mutate=("dtype",))
spec(
    "RaggedFillEmptyRowsGrad",
    lambda d: (np.array([1, 0], np.int64), d.array((4,))),
    gradient=False,
    mutate=("dtype",),
)


def _ragged_variant(d: Draw) -> Program:
    p = Program(differentiate=False)
    splits = [p.const([0, 1, 1, 3], "int32")]
    made = p.op(
        "RaggedTensorToVariant",
        splits,
        p.feed(d.array((3,))),
        batched_input=False,
        Tsplits="int32",
    )
    p.run(
        p.op(
            "RaggedTensorFromVariant",
            made,
            input_ragged_rank=1,
            output_ragged_rank=1,
            Tvalues=d.dtype,
            Tsplits="int32",
        )
    )
    return p


spec(
    "RaggedTensorToVariant RaggedTensorFromVariant",
    _ragged_variant,
    attr="Tvalues",
    types=["float32", "int64", "string", "bool"],
    mutate=(),
)

# --- strings -----------------------------------------------------------------------

spec(
    "DecodeBase64",
    lambda d: (np.array([b"aGVsbG8", b"", b"-_-_"], object),),
    types=(),
    mutate=("dtype",),
    bad=(
        lambda d: (np.array([b"a"], object),),
        lambda d: (np.array([b"****"], object),),
    ),
)
spec(
    "RegexFullMatch",
    lambda d: (
        np.array([b"abc", b"", b"ab"], object),
        _text(d.choice(("a.c", "", "[a-c]+", "x|ab"))),
    ),
    types=(),
    mutate=("dtype",),
    bad=(lambda d: (np.array([b"a"], object), _text("(")),),
)
spec(
    "StringFormat",
    lambda d: call(
        [d.array((2, 3), dtype="float32"), np.int32(7), np.array([b"a"], object)],
        template="a %s b %s c %s",
        summarize=d.choice((-1, 1, 3)),
    ),
    types=(),
    mutate=("dtype",),
)

# --- references --------------------------------------------------------------------


def _reference(d: Draw) -> Program:
    from tests.peer.ops.specs.state import ref_variable

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


spec(
    "RefSwitch RefSelect RefMerge RefIdentity DebugGradientRefIdentity",
    _reference,
    types=["float32", "int32", "complex64"],
    mutate=(),
)


def _in_frame(d: Draw) -> Program:
    from tests.peer.ops.specs.state import ref_variable

    p = Program(differentiate=False)
    a, init = ref_variable(p, d.array((2,)))
    entered = p.op("RefEnter", a, frame_name=f"{d.op}{d.cell}{d.example}")
    p.run(init)
    p.run(p.op("Identity", p.op("RefExit", entered)))
    return p


spec("RefEnter RefExit", _in_frame, types=["float32", "int32"], mutate=())
