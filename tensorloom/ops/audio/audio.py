"""Audio: WAV files, spectrograms and mel-frequency cepstral coefficients."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.framework.export import export
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.registry.op_registry import register_op
from tensorloom.framework.types.tensor_shape import SCALAR, TensorShape

if TYPE_CHECKING:
    from tensorloom.framework.graph.tensor import Tensor
    from tensorloom.framework.registry.shape_inference import InferenceContext


def _decode_wav_shape(c: InferenceContext) -> list[TensorShape]:
    c.with_rank(0, 0)
    sizes: list[int | None] = []
    for what in ("channels", "samples"):
        wanted = c.attrs[f"desired_{what}"]
        if wanted < -1:
            c.fail(f"{what} must be non-negative, got {wanted}")
        sizes.append(None if wanted == -1 else wanted)
    channels, samples = sizes
    return [TensorShape.of((samples, channels)), SCALAR]


def _encode_wav_shape(c: InferenceContext) -> TensorShape:
    c.with_rank(0, 2)
    c.with_rank(1, 0)
    return SCALAR


def _spectrogram_shape(c: InferenceContext) -> TensorShape:
    dims = c.with_rank(0, 2).dims_tuple
    assert dims is not None
    window, stride = c.attrs["window_size"], c.attrs["stride"]
    length = dims[0]
    frames = None
    if length is not None and stride > 0:
        frames = max(0, 1 + (length - window) // stride) if length >= window else 0
    bins = 1 + fft_length(window) // 2
    return TensorShape.of((dims[1], frames, bins))


def fft_length(window_size: int) -> int:
    """The power of two that holds a window."""
    return 1 << max(window_size - 1, 0).bit_length()


def _mfcc_shape(c: InferenceContext) -> TensorShape:
    dims = c.with_rank(0, 3).dims_tuple
    c.with_rank(1, 0)
    assert dims is not None
    return TensorShape.of((dims[0], dims[1], c.attrs["dct_coefficient_count"]))


register_op(
    "DecodeWav",
    inputs=["contents: string"],
    outputs=["audio: float", "sample_rate: int32"],
    attrs=["desired_channels: int = -1", "desired_samples: int = -1"],
    shape_fn=_decode_wav_shape,
    doc="Sound [samples, channels] in -1 to 1 from a WAV file's contents.",
)
register_op(
    "EncodeWav",
    inputs=["audio: float", "sample_rate: int32"],
    outputs=["contents: string"],
    shape_fn=_encode_wav_shape,
    doc="A 16-bit WAV file's contents of a sound [samples, channels].",
)
register_op(
    "AudioSpectrogram",
    inputs=["input: float"],
    outputs=["spectrogram: float"],
    attrs=["window_size: int", "stride: int", "magnitude_squared: bool = false"],
    shape_fn=_spectrogram_shape,
    doc="Magnitudes [channels, frames, frequencies] of Hann windows of a sound.",
)
register_op(
    "Mfcc",
    inputs=["spectrogram: float", "sample_rate: int32"],
    outputs=["output: float"],
    attrs=[
        "upper_frequency_limit: float = 4000.0",
        "lower_frequency_limit: float = 20.0",
        "filterbank_channel_count: int = 40",
        "dct_coefficient_count: int = 13",
    ],
    shape_fn=_mfcc_shape,
    doc="Mel-frequency cepstral coefficients of squared spectrograms.",
)


@export("audio.decode_wav")
def decode_wav(
    contents: Any,
    desired_channels: int = -1,
    desired_samples: int = -1,
    name: str | None = None,
) -> Any:
    """(audio float32 [samples, channels], sample rate) of a 16-bit PCM file.

    Channels and samples are repeated, filled up with zeros or cut as desired.
    """
    return apply_op(
        "DecodeWav",
        contents=contents,
        desired_channels=desired_channels,
        desired_samples=desired_samples,
        name=name,
    )


@export("audio.encode_wav")
def encode_wav(audio: Any, sample_rate: Any, name: str | None = None) -> Tensor:
    """The contents of a WAV file of audio [samples, channels], -1 to 1."""
    return apply_op(  # type: ignore[no-any-return]
        "EncodeWav", audio=audio, sample_rate=sample_rate, name=name
    )
