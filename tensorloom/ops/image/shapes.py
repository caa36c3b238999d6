"""Shape arithmetic that the image ops share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tensorloom.framework.types.tensor_shape import TensorShape

if TYPE_CHECKING:
    from tensorloom.framework.registry.shape_inference import InferenceContext


def size_of(c: InferenceContext, index: int) -> tuple[int | None, int | None]:
    """(height, width) from the input at `index`, a vector of two sizes."""
    dims = c.with_rank(index, 1).dims_tuple
    assert dims is not None
    c.with_value(dims[0], 2)
    value = c.input_value(index)
    if value is None:
        return None, None
    sizes = [int(size) for size in value]
    for size in sizes:
        if size < -1:
            c.fail(f"Dimension {size} must be >= 0")
    # As everywhere in shapes, -1 is a size that is not known.
    height, width = (None if size == -1 else size for size in sizes)
    return height, width


def resized_shape(c: InferenceContext) -> TensorShape:
    """[batch, height, width, channels] with height and width from the second input."""
    dims = c.with_rank(0, 4).dims_tuple
    assert dims is not None
    height, width = size_of(c, 1)
    return TensorShape.of((dims[0], height, width, dims[3]))


def like_second_input(c: InferenceContext) -> TensorShape:
    """The shape of the second input."""
    return c.input_shape(1)


def image_at_least(c: InferenceContext) -> TensorShape:
    """The shape of the first input [..., height, width, channels]."""
    return c.with_rank_at_least(0, 3)


def adjusted_image(c: InferenceContext) -> TensorShape:
    """Images [..., height, width, channels], changed by a scalar."""
    shape = image_at_least(c)
    # As in TensorFlow, only the contrast's factor is looked at before it runs.
    if c.op_name not in ("AdjustHue", "AdjustSaturation"):
        for index in range(1, c.num_inputs):
            c.with_rank(index, 0)
    return shape
