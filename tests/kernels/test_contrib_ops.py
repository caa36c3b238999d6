"""Ops that TensorFlow 1.15 alone has: what it answers, and what it does not survive."""

from __future__ import annotations

import logging
import stat
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import tensorloom as tf
from tensorloom.framework.registry.op_def_library import apply_op

if TYPE_CHECKING:
    from pathlib import Path

_NONE = np.zeros(0, np.float32)
_IMAGE = np.arange(12, dtype=np.float32).reshape(1, 3, 4, 1)


def _run(op: str, *values: Any, **attrs: Any) -> Any:
    """The outputs, computed from inputs whose shapes are not known before."""
    from tensorloom.framework.registry import op_registry

    found = op_registry.find(op)
    assert found is not None
    with tf.Graph().as_default(), tf.Session() as session:
        feeds = {}
        for arg, value in zip(found.inputs, values, strict=True):
            array = np.asarray(value)
            dtype = tf.string if array.dtype.kind in "OS" else array.dtype
            feeds[tf.placeholder(dtype, None)] = array
            attrs[arg.name] = list(feeds)[-1]
        return session.run(apply_op(op, **attrs), feeds)


def _images(count: int) -> Any:
    return np.zeros((count, 3, 3, 1), np.float32)


@pytest.mark.parametrize(
    ("op", "values", "attrs", "error"),
    [
        # TensorFlow divides by the batch size, which ends the process.
        ("Resampler", (_images(0), np.zeros((0, 3, 2), np.float32)), {}, None),
        (
            "MaskedMatmul",
            (
                np.ones((3, 2), "f"),
                np.ones((2, 3), "f"),
                np.int64([[3, 0]]),
                False,
                False,
            ),
            {},
            tf.errors.InvalidArgumentError,
        ),
        (
            "MaskedMatmul",
            (
                np.ones((3, 2), "f"),
                np.ones((2, 3), "f"),
                np.int64([[0, -1]]),
                False,
                False,
            ),
            {},
            tf.errors.InvalidArgumentError,
        ),
        (
            "ImageProjectiveTransform",
            (_images(1), np.ones((1, 8), np.float32)),
            {"interpolation": "nearest"},
            tf.errors.InvalidArgumentError,
        ),
        (
            "SkipGramGenerateCandidates",
            (np.int32([1, 2]), *np.int32([1, 1, -1, -1]), False),
            {},
            tf.errors.InvalidArgumentError,
        ),
        (
            "SkipGramGenerateCandidates",
            (np.int32([1, 2]), np.int32([1, 1]), *np.int32([1, 0, -1]), False),
            {},
            tf.errors.InvalidArgumentError,
        ),
        (
            "ReduceSliceSum",
            (np.ones((2, 2), "f"), np.int32([[0, 1]]), np.int64(2)),
            {},
            tf.errors.InvalidArgumentError,
        ),
        (
            "PeriodicResample",
            (np.float32(3),),
            {"shape": [None]},
            tf.errors.InvalidArgumentError,
        ),
        (
            "PeriodicResample",
            (np.ones((11, 2), "f"),),
            {"shape": [None, 3]},
            tf.errors.InvalidArgumentError,
        ),
        ("DecodeLibsvm", (np.array(b"1 0:2", object),), {"num_features": 3}, None),
    ],
)
def test_what_ends_the_process_of_tensorflow(
    op: str, values: tuple[Any, ...], attrs: dict[str, Any], error: Any
) -> None:
    if error is None:
        _run(op, *values, **attrs)
    else:
        with pytest.raises(error):
            _run(op, *values, **attrs)


@pytest.mark.parametrize(
    ("rows", "size", "error"),
    [
        (-1, 2, tf.errors.InvalidArgumentError),
        (2, 2, tf.errors.InvalidArgumentError),
        (0, -2, tf.errors.InvalidArgumentError),
        (0, 1 << 50, tf.errors.ResourceExhaustedError),
    ],
)
def test_least_squares_of_wrong_places(rows: int, size: int, error: Any) -> None:
    with pytest.raises(error):
        _run(
            "WALSComputePartialLhsAndRhs",
            np.ones((3, 2), np.float32),
            *(_NONE, np.float32(0.5), _NONE),
            np.int64([[rows, 0]]),
            np.ones(1, np.float32),
            np.ones(1, np.float32),
            np.int64(size),
            False,
        )


@pytest.mark.parametrize("x", [np.nan, np.inf, -np.inf, 1e30, -1.0, 4.0])
def test_points_outside_of_an_image_are_zero(x: float) -> None:
    assert _run("Resampler", _IMAGE, np.float32([[[x, 0.5]]])).tolist() == [[[0.0]]]


def test_slices_with_nan_end_as_one_comparison_after_the_other_does() -> None:
    data = np.float32([[1], [np.nan], [0]])
    found = _run(
        "ReduceSliceMax", data, np.int32([[0, 3], [0, 2], [1, 3], [2, 2]]), np.int64(0)
    )
    np.testing.assert_array_equal(found[:, 0], [0, np.nan, 0, -np.inf])


def test_equal_distances_come_in_the_order_of_a_heap() -> None:
    rows, columns = _run(
        "BipartiteMatch", np.ones((3, 3), np.float32), np.float32(-1), top_k=2
    )
    assert (rows.tolist(), columns.tolist()) == ([0, -1, 2], [0, -1, 2])


def test_skip_grams_of_a_seed_go_on_from_step_to_step() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        pairs = apply_op(
            "SkipGramGenerateCandidates",
            input_tensor=tf.constant(list(range(12)), tf.int64),
            **{"min_skips": 1, "max_skips": 4, "start": 0, "limit": -1},
            emit_self_as_target=False,
            seed=1,
            seed2=7,
        )
        first, second = session.run(pairs), session.run(pairs)
    assert first[1][:11].tolist() == [1, 2, 0, 2, 3, 4, 5, 0, 1, 3, 4]
    assert len(first[0]) == 40
    assert first[1].tolist() != second[1].tolist()


def test_convolution_with_bias_side_input_and_activation() -> None:
    image, filters = _IMAGE, np.full((1, 1, 1, 2), 2, np.float32)
    side = np.full((1, 3, 4, 2), -10, np.float32)
    attrs = {"strides": [1, 1, 1, 1], "padding": "SAME"}
    found = _run(
        "FusedConv2DBiasActivation",
        *(image, filters, np.float32([0, 1]), side, np.float32(0.5), np.float32(0.2)),
        **attrs,
    )
    np.testing.assert_allclose(
        found[..., 0], np.maximum(image[..., 0] - 2, 0), rtol=1e-6
    )
    np.testing.assert_allclose(
        found[..., 1], np.maximum(image[..., 0] - 1, 0), rtol=1e-6
    )
    no_side = _run(
        "FusedConv2DBiasActivation",
        np.moveaxis(image, 3, 1),
        np.transpose(filters, (3, 2, 0, 1)),
        *(np.float32([0, 1]), _NONE, np.float32(-1), np.float32(0)),
        data_format="NCHW",
        filter_format="OIHW",
        activation_mode="None",
        **attrs,
    )
    np.testing.assert_allclose(no_side[:, 0], -2 * image[..., 0], rtol=1e-6)


def test_memory_of_the_process() -> None:
    used, most = _run("BytesInUse"), _run("MaxBytesInUse")
    assert 1 << 20 < used <= _run("MaxBytesInUse")
    assert most > 1 << 20
    assert _run("BytesLimit") == -1


# --- ffmpeg ------------------------------------------------------------------------

_FFMPEG = """#!/bin/sh
for last; do :; done
printf '\\000\\100\\000\\300\\377\\177' > "$last"
echo 'Stream #0:0: Video: rawvideo, rgb24, 2x1, 25 fps' >&2
exit $FFMPEG_STATUS
"""


@pytest.fixture
def ffmpeg(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    program = tmp_path / "ffmpeg"
    program.write_text(_FFMPEG)
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setenv("FFMPEG_STATUS", "0")
    return monkeypatch


def _sound(channels: int) -> Any:
    text = np.array(b"wav", object)
    return _run(
        "DecodeAudioV2", np.array(b"x", object), text, np.int32(8), np.int32(channels)
    )


def test_sound_and_video_by_ffmpeg(ffmpeg: pytest.MonkeyPatch) -> None:
    expected = np.float32([[16384], [-16384], [32767]]) / np.float32(32767)
    np.testing.assert_array_equal(_sound(1), expected)
    assert _sound(2).shape == (1, 2)
    video = _run("DecodeVideo", np.array(b"x", object))
    assert video.tolist() == [[[[0, 64, 0], [192, 255, 127]]]]


def test_what_ffmpeg_cannot_read_is_empty(
    ffmpeg: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    ffmpeg.setenv("FFMPEG_STATUS", "3")
    with caplog.at_level(logging.CRITICAL):
        assert _sound(1).shape == (0, 0)
        assert _run("DecodeVideo", np.array(b"x", object)).shape == (0, 0)


def test_without_ffmpeg(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(tf.errors.UnavailableError, match="FFmpeg must be installed"):
        _sound(1)
