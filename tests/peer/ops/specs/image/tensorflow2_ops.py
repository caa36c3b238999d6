"""Pictures as 2.x reads and turns them, and pictures that are written."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

import numpy as np
from PIL import Image

from tests.peer.ops.draw import K
from tests.peer.ops.program import Program
from tests.peer.ops.spec import Tolerance, call, spec
from tests.peer.ops.specs.image.images import cut, picture

if TYPE_CHECKING:
    from tests.peer.ops.draw import Draw


_KINDS = ("PNG", "JPEG", "GIF", "BMP")


def _spec(op: str, make: Any, **options: Any) -> None:
    spec(op, make, gradient=False, **{"mutate": ("rank",), **options})


def _decoded(d: Draw, kind: str = "", **more: Any) -> Any:
    kind = kind or d.choice(_KINDS)
    channels = d.choice([0, 3] if kind in ("GIF", "BMP") else [0, 1, 3])
    attrs = {"channels": channels, "expand_animations": d.maybe()}
    return call(picture(kind, d), **{**attrs, **more})


_spec(
    "DecodeImage",
    _decoded,
    attr="dtype",
    bad=(
        lambda d: call(b""),
        lambda d: call(b"junk"),
        lambda d: call(cut("PNG", d)),
        lambda d: call(cut("GIF", d)),
        lambda d: call(cut("BMP", d)),
        lambda d: _decoded(d, "GIF", channels=1),
        lambda d: _decoded(d, "PNG", channels=7),
        lambda d: _decoded(d, "BMP", channels=1),
    ),
)


def _smooth(d: Draw, channels: int) -> Any:
    y, x = np.mgrid[0 : d.integer(3, 40), 0 : d.integer(3, 40)]
    waves = [127 + 100 * np.sin(x / 7), 127 + 100 * np.cos(y / 9), 3.0 * (x + y) % 255]
    return np.stack(waves[:channels], -1).astype(np.uint8)


def _encoded(d: Draw, quality: Any = None, **more: Any) -> Program:
    """Written, and read again: the texts of two libraries may differ."""
    p = Program(differentiate=False)
    channels = d.choice([1, 3])
    image = p.feed(_smooth(d, channels))
    if d.op == "EncodeJpegVariableQuality":
        level = d.integer(30, 100) if quality is None else quality
        written = p.op(d.op, image, p.const(level, "int32"))
    else:
        attrs = {
            "quality": d.integer(30, 100) if quality is None else quality,
            "progressive": d.maybe(),
            "optimize_size": d.maybe(),
            "chroma_downsampling": d.maybe(),
            "format": d.choice(["", {1: "grayscale", 3: "rgb"}[channels]]),
        }
        written = p.op(d.op, image, **{**attrs, **more})
    p.run(p.op("DecodeJpeg", written, dct_method="INTEGER_ACCURATE"))
    return p


def _wrong_shape(d: Draw) -> Program:
    p = Program(differentiate=False)
    given = [p.feed(np.zeros((4, 5, 2), np.uint8))]
    if d.op == "EncodeJpegVariableQuality":
        given.append(p.const(50, "int32"))
    p.run(p.op(d.op, *given))
    return p


_spec(
    "EncodeJpeg EncodeJpegVariableQuality",
    _encoded,
    types=(),
    tolerance=Tolerance(0, 0.02, reason="rounding in another build of libjpeg"),
    bad=(
        _wrong_shape,
        lambda d: _encoded(d, 101),
        lambda d: _encoded(d, -1),
        lambda d: _encoded(d, format="rgb"),
    ),
    mutate=("rank", "empty"),
)


def _glimpse(d: Draw, **more: Any) -> Any:
    inside = np.array([[0.1, -0.1], [0.0, 0.2]], np.float32)
    attrs = {"centered": True, "normalized": True, "uniform_noise": False}
    attrs["noise"] = "zero"
    far = inside * d.choice([1, 8])
    image = d.array((2, 7, 8, 2), dtype="float32")
    return call(image, K([3, 4], "int32"), far, **{**attrs, **more})


_spec(
    "ExtractGlimpseV2",
    _glimpse,
    types=(),
    mutate=("rank", "dtype"),
    bad=(lambda d: _glimpse(d, noise="none"), lambda d: _glimpse(d, centered=False)),
)


def _projective(d: Draw) -> Any:
    row = [1.1, 0.1, 0.2, -0.1, 0.9, 0.3, 0.01, 0.02]
    rows = np.array([row] * d.integer(1, 2), np.float32)
    attrs = {
        "interpolation": d.choice(("NEAREST", "BILINEAR")),
        "fill_mode": d.choice(("CONSTANT", "REFLECT", "WRAP", "NEAREST")),
    }
    size = K([d.integer(3, 7), 4], "int32")
    fill = np.float32(d.integer(0, 3))
    return call(d.array((2, 5, 6, 2)), rows, size, fill, **attrs)


_spec(
    "ImageProjectiveTransformV3",
    _projective,
    attr="dtype",
    tolerance=Tolerance(1e-4, 1e-5, "interpolation"),
    mutate=("rank", "dtype"),
)


# --- WebP ----------------------------------------------------------------------------


def _webp(d: Draw, frames: int = 1, **attrs: Any) -> Any:
    """A file with or without alpha; several frames have it, or TensorFlow crashes."""
    depth = 4 if frames > 1 else d.choice([3, 4])
    size = (d.integer(1, 20), d.integer(1, 20), depth)
    images = [
        Image.fromarray(d.rng.integers(0, 255, size).astype(np.uint8))
        for _ in range(frames)
    ]
    file = io.BytesIO()
    images[0].save(
        file, "WEBP", lossless=d.maybe(), save_all=True, append_images=images[1:]
    )
    return call(file.getvalue(), **{"channels": d.choice([0, depth]), **attrs})


_spec(
    "DecodeWebP",
    lambda d: _webp(d, d.choice([1, 1, 3])),
    types=(),
    examples=12,
    bad=(
        lambda d: call(b""),
        lambda d: call(b"junk"),
        lambda d: call(b"RIFFxxxxWEBPVP8 "),
        lambda d: call(cut("PNG", d)),
        *(lambda d, n=n: _webp(d, channels=n) for n in (-1, 1, 2)),
    ),
)
