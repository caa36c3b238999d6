"""Specs of ImageSummary."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tests.peer.ops.spec import call, spec

if TYPE_CHECKING:
    from tests.peer.ops.draw import Draw


def _text(value: bytes | str) -> Any:
    return np.array(value.encode() if isinstance(value, str) else value, object)


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
