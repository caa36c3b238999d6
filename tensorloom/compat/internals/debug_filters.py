"""Filters of tensors, as `tensorflow.python.debug` has them."""

from __future__ import annotations

from typing import Any

import numpy as np


def has_inf_or_nan(datum: Any, tensor: Any) -> bool:
    """Whether a value has an infinite element, or one that is no number.

    Args:
      datum: what is known of the tensor; not used.
      tensor: the value; None and values without numbers have none.
    """
    if tensor is None:
        return False
    array = np.asarray(tensor)
    if not np.issubdtype(array.dtype, np.inexact):
        return False
    return not bool(np.all(np.isfinite(array)))
