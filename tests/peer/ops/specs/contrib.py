"""Ops of tf.contrib, which TensorFlow 1.15 was the last to have."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tests.peer.ops.draw import K
from tests.peer.ops.program import Program
from tests.peer.ops.spec import Tolerance, call, spec

if TYPE_CHECKING:
    from tests.peer.ops.draw import Draw


def _spec(ops: str, make: Any, **options: Any) -> None:
    spec(ops, make, **{"mutate": (), "gradient": False, **options})


def _scalar(value: Any, dtype: Any = np.int32) -> Any:
    return np.array(value, dtype)


# --- images ------------------------------------------------------------------------


def _points(d: Draw) -> tuple[Any, Any]:
    batch, height, width = (d.integer(1, 3), d.integer(1, 5), d.integer(1, 5))
    images = d.array((batch, height, width, d.integer(1, 3)), low=-3, high=3)
    shape = (batch, *d.shape(0, 2, 3, empty=0), 2)
    # Away from whole numbers, where a gradient jumps.
    places = np.round(d.rng.uniform(-2, 6, shape) * 4) / 4 + 0.125
    return images, places.astype(images.dtype)


def _resampled(d: Draw) -> Any:
    return _points(d)


def _resampled_grad(d: Draw) -> Any:
    images, places = _points(d)
    return images, places, d.array((*places.shape[:-1], images.shape[-1]))


_RESAMPLED = Tolerance(2e-2, 2e-2, "16-bit sums that TensorFlow rounds at each step")
_spec(
    "Resampler",
    _resampled,
    types=["float32", "float64"],
    gradient=True,
    mutate=("rank", "dtype"),
    bad=(
        lambda d: (d.array((2, 3, 3, 1)), d.array((1, 4, 2))),
        lambda d: (d.array((2, 3, 3, 1)), d.array((2, 4, 3))),
        lambda d: (d.array((2, 3, 3, 1)), d.array((2,))),
        lambda d: (d.array((3, 3, 1)), d.array((3, 2))),
    ),
)
_spec(
    "ResamplerGrad",
    _resampled_grad,
    types=["float16", "float32", "float64"],
    tolerance=_RESAMPLED,
    mutate=("dtype",),
    bad=(lambda d: (d.array((2, 3, 3, 1)), d.array((2, 4, 2)), d.array((2, 3, 1))),),
)


def _projected(d: Draw) -> Any:
    row = [1.1, 0.1, 0.2, -0.1, 0.9, 0.3, 0.01, 0.02]
    rows = np.array([row] * d.integer(1, 2), np.float32)
    return call(
        d.array((2, 5, 6, 2)), rows, interpolation=d.choice(("NEAREST", "BILINEAR"))
    )


_spec(
    "ImageProjectiveTransform",
    _projected,
    tolerance=Tolerance(1e-4, 1e-5, "interpolation"),
    mutate=("rank", "dtype"),
)
_spec(
    "BipartiteMatch",
    lambda d: call(
        d.array((d.integer(1, 6), d.integer(1, 6)), "float32", low=0, high=4).round(),
        np.float32(d.choice((-1, 0, 1))),
        top_k=d.choice((-1, 2)),
    ),
    types=(),
    examples=8,
    mutate=("rank", "dtype"),
    bad=(
        lambda d: (np.zeros((2, 2), np.float32), np.float32(3)),
        lambda d: (np.zeros((2, 2), np.float32), np.ones(2, np.float32)),
        lambda d: (np.zeros(2, np.float32), np.float32(1)),
    ),
)


def _areas(d: Draw) -> Any:
    picked = d.rng.integers(0, 3, (d.integer(1, 2), d.integer(1, 9), d.integer(1, 9)))
    if d.dtype.name == "string":
        return (np.array([b"", b"a", b"b"], object)[picked],)
    return (picked.astype(d.dtype.as_numpy_dtype),)


_spec("ImageConnectedComponents", _areas, mutate=("rank", "dtype", "empty"))
_spec(
    "AdjustHsvInYiq",
    lambda d: (
        d.array((2, 3, 3), low=0, high=1),
        _scalar(d.rng.uniform(-4, 4), np.float32),
        _scalar(d.rng.uniform(0, 2), np.float32),
        _scalar(d.rng.uniform(0, 2), np.float32),
    ),
    types=["float32"],
    mutate=("rank", "dtype"),
    bad=(lambda d: (d.array((2, 3, 4)), *[np.float32(1)] * 3),),
)

# --- text and features -------------------------------------------------------------


def _skips(d: Draw, low: int = -1, high: int = -1, start: int = 0) -> Any:
    least = d.integer(0, 2) if low == -1 else low
    count = d.integer(1, 20)
    tokens = d.array((count,))
    return call(
        tokens,
        _scalar(least),
        _scalar(least + d.choice((0, 1, 3, 6)) if high == -1 else high),
        _scalar(start),
        _scalar(d.choice((-1, count // 2, count + 5))),
        _scalar(d.maybe(), bool),
        seed=d.integer(1, 1000),
        seed2=d.integer(1, 1000),
    )


_spec(
    "SkipGramGenerateCandidates",
    _skips,
    types=["string", "int64", "int32", "int16"],
    bad=(lambda d: _skips(d, low=-3, high=2), lambda d: _skips(d, low=3, high=2)),
)


def _feature_cross(d: Draw) -> Any:
    at = np.array([[0, 0], [0, 1], [1, 0]], np.int64)
    sizes = np.array([2, 3], np.int64)
    words = np.array([b"a", b"bc", b""], object)
    numbers, dense = np.array([4, -5, 6], np.int64), np.array([[7], [8]], np.int64)
    hashed = d.maybe()
    if not hashed:  # TensorFlow's kernel crashes on numbers beside strings
        numbers, dense = words, np.array([[b"x", b"y"], [b"z", b""]], object)
    return call(
        [at, at],
        [words, numbers],
        [sizes, sizes],
        [dense],
        hashed_output=hashed,
        num_buckets=d.choice((0, 100)),
        **({"hash_key": 956888297470} if d.op == "SparseFeatureCrossV2" else {}),
        out_type="int64" if hashed else "string",
        internal_type="string",
    )


_spec("SparseFeatureCross SparseFeatureCrossV2", _feature_cross, types=(), examples=6)
_spec(
    "BucketizeWithInputBoundaries",
    lambda d: (
        d.array(low=-5, high=9),
        np.sort(d.array((d.integer(0, 4),), "float32", low=-4, high=8)),
    ),
    mutate=("dtype",),
    bad=(lambda d: (d.array((3,)), np.array([2, 1], np.float32)),),
)


def _lines(*lines: bytes) -> Any:
    return lambda d: call(np.array(lines, object), num_features=6)


def _libsvm(d: Draw) -> Any:
    floating = d.dtype.name.startswith("float")
    lines = [b"1 0:3 2:5", b" -1  5:2\t3:7\n", b"7"]
    if floating:
        lines += [b"2 0:0x10 1:1e3", b"3 4:-1.5 1:inf"]
    return call(
        np.array(lines, object),
        num_features=6,
        label_dtype=d.choice(("int64", "int32", "float32")),
    )


_spec(
    "DecodeLibsvm",
    _libsvm,
    attr="dtype",
    mutate=("dtype",),
    bad=tuple(
        _lines(line)
        for line in (
            *(b"", b"x 0:1", b"1 0:x", b"1 0", b"1 -1:2", b"1 :1", b"1 0:", b"1 0:1:2"),
            *(b"+1 0:1", b"1 +1:1", b"1 1.0:1", b"1.5 0:1", b"1 0:1.5.2"),
            *(b"99999999999999999999 0:1", b"1 99999999999999999999:1", b"1 0x1:1"),
        )
    ),
)

# --- reductions and matrices -------------------------------------------------------


def _slices(d: Draw) -> Any:
    data = d.array((d.integer(1, 5), d.integer(1, 5)), low=0, high=3)
    kind = d.choice(("int32", "int64"))
    if d.maybe():
        indices = np.sort(d.rng.integers(0, 6, d.integer(0, 4))).astype(kind)
    else:
        indices = d.rng.integers(0, 7, (d.integer(1, 3), 2)).astype(kind)
    return call(data, indices, K(0 if indices.ndim == 1 else d.integer(0, 1), "int64"))


_spec(
    "ReduceSliceSum ReduceSliceProd ReduceSliceMax ReduceSliceMin",
    _slices,
    types=["float16", "float32", "float64", "int32", "int64", "uint8", "int8"],
    known={"shapes": "TensorFlow tells the shape of the indices, and computes another"},
)


def _masked(d: Draw) -> Any:
    rows, inner, columns = (d.integer(1, 5) for _ in range(3))
    flip_a, flip_b = d.maybe(), d.maybe()
    a, b = d.array((rows, inner), "float32"), d.array((inner, columns), "float32")
    count = d.integer(0, 6)
    places = [d.rng.integers(0, size, count) for size in (rows, columns)]
    return (
        np.ascontiguousarray(a.T) if flip_a else a,
        np.ascontiguousarray(b.T) if flip_b else b,
        np.stack(places, 1).astype(np.int64),
        _scalar(flip_a, bool),
        _scalar(flip_b, bool),
    )


_M = np.ones((2, 3), np.float32)
_spec(
    "MaskedMatmul",
    _masked,
    types=(),
    bad=(
        lambda d: (
            _M,
            _M,
            np.zeros((1, 2), np.int64),
            _scalar(0, bool),
            _scalar(0, bool),
        ),
        lambda d: (
            _M,
            _M,
            np.zeros((1, 3), np.int64),
            _scalar(0, bool),
            _scalar(1, bool),
        ),
        lambda d: (
            _M[0],
            _M,
            np.zeros((1, 2), np.int64),
            _scalar(0, bool),
            _scalar(1, bool),
        ),
    ),
)


def _least_squares(d: Draw, drop: str = "") -> Any:
    rows, columns, depth, count = (d.integer(1, 4) for _ in range(4))
    flip = d.maybe()
    places = [d.rng.integers(0, size, count) for size in (rows, columns)]
    nothing = np.zeros(0, np.float32)
    by_entry = d.maybe()
    weights = [nothing, nothing, d.array((count,), "float32", low=0, high=2)]
    if not by_entry:
        weights = [d.array((n,), "float32", low=0, high=2) for n in (columns, rows)]
        weights.append(nothing)
    if drop == "weights":
        weights = [nothing] * 3
    return (
        d.array((columns, depth), "float32"),
        weights[0],
        _scalar(0.5, np.float32),
        weights[1],
        np.stack(places[::-1] if flip else places, 1).astype(np.int64),
        d.array((count - (drop == "values"),), "float32"),
        weights[2],
        _scalar(rows + d.integer(0, 1), np.int64),
        _scalar(flip, bool),
    )


_spec(
    "WALSComputePartialLhsAndRhs",
    _least_squares,
    types=(),
    examples=6,
    tolerance=Tolerance(1e-4, 1e-5, "another order of sums"),
    bad=(
        lambda d: _least_squares(d, "weights"),
        lambda d: _least_squares(d, "values"),
    ),
)


def _periods(d: Draw) -> tuple[Any, list[int]]:
    others = [d.integer(1, 3) for _ in range(d.integer(0, 2))]
    grown = [size * d.integer(1, 3) for size in others]
    at = d.integer(0, len(others))
    shape = [*others[:at], d.integer(9, 12), *others[at:]]
    return d.array(shape), [*grown[:at], -1, *grown[at:]]


def _resample(d: Draw) -> Any:
    values, shape = _periods(d)
    return call(values, shape=shape)


_PERIODIC = ["float32", "float64", "int32", "int64"]
_spec(
    "PeriodicResample",
    _resample,
    types=_PERIODIC,
    examples=6,
    mutate=("dtype",),
    bad=(
        lambda d: call(d.array((4, 4)), shape=[-1, 2]),
        lambda d: call(d.array((4, 4)), shape=[-1, -1]),
        lambda d: call(d.array((4, 4)), shape=[4, 4]),
        lambda d: call(d.array((4, 4)), shape=[-1, 2, 2]),
        lambda d: call(d.array((4, 4)), shape=[17, -1]),
    ),
)


def _periodic_grad(d: Draw) -> Any:
    return call(d.array((2, 8)), original_shape=[4, 4], desired_shape=[-1, 8])


_spec("PeriodicResampleOpGrad", _periodic_grad, types=_PERIODIC)

# --- state, sound, video -----------------------------------------------------------


def _zeros_for(d: Draw) -> Program:
    p = Program(differentiate=False)
    if d.op == "ZeroInitializer":
        held = p.op("VariableV2", shape=[2, 3], dtype=d.dtype)
        p.run(p.op("Identity", p.op(d.op, held)))
        p.run(p.op("Identity", held))
        return p
    name = f"{d.op}{d.cell}{d.example}"
    handle = p.op("VarHandleOp", dtype=d.dtype, shape=[2], shared_name=name)
    made = p.op(d.op, handle, dtype=d.dtype, shape=[2])
    p.run(p.op("ReadVariableOp", made, dtype=d.dtype))
    p.run(p.op("ReadVariableOp", handle, dtype=d.dtype))
    p.run(p.op("DestroyResourceOp", handle))  # other variants have one of that name
    return p


def _twice(d: Draw) -> Program:
    p = _zeros_for(d)
    p.steps.insert(1, p.steps[0])
    return p


_ZEROED = ["float16", "float32", "float64", "int32", "int64", "uint8", "int8", "int16"]
_spec("ZeroInitializer", _zeros_for, types=_ZEROED, bad=(_twice,))
_spec("ZeroVarInitializer", _zeros_for, attr="dtype", types=_ZEROED, bad=(_twice,))
_spec("BytesLimit", lambda d: (), types=())


def _written(d: Draw, rate: int = 8000, kind: str = "wav") -> Any:
    sound = d.array((d.integer(0, 5), d.integer(1, 3)), "float32", low=-2, high=2)
    if d.op == "EncodeAudio":
        return call(sound, file_format=kind, samples_per_second=rate)
    text = np.array(kind.encode(), object)
    return (sound, text, _scalar(rate), _scalar(192000))


_spec(
    "EncodeAudio EncodeAudioV2",
    _written,
    types=(),
    mutate=("rank", "dtype"),
    bad=(lambda d: _written(d, rate=-1), lambda d: _written(d, kind="mp3")),
)
