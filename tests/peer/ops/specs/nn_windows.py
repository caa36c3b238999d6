"""Windows of images and volumes, CTC, layouts, fake quantization."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tests.peer.ops.draw import K
from tests.peer.ops.spec import Tolerance, call, spec

if TYPE_CHECKING:
    from tests.peer.ops.draw import Draw

_PADDINGS = ("SAME", "VALID")
_PRODUCTS = Tolerance(1e-4, 1e-5, reason="sums of products in another order")


# --- volumes -----------------------------------------------------------------


def _volume(d: Draw) -> Any:
    sizes = [d.integer(4, 6) for _ in range(3)]
    return d.array((d.integer(1, 3), *sizes, d.integer(1, 3)))


def _strides(d: Draw) -> list[int]:
    return [1, *(d.integer(1, 2) for _ in range(3)), 1]


def _conv3d(d: Draw) -> Any:
    volume = _volume(d)
    window = [d.integer(1, 3) for _ in range(3)]
    filters = d.array((*window, volume.shape[4], d.integer(1, 4)))
    return call(volume, filters, strides=_strides(d), padding=d.choice(_PADDINGS))


def _pool3d(d: Draw) -> Any:
    return call(
        _volume(d),
        ksize=[1, *(d.integer(1, 3) for _ in range(3)), 1],
        strides=_strides(d),
        padding=d.choice(_PADDINGS),
    )


spec("Conv3D", _conv3d, tolerance=_PRODUCTS, mutate=("rank", "dtype"))
spec("AvgPool3D MaxPool3D", _pool3d, mutate=("rank", "dtype"))


# --- images ------------------------------------------------------------------


def _image(d: Draw, depth: int) -> Any:
    return d.array((d.integer(1, 3), d.integer(5, 8), d.integer(5, 8), depth))


def _dilation(d: Draw) -> Any:
    depth = d.integer(1, 3)
    return call(
        _image(d, depth),
        d.array((d.integer(1, 3), d.integer(1, 3), depth)),
        strides=[1, d.integer(1, 2), d.integer(1, 2), 1],
        rates=[1, 1, 1, 1],
        padding=d.choice(_PADDINGS),
    )


def _max_pool_v2(d: Draw) -> Any:
    ksize = [1, d.integer(1, 3), d.integer(1, 3), 1]
    strides = [1, d.integer(1, 2), d.integer(1, 2), 1]
    return call(
        _image(d, 2),
        K(ksize, "int32"),
        K(strides, "int32"),
        padding=d.choice(_PADDINGS),
    )


def _fractional(d: Draw) -> Any:
    return call(
        _image(d, 2),
        pooling_ratio=[1.0, 1.44, 1.73, 1.0],
        pseudo_random=d.maybe(0.5),
        overlapping=d.maybe(0.5),
        deterministic=True,
        seed=3,
        seed2=5,
    )


spec("Dilation2D", _dilation, mutate=("rank", "dtype"))
spec("MaxPoolV2", _max_pool_v2, mutate=("rank", "dtype"))
spec("FractionalMaxPool FractionalAvgPool", _fractional, mutate=("rank", "dtype"))


# --- elements and layouts ----------------------------------------------------


def _nth(d: Draw) -> Any:
    shape = (*d.shape(0, 2), d.integer(2, 6))
    values = d.array(shape, distinct=True)
    return call(values, K(d.integer(0, shape[-1] - 1), "int32"), reverse=d.maybe(0.5))


def _format_sizes(d: Draw) -> Any:
    source, target = d.choice((("NHWC", "NCHW"), ("NCHW", "NHWC")))
    sizes = d.array((4,) if d.maybe(0.5) else (4, 2))
    return call(sizes, src_format=source, dst_format=target)


def _format_axes(d: Draw) -> Any:
    axes = np.arange(-4, 4).astype(d.dtype.as_numpy_dtype)
    return call(axes, src_format="NHWC", dst_format="NCHW")


spec("NthElement", _nth, mutate=("rank", "dtype"))
spec("DataFormatVecPermute", _format_sizes)
# TensorFlow reads beyond its table for axes out of range.
spec("DataFormatDimMap", _format_axes, mutate=("rank", "size", "empty", "dtype"))


# --- sequences ---------------------------------------------------------------


def _logits(d: Draw) -> tuple[Any, Any]:
    steps, batch = d.integer(5, 8), d.integer(1, 4)
    lengths = np.array([d.integer(4, steps) for _ in range(batch)], np.int32)
    return d.array((steps, batch, 5)), lengths


def _ctc_loss(d: Draw) -> Any:
    logits, lengths = _logits(d)
    batch = len(lengths)
    indices = np.array([[b, i] for b in range(batch) for i in (0, 1)], np.int64)
    values = np.array([d.integer(0, 3) for _ in range(2 * batch)], np.int32)
    return call(
        logits,
        indices,
        values,
        lengths,
        ctc_merge_repeated=d.maybe(0.7),
        preprocess_collapse_repeated=d.maybe(0.3),
    )


def _greedy(d: Draw) -> Any:
    return call(*_logits(d), merge_repeated=d.maybe(0.5))


_RECURSION = Tolerance(1e-4, 1e-5, reason="TensorFlow sums logarithms in float32")


def _short(d: Draw, labels: list[int], steps: int) -> Any:
    """One sequence, of as many labels as steps or more; 4 is the blank."""
    indices = np.array([[0, i] for i in range(len(labels))], np.int64)
    values, lengths = np.array(labels, np.int32), np.array([steps], np.int32)
    return d.array((5, 1, 5)), indices, values, lengths


spec(
    "CTCLoss",
    _ctc_loss,
    tolerance=_RECURSION,
    mutate=("rank", "dtype"),
    bad=(
        lambda d: _short(d, [1, 4], 1),
        lambda d: _short(d, [1, 4], 2),
        lambda d: _short(d, [4, 1], 3),
        lambda d: _short(d, [4], 0),
    ),
)
spec("CTCGreedyDecoder", _greedy, mutate=("rank", "dtype"))


# --- diagonals, fake quantization --------------------------------------------


def _diag_part_v3(d: Draw) -> Any:
    matrix = d.array((*d.shape(0, 2), 4, 5))
    lower = d.integer(-2, 1)
    band = [lower, lower + d.integer(0, 2)]
    align = d.choice(("LEFT_RIGHT", "RIGHT_LEFT", "LEFT_LEFT", "RIGHT_RIGHT"))
    return call(matrix, K(band, "int32"), d.array(()), align=align)


spec("MatrixDiagPartV3", _diag_part_v3, mutate=("dtype",))


def _xlog1py(d: Draw) -> Any:
    shape = d.shape(0, 3)
    x = d.array(d.broadcast(shape), low=0.0, high=3.0)
    return call(x, d.array(shape, low=-0.5, high=3.0))


def _inside(d: Draw) -> Any:
    return call(d.array(d.shape(0, 3), low=0.05, high=0.95))


_SERIES = Tolerance(2e-5, 2e-6, reason="series of other lengths")
spec("Xlog1py", _xlog1py, types=["float32", "float64"], tolerance=_SERIES)
spec("Ndtri Erfinv", _inside, types=["float32", "float64"], tolerance=_SERIES)


def _floats(d: Draw) -> Any:
    return d.rng.uniform(-3, 4, d.shape(0, 3)).astype(np.float32)


def _bounds(d: Draw) -> tuple[float, float]:
    return d.choice(((-2.0, 3.0), (0.0, 1.0), (-1.0, 0.5), (0.5, 2.0)))  # type: ignore[no-any-return]


def _fake_args(d: Draw) -> Any:
    low, high = _bounds(d)
    options = {"num_bits": d.integer(2, 8), "narrow_range": d.maybe(0.5)}
    return call(_floats(d), min=low, max=high, **options)


def _fake_vars(d: Draw) -> Any:
    low, high = (np.float32(b) for b in _bounds(d))
    options = {"num_bits": d.integer(2, 8), "narrow_range": d.maybe(0.5)}
    return call(_floats(d), low, high, **options)


def _fake_channels(d: Draw) -> Any:
    depth = d.integer(1, 4)
    x = d.rng.uniform(-3, 4, (*d.shape(0, 3), depth)).astype(np.float32)
    low = d.rng.uniform(-2, -0.1, depth).astype(np.float32)
    high = d.rng.uniform(0.1, 3, depth).astype(np.float32)
    return call(x, low, high, num_bits=d.integer(2, 8))


spec("FakeQuantWithMinMaxArgs", _fake_args, types=())
spec("FakeQuantWithMinMaxVars", _fake_vars, types=(), mutate=("dtype",))
spec("FakeQuantWithMinMaxVarsPerChannel", _fake_channels, types=(), mutate=("dtype",))
