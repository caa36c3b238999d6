"""Small graphs over neural network ops, one function a case.

The same functions, called with TensorFlow's modules (1.15.0; 2.21 for the ops in
`ONLY_2`), gave `recorded/nn_cases.txt`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Case = Callable[[Any], Any]
CASES: dict[str, Case] = {}
ONLY_2: set[str] = set()


def _case(name: str, build: Case, only_2: bool = False) -> None:
    CASES[name] = build
    if only_2:
        ONLY_2.add(name)


def _normal(seed: int, *shape: int) -> Any:
    return np.random.RandomState(seed).randn(*shape).astype(np.float32)


def _with_gradients(tf: Any, build: Callable[..., Any], *inputs: Any) -> list[Any]:
    """The value, its gradients, and the gradient of the first gradient."""
    tensors = [tf.constant(x) for x in inputs]
    value = build(*tensors)
    first = tf.gradients(value * value, tensors)
    second = tf.gradients(first[0] * first[0], tensors)
    return [value, *first, *[s for s in second if s is not None]]


# --- volumes -----------------------------------------------------------------


def _volumes() -> None:
    volume, filters = _normal(0, 2, 5, 4, 6, 2), _normal(1, 2, 3, 2, 2, 3)
    strides = [1, 2, 1, 2, 1]
    for padding in ("SAME", "VALID"):
        _case(
            f"conv3d {padding}",
            lambda tf, p=padding: _with_gradients(
                tf, lambda v, w: tf.nn.conv3d(v, w, strides, p), volume, filters
            ),
        )
        for kind in ("max", "avg"):
            _case(
                f"{kind}_pool3d {padding}",
                lambda tf, p=padding, k=kind: _with_gradients(
                    tf,
                    lambda v: getattr(tf.nn, f"{k}_pool3d")(v, [2, 3, 2], strides, p),
                    volume,
                ),
            )
    _case(
        "conv3d_transpose",
        lambda tf: tf.nn.conv3d_transpose(
            volume[:, :2, :2, :2], _normal(2, 2, 2, 2, 4, 2), [2, 4, 4, 4, 4], 2
        ),
    )
    ties = np.zeros((1, 2, 2, 2, 1), np.float32)
    one = np.ones((1, 1, 1, 1, 1), np.float32)
    window = {"ksize": [1, 2, 2, 2, 1], "strides": [1] * 5, "padding": "VALID"}
    _case(
        "max_pool3d grad to every maximum",
        lambda tf: tf.raw_ops.MaxPool3DGrad(
            orig_input=ties, orig_output=0 * one, grad=one, **window
        ),
    )
    _case(
        "conv3d empty batch",
        lambda tf: tf.nn.conv3d(volume[:0], filters, [1] * 5, "SAME"),
    )
    _case(
        "conv3d depths differ",
        lambda tf: tf.nn.conv3d(
            tf.placeholder_with_default(volume, None),
            filters[:, :, :, [0, 0, 0]],
            [1] * 5,
            "SAME",
        ),
    )


def _nan_pools() -> None:
    for place in (0, 3, 6):
        image = np.arange(8, dtype=np.float32).reshape(1, 2, 4, 1)
        image.flat[place] = np.nan
        _nan_pool(f"one NaN {place}", image)
    _nan_pool("NaN alone", np.full((1, 2, 4, 1), np.nan, np.float32))
    _nan_pool("-inf alone", np.full((1, 2, 4, 1), -np.inf, np.float32))


def _nan_pool(name: str, image: Any) -> None:
    window = {"ksize": [1, 2, 2, 1], "strides": [1, 1, 1, 1]}
    for padding in ("SAME", "VALID"):
        _case(
            f"max_pool of {name} {padding}",
            lambda tf, p=padding: _pool_and_gradient(tf, image, p, window),
        )
    _case(
        f"max_pool_with_argmax of {name}",
        lambda tf: tf.raw_ops.MaxPoolWithArgmax(input=image, padding="VALID", **window),
    )
    volume = image.reshape(1, 2, 2, 2, 1)
    _case(
        f"max_pool3d of {name}",
        lambda tf: tf.nn.max_pool3d(volume, 2, 1, "SAME"),
    )
    depth = image.reshape(1, 1, 2, 4)
    _case(
        f"max_pool over channels of {name}",
        lambda tf: tf.nn.max_pool(depth, [1, 1, 1, 2], [1, 1, 1, 2], "VALID"),
    )


def _pool_and_gradient(tf: Any, image: Any, padding: str, window: Any) -> Any:
    x = tf.constant(image)
    y = tf.nn.max_pool(x, window["ksize"], window["strides"], padding)
    return [y, tf.gradients(y, x)[0]]


# --- other windows -----------------------------------------------------------


def _windows() -> None:
    image = _normal(0, 2, 7, 8, 3)
    filters = _normal(1, 2, 3, 3)
    for strides, rates in (((1, 1), (1, 1)), ((2, 3), (1, 1)), ((1, 2), (2, 2))):
        for padding in ("SAME", "VALID"):
            _case(
                f"dilation2d {strides} {rates} {padding}",
                lambda tf, s=strides, r=rates, p=padding: _dilation(
                    tf, image, filters, s, r, p
                ),
            )
    for pseudo in (False, True):
        for overlapping in (False, True):
            for kind in ("max", "avg"):
                _case(
                    f"fractional {kind} {pseudo} {overlapping}",
                    lambda tf, k=kind, p=pseudo, o=overlapping: _fractional(
                        tf, image, k, p, o
                    ),
                )
    weights = _normal(2, 3, 3, 3, 2)
    pads = [[0, 0], [1, 2], [2, 1], [0, 0]]
    for mode in ("REFLECT", "SYMMETRIC"):
        options = {"mode": mode, "strides": [1, 2, 2, 1], "padding": "SAME"}
        _case(
            f"pad and convolve {mode}",
            lambda tf, o=options: tf.raw_ops.FusedPadConv2D(
                input=image[:1], paddings=pads, filter=weights, **o
            ),
        )
        _case(
            f"resize, pad and convolve {mode}",
            lambda tf, o=options: tf.raw_ops.FusedResizeAndPadConv2D(
                input=image[:1], size=[10, 5], paddings=pads, filter=weights, **o
            ),
        )
    _case(
        "max_pool_v2 op",
        lambda tf: tf.raw_ops.MaxPoolV2(
            input=image,
            ksize=tf.placeholder_with_default([1, 2, 3, 1], None),
            strides=[1, 2, 2, 1],
            padding="SAME",
        ),
    )


def _dilation(tf: Any, image: Any, filters: Any, s: Any, r: Any, padding: str) -> Any:
    a, b = tf.constant(image), tf.constant(filters)
    options = ([1, *s, 1], [1, *r, 1], padding)
    y = tf.nn.dilation2d(a, b, *options)
    return [y, *tf.gradients(y * y, [a, b]), tf.nn.erosion2d(a, b, *options)]


def _fractional(tf: Any, image: Any, kind: str, pseudo: bool, overlapping: bool) -> Any:
    x = tf.constant(image)
    pool = getattr(tf.nn, f"fractional_{kind}_pool")
    result = pool(x, [1, 1.44, 1.73, 1], pseudo, overlapping, True, 5, 7)
    return [*result, tf.gradients(result[0] * result[0], x)[0]]


# --- layouts, elements, distances --------------------------------------------


def _small_ops() -> None:
    for source, target in (("NHWC", "NCHW"), ("NCHW", "NHWC"), ("NHWC", "HWNC")):
        formats = {"src_format": source, "dst_format": target}
        _case(
            f"axes {source} {target}",
            lambda tf, f=formats: tf.raw_ops.DataFormatDimMap(x=[0, 1, -1, 2, -4], **f),
        )
        _case(
            f"sizes {source} {target}",
            lambda tf, f=formats: tf.raw_ops.DataFormatVecPermute(
                x=[[5, 1], [6, 2], [7, 3], [8, 4]], **f
            ),
        )
    _case(
        "sizes of a wrong length",
        lambda tf: tf.raw_ops.DataFormatVecPermute(
            x=tf.placeholder_with_default([1, 2, 3], None)
        ),
    )
    for reverse in (False, True):
        _case(f"nth element {reverse}", lambda tf, r=reverse: _nth(tf, r))
    _case(
        "nth element out of range",
        lambda tf: tf.raw_ops.NthElement(
            input=[1.0, 2.0], n=tf.placeholder_with_default(5, [])
        ),
    )
    rows = _normal(0, 4, 3)
    for op in ("InplaceAdd", "InplaceSub", "InplaceUpdate"):
        _case(
            op,
            lambda tf, o=op: getattr(tf.raw_ops, o)(x=rows, i=[1, -1, 1], v=rows[:3]),
        )
    for normalize in (False, True):
        _case(f"edit distance {normalize}", lambda tf, n=normalize: _distance(tf, n))
    _case("edit distance of strings", _string_distance)


def _nth(tf: Any, reverse: bool) -> Any:
    x = tf.constant([[3.0, 1, 2, 2], [5, 4, 4, 4]])
    y = tf.raw_ops.NthElement(input=x, n=1, reverse=reverse)
    return [y, tf.gradients(y * y, x)[0]]


def _distance(tf: Any, normalize: bool) -> Any:
    guess = tf.SparseTensor(
        [[0, 0], [0, 1], [1, 0], [1, 1], [2, 0]], [1, 2, 3, 4, 5], [4, 2]
    )
    truth = tf.SparseTensor(
        [[0, 0], [0, 1], [0, 2], [1, 0], [3, 0]], [1, 3, 2, 4, 9], [4, 3]
    )
    return tf.edit_distance(guess, truth, normalize)


def _string_distance(tf: Any) -> Any:
    guess = tf.SparseTensor([[0, 0], [0, 1]], ["a", "b"], [1, 2])
    return tf.edit_distance(guess, tf.SparseTensor([[0, 0]], ["b"], [1, 2]))


# --- CTC ---------------------------------------------------------------------

_LABELS = ([[0, 0], [0, 1], [0, 2], [1, 0], [1, 1], [2, 0]], [1, 1, 2, 3, 0, 2], [3, 3])


def _ctc() -> None:
    logits = 2 * _normal(0, 7, 3, 5)
    for collapse in (False, True):
        for merge in (False, True):
            for lengths in ([7, 5, 6], [4, 2, 1]):
                options = {
                    "preprocess_collapse_repeated": collapse,
                    "ctc_merge_repeated": merge,
                }
                _case(
                    f"ctc_loss {collapse} {merge} {lengths}",
                    lambda tf, n=lengths, o=options: _ctc_loss(tf, logits, n, **o),
                )
    for name, lengths in (("too short", [2, 5, 6]), ("too long", [8, 5, 6])):
        _case(f"ctc_loss {name}", lambda tf, n=lengths: _ctc_loss(tf, logits, n))
    _case(
        "ctc_loss ignores long labels",
        lambda tf: _ctc_loss(
            tf, logits, [2, 5, 6], ignore_longer_outputs_than_inputs=True
        ),
    )
    for blank in (None, -1, 2):
        _case(f"ctc_loss_v2 {blank}", lambda tf, b=blank: _ctc_dense(tf, logits, b))
    for merge in (False, True):
        _case(
            f"greedy {merge}",
            lambda tf, m=merge: _decoded(
                tf.nn.ctc_greedy_decoder(logits, [7, 5, 6], m)
            ),
        )
    for width, paths in ((1, 1), (2, 2), (3, 2), (5, 3), (100, 5)):
        _case(
            f"beam search {width} {paths}",
            lambda tf, w=width, p=paths: _decoded(
                tf.nn.ctc_beam_search_decoder(logits, [7, 5, 6], w, p, False)
            ),
        )
    _case(
        "beam search for too many",
        lambda tf: _decoded(tf.nn.ctc_beam_search_decoder(logits, [7, 5, 6], 2, 3)),
    )
    repeated = [[1, 1, 2, 2, 1], [0, 0, 0, 3, 3], [5, 5, 5, 5, 5]]
    _case("collapse", lambda tf: tf.nn.collapse_repeated(repeated, [5, 4, 0]))
    _case("unique", lambda tf: list(tf.nn.ctc_unique_labels(tf.constant(repeated))))


def _ctc_loss(tf: Any, logits: Any, lengths: Any, **options: Any) -> Any:
    indices, values, shape = _LABELS
    labels = tf.SparseTensor(indices, np.array(values, np.int32), shape)
    x = tf.constant(logits)
    loss = tf.nn.ctc_loss(labels, x, lengths, **options)
    return [loss, tf.gradients(loss, x)[0]]


def _ctc_dense(tf: Any, logits: Any, blank: Any) -> Any:
    x = tf.constant(logits)
    labels = [[1, 1, 4], [3, 1, 0], [1, 0, 0]]
    loss = tf.nn.ctc_loss_v2(labels, x, [3, 2, 1], [7, 5, 6], blank_index=blank)
    return [loss, tf.gradients(loss, x)[0]]


def _decoded(result: Any) -> list[Any]:
    paths, probabilities = result
    parts = [p for s in paths for p in (s.indices, s.values, s.dense_shape)]
    return [*parts, probabilities]


# --- what TensorFlow 2 added -------------------------------------------------

_UNARY = (
    "BesselI0 BesselI1 BesselJ0 BesselJ1 BesselK0 BesselK0e BesselK1 BesselK1e "
    "BesselY0 BesselY1 Dawsn Expint FresnelCos FresnelSin Spence"
)


def _later_ops() -> None:
    x = np.array([0.1, 0.3, 0.5, 0.9, 1.0, 1.5, 2.5, 5.0, 6.5, 10.0, 30.0, 45.0])
    for op in _UNARY.split():
        _case(op, lambda tf, o=op: _unary(tf, o, x), only_2=True)
    inside = np.array([0.001, 0.1, 0.5, 0.9, 0.99999])
    for op in ("Ndtri", "Erfinv"):
        _case(op, lambda tf, o=op: _unary(tf, o, inside), only_2=True)
    matrix = np.arange(24.0).reshape(2, 3, 4)
    for align in ("LEFT_RIGHT", "RIGHT_LEFT", "LEFT_LEFT", "RIGHT_RIGHT"):
        for band in ((-1, 2), (0, 0), (-2, -1), (-2, 3)):
            _case(
                f"diagonals {align} {band}",
                lambda tf, a=align, b=band: _diagonals(tf, matrix, a, b),
                only_2=True,
            )
    for equation, *shapes in (
        ("ij,jk->ik", (2, 3), (3, 4)),
        ("ij->", (2, 3)),
        ("ii->i", (3, 3)),
        ("...ij,...jk->...ik", (2, 1, 2, 3), (5, 3, 4)),
        ("ab...,b->a...", (2, 3, 4, 2), (3,)),
        ("iij,j->i", (2, 2, 3), (3,)),
        ("ij,k->ik", (2, 3), (4,)),
        ("...,...->...", (2, 1), (3,)),
        ("i->ii", (3,)),
        ("ij,jk->ik", (2, 3), (4, 4)),
    ):
        _case(
            f"einsum {equation} {shapes}",
            lambda tf, e=equation, s=shapes: _einsum(tf, e, s),
            only_2=True,
        )


def _unary(tf: Any, op: str, x: Any) -> Any:
    value = tf.constant(x)
    result = getattr(tf.raw_ops, op)(x=value)
    return [result, tf.gradients(result, value)[0]]


def _diagonals(tf: Any, matrix: Any, align: str, band: tuple[int, int]) -> Any:
    x, k, ops = tf.constant(matrix), list(band), tf.raw_ops
    zero = tf.constant(0.0, tf.float64)
    part = ops.MatrixDiagPartV3(input=x, k=k, padding_value=zero - 9, align=align)
    made = ops.MatrixDiagV3(
        diagonal=part, k=k, num_rows=3, num_cols=4, padding_value=zero, align=align
    )
    put = ops.MatrixSetDiagV3(input=x * 0, diagonal=part, k=k, align=align)
    return [part, made, put, *tf.gradients([part * part, made * made, put * put], x)]


def _einsum(tf: Any, equation: str, shapes: Any) -> Any:
    inputs = [tf.constant(3 * _normal(i, *shape)) for i, shape in enumerate(shapes)]
    y = tf.raw_ops.Einsum(inputs=inputs, equation=equation)
    return [y, *tf.gradients(y * y, inputs)]


# --- blocks ------------------------------------------------------------------


def _blocks() -> None:
    shapes = [(3, 5), (3, 5), (9, 20), (5,), (5,), (5,), (20,)]
    names = ("cs_prev", "h_prev", "w", "wci", "wcf", "wco", "b")
    values = [_normal(i, *shape) for i, shape in enumerate(shapes)]
    weights = dict(zip(names, values, strict=False))
    x = _normal(9, 6, 3, 4)
    for peephole in (False, True):
        for clip in (-1.0, 0.5):
            options = {"use_peephole": peephole, "cell_clip": clip}
            _case(
                f"lstm cell {peephole} {clip}",
                lambda tf, o=options: list(
                    tf.raw_ops.LSTMBlockCell(x=x[0], **weights, **o)
                ),
            )
            _case(
                f"lstm sequence {peephole} {clip}",
                lambda tf, o=options: _sequence(tf, x, weights, o),
            )
    _case("gru cell", lambda tf: _gru(tf, x[0], weights))


def _sequence(tf: Any, x: Any, weights: Any, options: Any) -> Any:
    inputs = {"x": tf.constant(x), **{k: tf.constant(v) for k, v in weights.items()}}
    steps = np.int64(4)
    result = list(tf.raw_ops.BlockLSTM(seq_len_max=steps, **inputs, **options))
    # What lies behind the last step is not defined.
    loss = tf.reduce_sum(result[6][:4] ** 2) + tf.reduce_sum(result[1][:4])
    used = [n for n in inputs if options["use_peephole"] or not n.startswith("wc")]
    grads = tf.gradients(loss, [inputs[n] for n in used])
    return [*[r[:4] for r in result], grads[0][:4], *grads[1:]]


def _gru(tf: Any, x: Any, weights: Any) -> Any:
    w, b, h = weights["w"], weights["b"], weights["h_prev"]
    inputs = {"x": x, "h_prev": h, "w_ru": w[:, :10], "w_c": w[:, :5]}
    inputs |= {"b_ru": b[:10], "b_c": b[:5]}
    r, u, c, new = tf.raw_ops.GRUBlockCell(**inputs)
    grads = tf.raw_ops.GRUBlockCellGrad(**inputs, r=r, u=u, c=c, d_h=h)
    return [r, u, c, new, *grads]


for _fill in (
    _volumes,
    _nan_pools,
    _windows,
    _small_ops,
    _ctc,
    _later_ops,
    _blocks,
):
    _fill()
