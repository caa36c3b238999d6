"""`print_op`: a value that is printed, with its name and type, whenever it is used."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tensorloom.client.variables.variables import Variable
from tensorloom.framework.graph.graph import Tensor, control_dependencies
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.sparse_tensor import SparseTensor
from tensorloom.ops.array.constant import constant
from tensorloom.ops.array.identity import identity
from tensorloom.ops.debugging.logging import print_v1
from tensorloom.ops.lists.tensor_array import TensorArray
from tensorloom.ops.math import math_ops
from tensorloom.ops.reductions.reductions import argmax


def print_op(
    input_: Any,
    data: Sequence[Any] | None = None,
    message: str | None = None,
    first_n: int | None = None,
    summarize: int = 20,
    print_tensor_name: bool = True,
    print_tensor_type: bool = True,
    print_shape: bool = True,
    summarize_indicator_vector: bool = True,
    name: str | None = None,
) -> Any:
    """The value; whenever a step computes it, what it is goes to standard error.

    Args:
      input_: a tensor, SparseTensor, TensorArray or variable.
      data: further ones to be printed with it.
      message: what stands before it.
      first_n: print only so often; always by default.
      summarize: print so many elements of each tensor.
      print_tensor_name: with the name of a tensor.
      print_tensor_type: with its kind and dtype.
      print_shape: with its static shape, or the dynamic one of a SparseTensor.
      summarize_indicator_vector: with the place of the first True of a bool tensor.
      name: of the node.

    Raises:
      ValueError: the value is of another kind.
    """
    if input_ is None:
        raise ValueError("input_ must be of type Tensor, SparseTensor or TensorArray")
    shown: list[Tensor] = []
    for value in [input_, *(data or [])]:
        shown += _told(
            value,
            print_tensor_name,
            print_tensor_type,
            print_shape,
            summarize_indicator_vector,
        )

    def printed(what: Any) -> Tensor:
        return print_v1(what, shown, message or "", first_n, summarize, name)

    if isinstance(input_, (Tensor, Variable)):
        return printed(input_)
    if isinstance(input_, SparseTensor):
        with control_dependencies([printed(constant([]))]):
            return SparseTensor(
                identity(input_.indices),
                identity(input_.values),
                identity(input_.dense_shape),
            )
    if isinstance(input_, TensorArray):
        with control_dependencies([printed(constant([]))]):
            return TensorArray(
                dtype=input_.dtype, handle=input_.handle, flow=input_.flow
            )
    raise ValueError("input_ must be of type Tensor, SparseTensor or TensorArray")


def _told(
    value: Any, with_name: bool, with_type: bool, with_shape: bool, with_first: bool
) -> list[Tensor]:
    """Words and tensors that tell of one value, in the order in which they print."""
    told: list[Tensor] = []
    if with_name and isinstance(value, Tensor):
        told.append(constant(f"Name: {value.name}"))
    if with_type:
        told.append(constant(f"Type: {_kind(value)} ({value.dtype.name})"))
    if with_shape and isinstance(value, SparseTensor):
        told += [constant("Shape:"), value.dense_shape]
    elif with_shape and isinstance(value, Tensor):
        told.append(constant(f"Shape: {value.shape.dims}"))
    elif with_shape and isinstance(value, TensorArray):
        told += [constant("Size:"), value.size()]
    if with_first and value.dtype == dtypes.bool:
        numbers = math_ops.cast(value, dtypes.uint8)
        told.append(constant("First True in Boolean tensor at:"))
        told.append(argmax(numbers, 0))
    if isinstance(value, SparseTensor):
        told += [constant("Sparse indices:"), value.indices]
        told += [constant("Sparse values:"), value.values]
    elif isinstance(value, Tensor):
        told += [constant("Value:"), value]
    elif isinstance(value, TensorArray):
        told += [constant("Value:"), value.stack()]
    return told


def _kind(value: Any) -> str:
    for kind in (Tensor, SparseTensor, TensorArray, Variable):
        if isinstance(value, kind):
            return kind.__name__
    raise ValueError("t must be a Tensor, SparseTensor, TensorArray or Variable.")
