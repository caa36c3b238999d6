"""Axes, indices and ranks out of range, and what TensorFlow 1.15 says of them."""

from __future__ import annotations

import numpy as np

import tensorloom as tf
from tests.kernels.hostile.hostile_value import Row, i32, i64

f = np.float32
nan = float("nan")
M = 2**31 - 1
L = 2**62
x = np.ones((2, 3), f)
img = np.ones((1, 4, 4, 1), f)

CASES: dict[str, Row] = {
    "poisson rate": (
        "run InvalidArgumentError",
        "run InvalidArgumentError",
        lambda given: tf.raw_ops.RandomPoissonV2(
            shape=i32(2), rate=given(1e5), seed=3, seed2=4, dtype=tf.float16
        ),
    ),
    "poisson negative rate": (
        "fine",
        "fine",
        lambda given: tf.raw_ops.RandomPoissonV2(
            shape=i32(2), rate=given(-1e30), seed=3, seed2=4, dtype=tf.float32
        ),
    ),
    **{
        f"truncated normal of {mean}": (
            "run InternalError",
            "run InternalError",
            lambda given, mean=mean: tf.raw_ops.ParameterizedTruncatedNormal(
                shape=i32(2, 3),
                means=given(f(mean)),
                stdevs=f(1e-30),
                minvals=f(0),
                maxvals=f(1),
            ),
        )
        for mean in ("1e30", "inf", "nan")
    },
    "wav of a high rate": (
        "fine",
        "fine",
        lambda given: tf.audio.encode_wav(x, given(np.int32(M))),
    ),
    "ref select": (
        "build ValueError",
        "run InvalidArgumentError",
        lambda given: tf.raw_ops.RefSelect(
            index=given(i32(0)),
            inputs=[tf.raw_ops.VariableV2(shape=[], dtype=tf.float32)] * 2,
        ),
    ),
    "table of unknown shape": (
        "run InvalidArgumentError",
        "run InvalidArgumentError",
        lambda given: tf.raw_ops.LookupTableFindV2(
            table_handle=tf.raw_ops.MutableHashTableOfTensorsV2(
                key_dtype=tf.int64, value_dtype=tf.float32, value_shape=[None]
            ),
            keys=given(i64(1)),
            default_value=f(0),
        ),
    ),
    **{
        f"{op} of 2^63": (
            "build ValueError",
            "build ValueError",
            lambda given, op=op: getattr(tf.raw_ops, op)(
                shape=[L, 2], dtype=tf.float32
            ),
        )
        for op in ("Placeholder", "VariableV2", "VarHandleOp", "FakeParam")
    },
    "placeholder of one dimension": (
        "build ValueError",
        "build ValueError",
        lambda given: tf.placeholder(tf.float32, [2**63]),
    ),
    "gather out": (
        "run InvalidArgumentError",
        "run InvalidArgumentError",
        lambda given: tf.gather(x, given(i32(5))),
    ),
    "gather neg": (
        "run InvalidArgumentError",
        "run InvalidArgumentError",
        lambda given: tf.gather(x, given(i32(-1))),
    ),
    "gather axis": (
        "build ValueError",
        "run InvalidArgumentError",
        lambda given: tf.gather(x, i32(0), axis=given(np.int32(7))),
    ),
    "gather_nd out": (
        "run InvalidArgumentError",
        "run InvalidArgumentError",
        lambda given: tf.gather_nd(x, given(np.array([[5, 0]], np.int32))),
    ),
    "segment_sum neg id": (
        "run InvalidArgumentError",
        "run InvalidArgumentError",
        lambda given: tf.segment_sum(x, given(i32(-1, 0))),
    ),
    "sparse_to_dense neg": (
        "build ValueError",
        "run InvalidArgumentError",
        lambda given: tf.sparse_to_dense(i64(1), given(i64(-5)), f(1.0)),
    ),
    "sparse_to_dense out": (
        "run InvalidArgumentError",
        "run InvalidArgumentError",
        lambda given: tf.sparse_to_dense(given(i64(7)), i64(5), f(1.0)),
    ),
    "expand_dims": (
        "build ValueError",
        "run InvalidArgumentError",
        lambda given: tf.expand_dims(x, given(np.int32(9))),
    ),
    "concat axis": (
        "build ValueError",
        "run InvalidArgumentError",
        lambda given: tf.concat([x, x], given(np.int32(4))),
    ),
    "split n": (
        "build ValueError",
        "run InvalidArgumentError",
        lambda given: tf.split(x, 2, axis=given(np.int32(5))),
    ),
    "split sizes neg": (
        "run InvalidArgumentError",
        "run InvalidArgumentError",
        lambda given: tf.split(x, given(i32(-3, 6)), axis=1, num=2),
    ),
    "slice neg size": (
        "build ValueError",
        "build ValueError",
        lambda given: tf.slice(x, given(i32(0, 0)), i32(-2, 1)),
    ),
    "slice out": (
        "run InvalidArgumentError",
        "run InvalidArgumentError",
        lambda given: tf.slice(x, given(i32(5, 0)), i32(1, 1)),
    ),
    "strided 0": (
        "build ValueError",
        "run InvalidArgumentError",
        lambda given: tf.strided_slice(x, i32(0), i32(2), given(i32(0))),
    ),
    "transpose out": (
        "build ValueError",
        "run InvalidArgumentError",
        lambda given: tf.transpose(x, given(i32(0, 5))),
    ),
    "transpose dup": (
        "run InvalidArgumentError",
        "run InvalidArgumentError",
        lambda given: tf.transpose(x, given(i32(0, 0))),
    ),
    "sum axis": (
        "build ValueError",
        "run InvalidArgumentError",
        lambda given: tf.reduce_sum(x, given(np.int32(6))),
    ),
    "argmax axis": (
        "build ValueError",
        "run InvalidArgumentError",
        lambda given: tf.argmax(x, given(np.int32(6))),
    ),
    "cumsum axis": (
        "run InvalidArgumentError",
        "run InvalidArgumentError",
        lambda given: tf.cumsum(x, given(np.int32(-6))),
    ),
    "reverse axis": (
        "build ValueError",
        "run InvalidArgumentError",
        lambda given: tf.reverse(x, given(i32(4))),
    ),
    "reverse dup": (
        "build ValueError",
        "run InvalidArgumentError",
        lambda given: tf.reverse(x, given(i32(0, 0))),
    ),
    "reverse_sequence": (
        "run InvalidArgumentError",
        "run InvalidArgumentError",
        lambda given: tf.reverse_sequence(x, given(i32(9, 1)), seq_axis=1),
    ),
    "top_k k": (
        "build ValueError",
        "run InvalidArgumentError",
        lambda given: tf.nn.top_k(x, given(np.int32(9)))[0],
    ),
    "top_k neg": (
        "build ValueError",
        "run InvalidArgumentError",
        lambda given: tf.nn.top_k(x, given(np.int32(-1)))[0],
    ),
    "roll axis": (
        "run InvalidArgumentError",
        "run InvalidArgumentError",
        lambda given: tf.roll(x, 1, given(np.int32(7))),
    ),
    "matmul shapes": (
        "build ValueError",
        "run InvalidArgumentError",
        lambda given: tf.matmul(x, given(x)),
    ),
    "space_to_batch": (
        "build ValueError",
        "build ValueError",
        lambda given: tf.space_to_batch_nd(img, given(i32(3, 3)), [[0, 0], [0, 0]]),
    ),
    "space_to_batch neg": (
        "build ValueError",
        "run InvalidArgumentError",
        lambda given: tf.space_to_batch_nd(
            img, i32(2, 2), given(np.array([[-1, 1], [0, 0]], np.int32))
        ),
    ),
    "space_to_batch 0": (
        "build ValueError",
        "build ValueError",
        lambda given: tf.space_to_batch_nd(img, given(i32(0, 2)), [[0, 0], [0, 0]]),
    ),
    "batch_to_space": (
        "build ValueError",
        "build ValueError",
        lambda given: tf.batch_to_space_nd(img, given(i32(2, 2)), [[0, 0], [0, 0]]),
    ),
    "string substr": (
        "run InvalidArgumentError",
        "run InvalidArgumentError",
        lambda given: tf.strings.substr(["abc"], given(i32(9)), i32(1)),
    ),
    "decode_raw": (
        "run InvalidArgumentError",
        "run InvalidArgumentError",
        lambda given: tf.decode_raw(given(np.array([b"abc"], object)), tf.int32),
    ),
    "dynamic_partition": (
        "run InvalidArgumentError",
        "run InvalidArgumentError",
        lambda given: tf.dynamic_partition(x, given(i32(0, 9)), 2)[0],
    ),
    "ctc seq": (
        "run FailedPreconditionError",
        "run FailedPreconditionError",
        lambda given: (
            tf.nn.ctc_greedy_decoder(np.ones((2, 1, 3), f), given(i32(9)))[0][0].values
        ),
    ),
    "lrn": (
        "build ValueError",
        "run InvalidArgumentError",
        lambda given: tf.nn.lrn(given(x)),
    ),
    "in_top_k": ("fine", "fine", lambda given: tf.nn.in_top_k(x, given(i32(9, 0)), 2)),
    "sparse softmax label": (
        "run InvalidArgumentError",
        "run InvalidArgumentError",
        lambda given: tf.nn.sparse_softmax_cross_entropy_with_logits(
            labels=given(i32(9, 0)), logits=x
        ),
    ),
    "embedding": (
        "run InvalidArgumentError",
        "run InvalidArgumentError",
        lambda given: tf.nn.embedding_lookup(x, given(i32(7))),
    ),
    "matrix_band": (
        "run InvalidArgumentError",
        "run InvalidArgumentError",
        lambda given: tf.linalg.band_part(x, given(np.int64(9)), 0),
    ),
    "cholesky rank": (
        "build ValueError",
        "run InvalidArgumentError",
        lambda given: tf.cholesky(given(x)),
    ),
    "inverse singular": (
        "run InvalidArgumentError",
        "run InvalidArgumentError",
        lambda given: tf.matrix_inverse(given(np.zeros((2, 2), f))),
    ),
    "extract_patches": (
        "build ValueError",
        "run InvalidArgumentError",
        lambda given: tf.extract_image_patches(
            given(x), [1, 2, 2, 1], [1, 1, 1, 1], [1, 1, 1, 1], "VALID"
        ),
    ),
    "tensor array neg": (
        "run InvalidArgumentError",
        "run InvalidArgumentError",
        lambda given: (
            tf.TensorArray(tf.float32, given(np.int32(-1))).write(0, 1.0).stack()
        ),
    ),
    "int div": (
        "run InvalidArgumentError",
        "run InvalidArgumentError",
        lambda given: given(i32(4)) // i32(0),
    ),
    "int mod": (
        "run InvalidArgumentError",
        "run InvalidArgumentError",
        lambda given: given(i32(4)) % i32(0),
    ),
    "int pow neg": (
        "run InvalidArgumentError",
        "run InvalidArgumentError",
        lambda given: tf.pow(i32(2), given(i32(-1))),
    ),
    "shift": (
        "fine",
        "fine",
        lambda given: tf.bitwise.left_shift(i32(1), given(i32(99))),
    ),
    "cast nan": (
        "fine",
        "fine",
        lambda given: tf.shape(tf.cast(given(np.array([nan], f)), tf.int32)),
    ),
    "check_numerics": (
        "run InvalidArgumentError",
        "run InvalidArgumentError",
        lambda given: tf.check_numerics(given(np.array([nan], f)), "m"),
    ),
}
