"""Resizing by linear interpolation along one axis after the other, in torch tensors."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

Taps = tuple[Any, Any, Any]


def taps(old: int, new: int, align: bool, centers: bool) -> Taps:
    """(lower index, upper index, share of the upper one) of each new position."""
    scale = np.float32((old - 1) / (new - 1) if align and new > 1 else old / new)
    places = np.arange(new, dtype=np.float32)
    if centers:
        places = (places + np.float32(0.5)) * scale - np.float32(0.5)
    else:
        places = places * scale
    lower = np.maximum(np.floor(places), 0).astype(np.int64)
    upper = np.minimum(np.ceil(places), old - 1).astype(np.int64)
    share = places - np.floor(places)
    return lower, np.maximum(upper, 0), share.astype(np.float32)


def along(value: torch.Tensor, axis: int, taps: Taps) -> torch.Tensor:
    """The value with one axis resized to the positions of `taps`, arrays or tensors."""
    lower, upper, share = (torch.as_tensor(t, device=value.device) for t in taps)
    shape = [1] * value.dim()
    shape[axis] = -1
    below, above = value.index_select(axis, lower), value.index_select(axis, upper)
    return below + (above - below) * share.view(shape)
