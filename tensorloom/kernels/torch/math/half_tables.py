"""Functions of 16-bit floats on a CPU, looked up in a table of all of their values.

torch computes some functions one element at a time, the same for half precision as for
float32: 7 to 30 ns. There are only 65,536 arguments, and looking one up takes 1 ns.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import torch

if TYPE_CHECKING:
    from numpy.typing import NDArray

_Unary = Callable[[torch.Tensor], torch.Tensor]
_HALVES: Final = frozenset([torch.float16, torch.bfloat16])
_ARGUMENTS: Final = 1 << 16
# From so many elements on the table is worth what it costs the first time.
_FEWEST_ELEMENTS: Final = 8192


def halves_by_table(function: _Unary) -> _Unary:
    """The same function, whose results for halves on a CPU come from a table.

    Args:
      function: elementwise, to the dtype of its argument.
    """
    tables: dict[torch.dtype, NDArray[np.int16]] = {}

    def compute(x: torch.Tensor) -> torch.Tensor:
        if x.dtype not in _HALVES or not x.is_cpu or x.numel() < _FEWEST_ELEMENTS:
            return function(x)
        table = tables.get(x.dtype)
        if table is None:
            table = tables[x.dtype] = _table(function, x.dtype)
        # All indices are in range: "wrap" only spares the check.
        bits: Any = x.view(torch.int16).numpy().view(np.uint16)
        return torch.from_numpy(np.take(table, bits, mode="wrap")).view(x.dtype)

    return compute


def _table(function: _Unary, dtype: torch.dtype) -> NDArray[np.int16]:
    """The bits of the results by the bits of the arguments."""
    arguments = np.arange(_ARGUMENTS).astype(np.uint16).view(np.int16)
    results = function(torch.from_numpy(arguments).view(dtype))
    return results.view(torch.int16).numpy()
