"""Specs of AdjustContrastv2, AdjustHue, ..."""

from __future__ import annotations

import io
from typing import Any

import numpy as np

from tests.peer.ops.draw import Draw, K, Value
from tests.peer.ops.spec import Tolerance, call, spec
from tests.peer.ops.specs.shared.pictures import LOOSE, F, unit


def images(d: Draw, channels: int | None = None, dtype: Any = None) -> Any:
    shape = (
        d.integer(1, 3),
        d.integer(2, 7),
        d.integer(2, 7),
        channels or d.integer(1, 4),
    )
    return d.array(shape, dtype, low=0, high=100)


# --- sizes ----------------------------------------------------------------------


def resize(d: Draw) -> Any:
    flags = {"align_corners": d.maybe(0.3)}
    if not d.op.startswith("ResizeArea"):
        flags["half_pixel_centers"] = not flags["align_corners"] and d.maybe(0.5)
    return call(images(d), K([d.integer(1, 9), d.integer(1, 9)], "int32"), **flags)


def bad_size(d: Draw) -> Any:
    return call(images(d), K([0, 3], "int32"))


spec(
    "ResizeBilinear ResizeBicubic ResizeArea ResizeNearestNeighbor",
    resize,
    bad=(bad_size,),
    tolerance=LOOSE,
)


def resize_grad(d: Draw) -> Any:
    grads = images(d, 2, "float32")
    original = d.array((grads.shape[0], d.integer(2, 6), d.integer(2, 6), 2))
    return call(grads, original, align_corners=d.maybe(0.5))


spec(
    "ResizeBilinearGrad ResizeBicubicGrad",
    resize_grad,
    tolerance=LOOSE,
    gradient=False,
    mutate=("rank",),
)


spec(
    "ResizeNearestNeighborGrad",
    lambda d: call(images(d), K([4, 3], "int32")),
    gradient=False,
    tolerance=Tolerance(1e-2, 1e-2, reason="sums in half precision"),
    mutate=("rank",),
)


def scale(d: Draw) -> Any:
    kinds = [
        "lanczos1",
        "lanczos3",
        "lanczos5",
        "gaussian",
        "box",
        "triangle",
        "keyscubic",
        "mitchellcubic",
    ]
    return call(
        images(d),
        K([d.integer(1, 9), d.integer(1, 9)], "int32"),
        unit(d, 2) + F(0.4),
        unit(d, 2),
        kernel_type=d.choice(kinds),
        antialias=d.maybe(0.5),
    )


spec("ScaleAndTranslate", scale, tolerance=LOOSE)


# --- parts ----------------------------------------------------------------------


def boxes_of(d: Draw, count: int) -> Any:
    return (d.rng.random((count, 4)) * 1.4 - 0.2).astype(F)


def crops(d: Draw) -> Any:
    batch, count = images(d), d.integer(1, 5)
    return call(
        batch,
        boxes_of(d, count),
        d.indices((count,), len(batch), "int32"),
        K([d.integer(1, 4), 3], "int32"),
        method=d.choice(["bilinear", "nearest"]),
        extrapolation_value=0.5,
    )


spec(
    "CropAndResize",
    crops,
    tolerance=LOOSE,
    bad=(
        lambda d: call(
            images(d), boxes_of(d, 1), np.array([9], np.int32), K([2, 2], "int32")
        ),
    ),
)


def patches(d: Draw) -> Any:
    return call(
        images(d),
        ksizes=[1, d.integer(1, 3), 2, 1],
        strides=[1, d.integer(1, 3), 1, 1],
        rates=[1, 1, d.integer(1, 2), 1],
        padding=d.choice(["SAME", "VALID"]),
    )


spec("ExtractImagePatches", patches, mutate=("rank", "dtype"))


# Where sizes are not known, 1.15 infers a rank of 4 for values of rank 5.
spec(
    "ExtractVolumePatches",
    lambda d: call(
        Value(d.array((2, d.integer(2, 4), 3, 4, 2)), always=True),
        ksizes=[1, 2, d.integer(1, 3), 2, 1],
        strides=[1, 1, 2, d.integer(1, 2), 1],
        padding=d.choice(["SAME", "VALID"]),
    ),
    mutate=("rank", "dtype"),
)


def distorted(d: Draw) -> Any:
    low = unit(d, 2) * F(0.5)
    box = np.concatenate([low, low + F(0.1) + unit(d, 2) * F(0.4)])[None, None]
    share = () if d.op == "SampleDistortedBoundingBox" else (F(0.3),)
    sides = [d.integer(5, 100), d.integer(5, 100), 3]
    return call(
        np.array(sides, d.dtype.np_dtype),
        box,
        *share,
        seed=d.integer(1, 99),
        seed2=d.integer(1, 99),
    )


spec(
    "SampleDistortedBoundingBox SampleDistortedBoundingBoxV2",
    distorted,
    gradient=False,
    mutate=("rank",),
)


# --- colours --------------------------------------------------------------------


def colors(d: Draw) -> Any:
    return (unit(d, 2, 3, 4, 3).astype(d.dtype.np_dtype),)


spec("RGBToHSV HSVToRGB", colors, gradient=False, mutate=("dtype",))


spec(
    "AdjustHue",
    lambda d: (unit(d, 2, 3, 4, 3).astype(d.dtype.np_dtype), F(d.rng.uniform(-1, 1))),
    mutate=("dtype",),
)


spec(
    "AdjustSaturation AdjustContrastv2",
    lambda d: (unit(d, 2, 3, 4, 3).astype(d.dtype.np_dtype), F(d.rng.uniform(0, 2))),
    mutate=("dtype",),
    tolerance=LOOSE,
)


def drawn(d: Draw) -> Any:
    low = unit(d, 2, 4, 2) * F(0.6)
    boxes = np.concatenate([low, low + unit(d, 2, 4, 2) * F(0.5)], -1)
    picture = unit(d, 2, 6, 7, 3).astype(d.dtype.np_dtype)
    return (
        (picture, boxes)
        if d.op == "DrawBoundingBoxes"
        else (picture, boxes, unit(d, 2, 3))
    )


# The half kernels of 1.15 bring its process down.
spec(
    "DrawBoundingBoxes DrawBoundingBoxesV2",
    drawn,
    types=["float32"],
    gradient=False,
    mutate=("rank", "dtype"),
)


# --- suppression ----------------------------------------------------------------


def suppression(d: Draw) -> Any:
    kind = F if d.op == "NonMaxSuppression" else d.dtype.np_dtype.type
    count = d.integer(1, 20)
    low = unit(d, count, 2)
    boxes = np.concatenate([low, low + unit(d, count, 2)], 1).astype(kind)
    scores = (d.rng.permutation(count) / F(count)).astype(kind)
    share, least = kind(0.4), kind(0.1)
    more = {
        "NonMaxSuppression": (),
        "NonMaxSuppressionV2": (share,),
        "NonMaxSuppressionV3": (share, least),
        "NonMaxSuppressionV4": (share, least),
        "NonMaxSuppressionV5": (share, least, kind(0.3 if d.maybe(0.5) else 0)),
    }[d.op]
    return (boxes, scores, K(d.integer(1, 20), "int32"), *more)


spec("NonMaxSuppression", suppression, types=(), gradient=False, mutate=("rank",))


spec(
    "NonMaxSuppressionV2 NonMaxSuppressionV3 NonMaxSuppressionV4 NonMaxSuppressionV5",
    suppression,
    gradient=False,
    mutate=("rank",),
)


spec(
    "NonMaxSuppressionWithOverlaps",
    lambda d: (
        np.eye(6, dtype=F),
        (d.rng.permutation(6) / 6).astype(F),
        K(d.integer(1, 6), "int32"),
        F(0.5),
        F(0.1),
    ),
    types=(),
    gradient=False,
    mutate=("rank",),
)


def combined(d: Draw) -> Any:
    low = unit(d, 2, 9, 1, 2)
    boxes = np.concatenate([low, low + unit(d, 2, 9, 1, 2)], -1)
    scores = (d.rng.permutation(2 * 9 * 3).reshape(2, 9, 3) / 54).astype(F)
    return call(
        boxes,
        scores,
        K(3, "int32"),
        K(5, "int32"),
        K(0.4, "float32"),
        K(0.1, "float32"),
        pad_per_class=d.maybe(0.5),
        clip_boxes=d.maybe(0.5),
    )


spec("CombinedNonMaxSuppression", combined, types=(), gradient=False, mutate=())


# --- files ----------------------------------------------------------------------


def picture(kind: str, d: Draw, gray: bool = False) -> bytes:
    from PIL import Image

    y, x = np.mgrid[0 : d.integer(3, 40), 0 : d.integer(3, 40)]
    smooth = np.stack(
        [127 + 100 * np.sin(x / 7), 127 + 100 * np.cos(y / 9), 3.0 * (x + y) % 255], -1
    ).astype(np.uint8)
    file = io.BytesIO()
    options = {"quality": 90, "subsampling": d.integer(0, 2)} if kind == "JPEG" else {}
    Image.fromarray(smooth[..., 0] if gray else smooth).save(file, kind, **options)
    return file.getvalue()


def cut(kind: str, d: Draw) -> bytes:
    whole = picture(kind, d)
    return whole[: len(whole) // 2]


spec(
    "DecodeJpeg",
    lambda d: call(
        picture("JPEG", d, d.maybe(0.2)),
        channels=d.choice([0, 1, 3]),
        ratio=d.choice([1, 1, 2, 4]),
        dct_method=d.choice(["", "INTEGER_FAST"]),
    ),
    types=(),
    gradient=False,
    bad=(lambda d: (cut("JPEG", d),), lambda d: (b"junk",)),
    mutate=("rank",),
)


spec(
    "DecodePng",
    lambda d: call(picture("PNG", d, d.maybe(0.3)), channels=d.choice([0, 1, 3, 4])),
    attr="dtype",
    gradient=False,
    bad=(lambda d: (cut("PNG", d),), lambda d: (b"",)),
    mutate=("rank",),
)


spec(
    "DecodeBmp",
    lambda d: call(picture("BMP", d), channels=3),
    types=(),
    gradient=False,
    bad=(lambda d: call(cut("BMP", d), channels=3),),
    mutate=("rank",),
)


spec(
    "DecodeGif",
    lambda d: (picture("GIF", d),),
    types=(),
    gradient=False,
    bad=(lambda d: (cut("GIF", d),),),
    mutate=("rank",),
)


spec(
    "ExtractJpegShape",
    lambda d: (picture("JPEG", d),),
    attr="output_type",
    gradient=False,
    mutate=("rank",),
)


spec(
    "DecodeAndCropJpeg",
    lambda d: call(picture("JPEG", d), K([1, 1, 2, 2], "int32")),
    types=(),
    gradient=False,
    bad=(lambda d: (picture("JPEG", d), K([1, 1, 200, 2], "int32")),),
    mutate=("rank",),
)
