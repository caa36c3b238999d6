"""Hue, saturation and value, changed in the YIQ space of colours."""

from __future__ import annotations

from typing import Any

from tensorloom.framework.graph.graph import name_scope
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.image.conversion import convert_image_dtype
from tensorloom.ops.random.random_ops import random_uniform


def _drawn(low: float, high: float, seed: Any) -> Any:
    return low if low == high else random_uniform([], low, high, seed=seed)


def random_hsv_in_yiq(
    image: Any,
    max_delta_hue: float = 0,
    lower_saturation: float = 1,
    upper_saturation: float = 1,
    lower_value: float = 1,
    upper_value: float = 1,
    seed: int | None = None,
) -> Any:
    """`adjust_hsv_in_yiq` with drawn numbers.

    Args:
      image: RGB, [..., 3].
      max_delta_hue: the hue turns by so many radians at most, either way.
      lower_saturation, upper_saturation, lower_value, upper_value: between which the
        factors are drawn.
      seed: of the draws.

    Raises:
      ValueError: a bound is negative, or a lower one above an upper one.
    """
    if max_delta_hue < 0:
        raise ValueError("max_delta must be non-negative.")
    if lower_saturation < 0:
        raise ValueError("lower_saturation must be non-negative.")
    if lower_value < 0:
        raise ValueError("lower_value must be non-negative.")
    if lower_saturation > upper_saturation:
        raise ValueError("lower_saturation must be < upper_saturation.")
    if lower_value > upper_value:
        raise ValueError("lower_value must be < upper_value.")
    hue = 0 if max_delta_hue == 0 else _drawn(-max_delta_hue, max_delta_hue, seed)
    saturation = _drawn(lower_saturation, upper_saturation, seed)
    value = _drawn(lower_value, upper_value, seed)
    return adjust_hsv_in_yiq(image, hue, saturation, value)


def adjust_hsv_in_yiq(
    image: Any,
    delta_hue: Any = 0,
    scale_saturation: Any = 1,
    scale_value: Any = 1,
    name: str | None = None,
) -> Any:
    """An image with another hue, saturation and value.

    Args:
      image: RGB, [..., 3].
      delta_hue: by how many radians the hue turns.
      scale_saturation, scale_value: factors.
      name: of the operations.
    """
    with name_scope(name, "adjust_hsv_in_yiq", [image]):
        image = convert_to_tensor(image, name="image")
        changed = apply_op(
            "AdjustHsvInYiq",
            images=convert_image_dtype(image, dtypes.float32),
            delta_h=delta_hue,
            scale_s=scale_saturation,
            scale_v=scale_value,
        )
        return convert_image_dtype(changed, image.dtype)
