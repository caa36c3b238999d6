"""`single_image_random_dot_stereograms`: pictures in which depths can be seen."""

from __future__ import annotations

from typing import Any

from tensorloom.framework.export import export
from tensorloom.framework.registry.op_def_library import apply_op


@export("contrib.image.single_image_random_dot_stereograms")
def single_image_random_dot_stereograms(
    depth_values: Any,
    hidden_surface_removal: bool | None = None,
    convergence_dots_size: int | None = None,
    dots_per_inch: int | None = None,
    eye_separation: float | None = None,
    mu: float | None = None,
    normalize: bool | None = None,
    normalize_max: float | None = None,
    normalize_min: float | None = None,
    border_level: float | None = None,
    number_colors: int | None = None,
    output_image_shape: Any = None,
    output_data_window: Any = None,
) -> Any:
    """A picture of random dots: eyes that look behind it see a surface.

    Args:
      depth_values: [rows, columns]; 0 is far and 1 near.
      hidden_surface_removal: whether what one eye alone sees is left alone; True.
      convergence_dots_size: of two dots below, in pixels, to focus on; 8.
      dots_per_inch: of the screen; 72.
      eye_separation: inches between the eyes; 2.5.
      mu: the depth of field, as a part of the distance of the viewer; a third.
      normalize: whether depths are scaled to 0..1; True.
      normalize_max, normalize_min: what becomes 1 and 0; by default the largest and
        the least depth.
      border_level: the depth around the data; 0.
      number_colors: 2, 256 greys, or more for colours; 256.
      output_image_shape: width, height and channels; [1024, 768, 1].
      output_data_window: width and height of what shows the depths; [1022, 757].

    Returns:
      uint8, [height, width, channels].
    """
    options = {
        "hidden_surface_removal": hidden_surface_removal,
        "convergence_dots_size": convergence_dots_size,
        "dots_per_inch": dots_per_inch,
        "eye_separation": eye_separation,
        "mu": mu,
        "normalize": normalize,
        "normalize_max": normalize_max,
        "normalize_min": normalize_min,
        "border_level": border_level,
        "number_colors": number_colors,
        "output_image_shape": output_image_shape,
        "output_data_window": output_data_window,
    }
    given = {name: value for name, value in options.items() if value is not None}
    return apply_op(
        "SingleImageRandomDotStereograms", depth_values=depth_values, **given
    )
