"""Sound and video by the program ffmpeg, where it is installed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tensorloom.framework.registry.op_registry import NOT_DIFFERENTIABLE, register_op
from tensorloom.framework.registry.shape_inference import scalar_shape
from tensorloom.framework.types.tensor_shape import TensorShape

if TYPE_CHECKING:
    from tensorloom.framework.registry.shape_inference import InferenceContext


def _decoded_audio(c: InferenceContext) -> TensorShape:
    if c.op_name == "DecodeAudio":
        channels = c.attrs["channel_count"]
        return TensorShape.of((None, None if channels < 0 else channels))
    value = c.input_value(3)
    if value is None:
        return TensorShape.of((None, None))
    channels = int(value.reshape(-1)[0]) if value.size else 0
    if channels <= 0:
        c.fail(f"channel_count must be positive, but got: {channels}")
    return TensorShape.of((None, channels))


register_op(
    "DecodeAudio",
    inputs=["contents: string"],
    outputs=["sampled_audio: float"],
    attrs=["file_format: string", "samples_per_second: int", "channel_count: int"],
    shape_fn=_decoded_audio,
    gradient=NOT_DIFFERENTIABLE,
    doc="Sound [samples, channels] from the contents of a file, by ffmpeg.",
)
register_op(
    "DecodeAudioV2",
    inputs=[
        "contents: string",
        "file_format: string",
        "samples_per_second: int32",
        "channel_count: int32",
    ],
    outputs=["sampled_audio: float"],
    attrs=["stream: string = ''"],
    shape_fn=_decoded_audio,
    doc="Sound [samples, channels] from the contents of a file, by ffmpeg.",
)
register_op(
    "EncodeAudio",
    inputs=["sampled_audio: float"],
    outputs=["contents: string"],
    attrs=[
        "file_format: string",
        "samples_per_second: int",
        "bits_per_second: int = 192000",
    ],
    shape_fn=scalar_shape,
    gradient=NOT_DIFFERENTIABLE,
    doc="The contents of a WAV file of sound [samples, channels].",
)
register_op(
    "EncodeAudioV2",
    inputs=[
        "sampled_audio: float",
        "file_format: string",
        "samples_per_second: int32",
        "bits_per_second: int32",
    ],
    outputs=["contents: string"],
    shape_fn=scalar_shape,
    doc="The contents of a WAV file of sound [samples, channels].",
)
register_op(
    "DecodeVideo",
    inputs=["contents: string"],
    outputs=["output: uint8"],
    shape_fn=lambda c: TensorShape.of((None,) * 4),
    gradient=NOT_DIFFERENTIABLE,
    doc="Pictures [frames, height, width, 3] from the contents of a video, by ffmpeg.",
)
