"""Resampling of images: scaled and moved with a kernel, or through a projection."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.registry.op_registry import register_op
from tensorloom.framework.registry.shape_inference import unchanged_shape
from tensorloom.framework.types.tensor_shape import TensorShape
from tensorloom.ops.array import array_ops
from tensorloom.ops.image.shapes import like_second_input, resized_shape, size_of
from tensorloom.ops.linalg import matrix_solve as matrix_solve_ops

if TYPE_CHECKING:
    from tensorloom.framework.graph.operation import Operation
    from tensorloom.framework.graph.tensor import Tensor
    from tensorloom.framework.registry.shape_inference import InferenceContext


def _scale_grad(op: Operation, grad: Tensor) -> list[Tensor | None]:
    image_grad: Tensor = apply_op(
        "ScaleAndTranslateGrad",
        grads=grad,
        original_image=op.inputs[0],
        scale=op.inputs[2],
        translation=op.inputs[3],
        kernel_type=op.get_attr("kernel_type"),
        antialias=op.get_attr("antialias"),
    )
    return [image_grad, None, None, None]


_KERNEL = ["kernel_type: string = 'lanczos3'", "antialias: bool = true"]
register_op(
    "ScaleAndTranslate",
    inputs=["images: T", "size: int32", "scale: float", "translation: float"],
    outputs=["resized_images: float"],
    attrs=[
        "T: {int8, uint8, int16, uint16, int32, int64, bfloat16, half, float, double}",
        *_KERNEL,
    ],
    shape_fn=resized_shape,
    gradient=_scale_grad,
    doc="Images [batch, height, width, channels] scaled and moved by a kernel.",
)
register_op(
    "ScaleAndTranslateGrad",
    inputs=["grads: T", "original_image: T", "scale: float", "translation: float"],
    outputs=["output: T"],
    attrs=["T: {float}", *_KERNEL],
    shape_fn=like_second_input,
    doc="The gradient of ScaleAndTranslate for the images.",
)


# --- projections ------------------------------------------------------------------


def _projected_shape(c: InferenceContext) -> TensorShape:
    dims = c.with_rank(0, 4).dims_tuple
    assert dims is not None
    height, width = size_of(c, 2)
    return TensorShape.of((dims[0], height, width, dims[3]))


def _inverse_transforms(transforms: Tensor) -> Tensor:
    """The transforms [n, 8] that go back: inverses of 3x3 matrices ending in 1."""
    count = array_ops.shape(transforms)[0]
    ones = array_ops.ones([count, 1], transforms.dtype)
    matrices = array_ops.reshape(
        array_ops.concat([transforms, ones], axis=1), [-1, 3, 3]
    )
    inverses = matrix_solve_ops.matrix_inverse(matrices)
    flat = array_ops.reshape(inverses, [-1, 9])
    return (flat / flat[:, 8:9])[:, :8]


def _projective_grad(op: Operation, grad: Tensor) -> list[Tensor | None]:
    """The gradient projected back."""
    extra: dict[str, Any] = {}
    if op.type == "ImageProjectiveTransformV3":
        extra["fill_value"] = 0.0
    image_grad: Tensor = apply_op(
        op.type,
        images=grad,
        transforms=_inverse_transforms(op.inputs[1]),
        output_shape=array_ops.shape(op.inputs[0])[1:3],
        interpolation=op.get_attr("interpolation"),
        fill_mode=op.get_attr("fill_mode"),
        **extra,
    )
    return [image_grad] + [None] * (len(op.inputs) - 1)


register_op(
    "ImageProjectiveTransform",
    inputs=["images: dtype", "transforms: float"],
    outputs=["transformed_images: dtype"],
    attrs=[
        "dtype: {uint8, int32, int64, half, float, double}",
        "interpolation: string",
    ],
    shape_fn=unchanged_shape,
    doc="Images seen through projections [batch or 1, 8], as large as they were.",
)
_PROJECTED = ["images: dtype", "transforms: float", "output_shape: int32"]
for _name, _inputs in (
    ("ImageProjectiveTransformV2", _PROJECTED),
    ("ImageProjectiveTransformV3", [*_PROJECTED, "fill_value: float"]),
):
    register_op(
        _name,
        inputs=_inputs,
        outputs=["transformed_images: dtype"],
        attrs=[
            "dtype: {uint8, int32, int64, half, bfloat16, float, double}",
            "interpolation: string",
            "fill_mode: string = 'CONSTANT'",
        ],
        shape_fn=_projected_shape,
        gradient=_projective_grad,
        doc="Images seen through projections [batch or 1, 8] of output pixels.",
    )
