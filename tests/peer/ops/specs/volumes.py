"""Gradients of convolutions and pools over volumes, examples, readers, old forms."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from tests.peer.ops.draw import Draw, K
from tests.peer.ops.program import Program
from tests.peer.ops.spec import Tolerance, call, spec

SUMS = Tolerance(2e-5, 4e-6, "products are added up in another order", widened=6)
FLOATS = ["float16", "float32", "float64"]


def volume(d: Draw) -> tuple[dict[str, Any], list[int], list[int], list[int]]:
    """attrs, sizes of the input, the window and the output."""
    padding, stride = d.choice(["SAME", "VALID"]), d.integer(1, 2)
    sizes = [d.integer(3, 5) for _ in range(3)]
    window = [d.integer(1, 3) for _ in range(3)]
    out = [
        -(-s // stride) if padding == "SAME" else (s - w) // stride + 1
        for s, w in zip(sizes, window, strict=True)
    ]
    return (
        {"strides": [1, stride, stride, stride, 1], "padding": padding},
        sizes,
        window,
        out,
    )


def conv3d_filter(d: Draw) -> Any:
    attrs, sizes, window, out = volume(d)
    return call(
        d.array((1, *sizes, 2)),
        K(np.array([*window, 2, 3], np.int32)),
        d.array((1, *out, 3)),
        **attrs,
    )


def conv3d_input(d: Draw) -> Any:
    attrs, sizes, window, out = volume(d)
    return call(
        K(np.array([1, *sizes, 2], np.int32)),
        d.array((*window, 2, 3)),
        d.array((1, *out, 3)),
        **attrs,
    )


spec(
    "Conv3DBackpropFilterV2",
    conv3d_filter,
    types=FLOATS,
    tolerance=SUMS,
    mutate=("dtype",),
)
spec(
    "Conv3DBackpropInputV2",
    conv3d_input,
    types=FLOATS,
    tolerance=SUMS,
    mutate=("dtype",),
)


def avg_pool3d_grad(d: Draw) -> Any:
    attrs, sizes, window, out = volume(d)
    return call(
        K(np.array([1, *sizes, 2], np.int32)),
        d.array((1, *out, 2)),
        ksize=[1, *window, 1],
        **attrs,
    )


def max_pool3d_grad(d: Draw) -> Any:
    x = d.array((1, 4, 4, 2, 2), distinct=True)
    pooled = x.reshape(1, 2, 2, 2, 2, 1, 2, 2).max((2, 4, 6))
    return call(
        x,
        pooled,
        d.array(pooled.shape),
        ksize=[1, 2, 2, 2, 1],
        strides=[1, 2, 2, 2, 1],
        padding="VALID",
    )


spec("AvgPool3DGrad", avg_pool3d_grad, tolerance=SUMS, mutate=("dtype",))
spec("MaxPool3DGrad", max_pool3d_grad, types=["float32"], mutate=("dtype",))

# --- examples -------------------------------------------------------------------


def example(d: Draw) -> bytes:
    """A serialized Example with a float, an int64 and a string feature."""
    import tensorloom as tf

    features = {
        "a": tf.train.Feature(
            float_list=tf.train.FloatList(value=[1.5, float(d.integer(0, 9))])
        ),
        "s": tf.train.Feature(
            bytes_list=tf.train.BytesList(value=[b"x"] * d.integer(0, 2))
        ),
    }
    if d.maybe():
        features["b"] = tf.train.Feature(
            int64_list=tf.train.Int64List(value=[d.integer(-9, 9)])
        )
    return bytes(
        tf.train.Example(
            features=tf.train.Features(feature=features)
        ).SerializeToString(deterministic=True)
    )


def strings(*items: bytes) -> Any:
    array = np.empty(len(items), object)
    array[:] = items
    return array


def parse_example(d: Draw, *serialized: bytes) -> Program:
    p = Program(differentiate=False)
    given = serialized or tuple(example(d) for _ in range(d.integer(1, 3)))
    names = p.const(np.empty((0,), object))
    p.run(
        p.op(
            "ParseExample",
            p.feed(strings(*given)),
            names,
            [p.const(strings(b"s")[0])],
            [p.const(np.array(k, object)) for k in (b"a", b"b")],
            [p.const(np.zeros((0,), np.float32)), p.const([7], "int64")],
            sparse_types=["string"],
            dense_shapes=[(2,), (1,)],
        )
    )
    return p


def parse_single(d: Draw, *serialized: bytes) -> Program:
    p = Program(differentiate=False)
    one = np.empty((), object)
    one[()] = serialized[0] if serialized else example(d)
    p.run(
        p.op(
            "ParseSingleExample",
            p.feed(one),
            [p.const(np.zeros((0,), np.float32)), p.const([7], "int64")],
            num_sparse=1,
            sparse_keys=["s"],
            dense_keys=["a", "b"],
            sparse_types=["string"],
            dense_shapes=[(2,), (1,)],
        )
    )
    return p


spec(
    "ParseExample",
    parse_example,
    types=(),
    mutate=(),
    bad=(
        lambda d: parse_example(d, b"not an example"),
        lambda d: parse_example(d, b""),
    ),
)
spec(
    "ParseSingleExample",
    parse_single,
    types=(),
    mutate=(),
    bad=(lambda d: parse_single(d, b"\xff\xff"), lambda d: parse_single(d, b"")),
)

# --- readers --------------------------------------------------------------------


def reader(d: Draw) -> Program:
    folder = Path(tempfile.gettempdir()) / "tensorloom_op_specs"
    folder.mkdir(exist_ok=True)
    path = folder / "lines.txt"
    path.write_bytes(b"one\ntwo\n\nfour")
    v = "V2" if d.op.endswith("V2") else ""
    p = Program(differentiate=False) if v else Program(25, differentiate=False)
    made = p.op(
        {"TextLineReader": "TextLineReader", "WholeFileReader": "WholeFileReader"}.get(
            d.op.removesuffix("V2"), "TextLineReader"
        )
        + v
    )
    q = p.op("FIFOQueue" + v, component_types=["string"], shapes=[()], capacity=5)
    p.run(p.op("QueueEnqueue" + v, q, [p.const(np.array(str(path).encode(), object))]))
    p.run(p.op("QueueClose" + v, q))
    take = p.op("ReaderRead" + v, made, q)
    count = p.op("ReaderNumRecordsProduced" + v, made)
    p.run(take)
    p.run(count)
    if "Whole" not in d.op:
        more = p.op("ReaderReadUpTo" + v, made, q, p.const(5, "int64"))
        p.run(more)
        p.run(count, p.op("ReaderNumWorkUnitsCompleted" + v, made))
    p.run(take)
    p.run(p.op("ReaderReset" + v, made))
    p.run(count)
    return p


spec(
    "TextLineReaderV2 WholeFileReaderV2 ReaderReadV2 ReaderReadUpToV2 "
    "ReaderNumRecordsProducedV2"
    " ReaderNumWorkUnitsCompletedV2 ReaderResetV2",
    reader,
    types=(),
    mutate=(),
)
spec(
    "TextLineReader WholeFileReader ReaderRead ReaderReadUpTo "
    "ReaderNumRecordsProduced ReaderNumWorkUnitsCompleted ReaderReset",
    reader,
    types=(),
    mutate=(),
)

# --- old forms ------------------------------------------------------------------


def old_tables(d: Draw) -> Program:
    p = Program(differentiate=False)
    made = p.op("HashTable", key_dtype="string", value_dtype="int64")
    p.run(
        p.op("InitializeTable", made, p.const([b"a", b"b"]), p.const([1, 2], "int64"))
    )
    p.run(
        p.op("LookupTableFind", made, p.feed([b"b", b"c"]), p.const(-1, "int64")),
        p.op("LookupTableSize", made),
    )
    return p


spec(
    "HashTable InitializeTable LookupTableFind LookupTableSize",
    old_tables,
    types=(),
    mutate=(),
)


def ref_switch(d: Draw) -> Program:
    p = Program(differentiate=False)
    leaf = p.feed(d.array((2,)))
    made = p.op("VariableV2", dtype=d.dtype, shape=(2,))
    p.run(p.op("Assign", made, leaf))
    branch = p.op("RefSwitch", made, p.feed(np.array(d.maybe())))
    p.run(
        p.op("Merge", [p.op("Identity", branch[1])[0], p.op("Identity", branch[0])[0]])
    )
    return p


spec("RefSwitch", ref_switch, types=["float32", "int32", "string"], mutate=())


def ref_identity(d: Draw) -> Program:
    p = Program(differentiate=False)
    made = p.op("VariableV2", dtype=d.dtype, shape=(2,))
    p.run(p.op("Assign", made, p.feed(d.array((2,)))))
    p.run(
        p.op(
            "AssignAdd" if d.dtype.is_floating else "Assign",
            p.op("RefIdentity", made),
            p.feed(d.array((2,))),
        )
    )
    p.run(p.op("Identity", made))
    return p


spec("RefIdentity", ref_identity, types=["float32", "int32", "string"], mutate=())
spec(
    "SerializeTensor",
    lambda d: (d.array(),),
    mutate=("dtype",),
    gradient=False,
    without=["qint8", "quint8", "qint32"],
)


def inplace(d: Draw) -> Any:
    return d.array((4, 2)), K([1, 3], "int32"), d.array((2, 2))


spec(
    "InplaceAdd InplaceSub InplaceUpdate",
    inplace,
    types=["float32", "float64", "int32", "int64"],
    mutate=("dtype",),
    gradient=False,
)
spec(
    "FakeParam",
    lambda d: call(dtype=d.dtype, shape=(2,)),
    attr="dtype",
    types=["float32"],
    mutate=(),
    canonical=lambda arrays: [np.zeros(a.shape) for a in arrays],
)
spec(
    "Placeholder",
    lambda d: identity_of_placeholder(d),
    attr="dtype",
    without=["qint8", "quint8", "qint32"],
)


def identity_of_placeholder(d: Draw) -> Program:
    p = Program()
    p.run(p.op("Identity", p.feed(d.array())))
    return p
