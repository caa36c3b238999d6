"""Datasets of NumPy arrays, which a session puts into variables once."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from tensorloom.client.variables.variable_scope import variable_creator_scope
from tensorloom.client.variables.variables import Variable
from tensorloom.data.dataset import Dataset
from tensorloom.framework.graph.graph import init_scope
from tensorloom.framework.types import dtypes, nest
from tensorloom.ops.array import array_ops
from tensorloom.ops.array.placeholder import placeholder

# How much of an array is fed in one step.
_SLICE_BYTES = 64 << 20


class SingleDevice(NamedTuple):
    """Where such variables are put, in place of a variable to be colocated with."""

    device: str


def init_var_from_numpy(input_var: Any, numpy_input: Any, session: Any) -> None:
    """Initializes a variable by an array, slice by slice.

    Raises:
      AssertionError: there is no session.
    """
    with init_scope():
        assert session is not None, "a session is needed to fill the variables"
        session.run(input_var.initializer)
        start = placeholder(dtypes.int64, ())
        end = placeholder(dtypes.int64, ())
        rows = placeholder(input_var.dtype)
        assign = input_var[start:end].assign(rows)
        row_bytes = math.prod(numpy_input.shape[1:]) * input_var.dtype.size
        step = max(math.ceil(_SLICE_BYTES / max(row_bytes, 1)), 1)
        for first in range(0, numpy_input.shape[0], step):
            last = min(first + step, numpy_input.shape[0])
            session.run(
                assign, {start: first, end: last, rows: numpy_input[first:last]}
            )


def one_host_numpy_dataset(
    numpy_input: Any, colocate_with: SingleDevice | None, session: Any
) -> Dataset:
    """A dataset of the rows of arrays.

    Args:
      numpy_input: a structure of arrays.
      colocate_with: where the variables of the arrays are put.
      session: puts the arrays into them.
    """

    def creator(next_creator: Any, **options: Any) -> Any:
        options["colocate_with"] = colocate_with
        return next_creator(**options)

    arrays = nest.flatten(numpy_input)
    if colocate_with is None:
        variables = [_variable(array, use_resource=True) for array in arrays]
    else:
        with variable_creator_scope(creator):
            variables = [_variable(array) for array in arrays]
    for variable, array in zip(variables, arrays, strict=True):
        init_var_from_numpy(variable, array, session)
    packed = nest.pack_sequence_as(numpy_input, variables)
    return Dataset.from_tensor_slices(packed)


def _variable(array: Any, **options: Any) -> Any:
    zeros = array_ops.zeros(array.shape, array.dtype)
    return Variable(zeros, trainable=False, **options)
