"""Parts of images: CropAndResize with its gradients, glimpses, random crops."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.framework.export import export
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.registry.op_registry import NOT_DIFFERENTIABLE, register_op
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_shape import TensorShape
from tensorloom.ops.array import array_ops
from tensorloom.ops.array.argument_aliases import either
from tensorloom.ops.image.shapes import size_of

if TYPE_CHECKING:
    from tensorloom.framework.graph.operation import Operation
    from tensorloom.framework.graph.tensor import Tensor
    from tensorloom.framework.registry.shape_inference import InferenceContext

_TYPES = "T: {uint8, uint16, int8, int16, int32, int64, half, float, double}"
_METHOD = "method: {'bilinear', 'nearest'} = 'bilinear'"


def _crops_shape(c: InferenceContext) -> TensorShape:
    image = c.with_rank(0, 4).dims_tuple
    boxes = c.with_rank(1, 2).dims_tuple
    indices = c.with_rank(2, 1).dims_tuple
    assert image is not None
    assert boxes is not None
    assert indices is not None
    count = c.merge_dim(boxes[0], indices[0])
    c.with_value(boxes[1], 4)
    height, width = size_of(c, 3)
    return TensorShape.of((count, height, width, image[3]))


def _crops_grad(op: Operation, grad: Tensor) -> list[Tensor | None]:
    """For the image, unless it is of integers, and for the boxes."""
    image, boxes, indices = op.inputs[:3]
    shape = image.shape
    size: Any = shape.as_list() if shape.is_fully_defined() else array_ops.shape(image)
    for_image = None
    if image.dtype in (dtypes.float16, dtypes.float32, dtypes.float64):
        for_image = apply_op(
            "CropAndResizeGradImage",
            grads=grad,
            boxes=boxes,
            box_ind=indices,
            image_size=size,
            T=op.get_attr("T"),
            method=op.get_attr("method"),
        )
    for_boxes = apply_op(
        "CropAndResizeGradBoxes", grads=grad, image=image, boxes=boxes, box_ind=indices
    )
    return [for_image, for_boxes, None, None]


def _image_grad_shape(c: InferenceContext) -> TensorShape:
    return c.with_rank(c.input_value_as_shape(3), 4)


def _boxes_grad_shape(c: InferenceContext) -> TensorShape:
    return c.input_shape(2)


register_op(
    "CropAndResize",
    inputs=["image: T", "boxes: float", "box_ind: int32", "crop_size: int32"],
    outputs=["crops: float"],
    attrs=[_TYPES, _METHOD, "extrapolation_value: float = 0.0"],
    shape_fn=_crops_shape,
    gradient=_crops_grad,
    doc="Boxes cut out of the images that box_ind names, all brought to one size.",
)
register_op(
    "CropAndResizeGradImage",
    inputs=["grads: float", "boxes: float", "box_ind: int32", "image_size: int32"],
    outputs=["output: T"],
    attrs=["T: {float, half, double}", _METHOD],
    shape_fn=_image_grad_shape,
    doc="The gradient of CropAndResize for the images.",
)
register_op(
    "CropAndResizeGradBoxes",
    inputs=["grads: float", "image: T", "boxes: float", "box_ind: int32"],
    outputs=["output: float"],
    attrs=[_TYPES, "method: {'bilinear'} = 'bilinear'"],
    shape_fn=_boxes_grad_shape,
    doc="The gradient of CropAndResize for the boxes.",
)


@export("image.crop_and_resize")
def crop_and_resize(
    image: Any,
    boxes: Any,
    box_ind: Any = None,
    crop_size: Any = None,
    method: str = "bilinear",
    extrapolation_value: float = 0,
    name: str | None = None,
    box_indices: Any = None,
) -> Tensor:
    """Crops [boxes, crop height, crop width, channels] of float32.

    Args:
      image: [batch, height, width, channels].
      boxes: [boxes, 4] of (y1, x1, y2, x2), 0 to 1; y1 > y2 turns the crop over.
      box_ind, box_indices: [boxes], the image of each box.
      crop_size: [height, width] of the crops.
      extrapolation_value: for what lies outside of the image.
    """
    return apply_op(  # type: ignore[no-any-return]
        "CropAndResize",
        image=image,
        boxes=boxes,
        box_ind=either("box_indices", box_indices, "box_ind", box_ind),
        crop_size=crop_size,
        method=method,
        extrapolation_value=extrapolation_value,
        name=name,
    )


# --- glimpses ---------------------------------------------------------------------


def _glimpse_shape(c: InferenceContext) -> TensorShape:
    if c.attrs["uniform_noise"] and c.attrs["noise"] not in (b"", b"uniform"):
        c.fail("The uniform_noise and noise should not be specified at the same time")
    dims = c.with_rank(0, 4).dims_tuple
    offsets = c.with_rank(2, 2).dims_tuple
    assert dims is not None
    assert offsets is not None
    batch = c.merge_dim(dims[0], offsets[0])
    c.with_value(offsets[1], 2)
    height, width = size_of(c, 1)
    return TensorShape.of((batch, height, width, dims[3]))


for _name, _gradient in (
    ("ExtractGlimpse", NOT_DIFFERENTIABLE),
    ("ExtractGlimpseV2", None),
):
    register_op(
        _name,
        inputs=["input: float", "size: int32", "offsets: float"],
        outputs=["glimpse: float"],
        attrs=[
            "centered: bool = true",
            "normalized: bool = true",
            "uniform_noise: bool = true",
            "noise: string = 'uniform'",
        ],
        shape_fn=_glimpse_shape,
        gradient=_gradient,
        doc="A window of each image; noise where the window is outside of it.",
    )


@export("image.extract_glimpse")
def extract_glimpse(
    input: Any,
    size: Any,
    offsets: Any,
    centered: bool = True,
    normalized: bool = True,
    uniform_noise: bool = True,
    name: str | None = None,
) -> Tensor:
    """A window [batch, size[0], size[1], channels] of each image.

    Args:
      input: float32 [batch, height, width, channels].
      offsets: [batch, 2] of (y, x), the middle of each window.
      centered: 0 is the middle of the image, otherwise its upper left corner.
      normalized: offsets are -1 to 1 (0 to 1 if not centered), otherwise pixels.
      uniform_noise: what fills windows outside of the image, uniform or normal.
    """
    return apply_op(  # type: ignore[no-any-return]
        "ExtractGlimpse",
        input=input,
        size=size,
        offsets=offsets,
        centered=centered,
        normalized=normalized,
        uniform_noise=uniform_noise,
        name=name,
    )


# --- random crops -----------------------------------------------------------------


def _random_crop_shape(c: InferenceContext) -> TensorShape:
    dims = c.with_rank(0, 3).dims_tuple
    assert dims is not None
    height, width = size_of(c, 1)
    return TensorShape.of((height, width, dims[2]))


register_op(
    "RandomCrop",
    inputs=["image: T", "size: int64"],
    outputs=["output: T"],
    attrs=[
        "T: {uint8, int8, int16, int32, int64, float, double}",
        "seed: int = 0",
        "seed2: int = 0",
    ],
    shape_fn=_random_crop_shape,
    gradient=NOT_DIFFERENTIABLE,
    stateful=True,
    deprecated=(8, "Random crop is now pure Python"),
    doc="A part of an image [height, width, channels] at a random place.",
)


def _distorted_shape(c: InferenceContext) -> list[TensorShape]:
    """begin, size and the box itself."""
    image_size = c.with_rank(0, 1).dims_tuple
    boxes = c.with_rank(1, 3).dims_tuple
    assert image_size is not None
    assert boxes is not None
    c.with_value(image_size[0], 3)
    c.with_value(boxes[2], 4)
    if c.num_inputs > 2:
        c.with_rank(2, 0)
    if c.num_inputs > 3:
        seed = c.with_rank(3, 1).dims_tuple
        assert seed is not None
        c.with_value(seed[0], 2)
    vector = TensorShape.of((3,))
    return [vector, vector, TensorShape.of((1, 1, 4))]


_BOXES_IN = ["image_size: T", "bounding_boxes: float"]
_BOX_OUT = ["begin: T", "size: T", "bboxes: float"]
_BOX_TYPE = "T: {uint8, int8, int16, int32, int64}"
_SEEDS = ["seed: int = 0", "seed2: int = 0"]
_BOX_ATTRS = [
    "aspect_ratio_range: list(float) = [0.75, 1.33]",
    "area_range: list(float) = [0.05, 1.0]",
    "max_attempts: int = 100",
    "use_image_if_no_bounding_boxes: bool = false",
]
register_op(
    "SampleDistortedBoundingBox",
    inputs=_BOXES_IN,
    outputs=_BOX_OUT,
    attrs=[_BOX_TYPE, *_SEEDS, "min_object_covered: float = 0.1", *_BOX_ATTRS],
    shape_fn=_distorted_shape,
    gradient=NOT_DIFFERENTIABLE,
    stateful=True,
    doc="A random box that covers enough of one of the given boxes.",
)
register_op(
    "SampleDistortedBoundingBoxV2",
    inputs=[*_BOXES_IN, "min_object_covered: float"],
    outputs=_BOX_OUT,
    attrs=[_BOX_TYPE, *_SEEDS, *_BOX_ATTRS],
    shape_fn=_distorted_shape,
    gradient=NOT_DIFFERENTIABLE,
    stateful=True,
    doc="SampleDistortedBoundingBox with the share to be covered as a tensor.",
)
register_op(
    "StatelessSampleDistortedBoundingBox",
    inputs=[*_BOXES_IN, "min_object_covered: float", "seed: Tseed"],
    outputs=_BOX_OUT,
    attrs=[_BOX_TYPE, "Tseed: {int32, int64}", *_BOX_ATTRS],
    shape_fn=_distorted_shape,
    doc="SampleDistortedBoundingBoxV2 with the seed [2] as a tensor.",
)
