"""Programs over images, boxes, sound and signals.

Each returns the tensors to fetch. The same programs, run under TensorFlow 1.15.0, gave
the values in `recorded/image_programs.npz`.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

import numpy as np

import tensorloom as tf

_RNG = np.random.RandomState(0)
_IMAGE = _RNG.rand(2, 7, 9, 3).astype(np.float32)
_WIDE = _RNG.randn(3, 5, 6, 3).astype(np.float32)
_BOXES = np.array(
    [[0, 0, 1, 1], [0.1, 0.2, 0.7, 0.9], [0.8, 0.3, 0.2, 0.9], [-0.2, -0.1, 1.3, 1.2]],
    np.float32,
)
_OWNERS = np.array([0, 1, 1, 0], np.int32)
_LOW = _RNG.rand(40, 2)
_CANDIDATES = np.concatenate([_LOW, _LOW + 0.4 * _RNG.rand(40, 2)], 1).astype("f")
_SCORES = (_RNG.permutation(40) / 40).astype(np.float32)
_DRAWN = np.concatenate([_LOW[:6] * 0.6, _LOW[:6] * 0.6 + 0.5], 1)[None].astype("f")
_SOUND = np.sin(np.arange(300) ** 1.2).astype(np.float32)
_MELODY = np.stack([_SOUND, _SOUND[::-1]])


def _scaled(dtype: Any) -> Any:
    return (_IMAGE * 100).astype(dtype)


def resized() -> list[Any]:
    """All kernels, dtypes, and ways of lining pixels up."""
    results = []
    for op in ("ResizeBilinear", "ResizeBicubic", "ResizeNearestNeighbor"):
        for dtype in (np.uint8, np.int32, np.float32, np.float64):
            for align, centers in ((False, False), (True, False), (False, True)):
                results += [
                    getattr(tf.raw_ops, op)(
                        images=_scaled(dtype),
                        size=size,
                        align_corners=align,
                        half_pixel_centers=centers,
                    )
                    for size in ([4, 5], [15, 13], [1, 30])
                ]
    return results + [tf.image.resize_area(_IMAGE, size) for size in ([3, 4], [15, 4])]


def resizing_gradients() -> list[Any]:
    """What each pixel adds to the sum of squares."""
    x = tf.constant(_IMAGE)
    results = [
        tf.image.resize_bilinear(x, [4, 12]),
        tf.image.resize_bicubic(x, [11, 5], align_corners=True),
        tf.image.resize_nearest_neighbor(x, [4, 12], half_pixel_centers=True),
        tf.raw_ops.ScaleAndTranslate(
            images=x, size=[5, 6], scale=[0.7, 0.8], translation=[0.3, 0.1]
        ),
    ]
    return [tf.gradients(y * y, x)[0] for y in results]


def scaled_and_moved() -> list[Any]:
    """All kernels, with and without antialiasing."""
    kinds = "lanczos1 lanczos3 lanczos5 gaussian box triangle keyscubic mitchellcubic"
    return [
        tf.raw_ops.ScaleAndTranslate(
            images=_IMAGE,
            size=size,
            scale=scale,
            translation=[0.3, -1.0],
            kernel_type=kind,
            antialias=antialias,
        )
        for kind in kinds.split()
        for antialias in (True, False)
        for size, scale in (([4, 5], [0.5, 0.6]), ([12, 15], [1.7, 1.6]))
    ]


def cropped_and_resized() -> list[Any]:
    """Boxes over the edges, turned over, of one pixel; and the gradients."""
    x, boxes = tf.constant(_IMAGE), tf.constant(_BOXES)
    results = [
        tf.image.crop_and_resize(y, boxes, _OWNERS, size, method, 0.5)
        for y in (x, _scaled(np.uint8))
        for size in ([4, 5], [1, 1])
        for method in ("bilinear", "nearest")
    ]
    return results + tf.gradients(results[0] * results[0], [x, boxes])


def adjusted() -> list[Any]:
    """Contrast, hue, saturation and HSV, of values in and out of 0 to 1."""
    results = []
    for x in (_IMAGE, _WIDE, np.round(_IMAGE * 2) / 2):
        results += [tf.image.adjust_contrast(x, 1.7)]
        results += [tf.image.adjust_hue(x, delta) for delta in (0.3, -0.4, 1.7)]
        results += [tf.image.adjust_saturation(x, scale) for scale in (0.3, 1.7)]
        results += [tf.image.rgb_to_hsv(x), tf.image.hsv_to_rgb(x)]
    return results


def drawn() -> list[Any]:
    """Outlines on gray and coloured images."""
    picture = np.repeat(_IMAGE[:1], 3, 1)
    return [
        tf.image.draw_bounding_boxes(picture, _DRAWN),
        tf.image.draw_bounding_boxes(picture[..., :1], _DRAWN),
        tf.image.draw_bounding_boxes(picture, _DRAWN, colors=[[0.1, 0.2, 0.3]]),
    ]


def patches() -> list[Any]:
    """Strides, rates and paddings."""
    volume = np.arange(2 * 5 * 6 * 7 * 2).reshape(2, 5, 6, 7, 2).astype(np.float32)
    results = []
    for padding in ("SAME", "VALID"):
        sizes, strides, rates = [1, 3, 2, 1], [1, 2, 3, 1], [1, 2, 1, 1]
        results += [
            tf.extract_image_patches(_scaled(np.uint8), sizes, strides, rates, padding),
            tf.extract_volume_patches(
                volume, [1, 3, 2, 2, 1], [1, 2, 3, 1, 1], padding
            ),
        ]
    return results


def glimpses() -> list[Any]:
    """Windows inside of the images: their noise is not seeded."""
    return [
        tf.image.extract_glimpse(
            _IMAGE, [3, 4], offsets, centered=centered, normalized=normalized
        )
        for centered, normalized, offsets in (
            (True, True, [[0.3, -0.2], [0.1, 0.4]]),
            (True, False, [[1.0, 2.0], [0.5, 1.0]]),
            (False, True, [[0.3, 0.4], [0.4, 0.5]]),
            (False, False, [[2.0, 3.0], [3.5, 4.0]]),
        )
    ]


def suppressed() -> list[Any]:
    """Hard and soft, padded, of all classes; overlaps of the threshold itself."""
    ties = np.array([[0, 0, 1, 1], [0, 0, 1, 0.5], [0, 0, 0.5, 1]], np.float32)
    results = [tf.image.non_max_suppression(ties, [0.9, 0.8, 0.7], 3, 0.5)]
    for share in (0.1, 0.5):
        results += [tf.image.non_max_suppression(_CANDIDATES, _SCORES, 20, share, 0.2)]
        results += tf.image.non_max_suppression_padded(
            _CANDIDATES, _SCORES, 30, share, 0.3, pad_to_max_output_size=True
        )
        results += tf.image.non_max_suppression_with_scores(
            _CANDIDATES, _SCORES, 30, share, 0.1, soft_nms_sigma=0.4
        )
    scores = np.stack([_SCORES, _SCORES[::-1]], 1)[None]
    for per_class in (True, False):
        results += tf.image.combined_non_max_suppression(
            _CANDIDATES[None, :, None], scores, 6, 20, 0.3, 0.2, per_class
        )
    return results


def sampled() -> list[Any]:
    """Seeded boxes; also where no attempt fits."""
    results = []
    for seed in range(1, 9):
        for sides in ([50, 70, 3], [333, 41, 3], [5, 6, 1]):
            results += tf.image.sample_distorted_bounding_box(
                sides,
                [[[0.1, 0.2, 0.5, 0.9], [0.3, 0.1, 0.9, 0.4]]],
                seed=seed,
                seed2=7,
                min_object_covered=0.2,
                aspect_ratio_range=[0.3, 3.0],
            )
    return results


def _wav(channels: int, extra: bytes = b"") -> bytes:
    samples, width = bytes(range(0, 240, 5)), 2 * channels
    head = struct.pack("<HHIIHH", 1, channels, 8000, 8000 * width, width, 16)
    body = b"WAVEfmt " + struct.pack("<I", 16) + head + extra
    body += b"data" + struct.pack("<I", len(samples)) + samples
    return b"RIFF" + struct.pack("<I", len(body)) + body


def sounds() -> list[Any]:
    """WAV files of one and two channels; spectrograms and their coefficients."""
    results: list[Any] = []
    for contents in (_wav(1), _wav(2, b"LIST\4\0\0\0abcd")):
        for channels, samples in ((-1, -1), (2, 5), (1, 90)):
            results += tf.audio.decode_wav(contents, channels, samples)
    results += tf.audio.decode_wav(tf.audio.encode_wav(_SOUND[:, None] * 1.2, 9000))
    for window, stride in ((64, 16), (50, 20)):
        spectrum = tf.raw_ops.AudioSpectrogram(
            input=_SOUND[:, None],
            window_size=window,
            stride=stride,
            magnitude_squared=True,
        )
        results += [spectrum, tf.raw_ops.Mfcc(spectrogram=spectrum, sample_rate=16000)]
    return results


def signals() -> list[Any]:
    """Frames, short-time and cosine transforms, mel scales."""
    spectrum = tf.signal.stft(_MELODY, 32, 16)
    inverse = tf.signal.inverse_stft_window_fn(16)
    results = [
        tf.signal.frame(_MELODY, 30, 20, pad_end=True, pad_value=1),
        tf.signal.overlap_and_add(tf.signal.frame(_MELODY, 30, 20), 20),
        spectrum,
        tf.signal.inverse_stft(spectrum, 32, 16, window_fn=inverse),
        tf.signal.linear_to_mel_weight_matrix(8, 33),
        tf.signal.mfccs_from_log_mel_spectrograms(_MELODY[:, :20]),
        tf.signal.fftshift(_MELODY[:, :7]),
        tf.signal.hann_window(6),
        tf.signal.hamming_window(7, periodic=False),
    ]
    for kind, norm in ((1, None), (2, None), (2, "ortho"), (3, None), (3, "ortho")):
        results += [tf.signal.dct(_MELODY[:, :12], kind, norm=norm)]
    return results


def composed() -> list[Any]:
    """What `tf.image` makes of other ops."""
    x = tf.constant(_IMAGE)
    small = tf.constant((_IMAGE * 255).astype(np.uint8))
    other = tf.constant(_IMAGE[:, ::-1].copy())
    tf.set_random_seed(3)
    return [
        tf.image.rot90(x, 3),
        tf.image.central_crop(x, 0.5),
        tf.image.resize_image_with_crop_or_pad(small, 5, 12),
        tf.image.resize_image_with_pad(small, 9, 8),
        tf.image.per_image_standardization(small),
        tf.image.adjust_gamma(small, 0.7, 0.9),
        tf.image.rgb_to_grayscale(small),
        tf.image.convert_image_dtype(x, tf.uint8),
        tf.image.random_brightness(x, 0.3, seed=4),
        tf.image.random_flip_left_right(x, seed=2),
        tf.image.psnr(x, other, 1.0),
        tf.image.ssim(x, other, 1.0, filter_size=5),
        tf.image.sobel_edges(x),
        tf.image.total_variation(x),
        tf.image.yuv_to_rgb(tf.image.rgb_to_yuv(x)),
    ]


PROGRAMS: dict[str, Callable[[], list[Any]]] = {
    program.__name__: program
    for program in (
        resized,
        resizing_gradients,
        scaled_and_moved,
        cropped_and_resized,
        adjusted,
        drawn,
        patches,
        glimpses,
        suppressed,
        sampled,
        sounds,
        signals,
        composed,
    )
}
