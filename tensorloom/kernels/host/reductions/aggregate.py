"""Host kernels of AddN and AccumulateNV2, the sums over a list of tensors."""

from __future__ import annotations

import operator
from typing import Any

from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.registry.op_kernel import (
    Compute,
    OpKernelConstruction,
    host_kernel,
)
from tensorloom.framework.types import dtypes
from tensorloom.kernels.host.array.buffer_forwarding import makes_array
from tensorloom.kernels.host.math.binary import FLOATS, INTEGERS
from tensorloom.kernels.host.math.errors import shape_text

# Not variants: sums of tensor lists have a kernel of their own.
_NUMBERS = {"T": FLOATS["T"] | INTEGERS["T"]}
_WIDE_UNSIGNED = {"T": {dtypes.uint16, dtypes.uint32, dtypes.uint64}}


@host_kernel("AddN", types=_NUMBERS, aliases=True)
def _add_n(c: OpKernelConstruction) -> Compute:
    name, op = c.node_name, c.op
    known = len(set(c.input_shapes)) == 1 and c.input_shapes[0].is_fully_defined()
    if known and len(c.input_shapes) == 2:
        return operator.add

    def compute(*inputs: Any) -> Any:
        if not known:
            check_same_shapes(name, op, inputs)
        if len(inputs) == 1:
            return inputs[0]
        total = inputs[0] + inputs[1]
        for value in inputs[2:]:
            total += value
        return total

    return makes_array(compute) if len(c.input_shapes) > 1 else compute


host_kernel("AddN", types=_WIDE_UNSIGNED, large=True, aliases=True)(_add_n)
host_kernel("AccumulateNV2", types=_NUMBERS, aliases=True)(_add_n)


def check_same_shapes(name: str, op: str, inputs: tuple[Any, ...]) -> None:
    """Raises InvalidArgumentError unless all inputs have the first one's shape."""
    first = inputs[0].shape
    for i, value in enumerate(inputs):
        if value.shape != first:
            raise invalid_argument(
                f"Inputs to operation {name} of type {op} must have the same size "
                f"and shape.  Input 0: {shape_text(first)} != "
                f"input {i}: {shape_text(value.shape)}"
            )
