"""Matrices in blocks: pooled, and made larger again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tensorloom.framework.graph.graph import name_scope
from tensorloom.ops.array import array_ops
from tensorloom.ops.pooling.pool_nd import pool


def expand_tensor(tensor: Any, block_dims: list[int]) -> Any:
    """A matrix whose elements are repeated in blocks.

    Raises:
      ValueError: it is no matrix, or the block has not two sizes.
    """
    if tensor.get_shape().ndims != 2:
        raise ValueError("Input tensor must be rank 2")
    if len(block_dims) != 2:
        raise ValueError("block_dims must have 2 elements")
    rows, columns = tensor.get_shape().as_list()
    places = np.arange(rows).repeat(block_dims[0])
    tensor = array_ops.gather(tensor, places)
    return array_ops.gather(tensor, np.arange(columns).repeat(block_dims[1]), axis=1)


def kronecker_product(mat1: Any, mat2: Any) -> Any:
    """The second matrix for each element of the first, times that element."""
    rows, columns = mat1.get_shape().as_list()
    high, wide = mat2.get_shape().as_list()
    first = array_ops.reshape(mat1, [rows, 1, columns, 1])
    second = array_ops.reshape(mat2, [1, high, 1, wide])
    return array_ops.reshape(first * second, [rows * high, columns * wide])


def factorized_pool(
    input_tensor: Any,
    window_shape: Sequence[int],
    pooling_type: str,
    strides: Sequence[int],
    padding: str,
    name: str | None = None,
) -> Any:
    """A matrix pooled along its rows, and what that gives along its columns.

    Args:
      input_tensor: the matrix.
      window_shape: height and width of the window.
      pooling_type: "MAX" or "AVG".
      strides: steps of the window in both directions.
      padding: "SAME" or "VALID".
      name: the scope of the nodes.

    Raises:
      ValueError: it is no matrix.
    """
    if input_tensor.get_shape().ndims != 2:
        raise ValueError("factorized_pool() accepts tensors of rank 2 only")
    height, width = input_tensor.get_shape()
    with name_scope(name, "factorized_pool"):
        pooled = array_ops.reshape(
            input_tensor,
            [1, 1, height, width],
            name=f"{input_tensor.op.name}_aligned",
        )
        for window, stride in zip(window_shape, strides, strict=True):
            along = pool(
                pooled,
                window_shape=[1, window],
                pooling_type=pooling_type,
                strides=[1, stride],
                padding=padding,
            )
            pooled = array_ops.transpose(along, perm=[0, 1, 3, 2])
    return array_ops.squeeze(pooled, axis=[0, 1])
