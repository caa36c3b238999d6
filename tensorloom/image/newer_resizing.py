"""`resize_images_v2`: images brought to a size as TensorFlow 2 does it.

Pixels have their middles at halves, and more kernels can be chosen; `antialias` makes
them wider where an image becomes smaller. `tensorflow.python.ops.image_ops` has it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from tensorloom.framework.graph.graph import name_scope
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.types import dtypes
from tensorloom.image.resizing import resized_by, resized_with_pad
from tensorloom.ops.array import array_ops
from tensorloom.ops.math import math_ops

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph import Tensor


class ResizeMethodV2:
    """How values between pixels are found."""

    BILINEAR: Final = "bilinear"
    NEAREST_NEIGHBOR: Final = "nearest"
    BICUBIC: Final = "bicubic"
    AREA: Final = "area"
    LANCZOS3: Final = "lanczos3"
    LANCZOS5: Final = "lanczos5"
    GAUSSIAN: Final = "gaussian"
    MITCHELLCUBIC: Final = "mitchellcubic"


# Ops that take no wider kernel, and what a method is called as a kernel.
_OPS: Final = {
    ResizeMethodV2.BILINEAR: "ResizeBilinear",
    ResizeMethodV2.NEAREST_NEIGHBOR: "ResizeNearestNeighbor",
    ResizeMethodV2.BICUBIC: "ResizeBicubic",
    ResizeMethodV2.AREA: "ResizeArea",
}
_KERNELS: Final = {
    ResizeMethodV2.BILINEAR: "triangle",
    ResizeMethodV2.BICUBIC: "keyscubic",
    ResizeMethodV2.LANCZOS3: "lanczos3",
    ResizeMethodV2.LANCZOS5: "lanczos5",
    ResizeMethodV2.GAUSSIAN: "gaussian",
    ResizeMethodV2.MITCHELLCUBIC: "mitchellcubic",
}


def resize_images_v2(
    images: Any,
    size: Any,
    method: str = ResizeMethodV2.BILINEAR,
    preserve_aspect_ratio: bool = False,
    antialias: bool = False,
    name: str | None = None,
) -> Tensor:
    """Images [height, width, channels], or a batch of them, brought to a size.

    Args:
      size: [height, width], int32.
      method: of `ResizeMethodV2`.
      preserve_aspect_ratio: as large as fits into the size.
      antialias: whether kernels become wider for smaller images; has no effect on
        nearest neighbours and areas.

    Returns:
      float32, but the images' dtype for nearest neighbours.

    Raises:
      ValueError: bad ranks or an unknown method.
    """

    def resize(batch: Tensor, new_size: Tensor) -> Tensor:
        kernel = _KERNELS.get(method)
        if method in _OPS and not (antialias and kernel):
            halves: dict[str, Any] = (
                {} if method == "area" else {"half_pixel_centers": True}
            )
            return apply_op(  # type: ignore[no-any-return]
                _OPS[method], images=batch, size=new_size, **halves
            )
        if kernel is None:
            raise ValueError(f"Resize method is not implemented: {method}")
        old_size = math_ops.cast(array_ops.shape(batch)[1:3], dtypes.float32)
        return apply_op(  # type: ignore[no-any-return]
            "ScaleAndTranslate",
            images=batch,
            size=new_size,
            scale=math_ops.cast(new_size, dtypes.float32) / old_size,
            translation=array_ops.zeros([2]),
            kernel_type=kernel,
            antialias=antialias,
        )

    return resized_by(resize, images, size, preserve_aspect_ratio, name, False)


def resize_image_with_pad_v2(
    image: Any,
    target_height: Any,
    target_width: Any,
    method: str = ResizeMethodV2.BILINEAR,
    antialias: bool = False,
) -> Tensor:
    """Images as large as fits into a size, with zeros around them.

    Raises:
      ValueError: a size is not positive; the rank is neither 3 nor 4.
    """

    def resize(batch: Tensor, size: list[Tensor]) -> Tensor:
        return resize_images_v2(batch, size, method, antialias=antialias)

    with name_scope(None, "resize_image_with_pad", [image]):
        return resized_with_pad(image, target_height, target_width, resize)
