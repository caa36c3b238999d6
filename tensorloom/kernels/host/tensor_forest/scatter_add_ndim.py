"""ScatterAddNdim."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.framework import errors
from tensorloom.framework.registry.op_kernel import host_kernel
from tensorloom.kernels.host.state.scatter import combine_slices
from tensorloom.kernels.torch.state.variable_value import (
    shape_of,
    to_host,
    uninitialized,
)

if TYPE_CHECKING:
    from tensorloom.framework.registry.op_kernel import Compute, OpKernelConstruction
    from tensorloom.framework.runtime.resource import Variable


@host_kernel("ScatterAddNdim", any_inputs=("indices", "deltas"), large=True)
def scatter_add_ndim(c: OpKernelConstruction) -> Compute:
    """Adds deltas to elements, or to slices, of a variable."""

    def compute(variable: Variable, indices: Any, deltas: Any) -> None:
        with variable.lock:
            if variable.value is None:
                raise uninitialized(variable, False)
            where = to_host(indices)
            if not where.shape or not len(where):
                return
            _check(where.shape, shape_of(deltas), shape_of(variable.value))
            combine_slices(variable, "Add", where, deltas)

    return compute


def _check(
    indices: tuple[int, ...], deltas: tuple[int, ...], shape: tuple[int, ...]
) -> None:
    problem = ""
    if len(indices) != 2:
        problem = "indices should be two-dimensional"
    elif indices[1] + len(deltas) != len(shape) + 1:
        problem = "Number of indices dimensions should be the same as input rank."
    elif indices[0] != deltas[0]:
        problem = "Number of updates should be same as number of indices."
    if problem:
        raise errors.InvalidArgumentError(None, None, problem)
