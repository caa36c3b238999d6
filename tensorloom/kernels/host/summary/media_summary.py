"""Making `Summary` messages of tensors, images and sound."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.registry.op_kernel import host_kernel
from tensorloom.framework.types.tensor_proto import encode_tensor
from tensorloom.kernels.host.audio.audio import pcm_bytes, wav_file
from tensorloom.kernels.host.strings.arrays import to_strings
from tensorloom.kernels.torch.state.variable_value import format_shape

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tensorloom.framework.registry.op_kernel import Compute, OpKernelConstruction
    from tensorloom.framework.types.dtypes import DType

# Pixels nearer to 0 than this are all black: there is nothing to scale.
_ZERO: Final = 1e-6
_MODES: Final = {1: "L", 3: "RGB", 4: "RGBA"}


def _serialized(summary: Any) -> Any:
    return to_strings([summary.SerializeToString()], ())


# --- tensors ---------------------------------------------------------------------


@host_kernel("TensorSummary", large=True)
def tensor_summary(c: OpKernelConstruction) -> Compute:
    """The tensor, with the name of the node."""

    def compute(tensor: Any) -> Any:
        from tensorloom.protos import summary_pb2

        summary = summary_pb2.Summary()
        value = summary.value.add(node_name=c.node_name)
        put_tensor(value.tensor, tensor, c["T"])
        return _serialized(summary)

    return compute


@host_kernel("TensorSummaryV2", large=True)
def tensor_summary_v2(c: OpKernelConstruction) -> Compute:
    """The tensor with a tag and metadata."""

    def compute(tag: Any, tensor: Any, metadata: Any) -> Any:
        from tensorloom.protos import summary_pb2

        summary = summary_pb2.Summary()
        value = summary.value.add(tag=scalar_tag(tag))
        put_tensor(value.tensor, tensor, c["T"])
        put_metadata(value.metadata, metadata.item())
        return _serialized(summary)

    return compute


def put_metadata(metadata: Any, serialized: bytes) -> None:
    """Sets a `SummaryMetadata`; as TensorFlow, what is no metadata counts as none."""
    from google.protobuf.message import DecodeError

    metadata.SetInParent()
    try:
        metadata.ParseFromString(serialized)
    except DecodeError:
        metadata.Clear()
        metadata.SetInParent()


def put_tensor(proto: Any, tensor: Any, dtype: DType) -> None:
    """Raw bytes for everything but strings, single numbers too: as TensorFlow's C++."""
    array = np.asarray(tensor)
    if dtype.name == "string":
        encode_tensor(array, dtype, proto)
        return
    proto.dtype = dtype.as_datatype_enum
    proto.tensor_shape.SetInParent()
    for size in array.shape:
        proto.tensor_shape.dim.add(size=size)
    proto.tensor_content = array.tobytes()


def scalar_tag(tag: Any) -> str:
    """The one tag.

    Raises:
      errors.InvalidArgumentError: there is not one.
    """
    if tag.ndim:
        raise invalid_argument("Tags must be a scalar")
    text: str = tag.item().decode()
    return text


# --- images ----------------------------------------------------------------------


@host_kernel("ImageSummary", large=True)
def image_summary(c: OpKernelConstruction) -> Compute:
    """The first images of a batch, as PNG."""
    limit, bad_color = c["max_images"], np.asarray(c["bad_color"])

    def compute(tag: Any, tensor: Any) -> Any:
        from tensorloom.protos import summary_pb2

        summary = summary_pb2.Summary()
        add_images(summary, scalar_tag(tag), tensor, limit, bad_color)
        return _serialized(summary)

    return compute


def add_images(
    summary: Any, tag: str, tensor: Any, limit: int, bad_color: NDArray[Any]
) -> None:
    """Adds the first images of a batch to a `Summary`.

    Raises:
      errors.InvalidArgumentError: the tensor is no batch of images.
    """
    if tensor.ndim != 4 or tensor.shape[3] not in _MODES:
        raise invalid_argument(
            "Tensor must be 4-D with last dim 1, 3, or 4, not "
            f"{format_shape(tensor.shape)}"
        )
    batch, height, width, depth = tensor.shape
    if batch and not tensor.size:
        shown = ", ".join(str(size) for size in tensor.shape)
        raise invalid_argument(
            f"input tensor must have non-zero dims. Found: [{shown}]."
        )
    for i in range(min(limit, batch)):
        pixels = tensor[i]
        if pixels.dtype != np.uint8:
            pixels = normalized(pixels, bad_color[:depth])
        value = summary.value.add(tag=_numbered(tag, "image", i, limit))
        value.image.height, value.image.width = height, width
        value.image.colorspace = depth
        value.image.encoded_image_string = _png(pixels)


def _numbered(tag: str, kind: str, index: int, limit: int) -> str:
    return f"{tag}/{kind}/{index}" if limit > 1 else f"{tag}/{kind}"


def normalized(image: NDArray[Any], bad_color: NDArray[Any]) -> NDArray[np.uint8]:
    """An image of floats as bytes.

    Values that are not negative are scaled so that the largest is 255; with negative
    ones 0 becomes 128, and the largest absolute value is 127 away from it. Pixels
    that are not finite get `bad_color`.
    """
    # The scale is a float32 that is rounded to the dtype in which all else is done.
    values = image
    finite = np.isfinite(values)
    known = values[finite].astype(np.float32)
    low = known.min(initial=np.inf)
    high = known.max(initial=-np.inf)
    one = values.dtype.type
    if low < 0:
        largest = max(abs(low), abs(high))
        scale, offset = (0.0 if largest < _ZERO else np.float32(127.0) / largest), 128.0
    else:
        scale, offset = (0.0 if high < _ZERO else np.float32(255.0) / high), 0.0
    safe = np.where(finite, values, one(0))
    scaled = safe * one(scale) + one(offset)
    pixels: NDArray[np.uint8] = scaled.astype(np.uint8)
    pixels[~finite.all(axis=-1)] = bad_color
    return pixels


def _png(pixels: NDArray[np.uint8]) -> bytes:
    from PIL import Image

    depth = pixels.shape[2]
    flat = pixels[:, :, 0] if depth == 1 else pixels
    stream = io.BytesIO()
    Image.fromarray(np.ascontiguousarray(flat)).save(stream, "PNG")
    return stream.getvalue()


# --- sound -----------------------------------------------------------------------


@host_kernel(["AudioSummary", "AudioSummaryV2"], large=True)
def audio_summary(c: OpKernelConstruction) -> Compute:
    """The first clips of a batch, as WAV."""
    limit, fixed_rate = c["max_outputs"], c.get("sample_rate")

    def compute(tag: Any, tensor: Any, sample_rate: Any = None) -> Any:
        from tensorloom.protos import summary_pb2

        rate = float(fixed_rate if sample_rate is None else sample_rate)
        summary = summary_pb2.Summary()
        add_clips(summary, scalar_tag(tag), tensor, limit, rate)
        return _serialized(summary)

    return compute


def add_clips(summary: Any, tag: str, tensor: Any, limit: int, rate: float) -> None:
    """Adds the first clips of a batch to a `Summary`.

    Raises:
      errors.InvalidArgumentError: the tensor is no batch of clips, or there is nothing
        in a clip, or the rate does not fit into a WAV file.
    """
    if tensor.ndim not in (2, 3):
        raise invalid_argument(
            f"Tensor must be 3-D or 2-D, got: {format_shape(tensor.shape)}"
        )
    if not rate > 0:
        raise invalid_argument("sample_rate must be > 0")
    clips = tensor if tensor.ndim == 3 else tensor[:, :, None]
    frames, channels = clips.shape[1:]
    for i in range(min(limit, len(clips))):
        value = summary.value.add(tag=_numbered(tag, "audio", i, limit))
        value.audio.sample_rate = rate
        value.audio.num_channels = channels
        value.audio.length_frames = frames
        value.audio.content_type = "audio/wav"
        value.audio.encoded_audio_string = _wav(clips[i], rate)


def _wav(samples: NDArray[np.float32], rate: float) -> bytes:
    """The file holds whole hertz, at least one."""
    hertz = max(round(rate), 1) if rate < np.inf else np.inf
    if hertz >= 2**32:
        raise invalid_argument(f"sample_rate must be in (0, 2^32), got: {hertz}")
    if not samples.size:
        raise invalid_argument("audio is null")
    return wav_file(pcm_bytes(samples), samples.shape[1], int(hertz))
