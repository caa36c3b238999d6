"""MapDefun: a function of the graph for each slice of its arguments."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tensorloom.framework import errors
from tensorloom.framework.registry.op_kernel import host_kernel
from tensorloom.framework.types import dtypes
from tensorloom.kernels.host.lists.tensor_array_resource import stack_values
from tensorloom.kernels.torch.state.variable_value import shape_of

if TYPE_CHECKING:
    from tensorloom.framework.registry.op_kernel import Compute, OpKernelConstruction
    from tensorloom.framework.types.dtypes import DType


@host_kernel(
    "MapDefun",
    any_inputs=("arguments", "captured_inputs"),
    context=True,
    large=True,
)
def map_defun(c: OpKernelConstruction) -> Compute:
    """Calls the function slice by slice, and stacks what it gives."""
    call = c.function(c["f"], host_results=True)
    count = len(c["Targuments"])
    types, shapes = c["output_types"], c["output_shapes"]

    def compute(context: Any, *inputs: Any) -> tuple[Any, ...]:
        arguments, captured = inputs[:count], inputs[count:]
        size = _common_size(arguments)
        rows = []
        for index in range(size):
            context.cancellation.check()
            rows.append(
                call(context, *(_slice(a, index) for a in arguments), *captured)
            )
        if rows:
            _check(rows[0], types, shapes)
            return tuple(_stacked(column) for column in zip(*rows, strict=True))
        return tuple(
            _no_rows(dtype, shape) for dtype, shape in zip(types, shapes, strict=True)
        )

    return compute


def _common_size(arguments: tuple[Any, ...]) -> int:
    sizes = set()
    for argument in arguments:
        if not shape_of(argument):
            raise errors.InvalidArgumentError(
                None, None, "All inputs must have rank at least 1."
            )
        sizes.add(shape_of(argument)[0])
    if len(sizes) != 1:
        raise errors.InvalidArgumentError(
            None,
            None,
            "All inputs must have the same dimension 0. Inputs have "
            + " and ".join(map(str, sorted(sizes))),
        )
    return sizes.pop()


def _check(row: Sequence[Any], types: Sequence[DType], shapes: Sequence[Any]) -> None:
    """Raises InvalidArgumentError unless what the function gives is as was said."""
    for index, (value, dtype, shape) in enumerate(zip(row, types, shapes, strict=True)):
        kind = np.asarray(value).dtype
        # Strings and variants are objects.
        if not kind.hasobject and (
            dtype is dtypes.variant
            or kind not in (dtype.as_numpy_dtype, dtypes.memory_dtype(dtype))
        ):
            raise errors.InvalidArgumentError(
                None,
                None,
                f"Output {index} of the function is {kind}, and output_types says "
                f"{dtype.name}",
            )
        if not shape.is_compatible_with(shape_of(value)):
            raise errors.InvalidArgumentError(
                None,
                None,
                f"Output {index} of the function has shape {list(shape_of(value))}, "
                f"and output_shapes says {shape}",
            )


def _slice(value: Any, index: int) -> Any:
    if isinstance(value, np.ndarray) and value.dtype == object and value.ndim == 1:
        return value[index : index + 1].reshape(())
    return value[index]


def _stacked(column: tuple[Any, ...]) -> Any:
    for value in column[1:]:
        if shape_of(value) != shape_of(column[0]):
            raise errors.InvalidArgumentError(
                None,
                None,
                "The function gave results of different shapes: "
                f"{shape_of(column[0])} and {shape_of(value)}",
            )
    return stack_values(list(column))


def _no_rows(dtype: Any, shape: Any) -> Any:
    if shape.rank is None or not shape.is_fully_defined():
        raise errors.InvalidArgumentError(
            None,
            None,
            "Output shape is not fully defined, but there are no slices to map over",
        )
    empty = np.empty((0, *shape.dims_tuple), dtype.as_numpy_dtype)
    return empty.astype(object) if dtype == dtypes.string else empty
