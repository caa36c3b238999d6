"""Gradients of windows and volumes, images, summaries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tests.peer.ops.draw import K
from tests.peer.ops.program import Program
from tests.peer.ops.spec import Tolerance, call, spec

if TYPE_CHECKING:
    from tests.peer.ops.draw import Draw

_PADDINGS = ("SAME", "VALID")
_PRODUCTS = Tolerance(1e-4, 1e-5, reason="sums of products in another order")


def _out(size: int, window: int, stride: int, padding: str) -> int:
    """The size of an axis after a window went over it."""
    return -(-size // stride) if padding == "SAME" else (size - window) // stride + 1


def _text(value: bytes | str) -> Any:
    return np.array(value.encode() if isinstance(value, str) else value, object)


# --- volumes -----------------------------------------------------------------


def _volume(d: Draw, low: int = 4) -> tuple[int, ...]:
    return (d.integer(1, 2), *(d.integer(low, 6) for _ in range(3)), d.integer(1, 3))


def _moves(
    d: Draw, shape: tuple[int, ...]
) -> tuple[list[int], list[int], str, list[int]]:
    """A window, strides, padding and the sizes of the output without its depth."""
    window = [d.integer(1, 3) for _ in shape[1:-1]]
    strides = [d.integer(1, 2) for _ in shape[1:-1]]
    padding = d.choice(_PADDINGS)
    out = [
        _out(*one, padding) for one in zip(shape[1:-1], window, strides, strict=True)
    ]
    return window, strides, padding, [shape[0], *out]


def _conv3d_gradient(d: Draw) -> Any:
    shape = _volume(d)
    window, strides, padding, out = _moves(d, shape)
    depth = d.integer(1, 3)
    filters = (*window, shape[-1], depth)
    back = d.array((*out, depth))
    attrs: dict[str, Any] = {"strides": [1, *strides, 1], "padding": padding}
    if "Filter" in d.op:
        second = K(list(filters), "int32") if d.op.endswith("V2") else d.array(filters)
        return call(d.array(shape), second, back, **attrs)
    first = K(list(shape), "int32") if d.op.endswith("V2") else d.array(shape)
    return call(first, d.array(filters), back, **attrs)


spec(
    "Conv3DBackpropFilterV2 Conv3DBackpropInputV2",
    _conv3d_gradient,
    attr="T",
    tolerance=_PRODUCTS,
    mutate=("dtype",),
)
spec(
    "Conv3DBackpropFilter Conv3DBackpropInput",
    _conv3d_gradient,
    attr="T",
    tolerance=_PRODUCTS,
    mutate=("dtype",),
    producer=9,
)


def _avg_pool3d_gradient(d: Draw) -> Any:
    shape = _volume(d)
    window, strides, padding, out = _moves(d, shape)
    return call(
        K(list(shape), "int32"),
        d.array((*out, shape[-1])),
        ksize=[1, *window, 1],
        strides=[1, *strides, 1],
        padding=padding,
    )


def _max_pool3d_gradient(d: Draw) -> Program:
    p = Program(differentiate=False)
    shape = _volume(d)
    window, strides, padding, out = _moves(d, shape)
    attrs: dict[str, Any] = {
        "ksize": [1, *window, 1],
        "strides": [1, *strides, 1],
        "padding": padding,
    }
    volume = p.feed(d.array(shape, distinct=True))
    pooled = p.op("MaxPool3D", volume, **attrs)
    back = (*out, shape[-1]) if d.op == "MaxPool3DGrad" else shape
    p.run(p.op(d.op, volume, pooled, p.feed(d.array(back)), **attrs))
    return p


spec("AvgPool3DGrad", _avg_pool3d_gradient, attr="T", mutate=("dtype",))
spec("MaxPool3DGrad", _max_pool3d_gradient, attr="T", mutate=("dtype",))
spec(
    "MaxPool3DGradGrad",
    _max_pool3d_gradient,
    types=["float16", "float32", "float64", "bfloat16"],
    mutate=("dtype",),
)


# --- images ------------------------------------------------------------------


def _image(d: Draw, depth: int = 2) -> tuple[int, ...]:
    return (d.integer(1, 2), d.integer(5, 8), d.integer(5, 8), depth)


def _dilation_gradient(d: Draw) -> Any:
    shape = _image(d)
    window, strides, padding, out = _moves(d, shape)
    return call(
        d.array(shape),
        d.array((*window, shape[-1])),
        d.array((*out, shape[-1])),
        strides=[1, *strides, 1],
        rates=[1, 1, 1, 1],
        padding=padding,
    )


spec(
    "Dilation2DBackpropFilter Dilation2DBackpropInput",
    _dilation_gradient,
    gradient=False,
    mutate=("rank", "dtype"),
)


def _fractional_gradient(d: Draw) -> Program:
    p = Program(differentiate=False)
    kind = d.op.removesuffix("Grad")
    shape = _image(d)
    image = p.feed(d.array(shape, distinct=True))
    overlapping = d.maybe(0.5)
    pooled = p.op(
        kind,
        image,
        pooling_ratio=[1.0, 1.44, 1.73, 1.0],
        overlapping=overlapping,
        deterministic=True,
        seed=3,
        seed2=5,
    )
    back = p.op("OnesLike", pooled)
    if kind == "FractionalMaxPool":
        given = [image, pooled[0], back, pooled[1], pooled[2]]
    else:
        given = [p.const(list(shape), "int64"), back, pooled[1], pooled[2]]
    p.run(p.op(d.op, *given, overlapping=overlapping))
    return p


spec(
    "FractionalMaxPoolGrad FractionalAvgPoolGrad",
    _fractional_gradient,
    mutate=("dtype",),
)


def _max_pool_second(d: Draw) -> Program:
    p = Program(differentiate=False)
    shape = _image(d)
    window, strides, padding, _ = _moves(d, shape)
    sizes = {"ksize": [1, *window, 1], "strides": [1, *strides, 1]}
    image = p.feed(d.array(shape, distinct=True))
    back = p.feed(d.array(shape))
    pooled = p.op("MaxPool", image, padding=padding, **sizes)
    given = [p.const(one, "int32") for one in sizes.values()]
    p.run(p.op(d.op, image, pooled, back, *given, padding=padding))
    return p


spec("MaxPoolGradGradV2", _max_pool_second, attr="T", mutate=("dtype",))


def _fused_pad(d: Draw) -> Any:
    # One image: TensorFlow takes the first one's padding for all.
    shape = (1, *_image(d, 2)[1:])
    pads = [[0, 0], [d.integer(0, 2), d.integer(0, 2)], [1, 0], [0, 0]]
    filters = d.array((2, 3, 2, 2))
    attrs: dict[str, Any] = {
        "mode": d.choice(("REFLECT", "SYMMETRIC")),
        "strides": [1, d.integer(1, 2), 1, 1],
        "padding": d.choice(_PADDINGS),
    }
    attrs["strides"][2] = attrs["strides"][1]
    if "Resize" in d.op:
        size = K([d.integer(4, 9), d.integer(4, 9)], "int32")
        aligned = d.maybe(0.5)
        return call(
            d.array(shape),
            size,
            K(pads, "int32"),
            filters,
            resize_align_corners=aligned,
            **attrs,
        )
    return call(d.array(shape), K(pads, "int32"), filters, **attrs)


spec(
    "FusedPadConv2D FusedResizeAndPadConv2D",
    _fused_pad,
    gradient=False,
    tolerance=_PRODUCTS,
    mutate=("dtype",),
    known={"shapes": "TensorFlow's shape function refuses images of unknown rank"},
)


def _crops(d: Draw) -> tuple[Any, Any]:
    corners = np.sort(d.rng.uniform(0, 1, (3, 2, 2)), 1).astype(np.float32)
    return corners.reshape(3, 4), d.rng.integers(0, 2, 3).astype(np.int32)


def _crop_gradient_image(d: Draw) -> Any:
    back = d.array((3, 4, 5, 2), dtype="float32")
    method = d.choice(("bilinear", "nearest"))
    size = K([2, 6, 7, 2], "int32")
    return call(back, *_crops(d), size, method=method)


def _crop_gradient_boxes(d: Draw) -> Any:
    image = d.array((2, 6, 7, 2))
    return call(d.array((3, 4, 5, 2), dtype="float32"), image, *_crops(d))


spec(
    "CropAndResizeGradImage",
    _crop_gradient_image,
    tolerance=Tolerance(1e-4, 1e-5, "sums in another order", widened=4),
    mutate=("rank", "dtype"),
)
spec(
    "CropAndResizeGradBoxes",
    _crop_gradient_boxes,
    tolerance=Tolerance(1e-4, 1e-5, "sums in another order"),
    mutate=("rank", "dtype"),
)


def _glimpse(d: Draw) -> Any:
    # Random noise is compared by shape only: a glimpse inside the image has none.
    image = d.array((2, 7, 8, 2), dtype="float32")
    return call(
        image,
        K([3, 4], "int32"),
        np.array([[0.1, -0.1], [0.0, 0.2]], np.float32),
        centered=True,
        normalized=True,
    )


spec("ExtractGlimpse", _glimpse, types=(), mutate=("rank", "dtype"))


def _projective(d: Draw) -> Any:
    row = [1.1, 0.1, 0.2, -0.1, 0.9, 0.3, 0.01, 0.02]
    rows = np.array([row] * d.integer(1, 2), np.float32)
    images = d.array((2, 5, 6, 2))
    size = K([d.integer(3, 7), 4], "int32")
    return call(images, rows, size, interpolation=d.choice(("NEAREST", "BILINEAR")))


spec(
    "ImageProjectiveTransformV2",
    _projective,
    tolerance=Tolerance(1e-4, 1e-5, "interpolation"),
    mutate=("rank", "dtype"),
)


def _scale_gradient(d: Draw) -> Any:
    return call(
        d.array((2, 4, 5, 2)),
        d.array((2, 6, 7, 2)),
        np.array([0.8, 0.7], np.float32),
        np.array([0.5, -0.3], np.float32),
        kernel_type=d.choice(("lanczos3", "triangle", "keyscubic", "box")),
        antialias=d.maybe(0.5),
    )


spec(
    "ScaleAndTranslateGrad",
    _scale_gradient,
    gradient=False,
    tolerance=Tolerance(1e-4, 1e-5, "sums in another order"),
    mutate=("rank", "dtype"),
)
spec(
    "AdjustContrast",
    lambda d: (d.array((2, 4, 3, 2)), np.float32(1.5), np.float32(-3), np.float32(6)),
    gradient=False,
    mutate=("dtype",),
    producer=1,
)


def _random_crop(d: Draw) -> Any:
    return call(d.array((6, 7, 3)), K([4, 5], "int64"), seed=3, seed2=5)


spec(
    "RandomCrop",
    _random_crop,
    types=["uint8", "float32", "int64"],
    mutate=("dtype",),
    producer=7,
    known={"values": "the random corner is another; graphs lost the op with version 8"},
)


def _batch_norm(d: Draw) -> Any:
    t = d.array((2, 3, 3, 4))
    m, beta, gamma = (d.array((4,)) for _ in range(3))
    v = d.array((4,), low=0.5, high=2)
    attrs = {"variance_epsilon": 0.01, "scale_after_normalization": d.maybe(0.5)}
    if d.op.endswith("Grad"):
        return call(t, m, v, gamma, d.array((2, 3, 3, 4)), **attrs)
    return call(t, m, v, beta, gamma, **attrs)


spec(
    "BatchNormWithGlobalNormalization BatchNormWithGlobalNormalizationGrad",
    _batch_norm,
    types=["float16", "float32", "float64"],
    tolerance=Tolerance(1e-4, 1e-5, "rsqrt and sums", widened=4),
    mutate=("dtype",),
    producer=8,
)

# --- summaries of images -----------------------------------------------------


def _image_summary(d: Draw) -> Any:
    if d.dtype.name == "uint8":
        images = d.array((4, 3, 5, d.choice((1, 3, 4))), low=0, high=255)
    else:
        images = d.array((4, 3, 5, d.choice((1, 3, 4))))
    return call(_text("tag"), images, max_images=d.integer(1, 3))


def _decoded(arrays: list[Any]) -> list[Any]:
    """PNG files of other bytes may hold the same image."""
    import io

    from PIL import Image

    from tensorloom.protos import summary_pb2

    out: list[Any] = []
    for array in arrays:
        summary = summary_pb2.Summary.FromString(bytes(array.item()))
        for value in summary.value:
            pixels = Image.open(io.BytesIO(value.image.encoded_image_string))
            out.append(np.array([value.tag.encode()], object))
            out.append(np.asarray(pixels).astype(np.int64))
    return out


spec("ImageSummary", _image_summary, canonical=_decoded, mutate=("rank", "dtype"))
