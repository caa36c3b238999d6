"""Shape functions that the sparse ops share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tensorloom.framework.types.tensor_shape import TensorShape

if TYPE_CHECKING:
    from tensorloom.framework.registry.shape_inference import InferenceContext

VECTOR = TensorShape.of((None,))
MATRIX = TensorShape.of((None, None))


def rank_of(c: InferenceContext, index: int) -> int | None:
    """The length of the shape vector at an input, if known."""
    dims = c.with_rank(index, 1).dims_tuple
    return None if dims is None else dims[0]


def check_sparse(c: InferenceContext, first: int) -> None:
    """Indices [n, rank], values [n] and a shape [rank], from input `first` on."""
    c.with_rank(first, 2)
    c.with_rank(first + 1, 1)
    c.with_rank(first + 2, 1)


def new_sparse(rank: int | None) -> list[TensorShape]:
    """Outputs indices, values and shape of an unknown number of elements."""
    return [TensorShape.of((None, rank)), VECTOR, TensorShape.of((rank,))]
