"""Products and convolutions with what follows them, as graph optimizers write them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.peer.ops.spec import Tolerance, call, spec

if TYPE_CHECKING:
    from tests.peer.ops.draw import Draw


_PRODUCTS = Tolerance(1e-4, 1e-5, reason="sums of products in another order")


def _spec(op: str, make: Any, **options: Any) -> None:
    common: dict[str, Any] = {"gradient": False, "mutate": ("rank", "dtype")}
    spec(op, make, tolerance=_PRODUCTS, **{**common, **options})


_AFTER = (["BiasAdd"], ["BiasAdd", "Relu"], ["BiasAdd", "Relu6"], ["BiasAdd", "Elu"])


def _args(d: Draw, channels: int) -> tuple[list[Any], dict[str, Any]]:
    """The other inputs of a fused op, and its attrs."""
    return [d.array((channels,))], {"fused_ops": d.choice(_AFTER)}


def _statistics(d: Draw, channels: int) -> tuple[list[Any], dict[str, Any]]:
    parts = [d.array((channels,)) for _ in range(3)]
    parts.append(d.array((channels,), low=0.5, high=2))
    after = ["FusedBatchNorm", *([d.choice(["Relu", "Relu6", "Elu"])] * d.maybe())]
    return parts, {"fused_ops": after, "epsilon": 0.01}


def _product(d: Draw, **more: Any) -> Any:
    turn = d.maybe(), d.maybe()
    shapes = [(3, 4), (4, 2)]
    a, b = (s[::-1] if flip else s for s, flip in zip(shapes, turn, strict=True))
    args, attrs = _args(d, 2)
    turned = {"transpose_a": turn[0], "transpose_b": turn[1]}
    return call(d.array(a), d.array(b), args, **{**attrs, **turned, **more})


_spec(
    "_FusedMatMul",
    _product,
    types=["float32"],
    bad=(
        lambda d: _product(d, fused_ops=[]),
        lambda d: _product(d, fused_ops=["Relu"]),
        lambda d: _product(d, fused_ops=["BiasAdd", "Nothing"]),
    ),
)


def _convolution(d: Draw, **more: Any) -> Any:
    step, wide = d.integer(1, 2), d.integer(1, 2)
    args, attrs = (_statistics if d.maybe() else _args)(d, 4)
    attrs |= {
        "TArgs": [d.dtype] * len(args),
        "strides": [1, step, step, 1],
        "padding": d.choice(["SAME", "VALID"]),
        "dilations": [1, wide, wide, 1] if step == 1 else [1, 1, 1, 1],
    }
    return call(d.array((2, 5, 6, 3)), d.array((2, 3, 3, 4)), args, **{**attrs, **more})


_spec(
    "_FusedConv2D",
    _convolution,
    types=["float32", "float64"],
    bad=(
        lambda d: _convolution(d, fused_ops=[]),
        lambda d: _convolution(d, fused_ops=["Relu"]),
        lambda d: _convolution(d, fused_ops=["BiasAdd", "Nothing"]),
    ),
)
