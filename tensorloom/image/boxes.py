"""`tf.image.sample_distorted_bounding_box`."""

from __future__ import annotations

from typing import Any

from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import name_scope
from tensorloom.framework.registry.op_def_library import apply_op


@export("image.sample_distorted_bounding_box")
def sample_distorted_bounding_box(
    image_size: Any,
    bounding_boxes: Any,
    seed: int | None = None,
    seed2: int | None = None,
    min_object_covered: Any = 0.1,
    aspect_ratio_range: Any = None,
    area_range: Any = None,
    max_attempts: int | None = None,
    use_image_if_no_bounding_boxes: bool | None = None,
    name: str | None = None,
) -> Any:
    """(begin, size, box): a random part of an image, as arguments of `tf.slice`.

    Args:
      image_size: [height, width, channels].
      bounding_boxes: [batch, n, 4] of (y_min, x_min, y_max, x_max), 0 to 1.
      seed, seed2: the op's seeds as they are; the graph's seed does not count.
      min_object_covered: the share of some box that must be in the part.
      aspect_ratio_range: of width over height; area_range: of the image's area.
    """
    optional = {
        "seed": seed,
        "seed2": seed2,
        "aspect_ratio_range": aspect_ratio_range,
        "area_range": area_range,
        "max_attempts": max_attempts,
        "use_image_if_no_bounding_boxes": use_image_if_no_bounding_boxes,
    }
    given = {key: value for key, value in optional.items() if value is not None}
    with name_scope(name, "sample_distorted_bounding_box"):
        return apply_op(
            "SampleDistortedBoundingBoxV2",
            image_size=image_size,
            bounding_boxes=bounding_boxes,
            min_object_covered=min_object_covered,
            name=name,
            **given,
        )
