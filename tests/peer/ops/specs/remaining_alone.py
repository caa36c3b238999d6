"""Quantization, arrays and functions that stand alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tests.peer.ops.draw import K
from tests.peer.ops.program import Program
from tests.peer.ops.spec import Tolerance, call, spec

if TYPE_CHECKING:
    from tests.peer.ops.draw import Draw

_PRODUCTS = Tolerance(1e-4, 1e-5, reason="sums of products in another order")

_SCALES = ((-2.0, 3.0), (0.0, 1.0), (-1.0, 0.5), (-4.0, 4.0))


def _text(value: bytes | str) -> Any:
    return np.array(value.encode() if isinstance(value, str) else value, object)


# --- quantization ------------------------------------------------------------


def _dequantize(d: Draw) -> Any:
    low, high = d.choice(_SCALES)
    mode = d.choice(("MIN_COMBINED", "MIN_FIRST", "SCALED"))
    values = d.array(d.shape(0, 3), low=-128, high=255 if "u" in d.dtype.name else 127)
    return call(values, np.float32(low), np.float32(high), mode=mode)


spec("Dequantize", _dequantize, gradient=False, mutate=("dtype", "rank"))


def _fake_gradient(d: Draw) -> Any:
    shape = d.shape(1, 3)
    x, g = d.array(shape, dtype="float32"), d.array(shape, dtype="float32")
    attrs = {"num_bits": d.integer(2, 8), "narrow_range": d.maybe(0.5)}
    if "Args" in d.op:
        low, high = d.choice(_SCALES)
        return call(g, x, min=low, max=high, **attrs)
    if "Channel" in d.op:
        low = d.array(shape[-1:], dtype="float32", low=-3, high=-0.5)
        high = d.array(shape[-1:], dtype="float32", low=0.5, high=3)
        return call(g, x, low, high, **attrs)
    low, high = d.choice(_SCALES)
    return call(g, x, np.float32(low), np.float32(high), **attrs)


spec(
    "FakeQuantWithMinMaxVarsGradient FakeQuantWithMinMaxArgsGradient"
    " FakeQuantWithMinMaxVarsPerChannelGradient",
    _fake_gradient,
    types=(),
    tolerance=_PRODUCTS,
    mutate=("dtype",),
)


def _round_trip(d: Draw) -> Any:
    x = d.array(d.shape(1, 3), low=-3.0, high=3.0)
    low, high = d.array((), low=-2.0, high=-1.0), d.array((), low=1.0, high=2.0)
    attrs: dict[str, Any] = {"signed_input": d.maybe(0.5), "range_given": d.maybe(0.5)}
    bits = d.integer(3, 9)
    if d.op.endswith("V3"):
        return call(x, low, high, K(bits, "int32"), **attrs)
    return call(x, low, high, num_bits=bits, **attrs)


def _round_trip_gradient(d: Draw) -> Any:
    shape = d.shape(1, 3)
    return call(
        d.array(shape),
        d.array(shape),
        d.array((), low=-2, high=-1),
        d.array((), low=1, high=2),
    )


spec(
    "QuantizeAndDequantizeV3",
    _round_trip,
    types=["float32", "float64"],
    mutate=("dtype",),
)
spec(
    "QuantizeAndDequantizeV4",
    _round_trip,
    types=["float32", "float64"],
    mutate=("dtype",),
)
spec(
    "QuantizeAndDequantizeV4Grad",
    _round_trip_gradient,
    types=["float32", "float64"],
    gradient=False,
    mutate=("dtype",),
)
spec(
    "QuantizeAndDequantize",
    lambda d: call(
        d.array(d.shape(1, 3), low=-3.0, high=3.0),
        range_given=d.maybe(0.5),
        input_min=-2.0,
        input_max=2.0,
    ),
    types=["float32", "float64"],
    gradient=False,
    producer=21,
    mutate=("dtype",),
)


# --- arrays ------------------------------------------------------------------


def _fill_gradient(d: Draw) -> Any:
    return call(np.array([1, 0, 3], np.int64), d.array((5,)))


spec("SparseFillEmptyRowsGrad", _fill_gradient, gradient=False, mutate=("dtype",))


def _in_place(d: Draw) -> Any:
    x = d.array((4, 2))
    ids = np.array([2, 0], np.int32)
    return call(x, ids, d.array((2, 2)))


spec(
    "InplaceAdd InplaceSub InplaceUpdate",
    _in_place,
    gradient=False,
    mutate=("rank", "dtype"),
)
spec(
    "Fingerprint",
    lambda d: (d.array((3, 2)), _text("farmhash64")),
    types=["float32", "int64", "uint8", "string"],
    mutate=("dtype",),
    bad=(
        lambda d: (d.array((3, 2)), _text("md5")),
        lambda d: (d.array(()), _text("farmhash64")),
    ),
)
spec("DebugGradientIdentity", lambda d: (d.array(),), gradient=False)
spec(
    "TensorStridedSliceUpdate",
    lambda d: (
        d.array((4, 3)),
        *(K(v, "int32") for v in ([1, 0], [3, 3], [1, 2])),
        d.array((2, 2)),
    ),
    gradient=False,
    types=["float32", "int32", "bool", "string", "complex64"],
    mutate=("dtype",),
)


_PRODUCERS = {"Placeholder": 134, "PlaceholderV2": 22}


def _placeholder(d: Draw) -> Program:
    p = Program(_PRODUCERS[d.op], differentiate=False)
    made = p.op(d.op, dtype=d.dtype, shape=None if d.op == "Placeholder" else (2,))
    given = p.feed(d.array((2,)))
    p.run(p.op("Identity", given))
    del made
    return p


def _placeholder_unfed(d: Draw) -> Program:
    p = Program(_PRODUCERS[d.op], differentiate=False)
    p.run(p.op("Identity", p.op(d.op, dtype=d.dtype, shape=(2,))))
    return p


spec(
    "Placeholder PlaceholderV2",
    _placeholder,
    attr="dtype",
    bad=(_placeholder_unfed,),
    mutate=(),
    without=["qint8", "quint8", "qint32"],
)

# --- functions ---------------------------------------------------------------


def _symbolic(d: Draw) -> Program:
    p = Program(differentiate=False)
    body = p.function(
        [d.dtype, d.dtype], lambda f, x, y: [f.op("Mul", f.op("Mul", x, x), y)]
    )
    given = [p.feed(d.array((2,))) for _ in range(3)]
    p.run(p.op("SymbolicGradient", given, Tout=[d.dtype, d.dtype], f=body))
    return p


spec(
    "SymbolicGradient", _symbolic, types=["float32", "float64", "complex64"], mutate=()
)


def _remote(d: Draw) -> Program:
    p = Program(differentiate=False)
    body = p.function([d.dtype], lambda f, x: [f.op("AddV2", x, x)], name="double")
    target = p.const(_text("/job:localhost/replica:0/task:0/device:CPU:0"))
    p.run(p.op("RemoteCall", target, [p.feed(d.array((2,)))], Tout=[d.dtype], f=body))
    return p


spec("RemoteCall", _remote, types=["float32", "int32"], mutate=())


def _for(d: Draw) -> Program:
    p = Program(differentiate=False)
    body = p.function(
        ["int32", d.dtype], lambda f, i, x: [f.op("AddV2", x, x)], name="for_body"
    )
    bounds = [p.feed(np.int32(n)) for n in (0, d.integer(0, 6), d.choice((1, 2)))]
    p.run(p.op("For", *bounds, [p.feed(d.array((2,)))], body=body))
    return p


spec("For", _for, types=["float32", "int32"], mutate=())
spec(
    "Timestamp",
    lambda d: call(),
    types=(),
    canonical=lambda arrays: [a.shape for a in arrays] and [],
    mutate=(),
)


def _audio(d: Draw) -> Any:
    sound = d.array((2, 5, 2), dtype="float32", low=-1, high=1)
    tag = _text("tag")
    if d.op.endswith("V2"):
        return call(tag, sound, np.float32(8000), max_outputs=2)
    return call(tag, sound, sample_rate=8000.0, max_outputs=2)


spec("AudioSummaryV2", _audio, types=(), mutate=("rank", "dtype"))
spec("AudioSummary", _audio, types=(), mutate=("rank", "dtype"), producer=14)


def _without_node(arrays: list[Any]) -> list[Any]:
    """The summary tells the name of its node, which each case has its own of."""
    from tensorloom.protos import summary_pb2

    summary = summary_pb2.Summary.FromString(bytes(arrays[0].item()))
    for value in summary.value:
        value.node_name = ""
    return [np.array(summary.SerializeToString(deterministic=True), object)]


spec(
    "TensorSummary",
    lambda d: (d.array(),),
    types=["float32", "int32", "string"],
    canonical=_without_node,
    mutate=("dtype",),
)
