"""Convolutions with resizing and padding before them, and the old batch norm ops."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.registry.op_registry import register_op
from tensorloom.framework.types.tensor_shape import TensorShape
from tensorloom.ops.convolution.window_shapes import window_output_size

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph import Operation, Tensor
    from tensorloom.framework.registry.shape_inference import InferenceContext


def _fused_shape(c: InferenceContext) -> TensorShape:
    resized = c.num_inputs == 4
    dims = c.with_rank(0, 4).dims_tuple
    filters = c.with_rank(c.num_inputs - 1, 4).dims_tuple
    assert dims is not None
    assert filters is not None
    count = len(c.attrs["strides"])
    if count != 4:
        c.fail(
            "Operation requires the stride attribute to contain 4 values, but got: "
            f"{count}"
        )
    c.merge_dim(dims[3], filters[2])
    if resized:
        c.merge(c.input_shape(1), TensorShape.of((2,)))
    size = c.input_value(1) if resized else None
    known = dims[1:3] if not resized else (None, None)
    if size is not None and size.size == 2:
        known = tuple(size.tolist())
    pads = c.input_value(c.num_inputs - 2)
    if pads is not None and pads.shape != (4, 2):
        c.fail(f"paddings must have shape [4,2], got {list(pads.shape)}")
    if pads is not None and (pads < 0).any():
        c.fail("Paddings must be non-negative")
    sizes: list[int | None] = []
    for i, axis in enumerate((1, 2)):
        side = known[i]
        if pads is None or side is None:
            sizes.append(None)
            continue
        padded = side + int(pads[axis].sum())
        stride = c.attrs["strides"][axis]
        sizes.append(
            window_output_size(c, padded, filters[i], stride, c.attrs["padding"])
        )
    return TensorShape.of((dims[0], *sizes, filters[3]))


def _norm_shape(c: InferenceContext) -> TensorShape:
    dims = c.with_rank(0, 4).dims_tuple
    assert dims is not None
    depth = dims[3]
    for index in range(1, 5):
        vector = c.with_rank(index, 1).dims_tuple
        assert vector is not None
        depth = c.merge_dim(depth, vector[0])
    return TensorShape.of((*dims[:3], depth))


def _norm_grad_shape(c: InferenceContext) -> list[TensorShape]:
    dims = c.merge(c.with_rank(0, 4), c.with_rank(4, 4)).dims_tuple
    assert dims is not None
    depth = dims[3]
    for index in range(1, 4):
        vector = c.with_rank(index, 1).dims_tuple
        assert vector is not None
        depth = c.merge_dim(depth, vector[0])
    return [TensorShape.of((*dims[:3], depth)), *[TensorShape.of((depth,))] * 4]


def _norm_grad(op: Operation, grad: Tensor) -> list[Tensor]:
    names = ("variance_epsilon", "scale_after_normalization")
    t, m, v, _, gamma = op.inputs
    return list(
        apply_op(
            "BatchNormWithGlobalNormalizationGrad",
            t=t,
            m=m,
            v=v,
            gamma=gamma,
            backprop=grad,
            **{name: op.get_attr(name) for name in names},
        )
    )


_CONV = [
    "mode: {'REFLECT', 'SYMMETRIC'}",
    "strides: list(int)",
    "padding: {'SAME', 'VALID'}",
]

register_op(
    "FusedPadConv2D",
    inputs=["input: T", "paddings: int32", "filter: T"],
    outputs=["output: T"],
    attrs=["T: {half, float, double, bfloat16}", *_CONV],
    shape_fn=_fused_shape,
    doc="A convolution of images that are mirrored at their edges.",
)

register_op(
    "FusedResizeAndPadConv2D",
    inputs=["input: T", "size: int32", "paddings: int32", "filter: T"],
    outputs=["output: T"],
    attrs=["T: {half, float, double}", "resize_align_corners: bool = false", *_CONV],
    shape_fn=_fused_shape,
    doc="A convolution of images that are resized, then mirrored at their edges.",
)

_NORM = [
    "T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, "
    "qint32, bfloat16, uint16, complex128, half, uint32, uint64, qint16, quint16}",
    "variance_epsilon: float",
    "scale_after_normalization: bool",
]

register_op(
    "BatchNormWithGlobalNormalization",
    inputs=["t: T", "m: T", "v: T", "beta: T", "gamma: T"],
    outputs=["result: T"],
    attrs=_NORM,
    shape_fn=_norm_shape,
    gradient=_norm_grad,
    deprecated=(9, "Use tf.nn.batch_normalization()"),
    doc="Batch normalization by given moments.",
)

register_op(
    "BatchNormWithGlobalNormalizationGrad",
    inputs=["t: T", "m: T", "v: T", "gamma: T", "backprop: T"],
    outputs=["dx: T", "dm: T", "dv: T", "db: T", "dg: T"],
    attrs=_NORM,
    shape_fn=_norm_grad_shape,
    deprecated=(9, "Use tf.nn.batch_normalization()"),
    doc="The gradient of BatchNormWithGlobalNormalization.",
)
