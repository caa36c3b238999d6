"""Resizing of images [batch, height, width, channels]: ops and gradients."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.framework.export import export
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.registry.op_registry import NOT_DIFFERENTIABLE, register_op
from tensorloom.framework.types import dtypes
from tensorloom.ops.array import array_ops
from tensorloom.ops.image.shapes import like_second_input, resized_shape

if TYPE_CHECKING:
    from collections.abc import Callable

    from tensorloom.framework.graph.operation import Operation
    from tensorloom.framework.graph.tensor import Tensor

_TYPES = "int8, uint8, int16, uint16, int32, int64, half, float, double, bfloat16"
_ALIGN = "align_corners: bool = false"
_CENTERS = "half_pixel_centers: bool = false"


def _flags(op: Operation) -> dict[str, Any]:
    return {
        "align_corners": op.get_attr("align_corners"),
        "half_pixel_centers": op.get_attr("half_pixel_centers"),
    }


def _interpolation_grad(grad_op: str, allowed: tuple[Any, ...]) -> Callable[..., Any]:
    def gradient(op: Operation, grad: Tensor) -> list[Tensor | None]:
        image = op.inputs[0]
        if image.dtype not in allowed:
            return [None, None]
        flags = _flags(op)
        return [apply_op(grad_op, grads=grad, original_image=image, **flags), None]

    return gradient


def _nearest_grad(op: Operation, grad: Tensor) -> list[Tensor | None]:
    dims = op.inputs[0].shape.dims_tuple
    size: Any
    if dims is not None and None not in dims[1:3]:
        size = dims[1:3]
    else:
        size = array_ops.shape(op.inputs[0])[1:3]
    flags = _flags(op)
    return [apply_op("ResizeNearestNeighborGrad", grads=grad, size=size, **flags), None]


_FLOATS = (dtypes.float32, dtypes.float64)
_SMALL_FLOATS = (dtypes.float16, dtypes.bfloat16)
for _name, _gradient, _result, _flag_attrs, _doc in (
    (
        "ResizeBilinear",
        _interpolation_grad("ResizeBilinearGrad", (*_FLOATS, *_SMALL_FLOATS)),
        "float",
        [_ALIGN, _CENTERS],
        "Images resized with bilinear interpolation.",
    ),
    (
        "ResizeBicubic",
        _interpolation_grad("ResizeBicubicGrad", _FLOATS),
        "float",
        [_ALIGN, _CENTERS],
        "Images resized with bicubic interpolation.",
    ),
    (
        "ResizeNearestNeighbor",
        _nearest_grad,
        "T",
        [_ALIGN, _CENTERS],
        "Images resized by taking the nearest pixel.",
    ),
    ("ResizeArea", None, "float", [_ALIGN], "Images resized by averaging areas."),
):
    register_op(
        _name,
        inputs=["images: T", "size: int32"],
        outputs=[f"resized_images: {_result}"],
        attrs=[f"T: {{{_TYPES}}}", *_flag_attrs],
        shape_fn=resized_shape,
        gradient=_gradient,
        doc=_doc,
    )
for _name, _grad_types, _no_gradient in (
    ("ResizeBilinearGrad", "float, bfloat16, half, double", NOT_DIFFERENTIABLE),
    ("ResizeBicubicGrad", "float, double", None),
):
    register_op(
        _name,
        inputs=["grads: float", "original_image: T"],
        outputs=["output: T"],
        attrs=[f"T: {{{_grad_types}}}", _ALIGN, _CENTERS],
        shape_fn=like_second_input,
        gradient=_no_gradient,
        doc=f"The gradient of {_name[:-4]}.",
    )
register_op(
    "ResizeNearestNeighborGrad",
    inputs=["grads: T", "size: int32"],
    outputs=["output: T"],
    attrs=["T: {uint8, int8, int32, half, float, double, bfloat16}", _ALIGN, _CENTERS],
    shape_fn=resized_shape,
    doc="The gradient of ResizeNearestNeighbor.",
)


def _builder(op: str, name: str, doc: str) -> Callable[..., Tensor]:
    def resize(
        images: Any,
        size: Any,
        align_corners: bool = False,
        name: str | None = None,
        half_pixel_centers: bool = False,
    ) -> Tensor:
        return apply_op(  # type: ignore[no-any-return]
            op,
            images=images,
            size=size,
            align_corners=align_corners,
            half_pixel_centers=half_pixel_centers,
            name=name,
        )

    resize.__name__ = resize.__qualname__ = name
    resize.__doc__ = (
        f"{doc}\n\n    Args:\n      images: [batch, height, width, channels].\n"
        "      size: [height, width] of the result.\n    "
    )
    return export(f"image.{name}")(resize)


resize_bilinear = _builder(
    "ResizeBilinear", "resize_bilinear", "Images resized bilinearly, float32."
)
_builder("ResizeBicubic", "resize_bicubic", "Images resized bicubically, float32.")
_builder(
    "ResizeNearestNeighbor",
    "resize_nearest_neighbor",
    "Images resized by taking the nearest pixel, of their dtype.",
)


@export("image.resize_area")
def resize_area(
    images: Any, size: Any, align_corners: bool = False, name: str | None = None
) -> Tensor:
    """Images [batch, height, width, channels] resized by averaging areas, float32."""
    return apply_op(  # type: ignore[no-any-return]
        "ResizeArea", images=images, size=size, align_corners=align_corners, name=name
    )
