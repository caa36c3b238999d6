"""What a strided slice means: begin, end, strides and five masks against a shape.

The shape function of StridedSlice and its kernels ask the same question, so the
answer stands here once. The masks hold one bit for each entry of the *sparse* spec
(one entry for each index the user wrote); `resolve` expands it to one entry for each
axis of the input.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

_NEW_AXIS = -1


class SliceError(ValueError):
    """The slice does not fit the shape. The text is TensorFlow's."""


@dataclass(frozen=True, slots=True)
class SliceMasks:
    """The five mask attrs; bit i speaks of entry i of begin, end and strides."""

    begin: int = 0  # entry has no begin: from the edge
    end: int = 0  # entry has no end: to the edge
    ellipsis: int = 0  # entry is `...`
    new_axis: int = 0  # entry is a new axis of size 1
    shrink_axis: int = 0  # entry is an index: its axis disappears

    @classmethod
    def of(cls, attrs: Mapping[str, Any]) -> SliceMasks:
        """The masks of a StridedSlice-like node."""
        return cls(
            attrs["begin_mask"],
            attrs["end_mask"],
            attrs["ellipsis_mask"],
            attrs["new_axis_mask"],
            attrs["shrink_axis_mask"],
        )


@dataclass(slots=True)
class AxisSlice:
    """What happens to one axis of the input. `begin` and `end` None: not known."""

    begin: int | None = 0
    end: int | None = 0
    stride: int = 1
    begin_masked: bool = True
    end_masked: bool = True
    shrink: bool = False
    size: int | None = None  # of this axis in the result; None: not known

    def as_slice(self) -> slice:
        """The axis as a Python slice of exactly `size` elements."""
        assert self.begin is not None
        assert self.size is not None
        if self.size == 0:
            return slice(0, 0, 1)
        stop = self.begin + self.size * self.stride
        return slice(self.begin, None if stop < 0 else stop, self.stride)


@dataclass(frozen=True, slots=True)
class ResolvedSlice:
    """A slice against one input shape."""

    axes: tuple[AxisSlice, ...]  # one for each axis of the input
    # For each axis of the result, the input axis that it comes from; -1: a new one.
    sources: tuple[int, ...]

    @property
    def processing_dims(self) -> tuple[int | None, ...]:
        """The result's sizes before axes are dropped and new ones added."""
        return tuple([axis.size for axis in self.axes])

    @property
    def final_dims(self) -> tuple[int | None, ...]:
        """The result's sizes."""
        return tuple([1 if s == _NEW_AXIS else self.axes[s].size for s in self.sources])

    @property
    def index(self) -> tuple[slice, ...]:
        """A NumPy index that takes the elements, all input axes kept."""
        return tuple([axis.as_slice() for axis in self.axes])


def resolve(
    dims: Sequence[int | None],
    begin: Sequence[int] | None,
    end: Sequence[int] | None,
    strides: Sequence[int],
    masks: SliceMasks,
) -> ResolvedSlice:
    """Resolves a slice against an input shape, which may be partly known.

    Args:
      dims: the input's sizes.
      begin, end: one number for each entry of the spec; None when not known.
      strides: likewise, always known.

    Raises:
      SliceError: the slice does not fit.
    """
    axes, sources = _expand(len(dims), begin, end, strides, masks)
    for number, (axis, dim) in enumerate(zip(axes, dims, strict=True)):
        if axis.stride == 0:
            raise SliceError(f"strides[{number}] must be non-zero")
        _resolve_axis(number, axis, dim)
    return ResolvedSlice(tuple(axes), tuple(sources))


def _expand(
    rank: int,
    begin: Sequence[int] | None,
    end: Sequence[int] | None,
    strides: Sequence[int],
    masks: SliceMasks,
) -> tuple[list[AxisSlice], list[int]]:
    """One AxisSlice for each input axis, from the entries that the user wrote."""
    if masks.ellipsis & (masks.ellipsis - 1):
        raise SliceError("Multiple ellipses in slice spec not allowed")
    count = len(strides)
    # A bit beyond the entries stands for none of them.
    ellipsis = min(masks.ellipsis.bit_length() - 1, count) if masks.ellipsis else count
    after = [i for i in range(ellipsis + 1, count)]
    new_after = sum(1 for i in after if masks.new_axis >> i & 1)
    axes: list[AxisSlice] = []
    sources: list[int] = []
    for i in range(max(count, ellipsis + 1)):
        if i == ellipsis:
            stop = min(rank - len(after) + new_after, rank)
            for _ in range(len(axes), stop):
                sources.append(len(axes))
                axes.append(AxisSlice(None if begin is None else 0))
        elif masks.new_axis >> i & 1:
            sources.append(_NEW_AXIS)
        else:
            if len(axes) == rank:
                raise SliceError(
                    f"Index out of range using input dim {len(axes)}; "
                    f"input has only {rank} dims"
                )
            axis = _entry(i, begin, end, strides, masks)
            if not axis.shrink:
                sources.append(len(axes))
            axes.append(axis)
    return axes, sources


def _entry(
    i: int,
    begin: Sequence[int] | None,
    end: Sequence[int] | None,
    strides: Sequence[int],
    masks: SliceMasks,
) -> AxisSlice:
    return AxisSlice(
        None if begin is None else begin[i],
        None if end is None else end[i],
        strides[i],
        bool(masks.begin >> i & 1),
        bool(masks.end >> i & 1),
        bool(masks.shrink_axis >> i & 1),
    )


def _resolve_axis(number: int, axis: AxisSlice, dim: int | None) -> None:
    """Makes begin and end non-negative and clamped, and finds the size."""
    if axis.shrink and axis.stride <= 0 and dim is not None:
        raise SliceError("only stride 1 allowed on non-range indexing.")
    known = axis.begin is not None and axis.end is not None
    if dim is None:
        axis.size = 1 if axis.shrink else None
    elif axis.shrink:
        axis.size = 1
        if known:
            _resolve_index(number, axis, dim)
    elif known or (axis.begin_masked and axis.end_masked):
        low, high = (0, dim) if axis.stride > 0 else (-1, dim - 1)
        first, last = (low, high) if axis.stride > 0 else (high, low)
        begin = _clamp(axis.begin, axis.begin_masked, first, dim, low, high)
        end = _clamp(axis.end, axis.end_masked, last, dim, low, high)
        axis.begin, axis.end = begin, end
        # Floor division rounds up here, since the operand's sign is turned twice.
        axis.size = max(0, -((begin - end) // axis.stride))


def _resolve_index(number: int, axis: AxisSlice, dim: int) -> None:
    index = axis.begin
    assert index is not None
    position = index + dim if index < 0 else index
    if not 0 <= position < dim:
        raise SliceError(f"slice index {index} of dimension {number} out of bounds.")
    axis.begin, axis.end = position, position + 1


def _clamp(
    value: int | None, masked: bool, edge: int, dim: int, low: int, high: int
) -> int:
    if masked or value is None:
        return edge
    return max(low, min(high, value + dim if value < 0 else value))
