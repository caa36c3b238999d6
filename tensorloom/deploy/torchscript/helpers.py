"""What the lines of a module call. TorchScript compiles these, too.

So they keep to its part of Python, and to its names of types.
"""

# TorchScript reads annotations as they are.
# ruff: noqa: RUF005, UP006, UP035, UP045

from typing import List, Optional, Tuple

import torch
from torch import Tensor
from torch.nn import functional


def ints(value: Tensor) -> List[int]:
    """The integers of a small tensor."""
    flat = value.reshape(-1)
    return [int(flat[at].item()) for at in range(flat.size(0))]


def shape_of(value: Tensor, dtype: torch.dtype) -> Tensor:
    """The sizes of a tensor, as a tensor."""
    return torch.tensor(value.size(), dtype=dtype)


def sliced(
    value: Tensor, axis: int, begin: Optional[int], end: Optional[int], step: int
) -> Tensor:
    """`value[begin:end:step]` along an axis, with steps backwards too."""
    size = value.size(axis)
    if step > 0:
        low = 0 if begin is None else (begin if begin >= 0 else begin + size)
        high = size if end is None else (end if end >= 0 else end + size)
        low, high = min(max(low, 0), size), min(max(high, 0), size)
        high = max(low, high)
    else:
        low = size - 1 if begin is None else (begin if begin >= 0 else begin + size)
        high = -1 if end is None else (end if end >= 0 else end + size)
        low, high = min(max(low, -1), size - 1), min(max(high, -1), size - 1)
        high = min(low, high)
    places = torch.arange(low, high, step, device=value.device)
    return value.index_select(axis, places)


def part(value: Tensor, begin: List[int], size: List[int]) -> Tensor:
    """`size` elements from `begin` of each axis; all that is left where it is -1."""
    for axis in range(len(begin)):
        count = size[axis]
        if count < 0:
            count = value.size(axis) - begin[axis]
        value = value.narrow(axis, begin[axis], count)
    return value


def gathered(values: Tensor, places: Tensor, axis: int) -> Tensor:
    """The slices of an axis at some places."""
    if axis < 0:
        axis += values.dim()
    found = values.index_select(axis, places.reshape(-1).to(torch.int64))
    sizes = list(values.size())
    return found.reshape(sizes[:axis] + list(places.size()) + sizes[axis + 1 :])


def gathered_nd(values: Tensor, places: Tensor) -> Tensor:
    """The slices at vectors of places."""
    depth = places.size(-1)
    flat = places.reshape(-1, depth).to(torch.int64)
    at = torch.zeros([flat.size(0)], dtype=torch.int64)
    for axis in range(depth):
        at = at * values.size(axis) + flat[:, axis]
    rest = list(values.size())[depth:]
    found = values.reshape([-1] + rest).index_select(0, at)
    return found.reshape(list(places.size())[:-1] + rest)


def one_hot(classes: Tensor, depth: int, on: Tensor, off: Tensor, axis: int) -> Tensor:
    """`on` at the places of classes, `off` elsewhere."""
    all_classes = torch.arange(depth)
    chosen = classes.to(torch.int64).unsqueeze(-1) == all_classes
    made = torch.where(chosen, on, off)
    return made if axis == -1 else made.movedim(-1, axis)


def padded(value: Tensor, pads: List[int], filler: float) -> Tensor:
    """Constants around a tensor; `pads` has two numbers for each axis."""
    turned: List[int] = []
    for axis in range(value.dim() - 1, -1, -1):
        turned.append(pads[2 * axis])
        turned.append(pads[2 * axis + 1])
    return functional.pad(value, turned, "constant", filler)


def mirrored(value: Tensor, pads: List[int], border: int) -> Tensor:
    """A mirror image around a tensor, without the border (1) or with it (0)."""
    for axis in range(value.dim()):
        size = value.size(axis)
        before, after = pads[2 * axis], pads[2 * axis + 1]
        if before + after > 0:
            inner = torch.arange(size)
            first = torch.arange(before + border - 1, border - 1, -1)
            last = torch.arange(size - 1 - border, size - 1 - border - after, -1)
            value = value.index_select(axis, torch.cat([first, inner, last]))
    return value


def same_pads(size: int, kernel: int, stride: int, spread: int) -> Tuple[int, int]:
    """The padding of one axis that gives SAME."""
    count = (size + stride - 1) // stride
    whole = max((count - 1) * stride + (kernel - 1) * spread + 1 - size, 0)
    return whole // 2, whole - whole // 2


def with_pads(
    value: Tensor,
    kernel: List[int],
    strides: List[int],
    spread: List[int],
    filler: float,
) -> Tensor:
    """An image with channels first, padded as SAME asks for."""
    top, bottom = same_pads(value.size(2), kernel[0], strides[0], spread[0])
    left, right = same_pads(value.size(3), kernel[1], strides[1], spread[1])
    return functional.pad(value, [left, right, top, bottom], "constant", filler)


def average_pooled(
    value: Tensor, kernel: List[int], strides: List[int], same: bool
) -> Tensor:
    """Means of windows; with SAME of what is inside alone."""
    if not same:
        return functional.avg_pool2d(value, kernel, strides)
    ones = torch.ones([1, 1, value.size(2), value.size(3)], dtype=value.dtype)
    spread = [1, 1]
    sums = functional.avg_pool2d(
        with_pads(value, kernel, strides, spread, 0.0), kernel, strides
    )
    counts = functional.avg_pool2d(
        with_pads(ones, kernel, strides, spread, 0.0), kernel, strides
    )
    return sums / counts


def top_k(values: Tensor, count: int) -> Tuple[Tensor, Tensor]:
    """The largest values and their places; of equal ones the first."""
    found, places = torch.sort(values, stable=True, dim=-1, descending=True)
    return (
        found.narrow(-1, 0, count).contiguous(),
        places.narrow(-1, 0, count).to(torch.int32),
    )


def suppressed(
    boxes: Tensor, scores: Tensor, most: int, overlap: float, least: float
) -> Tensor:
    """The places of the best boxes that do not overlap."""
    low = torch.minimum(boxes[:, :2], boxes[:, 2:])
    high = torch.maximum(boxes[:, :2], boxes[:, 2:])
    areas = (high - low).prod(1)
    order = torch.argsort(scores, stable=True, descending=True)
    kept: List[int] = []
    for at in range(order.size(0)):
        box = int(order[at].item())
        if len(kept) >= most or not bool(scores[box] > least):
            break
        fine = True
        for other in kept:
            top = torch.maximum(low[box], low[other])
            bottom = torch.minimum(high[box], high[other])
            shared = (bottom - top).clamp(min=0.0).prod(0)
            union = areas[box] + areas[other] - shared
            if bool(union > 0.0) and bool(shared / union > overlap):
                fine = False
        if fine:
            kept.append(box)
    return torch.tensor(kept, dtype=torch.int32)


def chosen_rows(test: Tensor, yes: Tensor, no: Tensor) -> Tensor:
    """`yes` where a test holds; a vector of tests chooses rows."""
    if test.dim() == 1 and yes.dim() > 1:
        test = test.reshape([-1] + [1] * (yes.dim() - 1))
    return torch.where(test, yes, no)


def reversed_sequences(
    values: Tensor, lengths: Tensor, time: int, batch: int
) -> Tensor:
    """The first elements of each sequence, backwards."""
    moved = values.transpose(0, batch) if batch != 0 else values
    axis = batch if time == 0 else time
    parts: List[Tensor] = []
    for at in range(moved.size(0)):
        one = moved[at]
        length = int(lengths[at].item())
        first = one.narrow(axis - 1, 0, length).flip([axis - 1])
        rest = one.narrow(axis - 1, length, one.size(axis - 1) - length)
        parts.append(torch.cat([first, rest], axis - 1))
    made = torch.stack(parts)
    return made.transpose(0, batch) if batch != 0 else made


# --- arrays --------------------------------------------------------------------------


def array(size: int) -> List[Tensor]:
    """An array of so many elements, none of them written: those are empty."""
    return [torch.zeros([0]) for _ in range(size)]


def array_written(values: List[Tensor], at: int, value: Tensor) -> List[Tensor]:
    """An array with another element. It is a new one: others may hold the old."""
    made = list(values)
    while len(made) <= at:
        made.append(torch.zeros([0]))
    made[at] = value
    return made


def array_scattered(
    values: List[Tensor], places: Tensor, value: Tensor
) -> List[Tensor]:
    """An array with several other elements."""
    made = list(values)
    where = ints(places)
    for number in range(len(where)):
        while len(made) <= where[number]:
            made.append(torch.zeros([0]))
        made[where[number]] = value[number]
    return made


def array_gathered(values: List[Tensor], places: Tensor) -> Tensor:
    """Some elements as one tensor; zeros for those that were not written."""
    like = torch.zeros([0])
    for value in values:
        if value.numel() > 0:
            like = value
    found: List[Tensor] = []
    for at in ints(places):
        value = values[at]
        found.append(torch.zeros_like(like) if value.numel() == 0 else value)
    return torch.stack(found)
