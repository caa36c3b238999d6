"""Kernels that are made of the kernels of other ops, one after the other.

For nodes in which Grappler put several ops together: `_FusedConv2D` and its kin.
"""

from __future__ import annotations

import dataclasses
import math
from typing import TYPE_CHECKING, Any

from tensorloom.framework import errors
from tensorloom.framework.registry import op_registry
from tensorloom.framework.registry.op_kernel import find_kernels
from tensorloom.framework.types.tensor_shape import UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tensorloom.framework.registry.op_kernel import Compute, OpKernelConstruction


def part(
    c: OpKernelConstruction, op: str, *, host: bool = False, **attrs: Any
) -> Compute:
    """The kernel of `op` with these attrs, and those of the node `c` that it has.

    Over torch tensors, or with `host` over NumPy values.

    Raises:
      errors.UnimplementedError: there is no such op or kernel.
    """
    op_def = op_registry.find(op)
    if op_def is None:
        raise errors.UnimplementedError(None, None, f"Cannot compute {op} in {c.op}")
    complete = {a.name: a.default for a in op_def.attrs.values() if a.has_default}
    complete |= {name: c[name] for name in op_def.attrs if name in c.attrs} | attrs
    found = find_kernels(op, complete, c.device_type)[host]
    if found is None:
        raise errors.UnimplementedError(None, None, f"No kernel of {op} for {c.op}")
    node = c.node.replace(op=op, attrs=complete, output_shapes=None)
    count = len(op_def.inputs)
    inside = dataclasses.replace(
        c,
        node=node,
        input_types=(c["T"],) * count,
        input_shapes=(UNKNOWN,) * count,
    )
    return found.factory(inside)


def fused(c: OpKernelConstruction, op: str, *, host: bool = False) -> Compute:
    """`op`, then what the node's `fused_ops` name; these take the node's `args`."""
    if not c["fused_ops"]:
        raise errors.InvalidArgumentError(
            None, None, f"Fused {op} must have at least one fused op."
        )
    product = part(c, op, host=host)
    count = len(c.input_types) - c["num_args"]
    steps = [_step(c, name.decode(), host) for name in c["fused_ops"]]
    if not steps[0][0]:
        names = ",".join(name.decode() for name in c["fused_ops"])
        raise errors.UnimplementedError(
            None, None, f"Fusion is not implemented: [{names}]"
        )
    if sum(taken for taken, _ in steps) != c["num_args"]:
        raise errors.InvalidArgumentError(
            None,
            None,
            f"Fused {[name.decode() for name in c['fused_ops']]} cannot have "
            f"{c['num_args']} arguments",
        )

    def compute(*inputs: Any) -> Any:
        result, args = product(*inputs[:count]), inputs[count:]
        for taken, step in steps:
            result, args = step(result, *args[:taken]), args[taken:]
        return result

    return compute


def _step(c: OpKernelConstruction, name: str, host: bool) -> tuple[int, Compute]:
    """How many arguments one of `fused_ops` takes, and the function."""
    if name == "BiasAdd":
        layout = c.get("data_format", b"NHWC")
        channels_first = layout in (b"NCHW", b"NCDHW")
        data_format = b"NCHW" if channels_first else b"NHWC"
        return 1, part(c, "BiasAdd", host=host, data_format=data_format)
    if name == "Add":
        return 1, part(c, "AddV2", host=host)
    if name == "FusedBatchNorm":
        normalize = part(c, "FusedBatchNormV3", host=host, U=c["T"], is_training=False)
        return 4, lambda *inputs: normalize(*inputs)[0]
    if name == "LeakyRelu":
        return 0, part(c, "LeakyRelu", host=host, alpha=c["leakyrelu_alpha"])
    if name == "GeluExact":
        return 0, _gelu(part(c, "Erf", host=host))
    if name == "GeluApproximate":
        return 0, _approximate_gelu(part(c, "Tanh", host=host))
    return 0, part(c, name, host=host)


def _gelu(erf: Compute) -> Compute:
    return lambda x: x * (erf(x * math.sqrt(0.5)) + 1) * 0.5


def _approximate_gelu(tanh: Compute) -> Compute:
    scale = math.sqrt(2 / math.pi)
    return lambda x: x * (tanh((x + x * x * x * 0.044715) * scale) + 1) * 0.5


def composed(c: OpKernelConstruction, ops: Sequence[str]) -> Compute:
    """Functions of one value, one after the other."""
    parts = [part(c, op) for op in ops]

    def compute(x: Any) -> Any:
        for function in parts:
            x = function(x)
        return x

    return compute
