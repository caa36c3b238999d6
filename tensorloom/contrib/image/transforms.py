"""Projective transforms of images: eight numbers say where each pixel comes from."""

from __future__ import annotations

from typing import Any

from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import name_scope
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.constant_value import constant_value
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.ops.array.concat import concat
from tensorloom.ops.array.constant import constant
from tensorloom.ops.array.fill import ones as ones_op
from tensorloom.ops.array.fill import zeros as zeros_op
from tensorloom.ops.array.reshape import reshape
from tensorloom.ops.array.shape import shape
from tensorloom.ops.linalg.matmul import matmul
from tensorloom.ops.math.cast import cast
from tensorloom.ops.math.elementwise import cos as cos_op
from tensorloom.ops.math.elementwise import sin as sin_op

_TYPES = (
    dtypes.uint8,
    dtypes.int32,
    dtypes.int64,
    dtypes.float16,
    dtypes.float32,
    dtypes.float64,
)


def _batch(images: Any) -> tuple[Any, int]:
    """Images as [batch, height, width, channels], and their own rank."""
    if images.dtype.base_dtype not in _TYPES:
        raise TypeError(f"Invalid dtype {images.dtype!r}.")
    rank = images.shape.rank
    if rank is None:
        raise TypeError("image_or_images rank must be statically known")
    if rank == 2:
        return images[None, :, :, None], rank
    if rank == 3:
        return images[None, :, :, :], rank
    if rank == 4:
        return images, rank
    raise TypeError("Images should have rank between 2 and 4.")


def _of_rank(images: Any, rank: int) -> Any:
    if rank == 2:
        return images[0, :, :, 0]
    return images[0, :, :, :] if rank == 3 else images


@export("contrib.image.rotate")
def rotate(
    images: Any, angles: Any, interpolation: str = "NEAREST", name: str | None = None
) -> Any:
    """Images, turned counterclockwise around their middle.

    Args:
      images: [batch, height, width, channels], [height, width, channels] or [height,
        width].
      angles: in radians, one or one for each image.
      interpolation: "NEAREST" or "BILINEAR".
      name: of the operations.

    Raises:
      TypeError: the dtype or the rank is none of those.
    """
    with name_scope(name, "rotate"):
        given = convert_to_tensor(images)
        batch, rank = _batch(given)
        height = cast(shape(batch)[1], dtypes.float32)[None]
        width = cast(shape(batch)[2], dtypes.float32)[None]
        transforms = angles_to_projective_transforms(angles, height, width)
        return _of_rank(transform(batch, transforms, interpolation), rank)


@export("contrib.image.translate")
def translate(
    images: Any,
    translations: Any,
    interpolation: str = "NEAREST",
    name: str | None = None,
) -> Any:
    """Images, moved.

    Args:
      images: see `rotate`.
      translations: [dx, dy], or one for each image.
      interpolation: "NEAREST" or "BILINEAR".
      name: of the operations.

    Raises:
      TypeError: a dtype or rank is not supported.
    """
    with name_scope(name, "translate"):
        transforms = translations_to_projective_transforms(translations)
        return transform(images, transforms, interpolation)


@export("contrib.image.angles_to_projective_transforms")
def angles_to_projective_transforms(
    angles: Any, image_height: Any, image_width: Any, name: str | None = None
) -> Any:
    """Transforms that turn images around their middle, [images, 8].

    Args:
      angles: in radians, one or one for each image.
      image_height, image_width: of the images, float32.
      name: of the operations.

    Raises:
      TypeError: there are more dimensions.
    """
    with name_scope(name, "angles_to_projective_transforms"):
        angles = convert_to_tensor(angles, name="angles", dtype=dtypes.float32)
        if angles.shape.rank == 0:
            angles = angles[None]
        elif angles.shape.rank != 1:
            raise TypeError("Angles should have rank 0 or 1.")
        cos, sin = cos_op(angles), sin_op(angles)
        right, bottom = image_width - 1, image_height - 1
        x_offset = (right - (cos * right - sin * bottom)) / 2.0
        y_offset = (bottom - (sin * right + cos * bottom)) / 2.0
        columns = [cos, -sin, x_offset, sin, cos, y_offset]
        zeros = zeros_op((shape(angles)[0], 2), dtypes.float32)
        return concat([*(one[:, None] for one in columns), zeros], axis=1)


@export("contrib.image.translations_to_projective_transforms")
def translations_to_projective_transforms(
    translations: Any, name: str | None = None
) -> Any:
    """Transforms that move images, [images, 8].

    Args:
      translations: [dx, dy], or one for each image.
      name: of the operations.

    Raises:
      TypeError: the rank is neither 1 nor 2.
    """
    with name_scope(name, "translations_to_projective_transforms"):
        moves = convert_to_tensor(
            translations, name="translations", dtype=dtypes.float32
        )
        if moves.shape.rank is None:
            raise TypeError("translation_or_translations rank must be statically known")
        if moves.shape.rank == 1:
            moves = moves[None]
        elif moves.shape.rank != 2:
            raise TypeError("Translations should have rank 1 or 2.")
        count = shape(moves)[0]
        ones, zeros = ones_op((count, 1)), zeros_op((count, 1))
        x, y = -moves[:, 0, None], -moves[:, 1, None]
        parts = [ones, zeros, x, zeros, ones, y, zeros_op((count, 2))]
        return concat(parts, axis=1)


@export("contrib.image.transform")
def transform(
    images: Any,
    transforms: Any,
    interpolation: str = "NEAREST",
    output_shape: Any = None,
    name: str | None = None,
) -> Any:
    """Images whose pixel (x, y) comes from ((a0 x + a1 y + a2) / k, (b0 x + b1 y + b2)
    / k) with k = c0 x + c1 y + 1; zero where that lies outside.

    Args:
      images: see `rotate`.
      transforms: [a0, a1, a2, b0, b1, b2, c0, c1], or one for each image.
      interpolation: "NEAREST" or "BILINEAR".
      output_shape: the height and width of the result; those of the images when None.
      name: of the operations.

    Raises:
      TypeError: a dtype or rank is not supported.
      ValueError: `output_shape` is no vector of two.
    """
    with name_scope(name, "transform"):
        given = convert_to_tensor(images, name="images")
        matrices = convert_to_tensor(
            transforms, name="transforms", dtype=dtypes.float32
        )
        batch, rank = _batch(given)
        if output_shape is None:
            output_shape = shape(batch)[1:3]
            known = constant_value(output_shape)
            output_shape = output_shape if known is None else known
        output_shape = convert_to_tensor(
            output_shape, dtypes.int32, name="output_shape"
        )
        if not output_shape.shape.is_compatible_with([2]):
            raise ValueError(
                "output_shape must be a 1-D Tensor of 2 elements: new_height, new_width"
            )
        if matrices.shape.rank is None:
            raise TypeError("transform_or_transforms rank must be statically known")
        if matrices.shape.rank == 1:
            matrices = matrices[None]
        elif matrices.shape.rank != 2:
            raise TypeError("Transforms should have rank 1 or 2.")
        output = apply_op(
            "ImageProjectiveTransformV2",
            images=batch,
            output_shape=output_shape,
            transforms=matrices,
            interpolation=interpolation.upper(),
        )
        return _of_rank(output, rank)


@export("contrib.image.compose_transforms")
def compose_transforms(*transforms: Any) -> Any:
    """One transform for several, the last of which comes first. [n, 8]

    Raises:
      AssertionError: there is none.
    """
    if not transforms:
        raise AssertionError("transforms cannot be empty")
    with name_scope("compose_transforms"):
        composed = flat_transforms_to_matrices(transforms[0])
        for one in transforms[1:]:
            composed = matmul(composed, flat_transforms_to_matrices(one))
        return matrices_to_flat_transforms(composed)


@export("contrib.image.flat_transforms_to_matrices")
def flat_transforms_to_matrices(transforms: Any) -> Any:
    """Transforms of eight numbers as matrices, [n, 3, 3].

    Raises:
      ValueError: the rank is neither 1 nor 2.
    """
    with name_scope("flat_transforms_to_matrices"):
        transforms = convert_to_tensor(transforms, name="transforms")
        if transforms.shape.rank not in (1, 2):
            raise ValueError(f"Transforms should be 1D or 2D, got: {transforms}")
        flat = reshape(transforms, constant([-1, 8]))
        ones = ones_op([shape(flat)[0], 1])
        return reshape(concat([flat, ones], axis=1), constant([-1, 3, 3]))


@export("contrib.image.matrices_to_flat_transforms")
def matrices_to_flat_transforms(transform_matrices: Any) -> Any:
    """Matrices as transforms of eight numbers, [n, 8]: the last element becomes 1.

    Raises:
      ValueError: the rank is neither 2 nor 3.
    """
    with name_scope("matrices_to_flat_transforms"):
        matrices = convert_to_tensor(transform_matrices, name="transform_matrices")
        if matrices.shape.rank not in (2, 3):
            raise ValueError(f"Matrices should be 2D or 3D, got: {matrices}")
        flat = reshape(matrices, constant([-1, 9]))
        return (flat / flat[:, 8:9])[:, :8]
