"""Sounds and videos; the program ffmpeg must be on the path."""

from __future__ import annotations

from typing import Any

from tensorloom.framework.export import export
from tensorloom.framework.registry.op_def_library import apply_op

# What TensorFlow gives for a sound that is encoded.
_BITS_PER_SECOND = 192000


@export("contrib.ffmpeg.decode_audio")
def decode_audio(
    contents: Any,
    file_format: Any = None,
    samples_per_second: Any = None,
    channel_count: Any = None,
    stream: Any = None,
) -> Any:
    """The samples of a sound, float32 in [-1, 1] of shape [samples, channels].

    Args:
      contents: the bytes of the file.
      file_format: "mp3", "mp4", "ogg" or "wav".
      samples_per_second: of the result.
      channel_count: of it.
      stream: which stream of the file; the first when None.
    """
    return apply_op(
        "DecodeAudioV2",
        contents=contents,
        file_format=file_format,
        samples_per_second=samples_per_second,
        channel_count=channel_count,
        stream="" if stream is None else stream,
    )


@export("contrib.ffmpeg.encode_audio")
def encode_audio(
    audio: Any, file_format: Any = None, samples_per_second: Any = None
) -> Any:
    """The bytes of a file with a sound.

    Args:
      audio: float32 in [-1, 1], [samples, channels].
      file_format: "wav".
      samples_per_second: of the samples.
    """
    return apply_op(
        "EncodeAudioV2",
        sampled_audio=audio,
        file_format=file_format,
        samples_per_second=samples_per_second,
        bits_per_second=_BITS_PER_SECOND,
    )


@export("contrib.ffmpeg.decode_video")
def decode_video(contents: Any) -> Any:
    """The frames of a video, uint8 of shape [frames, height, width, 3].

    Args:
      contents: the bytes of the file.
    """
    return apply_op("DecodeVideo", contents=contents)
