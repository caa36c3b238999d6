"""Sound and video by ffmpeg, a program that is called if it is on the PATH."""

from __future__ import annotations

import logging
import math
import re
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any, Final

import numpy as np

from tensorloom.framework import errors
from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.registry.op_kernel import (
    Compute,
    OpKernelConstruction,
    host_kernel,
)
from tensorloom.kernels.host.audio.audio import wav_file
from tensorloom.kernels.host.math.errors import shape_text
from tensorloom.kernels.host.strings.arrays import to_strings

_log = logging.getLogger("tensorloom")
_FORMATS: Final = ("mp3", "mp4", "ogg", "wav")
_FULL_SCALE: Final = np.float32(32767)
_PROBED: Final = ("-probesize", "5000000")
# "Stream #0:0: Video: rawvideo (RGB[24] / 0x18424752), rgb24, 320x240, ..."
_PICTURE = re.compile(rb"Stream #\S+.*Video: rawvideo.*?, (\d+)x(\d+)\b")


class _Failed(Exception):
    """ffmpeg ran and ended with an error."""


def _run(arguments: list[str], contents: bytes, suffix: str) -> tuple[bytes, bytes]:
    """(what ffmpeg wrote into its output file, what it said).

    Args:
      arguments: "{input}" among them stands for a file with the contents.

    Raises:
      errors.UnavailableError: there is no ffmpeg.
      _Failed: it ended with an error.
    """
    program = shutil.which("ffmpeg")
    if program is None:
        raise errors.UnavailableError(
            None,
            None,
            "FFmpeg must be installed to run this op. FFmpeg can be found at "
            "http://www.ffmpeg.org.",
        )
    with tempfile.TemporaryDirectory(prefix="tensorloom_ffmpeg_") as folder:
        source, result = Path(folder, f"input{suffix}"), Path(folder, "output.raw")
        source.write_bytes(contents)
        told = [str(source) if a == "{input}" else a for a in arguments]
        command = [program, "-nostdin", *told, "-y", str(result)]
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, check=False
        )
        if done.returncode or not result.exists():
            raise _Failed(done.stderr.decode(errors="backslashreplace").strip())
        return result.read_bytes(), done.stderr


def _sound(
    contents: bytes, file_format: str, rate: int, channels: int, stream: str
) -> Any:
    """Samples [n, channels]; none at all of what ffmpeg cannot read."""
    arguments = ["-f", file_format, *_PROBED, "-i", "{input}"]
    arguments += ["-loglevel", "error", "-hide_banner", "-map_metadata", "-1", "-vn"]
    arguments += ["-ac:a:0", str(channels), "-ar:a:0", str(rate)]
    arguments += ["-codec:a:0", "pcm_s16le", "-sample_fmt", "s16", "-f", "s16le", "-sn"]
    if stream:
        arguments += ["-map", f"0:{stream}"]
    try:
        data, _ = _run(arguments, contents, f".{file_format}")
    except _Failed as failure:
        _log.error("FFmpeg failed with error '%s'. Returning empty tensor.", failure)
        return np.zeros((0, 0), np.float32)
    frames = len(data) // (2 * channels)
    samples = np.frombuffer(data, "<i2", frames * channels).reshape(frames, channels)
    return samples.astype(np.float32) / _FULL_SCALE


def _check_rank(name: str, value: Any, rank: int) -> None:
    if np.ndim(value) != rank:
        raise invalid_argument(
            f"{name} must be a rank-{rank} tensor but got shape "
            f"{shape_text(np.shape(value))}"
        )


def _checked_format(name: bytes) -> str:
    lowered = name.decode(errors="backslashreplace").lower()
    if lowered not in _FORMATS:
        raise invalid_argument(
            f"file_format must be one of {{{', '.join(_FORMATS)}}}, but was: "
            f'"{lowered}"'
        )
    return lowered


def _check_positive(name: str, value: int) -> None:
    if value <= 0:
        raise invalid_argument(f"{name} must be positive, but got: {value}")


@host_kernel("DecodeAudio", large=True)
def decode_audio(c: OpKernelConstruction) -> Compute:
    """What to make of the sound is known before the step."""
    file_format = _checked_format(c["file_format"])
    rate, channels = c["samples_per_second"], c["channel_count"]
    _check_positive("channel_count", channels)
    _check_positive("samples_per_second", rate)

    def compute(contents: Any) -> Any:
        if contents.ndim:
            raise invalid_argument(
                f"contents must be scalar but got shape {shape_text(contents.shape)}"
            )
        return _sound(contents.item(), file_format, rate, channels, "")

    return compute


@host_kernel("DecodeAudioV2", large=True)
def decode_audio_v2(c: OpKernelConstruction) -> Compute:
    """What to make of the sound is told by the inputs."""
    stream = c["stream"].decode(errors="backslashreplace")

    def compute(contents: Any, file_format: Any, rate: Any, channels: Any) -> Any:
        _check_rank("contents", contents, 0)
        _check_rank("file_format", file_format, 0)
        _check_rank("samples_per_second", rate, 0)
        _check_rank("channel_count", channels, 0)
        known = _checked_format(file_format.item())
        _check_positive("samples_per_second", int(rate))
        _check_positive("channel_count", int(channels))
        return _sound(contents.item(), known, int(rate), int(channels), stream)

    return compute


# --- sound to a file --------------------------------------------------------------


def _written(audio: Any, rate: int) -> Any:
    """A WAV file of samples of -1 to 1; louder ones wrap around, as in TensorFlow."""
    scaled = np.nan_to_num(audio * _FULL_SCALE, nan=0, posinf=0, neginf=0)
    whole = np.trunc(np.clip(scaled, -(2.0**31), 2.0**31 - 1)).astype(np.int64)
    samples = (whole & 0xFFFF).astype("<u2").tobytes()
    return to_strings([wav_file(samples, audio.shape[1], rate)], ())


@host_kernel("EncodeAudio", large=True)
def encode_audio(c: OpKernelConstruction) -> Compute:
    """As WAV, the one format that there is."""
    if c["file_format"] != b"wav":
        raise invalid_argument('file_format arg must be "wav".')
    rate = c["samples_per_second"]
    if rate <= 0:
        raise invalid_argument("samples_per_second must be > 0.")

    def compute(audio: Any) -> Any:
        if audio.ndim != 2:
            raise invalid_argument(
                "sampled_audio must be a rank 2 tensor but got shape "
                f"{shape_text(audio.shape)}"
            )
        return _written(audio, rate)

    return compute


@host_kernel("EncodeAudioV2", large=True)
def encode_audio_v2(c: OpKernelConstruction) -> Compute:
    """As WAV, the one format that there is."""

    def compute(audio: Any, file_format: Any, rate: Any, bits: Any) -> Any:
        _check_rank("sampled_audio", audio, 2)
        _check_rank("file_format", file_format, 0)
        _check_rank("samples_per_second", rate, 0)
        _check_rank("bits_per_second", bits, 0)
        known = file_format.item().decode(errors="backslashreplace").lower()
        if known != "wav":
            raise invalid_argument(f'file_format must be "wav", but got: {known}')
        _check_positive("samples_per_second", int(rate))
        _check_positive("bits_per_second", int(bits))
        return _written(audio, int(rate))

    return compute


# --- video ------------------------------------------------------------------------


@host_kernel("DecodeVideo", large=True)
def decode_video(c: OpKernelConstruction) -> Compute:
    """All frames, as large as the video says that they are."""

    def compute(contents: Any) -> Any:
        _check_rank("contents", contents, 0)
        arguments = ["-i", "{input}", "-f", "image2pipe", *_PROBED]
        arguments += ["-loglevel", "info", "-hide_banner"]
        arguments += ["-vcodec", "rawvideo", "-pix_fmt", "rgb24"]
        try:
            data, said = _run(arguments, contents.item(), "")
        except _Failed as failure:
            _log.error(
                "FFmpeg failed with error '%s'. Returning empty tensor.", failure
            )
            return np.zeros((0, 0), np.uint8)
        sizes = _PICTURE.findall(said)
        if not sizes:
            raise errors.UnknownError(
                None, None, "Not enough video info returned by FFmpeg"
            )
        width, height = (int(size) for size in sizes[-1])
        picture = math.prod((height, width, 3))
        frames = len(data) // picture if picture else 0
        pixels = np.frombuffer(data, np.uint8, frames * picture)
        return pixels.reshape(frames, height, width, 3)

    return compute
