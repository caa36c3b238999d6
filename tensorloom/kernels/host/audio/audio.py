"""Host kernels of audio: WAV files, spectrograms, cepstral coefficients."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np

from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.registry.op_kernel import (
    Compute,
    OpKernelConstruction,
    host_kernel,
)
from tensorloom.kernels.host.math.errors import shape_text
from tensorloom.kernels.host.strings.arrays import to_strings

_PCM = 1
_FULL_SCALE = np.float32(32768)


class _Chunks:
    """Reads a RIFF file; every size is checked against what is there."""

    def __init__(self, contents: bytes) -> None:
        self._contents = contents
        self.at = 0

    def take(self, size: int) -> bytes:
        """The next `size` bytes."""
        if size < 0 or self.at + size > len(self._contents):
            raise invalid_argument("Data too short when trying to read string")
        piece = self._contents[self.at : self.at + size]
        self.at += size
        return piece

    def expect(self, text: bytes) -> None:
        """The next bytes must be these."""
        found = self.take(len(text))
        if found != text:
            raise invalid_argument(
                f"Header mismatch: Expected {text.decode()} but found "
                f"{found.decode('latin-1')}"
            )

    def number(self, layout: str) -> int:
        """The next little-endian number."""
        value: int = struct.unpack(layout, self.take(struct.calcsize(layout)))[0]
        return value

    @property
    def is_at_end(self) -> bool:
        return self.at >= len(self._contents)


def _read_format(chunks: _Chunks) -> tuple[int, int]:
    """(channels, sample rate) from the format chunk."""
    chunks.expect(b"RIFF")
    chunks.number("<I")
    chunks.expect(b"WAVE")
    chunks.expect(b"fmt ")
    size = chunks.number("<I")
    if size not in (16, 18):
        raise invalid_argument(
            f"Bad file size for WAV: Expected 16 or 18, but got{size}"
        )
    kind, channels = chunks.number("<H"), chunks.number("<H")
    rate, byte_rate = chunks.number("<I"), chunks.number("<I")
    align, bits = chunks.number("<H"), chunks.number("<H")
    if size == 18:
        chunks.take(2)
    if kind != _PCM:
        raise invalid_argument(
            f"Bad audio format for WAV: Expected 1 (PCM), but got{kind}"
        )
    if not channels:
        raise invalid_argument(
            "Bad number of channels for WAV: Expected at least 1, but got 0"
        )
    if bits != 16:
        raise invalid_argument(f"Can only read 16-bit WAV files, but received {bits}")
    width = (bits * channels + 7) // 8
    if align != width:
        raise invalid_argument(
            f"Bad bytes per sample in WAV header: Expected {width} but got {align}"
        )
    if byte_rate != width * rate:
        raise invalid_argument(
            f"Bad bytes per second in WAV header: Expected {width * rate} but got "
            f"{byte_rate} (sample_rate={rate}, bytes_per_sample={width})"
        )
    return channels, rate


def _read_wav(contents: bytes) -> tuple[Any, int]:
    """(samples [n, channels] of int16, sample rate)."""
    chunks = _Chunks(contents)
    channels, rate = _read_format(chunks)
    samples = None
    while not chunks.is_at_end:
        name, size = chunks.take(4), chunks.number("<I")
        if size > 0x7FFFFFFF:
            raise invalid_argument(
                f"WAV data chunk '{name.decode('latin-1')}' is too large: {size} "
                "bytes, but the limit is 2147483647"
            )
        if name != b"data":
            chunks.take(size)
            continue
        if samples is not None:
            raise invalid_argument("More than one data chunk found in WAV")
        count = size // (2 * channels)
        data = chunks.take(count * 2 * channels)
        samples = np.frombuffer(data, "<i2").reshape(count, channels)
    if samples is None:
        raise invalid_argument("No data chunk found in WAV")
    return samples, rate


@host_kernel("DecodeWav", large=True)
def decode_wav(c: OpKernelConstruction) -> Compute:
    """Float samples and the sample rate."""
    channels, length = c["desired_channels"], c["desired_samples"]

    def compute(contents: Any) -> Any:
        if contents.ndim:
            raise invalid_argument(
                f"contents must be scalar, got shape {shape_text(contents.shape)}"
            )
        data = contents.item()
        if len(data) > 0x7FFFFFFF:
            raise invalid_argument("WAV contents are too large for int")
        samples, rate = _read_wav(data)
        audio = samples.astype(np.float32) / _FULL_SCALE
        return _brought_to(audio, channels, length), np.int32(rate)

    return compute


def _brought_to(audio: Any, channels: int, length: int) -> Any:
    """The last channel repeats; missing samples are zero."""
    if channels == -1:
        channels = audio.shape[1]
    if length == -1:
        length = len(audio)
    result = np.zeros((length, channels), np.float32)
    count = min(length, len(audio))
    source = np.minimum(np.arange(channels), audio.shape[1] - 1)
    result[:count] = audio[:count, source]
    return result


@host_kernel("EncodeWav", large=True)
def encode_wav(c: OpKernelConstruction) -> Compute:
    """16-bit PCM; louder samples are cut."""

    def compute(audio: Any, sample_rate: Any) -> Any:
        if audio.ndim != 2:
            raise invalid_argument(
                f"audio must be 2-dimensional{shape_text(audio.shape)}"
            )
        if np.ndim(sample_rate):
            raise invalid_argument(
                f"Input sample_rate should be a scalar tensor, got "
                f"{shape_text(np.shape(sample_rate))} instead."
            )
        frames, channels = audio.shape
        rate = int(sample_rate)
        if not 0 < channels <= 0xFFFF:
            raise invalid_argument("num_channels must be positive and fit in 16 bits")
        if rate <= 0:
            raise invalid_argument("sample_rate must be in (0, 2^32), got: 0")
        if not frames:
            raise invalid_argument("audio is null")
        return to_strings([wav_file(pcm_bytes(audio), channels, rate)], ())

    return compute


def wav_file(samples: bytes, channels: int, rate: int) -> bytes:
    """A WAV file of 16-bit samples, those of one time together."""
    header = struct.pack(
        "<4sI4s4sIHHIIHH4sI",
        b"RIFF",
        36 + len(samples) & 0xFFFFFFFF,
        b"WAVE",
        b"fmt ",
        16,
        _PCM,
        channels & 0xFFFF,
        rate & 0xFFFFFFFF,
        rate * channels * 2 & 0xFFFFFFFF,
        channels * 2 & 0xFFFF,
        16,
        b"data",
        len(samples) & 0xFFFFFFFF,
    )
    return header + samples


def pcm_bytes(audio: Any) -> bytes:
    """16-bit samples of float ones; halves are rounded away from zero, as C does."""
    # Beside a float32 that is just below a half, the sum would be rounded up.
    scaled = audio.astype(np.float64) * _FULL_SCALE
    whole = np.copysign(np.floor(np.abs(scaled) + 0.5), scaled)
    samples = np.clip(np.nan_to_num(whole), -32768, 32767)
    data: bytes = samples.astype("<i2").tobytes()
    return data


# --- spectra ----------------------------------------------------------------------


@host_kernel("AudioSpectrogram", large=True)
def audio_spectrogram(c: OpKernelConstruction) -> Compute:
    """Hann windows, transformed in double."""
    window_size, stride = c["window_size"], c["stride"]
    squared = c["magnitude_squared"]
    if window_size < 2:
        raise invalid_argument(f"Window size {window_size} is too short")
    if stride < 1:
        raise invalid_argument(f"Step length {stride} must be positive")
    window = 0.5 - 0.5 * np.cos(2.0 * np.pi * np.arange(window_size) / window_size)
    length = 1 << (window_size - 1).bit_length()

    def compute(audio: Any) -> Any:
        if audio.ndim != 2:
            raise invalid_argument(
                f"input must be 2-dimensional{shape_text(audio.shape)}"
            )
        samples = audio.T.astype(np.float64)
        channels, count = samples.shape
        frames = 0 if count < window_size else 1 + (count - window_size) // stride
        if not frames or not channels:
            return np.zeros((channels, frames, length // 2 + 1), np.float32)
        views = np.lib.stride_tricks.sliding_window_view(samples, window_size, axis=1)
        spectrum = np.fft.rfft(views[:, ::stride] * window, n=length, axis=-1)
        power = spectrum.real**2 + spectrum.imag**2
        return (power if squared else np.sqrt(power)).astype(np.float32)

    return compute


def _mel(frequency: Any) -> Any:
    return 1127.0 * np.log1p(frequency / 700.0)


def _last_bin(bins: int, rate: float, high: float) -> int:
    return int(high / (0.5 * rate / (bins - 1)))


def _filter_bank(bins: int, rate: float, channels: int, low: float, high: float) -> Any:
    """Weights [bins, channels] of overlapping triangles on the mel scale, as HTK's."""
    spacing = (_mel(high) - _mel(low)) / (channels + 1)
    centers = _mel(low) + spacing * np.arange(1, channels + 2)
    per_bin = 0.5 * rate / (bins - 1)
    start = int(1.5 + low / per_bin)
    end = _last_bin(bins, rate, high)
    numbers = np.arange(start, end + 1)
    mels = _mel(numbers * per_bin)
    # The last centre below each bin; -1 below the first.
    band = np.minimum(np.searchsorted(centers[:channels], mels, side="left"), channels)
    band = band - 1
    above, below = centers[band + 1], np.where(band >= 0, centers[band], _mel(low))
    falling = (above - mels) / (above - below)
    weights = np.zeros((bins, channels))
    right, left = band >= 0, band + 1 < channels
    weights[numbers[right], band[right]] += falling[right]
    weights[numbers[left], band[left] + 1] += 1 - falling[left]
    return weights


def _cosines(channels: int, coefficients: int) -> Any:
    """[channels, coefficients] of the discrete cosine transform."""
    angles = np.outer(np.arange(channels) + 0.5, np.arange(coefficients))
    return np.sqrt(2.0 / channels) * np.cos(angles * (np.pi / channels))


@host_kernel("Mfcc", large=True)
def mfcc(c: OpKernelConstruction) -> Compute:
    """Logarithms of mel bands, cosine transformed, in double."""
    low, high = c["lower_frequency_limit"], c["upper_frequency_limit"]
    channels, coefficients = c["filterbank_channel_count"], c["dct_coefficient_count"]

    def compute(spectrogram: Any, sample_rate: Any) -> Any:
        if spectrogram.ndim != 3:
            raise invalid_argument(
                f"spectrogram must be 3-dimensional{shape_text(spectrogram.shape)}"
            )
        if np.ndim(sample_rate):
            raise invalid_argument(
                "Input sample_rate should be a scalar tensor, got "
                f"{shape_text(np.shape(sample_rate))} instead."
            )
        bins, rate = spectrogram.shape[2], int(sample_rate)
        _check_mfcc(bins, rate, channels, coefficients, low, high)
        if _last_bin(bins, rate, high) >= bins:
            # TensorFlow logs that the spectrum is too short, and leaves zeros.
            return np.zeros((*spectrogram.shape[:2], coefficients), np.float32)
        bank = _filter_bank(bins, rate, channels, low, high)
        bands = np.sqrt(spectrogram.astype(np.float64)) @ bank
        logarithms = np.log(np.maximum(bands, 1e-12))
        result = logarithms @ _cosines(channels, coefficients)
        return result.astype(np.float32)

    return compute


def _check_mfcc(
    bins: int, rate: int, channels: int, coefficients: int, low: float, high: float
) -> None:
    reasons = (
        (channels < 1, "Number of filterbank channels must be positive."),
        (rate <= 0, "Sample rate must be positive."),
        (bins < 2, "Input length must greater than 1."),
        (low < 0, "Lower frequency limit must be nonnegative."),
        (
            high <= low,
            "Upper frequency limit must be greater than lower frequency limit.",
        ),
        (coefficients < 1, "Coefficient count must be positive."),
        (
            coefficients > channels,
            "Coefficient count must be less than or equal to input length.",
        ),
    )
    for is_wrong, reason in reasons:
        if is_wrong:
            raise invalid_argument(
                f"Mfcc initialization failed for channel count {bins} and sample rate "
                f"{rate}: {reason}"
            )
