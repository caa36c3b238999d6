"""Ops that debuggers insert: copies and watched identities."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from tensorloom.framework.registry.op_registry import register_op
from tensorloom.framework.registry.shape_inference import (
    scalar_shape,
    unchanged_shape,
    unknown_shapes,
)

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph import Operation, Tensor


def _identity_grad(op: Operation, grad: Tensor) -> Tensor:
    return grad


# Debuggers that are told when a gradient with respect to a watched identity is made.
GRADIENT_LISTENERS: list[Callable[[Operation, Tensor], None]] = []


def _watched_grad(op: Operation, grad: Tensor) -> Tensor:
    for listener in GRADIENT_LISTENERS:
        listener(op, grad)
    return grad


_WATCH = [
    "T: type",
    "device_name: string = ''",
    "tensor_name: string = ''",
    "debug_urls: list(string) = []",
]
_GATED = "gated_grpc: bool = false"

for _op, _doc in (
    ("Copy", "A copy of a tensor for a debugger."),
    ("CopyHost", "A copy of a tensor in host memory for a debugger."),
):
    register_op(
        _op,
        inputs=["input: T"],
        outputs=["output: T"],
        attrs=[
            "T: type",
            "tensor_name: string = ''",
            "debug_ops_spec: list(string) = []",
        ],
        shape_fn=unchanged_shape,
        allows_uninitialized_input=True,
        doc=_doc,
    )

register_op(
    "DebugIdentity",
    inputs=["input: T"],
    outputs=["output: T"],
    attrs=[*_WATCH, _GATED],
    shape_fn=unchanged_shape,
    allows_uninitialized_input=True,
    doc="A tensor that a debugger watches.",
)

register_op(
    "_DebugBreak",
    inputs=["input: T"],
    outputs=["output: T"],
    attrs=[*_WATCH, _GATED],
    shape_fn=unchanged_shape,
    allows_uninitialized_input=True,
    doc="A tensor at which the step waits until the debugger says with which value to "
    "go on.",
)

register_op(
    "DebugIdentityV2",
    inputs=["input: T"],
    outputs=["output: T"],
    attrs=[
        "T: type",
        "tfdbg_context_id: string = ''",
        "op_name: string = ''",
        "output_slot: int = -1",
        "tensor_debug_mode: int = -1",
        "debug_urls: list(string) = []",
        "circular_buffer_size: int = 1000",
        "tfdbg_run_id: string = ''",
    ],
    shape_fn=unchanged_shape,
    gradient=_identity_grad,
    stateful=True,
    doc="A tensor that a debugger watches.",
)

register_op(
    "DebugNanCount",
    inputs=["input: T"],
    outputs=["output: int64"],
    attrs=[*_WATCH, _GATED],
    shape_fn=scalar_shape,
    allows_uninitialized_input=True,
    doc="How many elements are NaN.",
)

register_op(
    "DebugNumericSummary",
    inputs=["input: T"],
    outputs=["output: double"],
    attrs=[
        *_WATCH,
        "lower_bound: float = -1e999",
        "upper_bound: float = 1e999",
        "mute_if_healthy: bool = false",
        _GATED,
    ],
    shape_fn=unknown_shapes,
    allows_uninitialized_input=True,
    doc="Counts, extremes and moments of a tensor.",
)

register_op(
    "DebugNumericSummaryV2",
    inputs=["input: T"],
    outputs=["output: output_dtype"],
    attrs=[
        "output_dtype: {float, double} = DT_FLOAT",
        "T: type",
        "tensor_debug_mode: int = -1",
        "tensor_id: int = -1",
    ],
    shape_fn=unknown_shapes,
    doc="A tensor's health, counts or shape in a few numbers, as the mode says.",
)

register_op(
    "DebugGradientIdentity",
    inputs=["input: T"],
    outputs=["output: T"],
    attrs=["T: type"],
    shape_fn=unchanged_shape,
    gradient=_watched_grad,
    allows_uninitialized_input=True,
    doc="A tensor whose gradient a debugger watches.",
)

register_op(
    "DebugGradientRefIdentity",
    inputs=["input: Ref(T)"],
    outputs=["output: Ref(T)"],
    attrs=["T: type"],
    shape_fn=unchanged_shape,
    gradient=_watched_grad,
    allows_uninitialized_input=True,
    doc="A variable whose gradient a debugger watches.",
)
