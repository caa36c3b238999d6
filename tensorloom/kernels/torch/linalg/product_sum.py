"""A sum of products of matrices, those of few rows computed together.

sum += a1.T @ b1 + a2.T @ b2 + ... = concat([a1, a2, ...]).T @ concat([b1, b2, ...])

The gradient of a recurrent network's weights adds such a product in each iteration, of
a batch's few rows. Alone it reads and writes the whole sum for a handful of
multiplications to an element; together they are one product as libraries like them.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from tensorloom.kernels.host.linalg.blas_threads import on_one_thread
from tensorloom.kernels.host.linalg.matmul import check_matrices

# Rows from which on a product is as fast for each row as with more; a sum keeps no
# factors with more together.
LEAST_ROWS: Final = 512
# Elements of factors that a sum may keep, be it smaller itself.
KEPT_ELEMENTS: Final = 1 << 20


class ProductSum:
    """A sum to which products are added, some of them later than others."""

    __slots__ = ("_enough", "_is_host", "_known", "_left", "_right", "_rows", "_total")

    def __init__(self, total: Any, is_host: bool, known: bool) -> None:
        """
        Args:
          total: [m, n], float32 or float64: a torch tensor, or an array.
          is_host: whether it is an array, as the factors are then.
          known: whether the factors are known to fit.
        """
        self._total = total
        self._is_host = is_host
        self._known = known
        self._left: list[Any] = []
        self._right: list[Any] = []
        self._rows = 0
        m, n = total.shape
        # Of wide factors fewer rows: they are not to need more memory than the sum.
        most = max(m * n, KEPT_ELEMENTS) // max(m + n, 1)
        self._enough = min(LEAST_ROWS, most)

    def add(self, a: Any, b: Any) -> None:
        """Adds a.T @ b, of [rows, m] and [rows, n]: nobody may change them later.

        Raises:
          errors.InvalidArgumentError: the factors do not fit, where that was not known.
        """
        if not self._known:
            check_matrices(a.shape, b.shape, True, False)
        self._left.append(a)
        self._right.append(b)
        self._rows += len(a)
        if self._rows >= self._enough:
            self.finish()

    def finish(self) -> None:
        """Adds what was not added yet."""
        if self._left:
            add = _add_arrays if self._is_host else _add_tensors
            add(self._total, self._left, self._right)
            self._left, self._right, self._rows = [], [], 0


def _add_arrays(total: Any, left: list[Any], right: list[Any]) -> None:
    if len(left) == 1:
        (a,), (b,) = left, right
    else:
        a, b = np.concatenate(left), np.concatenate(right)
    np.add(total, on_one_thread(np.matmul)(a.T, b), total)


def _add_tensors(total: Any, left: list[Any], right: list[Any]) -> None:
    import torch

    from tensorloom.kernels.torch.linalg.matrix_product import add_matrix_product

    if len(left) == 1:
        (a,), (b,) = left, right
    else:
        a, b = torch.cat(left), torch.cat(right)
    add_matrix_product(total, a.t(), b)
