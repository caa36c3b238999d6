"""Uniformly quantized tensors (2.x)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tests.peer.ops.spec import call, spec

if TYPE_CHECKING:
    from tests.peer.ops.draw import Draw


_LIMITS = {
    "qint8": (-128, 127),
    "quint8": (0, 255),
    "qint32": (-(2**31), 2**31 - 1),
}


# Integers that stay exact when they are scaled.
_DRAWN = {"qint8": (-128, 127), "quint8": (0, 255), "qint32": (-9999, 9999)}


def _integers(d: Draw, shape: Any, kind: str) -> Any:
    low, high = _DRAWN[kind]
    return d.array(shape, kind, low, high)


def _parameters(d: Draw, shape: Any, axis: int) -> list[Any]:
    sizes = () if axis == -1 else (shape[axis],)
    scales = d.rng.uniform(0.05, 2, sizes).astype(np.float32)
    return [scales, d.rng.integers(-20, 20, sizes).astype(np.int32)]


def _axis(d: Draw, shape: Any) -> int:
    return d.integer(-1, len(shape) - 1)


def _attrs(kind: str, axis: int, prefix: str = "") -> dict[str, int]:
    least, greatest = _LIMITS[kind]
    return {
        f"{prefix}quantization_axis": axis,
        f"{prefix}quantization_min_val": least,
        f"{prefix}quantization_max_val": greatest,
    }


def _quantize(d: Draw, wrong: bool = False) -> Any:
    shape = d.shape(1, 3)
    axis, kind = _axis(d, shape), d.dtype.name
    parameters = _parameters(d, (*shape[:-1], shape[-1] + wrong), axis)
    value = d.array(shape, "float32", -90, 90)
    return call(value, *parameters, **_attrs(kind, axis))


def _dequantize(d: Draw) -> Any:
    shape = d.shape(1, 3)
    axis, kind = _axis(d, shape), d.dtype.name
    value = _integers(d, shape, kind)
    parameters = _parameters(d, shape, axis)
    return call(value, *parameters, Tout="float32", **_attrs(kind, axis))


def _requantize(d: Draw) -> Any:
    shape = d.shape(1, 3)
    before, kind = _axis(d, shape), d.dtype.name
    after = d.choice([-1, before]) if before != -1 else _axis(d, shape)
    return call(
        _integers(d, shape, kind),
        *_parameters(d, shape, before),
        *_parameters(d, shape, after),
        Tout="qint8",
        **_attrs(kind, before, "input_"),
        **_attrs("qint8", after, "output_"),
    )


def _different_axes(d: Draw) -> Any:
    shape = (2, 2)
    return call(
        _integers(d, shape, "qint32"),
        *_parameters(d, shape, 0),
        *_parameters(d, shape, 1),
        Tout="qint8",
        **_attrs("qint32", 0, "input_"),
        **_attrs("qint8", 1, "output_"),
    )


def _add(d: Draw) -> Any:
    shape = d.shape(1, 3, empty=0)
    smaller = shape[d.integer(0, len(shape) - 1) :]
    axis = d.choice([-1, len(shape) - 1])
    axes = {"lhs_": axis, "rhs_": min(axis, len(smaller) - 1), "output_": axis}
    shapes = {"lhs_": shape, "rhs_": smaller, "output_": shape}
    parameters = [x for k in axes for x in _parameters(d, shapes[k], axes[k])]
    attrs: dict[str, Any] = {}
    for prefix, one in axes.items():
        attrs |= _attrs("qint32", one, prefix)
    operands = [_integers(d, x, "qint32") for x in (shape, smaller)]
    return call(*operands, *parameters, T="qint32", **attrs)


def _clip(d: Draw) -> Any:
    shape = d.shape(1, 3)
    axis = _axis(d, shape)
    sizes = () if axis == -1 else (shape[axis],)
    least = d.array(sizes, "qint32", -5000, 0)
    greatest = d.array(sizes, "qint32", 0, 5000)
    value = _integers(d, shape, "qint32")
    parameters = _parameters(d, shape, axis)
    return call(
        value, least, greatest, *parameters, T="qint32", **_attrs("qint32", axis)
    )


def _dot(d: Draw, size: int = 0) -> Any:
    rows, inner, columns = (d.integer(1, 4) for _ in range(3))
    shapes = (rows, inner), (inner + size, columns)
    axis = d.choice([-1, 1])
    last = d.choice([-1, 1]) if axis == 1 else -1
    return call(
        *[_integers(d, shape, "qint8") for shape in shapes],
        *_parameters(d, shapes[0], -1),
        *_parameters(d, shapes[1], axis),
        *_parameters(d, (rows, columns), last),
        Tin="qint8",
        Tout="qint32",
        **_attrs("qint8", -1, "lhs_"),
        **_attrs("qint8", axis, "rhs_"),
        **_attrs("qint32", last, "output_"),
    )


def _hybrid(d: Draw, size: int = 0) -> Any:
    rows, inner, columns = (d.integer(1, 4) for _ in range(3))
    axis = d.choice([-1, 1])
    shape = (inner + size, columns)
    return call(
        d.array((rows, inner), "float32"),
        _integers(d, shape, "qint8"),
        *_parameters(d, shape, axis),
        Tlhs="float32",
        Trhs="qint8",
        Tout="float32",
        **_attrs("qint8", axis, "rhs_"),
    )


_COMMON: dict[str, Any] = {"gradient": False, "mutate": ()}


spec(
    "UniformQuantize",
    _quantize,
    attr="Tout",
    types=list(_LIMITS),
    bad=(lambda d: _quantize(d, True),),
    **_COMMON,
)


spec("UniformDequantize", _dequantize, attr="Tin", types=list(_LIMITS), **_COMMON)


spec(
    "UniformRequantize",
    _requantize,
    attr="Tin",
    types=["qint8", "qint32"],
    bad=(_different_axes,),
    **_COMMON,
)


spec("UniformQuantizedAdd", _add, types=(), examples=12, **_COMMON)


spec("UniformQuantizedClipByValue", _clip, types=(), examples=6, **_COMMON)


spec(
    "UniformQuantizedDot",
    _dot,
    types=(),
    examples=12,
    bad=(lambda d: _dot(d, 1),),
    **_COMMON,
)


spec(
    "UniformQuantizedDotHybrid",
    _hybrid,
    types=(),
    examples=12,
    bad=(lambda d: _hybrid(d, 1),),
    **_COMMON,
)


# --- convolutions --------------------------------------------------------------------


def _dimension_numbers(orders: list[Any]) -> bytes:
    """The message of the axes of images, filters (output, input) and results."""
    message = b""
    for (batch, feature, *spatial), numbers in zip(
        orders, ((1, 2, 3), (5, 4, 6), (7, 8, 9)), strict=True
    ):
        for value, number in ((batch, numbers[0]), (feature, numbers[1])):
            message += bytes([number << 3, value])
        message += bytes([numbers[2] << 3 | 2, len(spatial), *spatial])
    return message


def _placed(sizes: Any, order: Any) -> tuple[int, ...]:
    """Sizes (batch, feature, spatial) in the order in which the tensor has them."""
    return tuple(sizes[list(order).index(i)] for i in range(len(order)))


def _windows(d: Draw, wrong: int = 0) -> tuple[Any, ...]:
    """(shape of lhs, shape of rhs, shape of the result's parameters, attrs)."""
    spatial = d.integer(1, 3)
    feature_groups, batch_groups = d.choice([(1, 1), (2, 1), (1, 2), (1, 1)])
    depth, outputs = d.integer(1, 2), 2 * d.integer(1, 2)
    images = (2, depth * feature_groups + wrong, *[d.integer(3, 6)] * spatial)
    filters = (outputs, depth, *(d.integer(1, 3) for _ in range(spatial)))
    orders = [list(range(spatial + 2)) for _ in range(3)]
    if d.maybe(0.5):
        orders = [d.rng.permutation(order).tolist() for order in orders]
    padding = d.choice(["SAME", "VALID", "EXPLICIT"])
    pads = [d.integer(0, 2) for _ in range(2 * spatial)]

    def steps() -> list[int]:
        return [d.integer(1, 2) for _ in range(spatial)] if d.maybe(0.5) else []

    attrs = {
        "window_strides": steps(),
        "padding": padding,
        "explicit_padding": pads if padding == "EXPLICIT" else [],
        "lhs_dilation": steps(),
        "rhs_dilation": steps(),
        "feature_group_count": feature_groups,
        "batch_group_count": batch_groups,
        "dimension_numbers": _dimension_numbers(orders),
    }
    shapes = _placed(images, orders[0]), _placed(filters, orders[1])
    return *shapes, outputs, orders, attrs


def _convolution(d: Draw, wrong: int = 0) -> Any:
    left, right, outputs, orders, attrs = _windows(d, wrong)
    axis = d.choice([-1, orders[1][0]])
    last = d.choice([-1, orders[2][1]]) if axis != -1 else -1
    of_result = [outputs] * len(left)
    return call(
        _integers(d, left, "qint8"),
        _integers(d, right, "qint8"),
        *_parameters(d, left, -1),
        *_parameters(d, right, axis),
        *_parameters(d, of_result, last),
        Tin="qint8",
        Tout="qint32",
        **attrs,
        **_attrs("qint8", -1, "lhs_"),
        **_attrs("qint8", axis, "rhs_"),
        **_attrs("qint32", last, "output_"),
    )


def _hybrid_convolution(d: Draw, wrong: int = 0) -> Any:
    left, right, _, orders, attrs = _windows(d, wrong)
    axis = d.choice([-1, orders[1][0]])
    return call(
        d.array(left, "float32"),
        _integers(d, right, "qint8"),
        *_parameters(d, right, axis),
        Tlhs="float32",
        Trhs="qint8",
        Tout="float32",
        **attrs,
        **_attrs("qint8", axis, "rhs_"),
    )


spec(
    "UniformQuantizedConvolution",
    _convolution,
    types=(),
    examples=30,
    bad=(lambda d: _convolution(d, 1),),
    **_COMMON,
)


spec(
    "UniformQuantizedConvolutionHybrid",
    _hybrid_convolution,
    types=(),
    examples=30,
    bad=(lambda d: _hybrid_convolution(d, 1),),
    **_COMMON,
)
