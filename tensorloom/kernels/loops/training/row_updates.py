"""Updates of some rows of a variable and its slots by the rules of optimizers."""

from __future__ import annotations

from typing import Any

import numpy as np

from tensorloom.kernels.loops import loop


@loop
def adagrad_rows(variable: Any, accum: Any, index: Any, grad: Any, lr: Any) -> None:
    """Adagrad's rule, row by row.

    Args:
      variable, accum: [n, m], of one dtype; some rows change.
      index: integers [k] in [0, n), none of them twice.
      grad: [k, m], of the same dtype.
      lr: of the same dtype.
    """
    for i in range(len(index)):
        row = index[i]
        for j in range(grad.shape[1]):
            g = grad[i, j]
            total = accum[row, j] + g * g
            accum[row, j] = total
            variable[row, j] -= lr * g / np.sqrt(total)
