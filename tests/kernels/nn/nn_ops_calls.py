"""Calling a kernel with several outputs outside of a graph."""

from __future__ import annotations

from typing import Any

import numpy as np

from tensorloom.framework.registry import op_registry
from tensorloom.framework.registry.op_kernel import find_kernels
from tests.kernels.math.math_ops_calls import construction, to_torch


def run(op: str, *inputs: Any, host: bool = False, **attrs: Any) -> list[Any]:
    """The outputs of an op's torch or host kernel, as arrays."""
    c = construction(op, list(inputs), **attrs)
    on_torch, on_host = find_kernels(op, c.attrs, "CPU")
    definition = on_host if host else on_torch
    assert definition is not None, f"{op} has no such kernel"
    op_def = op_registry.find(op)
    assert op_def is not None
    values = list(inputs)
    if not host:
        values = [
            value if arg.name in definition.host_inputs else to_torch(value)
            for arg, value in zip(op_def.inputs, inputs, strict=True)
        ]
    with np.errstate(all="ignore"):
        result = definition.factory(c)(*values)
    outputs = result if isinstance(result, tuple) else (result,)
    return [np.asarray(output) for output in outputs]
