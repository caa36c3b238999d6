"""Images from and to files' contents: PNG, JPEG, GIF, BMP, WebP."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.framework.export import export
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.registry.op_registry import register_op
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_shape import SCALAR, TensorShape

if TYPE_CHECKING:
    from tensorloom.framework.graph.tensor import Tensor
    from tensorloom.framework.registry.shape_inference import InferenceContext


def _decode_shape(c: InferenceContext) -> TensorShape:
    c.with_rank(0, 0)
    channels = c.attrs["channels"]
    if channels < 0:
        c.fail(f"channels must be non-negative, got {channels}")
    return TensorShape.of((None, None, channels or None))


def _gif_shape(c: InferenceContext) -> TensorShape:
    c.with_rank(0, 0)
    return TensorShape.of((None, None, None, 3))


def _webp_shape(c: InferenceContext) -> TensorShape:
    image = _decode_shape(c).dims_tuple
    assert image is not None
    return TensorShape.of((None, *image))


def _jpeg_crop_shape(c: InferenceContext) -> TensorShape:
    channels = _decode_shape(c).dims_tuple
    assert channels is not None
    window = c.with_rank(1, 1).dims_tuple
    assert window is not None
    c.with_value(window[0], 4)
    value = c.input_value(1)
    height, width = (None, None) if value is None else map(int, value[2:])
    return TensorShape.of((height, width, channels[2]))


def _jpeg_shape_shape(c: InferenceContext) -> TensorShape:
    c.with_rank(0, 0)
    return TensorShape.of((3,))


def _any_image_shape(c: InferenceContext) -> TensorShape:
    """Of rank 3, or 4 where all the frames of a GIF may come."""
    c.with_rank(0, 0)
    channels = c.attrs["channels"]
    if channels < 0:
        c.fail(f"channels must be non-negative, got {channels}")
    if c.attrs["expand_animations"]:
        return TensorShape.of(None)
    return TensorShape.of((None, None, channels or None))


def _encode_shape(c: InferenceContext) -> TensorShape:
    c.with_rank(0, 3)
    return SCALAR


register_op(
    "DecodePng",
    inputs=["contents: string"],
    outputs=["image: dtype"],
    attrs=["channels: int = 0", "dtype: {uint8, uint16} = DT_UINT8"],
    shape_fn=_decode_shape,
    doc="An image [height, width, channels] from a PNG file's contents.",
)
_JPEG_ATTRS = [
    "channels: int = 0",
    "ratio: int = 1",
    "fancy_upscaling: bool = true",
    "try_recover_truncated: bool = false",
    "acceptable_fraction: float = 1.0",
    "dct_method: string = ''",
]
register_op(
    "DecodeAndCropJpeg",
    inputs=["contents: string", "crop_window: int32"],
    outputs=["image: uint8"],
    attrs=_JPEG_ATTRS,
    shape_fn=_jpeg_crop_shape,
    doc="The part (y, x, height, width) of an image from a JPEG file's contents.",
)
register_op(
    "ExtractJpegShape",
    inputs=["contents: string"],
    outputs=["image_shape: output_type"],
    attrs=["output_type: {int32, int64} = DT_INT32"],
    shape_fn=_jpeg_shape_shape,
    doc="(height, width, channels) from a JPEG file's header.",
)
register_op(
    "DecodeImage",
    inputs=["contents: string"],
    outputs=["image: dtype"],
    attrs=[
        "channels: int = 0",
        "dtype: {uint8, uint16, float} = DT_UINT8",
        "expand_animations: bool = true",
    ],
    shape_fn=_any_image_shape,
    doc="An image from the contents of a JPEG, PNG, GIF or BMP file.",
)
register_op(
    "EncodeJpegVariableQuality",
    inputs=["images: uint8", "quality: int32"],
    outputs=["contents: string"],
    shape_fn=_encode_shape,
    doc="EncodeJpeg with the quality as a tensor.",
)
register_op(
    "DecodeJpeg",
    inputs=["contents: string"],
    outputs=["image: uint8"],
    attrs=_JPEG_ATTRS,
    shape_fn=_decode_shape,
    doc="An image [height, width, channels] from a JPEG file's contents.",
)
register_op(
    "DecodeBmp",
    inputs=["contents: string"],
    outputs=["image: uint8"],
    attrs=["channels: int = 0"],
    shape_fn=_decode_shape,
    doc="An image [height, width, channels] from a BMP file's contents.",
)
register_op(
    "DecodeGif",
    inputs=["contents: string"],
    outputs=["image: uint8"],
    shape_fn=_gif_shape,
    doc="Images [frames, height, width, 3] from a GIF file's contents.",
)
register_op(
    "DecodeWebP",
    inputs=["contents: string"],
    outputs=["image: dtype"],
    attrs=["channels: int = 0", "dtype: {uint8} = DT_UINT8"],
    shape_fn=_webp_shape,
    doc="Images [frames, height, width, 3 or 4] from a WebP file's contents.",
)
register_op(
    "EncodePng",
    inputs=["image: T"],
    outputs=["contents: string"],
    attrs=["compression: int = -1", "T: {uint8, uint16} = DT_UINT8"],
    shape_fn=_encode_shape,
    doc="The contents of a PNG file of an image.",
)
register_op(
    "EncodeJpeg",
    inputs=["image: uint8"],
    outputs=["contents: string"],
    attrs=[
        "format: {'', 'grayscale', 'rgb'} = ''",
        "quality: int = 95",
        "progressive: bool = false",
        "optimize_size: bool = false",
        "chroma_downsampling: bool = true",
        "density_unit: {'in', 'cm'} = 'in'",
        "x_density: int = 300",
        "y_density: int = 300",
        "xmp_metadata: string = ''",
    ],
    shape_fn=_encode_shape,
    doc="The contents of a JPEG file of an image.",
)


@export("image.decode_png", "io.decode_png")
def decode_png(
    contents: Any, channels: int = 0, dtype: Any = dtypes.uint8, name: str | None = None
) -> Tensor:
    """An image [height, width, channels]; `channels` 0 takes what the file has."""
    return apply_op(  # type: ignore[no-any-return]
        "DecodePng", contents=contents, channels=channels, dtype=dtype, name=name
    )


@export("image.decode_jpeg", "io.decode_jpeg")
def decode_jpeg(
    contents: Any,
    channels: int = 0,
    ratio: int = 1,
    fancy_upscaling: bool = True,
    try_recover_truncated: bool = False,
    acceptable_fraction: float = 1,
    dct_method: str = "",
    name: str | None = None,
) -> Tensor:
    """An image [height, width, channels], uint8; `ratio` 1, 2, 4 or 8 shrinks it."""
    return apply_op(  # type: ignore[no-any-return]
        "DecodeJpeg",
        contents=contents,
        channels=channels,
        ratio=ratio,
        fancy_upscaling=fancy_upscaling,
        try_recover_truncated=try_recover_truncated,
        acceptable_fraction=acceptable_fraction,
        dct_method=dct_method,
        name=name,
    )


@export("image.decode_and_crop_jpeg", "io.decode_and_crop_jpeg")
def decode_and_crop_jpeg(
    contents: Any,
    crop_window: Any,
    channels: int = 0,
    ratio: int = 1,
    fancy_upscaling: bool = True,
    try_recover_truncated: bool = False,
    acceptable_fraction: float = 1,
    dct_method: str = "",
    name: str | None = None,
) -> Tensor:
    """The part `crop_window` (y, x, height, width) of an image, uint8."""
    return apply_op(  # type: ignore[no-any-return]
        "DecodeAndCropJpeg",
        contents=contents,
        crop_window=crop_window,
        channels=channels,
        ratio=ratio,
        fancy_upscaling=fancy_upscaling,
        try_recover_truncated=try_recover_truncated,
        acceptable_fraction=acceptable_fraction,
        dct_method=dct_method,
        name=name,
    )


@export("image.extract_jpeg_shape", "io.extract_jpeg_shape")
def extract_jpeg_shape(
    contents: Any, output_type: Any = dtypes.int32, name: str | None = None
) -> Tensor:
    """(height, width, channels) of a JPEG file, without decoding it."""
    return apply_op(  # type: ignore[no-any-return]
        "ExtractJpegShape", contents=contents, output_type=output_type, name=name
    )


@export("image.decode_bmp", "io.decode_bmp")
def decode_bmp(contents: Any, channels: int = 0, name: str | None = None) -> Tensor:
    """An image [height, width, channels], uint8."""
    return apply_op("DecodeBmp", contents=contents, channels=channels, name=name)  # type: ignore[no-any-return]


@export("image.decode_gif", "io.decode_gif")
def decode_gif(contents: Any, name: str | None = None) -> Tensor:
    """Images [frames, height, width, 3], uint8."""
    return apply_op("DecodeGif", contents=contents, name=name)  # type: ignore[no-any-return]


@export("image.encode_png")
def encode_png(image: Any, compression: int = -1, name: str | None = None) -> Tensor:
    """The contents of a PNG file of an image [height, width, channels]."""
    return apply_op("EncodePng", image=image, compression=compression, name=name)  # type: ignore[no-any-return]


@export("image.encode_jpeg", "io.encode_jpeg")
def encode_jpeg(
    image: Any,
    format: str = "",
    quality: int = 95,
    progressive: bool = False,
    optimize_size: bool = False,
    chroma_downsampling: bool = True,
    density_unit: str = "in",
    x_density: int = 300,
    y_density: int = 300,
    xmp_metadata: str = "",
    name: str | None = None,
) -> Tensor:
    """The contents of a JPEG file of an image [height, width, 1 or 3], uint8."""
    return apply_op(  # type: ignore[no-any-return]
        "EncodeJpeg",
        image=image,
        format=format,
        quality=quality,
        progressive=progressive,
        optimize_size=optimize_size,
        chroma_downsampling=chroma_downsampling,
        density_unit=density_unit,
        x_density=x_density,
        y_density=y_density,
        xmp_metadata=xmp_metadata,
        name=name,
    )
