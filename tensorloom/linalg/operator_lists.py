"""What the operators that are made of several operators share."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tensorloom.ops.array import array_ops
from tensorloom.ops.debugging import check_type as check_type_ops

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph import Tensor
    from tensorloom.framework.types.tensor_shape import TensorShape
    from tensorloom.linalg.linear_operator import LinearOperator


def check_operators(operators: Any) -> list[LinearOperator]:
    """The operators as a list.

    Raises:
      ValueError: there are none.
      TypeError: their dtypes differ.
    """
    check_type_ops.assert_proper_iterable(operators)
    found = list(operators)
    if not found:
        raise ValueError(f"Expected a non-empty list of operators. Found: {found}")
    dtype = found[0].dtype
    for operator in found:
        if operator.dtype != dtype:
            shown = " ".join(f"({o.name}, {o.dtype})" for o in found)
            raise TypeError(
                f"Expected all operators to have the same dtype.  Found {shown}"
            )
    return found


def all_true(operators: Sequence[LinearOperator], hint: str) -> bool:
    """Whether a hint is True of all."""
    return all(getattr(operator, hint) for operator in operators)


def graph_parents(operators: Sequence[LinearOperator]) -> list[Tensor]:
    """The tensors that the operators are made of."""
    return [parent for operator in operators for parent in operator.graph_parents]


def common_batch(operators: Sequence[LinearOperator]) -> TensorShape:
    """The static shape that the batches broadcast to."""
    return functools.reduce(
        array_ops.broadcast_static_shape, [o.batch_shape for o in operators]
    )


def common_batch_tensor(operators: Sequence[LinearOperator]) -> Tensor:
    """The shape that the batches broadcast to."""
    return functools.reduce(
        array_ops.broadcast_dynamic_shape, [o.batch_shape_tensor() for o in operators]
    )


def broadcast_parts(matrices: Sequence[Tensor], batch: Tensor) -> list[Tensor]:
    """Matrices, each broadcast over a batch."""
    return [
        array_ops.broadcast_to(
            matrix, array_ops.concat([batch, array_ops.shape(matrix)[-2:]], axis=0)
        )
        for matrix in matrices
    ]
