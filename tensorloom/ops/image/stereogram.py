"""SingleImageRandomDotStereograms: a picture of dots in which depths can be seen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tensorloom.framework.registry.op_registry import NOT_DIFFERENTIABLE, register_op
from tensorloom.framework.types.tensor_shape import TensorShape

if TYPE_CHECKING:
    from tensorloom.framework.registry.shape_inference import InferenceContext


def _picture_shape(c: InferenceContext) -> TensorShape:
    """[height, width, channels] of the attr's width, height and channels."""
    sizes = c.attrs["output_image_shape"].dims_tuple
    if sizes is None or len(sizes) < 3:
        c.fail(f"output_image_shape must have 3 dimensions, got {sizes}")
    channels = 3 if c.attrs["number_colors"] > 256 else sizes[2]
    return TensorShape.of((sizes[1], sizes[0], channels))


register_op(
    "SingleImageRandomDotStereograms",
    inputs=["depth_values: T"],
    outputs=["image: uint8"],
    attrs=[
        "T: {double, float, int64, int32}",
        "hidden_surface_removal: bool = true",
        "convergence_dots_size: int = 8",
        "dots_per_inch: int = 72",
        "eye_separation: float = 2.5",
        "mu: float = 0.3333",
        "normalize: bool = true",
        "normalize_max: float = -100.0",
        "normalize_min: float = 100.0",
        "border_level: float = 0.0",
        "number_colors: int = 256",
        "output_image_shape: shape = (1024, 768, 1)",
        "output_data_window: shape = (1022, 757)",
    ],
    shape_fn=_picture_shape,
    gradient=NOT_DIFFERENTIABLE,
    doc="Random dots, equal wherever both eyes see one point of the depths.",
)
