"""Specs of BiasAdd, BiasAddGrad, BiasAddV1, FusedBatchNorm, ...."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.peer.ops.draw import Draw, K
from tests.peer.ops.program import Program
from tests.peer.ops.spec import Tolerance, call, spec
from tests.peer.ops.specs.shared.geometry import SUMS, Q

# --- bias -----------------------------------------------------------------------


def bias(d: Draw) -> Any:
    shape = d.shape(2, 4)
    form = d.choice(["NHWC", "NCHW"]) if len(shape) > 2 else "NHWC"
    if form == "NCHW" and len(shape) == 3:
        shape = (*shape, 2)
    channels = shape[1] if form == "NCHW" else shape[-1]
    program = Program(
        differentiate=form == "NHWC"
    )  # TensorFlow's sums for NCHW are garbage
    program.run(
        program.op(d.op, d.array(shape), d.array((channels,)), data_format=form)
    )
    return program


def bias_v1(d: Draw) -> Any:
    shape = d.shape(2, 4)
    return d.array(shape), d.array(shape[-1:])


def bias_grad(d: Draw) -> Any:
    # TensorFlow 1.15 reads beyond the sums of NCHW tensors of less than four axes.
    form = d.choice(["NHWC", "NCHW"])
    return call(d.array(d.shape(2 if form == "NHWC" else 4, 4)), data_format=form)


spec("BiasAdd", bias, tolerance=SUMS, without=Q)


spec("BiasAddV1", bias_v1, tolerance=SUMS, without=Q)


spec("BiasAddGrad", bias_grad, tolerance=SUMS, without=Q, mutate=("size", "dtype"))


# --- normalization --------------------------------------------------------------


def lrn_attrs(d: Draw) -> dict[str, Any]:
    return {
        "depth_radius": d.integer(1, 3),
        "bias": 1.5,
        "alpha": 0.3,
        "beta": d.choice([0.5, 0.75, 1.0]),
    }


LRNS = Tolerance(5e-5, 1e-5, "powers of sums, in another order", widened=4)


spec(
    "LRN",
    lambda d: call(d.array((2, 2, 3, 5)), **lrn_attrs(d)),
    tolerance=LRNS,
    mutate=("dtype", "empty"),
)


spec(
    "LRNGrad",
    lambda d: call(*(d.array((2, 2, 3, 5)) for _ in range(3)), **lrn_attrs(d)),
    tolerance=LRNS,
    mutate=("dtype",),
)


NORMS = Tolerance(
    1e-4, 1e-5, "means and variances are added up in another order", widened=4
)


def batch_norm(d: Draw) -> Any:
    shape = (d.integer(2, 3), d.integer(1, 3), d.integer(2, 3), d.integer(1, 3))
    training = d.maybe()
    kind = "float32" if d.op != "FusedBatchNorm" else d.dtype
    scale, offset = (d.array(shape[-1:], dtype=kind) for _ in range(2))
    mean, variance = (
        d.array((0,) if training else shape[-1:], dtype=kind, low=1, high=3)
        for _ in range(2)
    )
    return call(
        d.array(shape),
        scale,
        offset,
        mean,
        variance,
        epsilon=0.01,
        is_training=training,
    )


def gradient_outputs(arrays: list[Any]) -> list[Any]:
    """Without the two that are empty."""
    return arrays[:3]


def batch_norm_grad(d: Draw) -> Any:
    shape = (d.integer(2, 3), d.integer(1, 3), d.integer(2, 3), d.integer(1, 3))
    kind = "float32" if d.op != "FusedBatchNormGrad" else d.dtype
    parts = [
        d.array(shape[-1:], dtype=kind, low=1, high=3)
        for _ in range(4 if d.op.endswith("V3") else 3)
    ]
    return call(
        d.array(shape), d.array(shape), *parts, epsilon=0.01, is_training=d.maybe()
    )


def first_outputs(arrays: list[Any]) -> list[Any]:
    """Without the outputs that are reserved for the gradient, or left as they were
    found: without training, mean and variance are not written."""
    return arrays[:1]


spec(
    "FusedBatchNorm FusedBatchNormV2 FusedBatchNormV3",
    batch_norm,
    tolerance=NORMS,
    mutate=("dtype",),
    canonical=first_outputs,
)


spec(
    "FusedBatchNormGrad FusedBatchNormGradV2 FusedBatchNormGradV3",
    batch_norm_grad,
    tolerance=NORMS,
    mutate=("dtype",),
    canonical=gradient_outputs,
)


# --- softmax and losses ---------------------------------------------------------


def logits(d: Draw) -> Any:
    return (d.array(d.shape(1, 3)),)


def cross_entropy(d: Draw) -> Any:
    shape = d.shape(2, 2)
    return d.array(shape), d.array(shape if d.maybe() else (1, shape[1]), low=0, high=1)


def sparse_cross_entropy(d: Draw) -> Any:
    rows, classes = d.integer(0, 4), d.integer(1, 4)
    return d.array((rows, classes)), d.indices((rows,), classes)


spec("Softmax LogSoftmax", logits, tolerance=SUMS)


spec(
    "SoftmaxCrossEntropyWithLogits",
    cross_entropy,
    tolerance=SUMS,
    mutate=("size", "empty", "dtype"),
)


spec(
    "SparseSoftmaxCrossEntropyWithLogits",
    sparse_cross_entropy,
    tolerance=SUMS,
    bad=(
        lambda d: (d.array((2, 3)), np.array([0, 3], np.int32)),
        lambda d: (d.array((2, 3)), np.array([0, -1], np.int64)),
    ),
)


spec("L2Loss", lambda d: (d.array(),), tolerance=SUMS)


def top_k(d: Draw) -> Any:
    shape = d.shape(1, 3, empty=0)
    k = d.integer(0, shape[-1])
    x = d.array(shape)
    if d.op == "TopK":
        return call(x, k=k, sorted=True)
    return call(x, K(k, "int32"), sorted=True)


spec("TopK", top_k, producer=6, mutate=("size", "empty", "dtype"))


def top_k_of_nan(d: Draw) -> Any:
    x = d.array((4, d.choice([5, 9, 40])))
    if d.dtype.is_floating:
        x[d.rng.random(x.shape) < 0.3] = np.nan
    k = d.choice([1, 2, x.shape[1] // 2, x.shape[1]])
    return call(x, K(k, "int32"), sorted=True)


spec(
    "TopKV2",
    top_k,
    bad=(
        lambda d: (d.array((2, 3)), K(4, "int32")),
        top_k_of_nan,
        top_k_of_nan,
        top_k_of_nan,
    ),
)


def in_top_k(d: Draw) -> Any:
    rows, classes = d.integer(0, 4), d.integer(1, 5)
    predictions = d.array((rows, classes), dtype="float32")
    targets = d.indices((rows,), classes, d.dtype.np_dtype)
    if d.op == "InTopK":
        return call(predictions, targets, k=d.integer(1, 3))
    return call(predictions, targets, K(np.asarray(d.integer(1, 3), d.dtype.np_dtype)))


spec("InTopK InTopKV2", in_top_k)
