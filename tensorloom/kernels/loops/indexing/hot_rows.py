"""Rows with entries at the places that numbers name, and zeros elsewhere."""

from __future__ import annotations

from typing import Any

from tensorloom.kernels.loops import loop


@loop
def put_hot(numbers: Any, value: Any, out: Any) -> None:
    """out[i, numbers[i]] = value, where there is such an entry.

    Args:
      numbers: integers [n].
      value: of the dtype of `out`.
      out: [n, depth]; written.
    """
    for i in range(len(numbers)):
        place = numbers[i]
        if 0 <= place < out.shape[1]:
            out[i, place] = value


@loop
def count_hot(numbers: Any, out: Any) -> None:
    """Adds one to out[i, numbers[i, j]] for each j, where there is such an entry.

    Args:
      numbers: integers [n, k].
      out: [n, depth], zeros; written. A count below 2**24 is exact in float32.
    """
    one = out.dtype.type(1)
    for i in range(len(numbers)):
        for j in range(numbers.shape[1]):
            place = numbers[i, j]
            if 0 <= place < out.shape[1]:
                out[i, place] += one
