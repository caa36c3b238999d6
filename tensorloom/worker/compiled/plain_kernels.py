"""Kernels for the tracer, of ops whose own look at elements or go through NumPy.

Those do so to be quick; compiled code needs the plain operation. That its results are
the same is what they are compared for before a step uses them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

import torch

from tensorloom.kernels.torch.convolution.window import from_nchw, to_nchw
from tensorloom.kernels.torch.pooling import pool
from tensorloom.worker.compile.emitter import Emitter

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tensorloom.framework.graph.graph_ir import Node
    from tensorloom.framework.registry.op_kernel import KernelDef, OpKernelConstruction
    from tensorloom.worker.compile.values import Scope, Value

_ELEMENTWISE: Final[Mapping[str, Callable[..., torch.Tensor]]] = {
    "Exp": torch.exp,
    "Expm1": torch.expm1,
    "Log": torch.log,
    "Log1p": torch.log1p,
    "Sqrt": torch.sqrt,
    "Rsqrt": torch.rsqrt,
    "Tan": torch.tan,
    "Tanh": torch.tanh,
    "Erf": torch.erf,
    "Erfc": torch.erfc,
    "Sigmoid": torch.sigmoid,
    "IsNan": torch.isnan,
    "IsInf": torch.isinf,
    "IsFinite": torch.isfinite,
    "Maximum": torch.maximum,
    "Minimum": torch.minimum,
    "Equal": torch.eq,
    "NotEqual": torch.ne,
    "Less": torch.lt,
    "LessEqual": torch.le,
    "Greater": torch.gt,
    "GreaterEqual": torch.ge,
    "LogicalAnd": torch.logical_and,
    "LogicalOr": torch.logical_or,
    "LogicalNot": torch.logical_not,
}
_REDUCTIONS: Final[Mapping[str, Callable[..., torch.Tensor]]] = {
    "Max": torch.amax,
    "Min": torch.amin,
    "All": torch.all,
    "Any": torch.any,
}
_ACTIVATIONS: Final[Mapping[bytes, Callable[..., torch.Tensor]]] = {
    b"Relu": torch.relu,
    b"Relu6": torch.nn.functional.relu6,
    b"Elu": torch.nn.functional.elu,
    b"Tanh": torch.tanh,
    b"Sigmoid": torch.sigmoid,
}


class TracedEmitter(Emitter):
    """An emitter of what is to be traced."""

    def _made(
        self, kernel: KernelDef, scope: Scope, node: Node, inputs: Sequence[Value]
    ) -> Callable[..., Any]:
        plain = None if kernel.host else plain_kernel(node)
        if node.op == "MaxPool":
            plain = max_pool(self.construction(scope, node, inputs))
        return plain or super()._made(kernel, scope, node, inputs)


def plain_kernel(node: Node) -> Callable[..., torch.Tensor] | None:
    """The plain kernel of a node; None if its own is one."""
    if node.op in _ELEMENTWISE:
        return _ELEMENTWISE[node.op]
    if node.op in _REDUCTIONS:
        return _reduction(_REDUCTIONS[node.op], bool(node.attrs["keep_dims"]))
    if node.op == "_FusedMatMul":
        return _fused_product(node)
    return None


def max_pool(c: OpKernelConstruction) -> Callable[..., torch.Tensor]:
    """The maxima of images, without a look whether NaN is among them.

    NaN is no maximum, and the smallest one is finite.
    """
    geometry = pool.decode_geometry(c)
    plan_for = pool.cached_plans(geometry)
    infinite = float("inf")

    def compute(image: torch.Tensor) -> torch.Tensor:
        plan = plan_for(tuple(image.shape))
        if not image.numel() or 0 in plan.outputs:
            return pool.no_windows(image, plan, geometry.data_format)
        numbers = image.nan_to_num(-infinite, infinite, -infinite)
        nchw = to_nchw(numbers, geometry.data_format)
        if plan.extra is not None:
            nchw = torch.constant_pad_nd(nchw, plan.extra, -infinite)
        values = torch.nn.functional.max_pool2d(
            nchw, geometry.window, geometry.stride, plan.padding, 1, plan.ceil_mode
        )
        least = torch.finfo(values.dtype).min
        return from_nchw(values.clamp_min(least), geometry.data_format)

    return compute


def _reduction(
    function: Callable[..., torch.Tensor], keep_dims: bool
) -> Callable[..., torch.Tensor]:
    def compute(x: torch.Tensor, axes: Any) -> torch.Tensor:
        chosen = sorted({int(axis) % max(x.dim(), 1) for axis in axes.reshape(-1)})
        for axis in reversed(chosen):
            x = function(x, axis, keep_dims)
        return x

    return compute


def _fused_product(node: Node) -> Callable[..., torch.Tensor] | None:
    """A product, a bias and an activation, where it is one that this knows."""
    attrs = node.attrs
    steps = list(attrs["fused_ops"])
    if steps[:1] == [b"BiasAdd"]:
        steps = steps[1:]
    if attrs["num_args"] > 1 or len(steps) > 1 or not _ACTIVATIONS.keys() >= {*steps}:
        return None
    activation = _ACTIVATIONS[steps[0]] if steps else None
    transposes = bool(attrs["transpose_a"]), bool(attrs["transpose_b"])

    def compute(a: torch.Tensor, b: torch.Tensor, *bias: torch.Tensor) -> torch.Tensor:
        a, b = (m.t() if t else m for m, t in zip((a, b), transposes, strict=True))
        product = torch.addmm(bias[0], a, b) if bias else torch.mm(a, b)
        return product if activation is None else activation(product)

    return compute
