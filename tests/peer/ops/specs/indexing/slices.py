"""Specs of Slice, StridedSlice, StridedSliceGrad."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.peer.ops.draw import Draw, K
from tests.peer.ops.spec import call, spec
from tests.peer.ops.specs.shared.arrays import shape_of


def slice_(d: Draw) -> Any:
    x = d.array()
    shape = shape_of(x)
    begin = [d.integer(0, s) for s in shape]
    size = [
        -1 if d.maybe(0.3) else d.integer(0, s - b)
        for s, b in zip(shape, begin, strict=True)
    ]
    kind = d.index_type()
    return x, K(np.array(begin, kind)), K(np.array(size, kind))


spec(
    "Slice",
    slice_,
    bad=(
        lambda d: (d.array((3,)), K([2], "int32"), K([2], "int32")),
        lambda d: (d.array((3,)), K([-1], "int32"), K([2], "int32")),
        lambda d: (d.array((3,)), K([4], "int32"), K([0], "int32")),
    ),
)


def slice_parts(
    d: Draw, shape: tuple[int, ...]
) -> tuple[Any, Any, Any, dict[str, int]]:
    """begin, end, strides and masks; fewer entries than dimensions are possible."""
    count = d.integer(0, len(shape))
    begin, end, strides = [], [], []
    masks = dict.fromkeys(
        (
            "begin_mask",
            "end_mask",
            "ellipsis_mask",
            "new_axis_mask",
            "shrink_axis_mask",
        ),
        0,
    )
    ellipsis_at = d.integer(0, count - 1) if count and d.maybe(0.3) else None
    position = 0
    for i in range(count):
        if i == ellipsis_at:
            masks["ellipsis_mask"] |= 1 << i
            position = len(shape) - (count - i - 1)
            begin.append(0), end.append(0), strides.append(1)
            continue
        size = shape[position]
        position += 1
        if d.maybe(0.15) and size and ellipsis_at is None:
            at = d.integer(-size, size - 1)
            masks["shrink_axis_mask"] |= 1 << i
            begin.append(at), end.append(at + 1), strides.append(1)
            continue
        masks["begin_mask"] |= d.integer(0, 1) << i
        masks["end_mask"] |= d.integer(0, 1) << i
        begin.append(d.integer(-size - 1, size + 1))
        end.append(d.integer(-size - 1, size + 1))
        strides.append(d.choice([1, 1, 2, -1, -2]))
    if d.maybe(0.3):
        masks["new_axis_mask"] |= 1 << count
        begin.append(0), end.append(0), strides.append(1)
    kind = d.index_type()
    return np.array(begin, kind), np.array(end, kind), np.array(strides, kind), masks


def strided_slice(d: Draw) -> Any:
    x = d.array(d.shape(1, 4))
    begin, end, strides, masks = slice_parts(d, shape_of(x))
    return call(x, K(begin), K(end), K(strides), **masks)


spec(
    "StridedSlice",
    strided_slice,
    examples=6,
    bad=(
        lambda d: (d.array((3,)), K([0], "int32"), K([2], "int32"), K([0], "int32")),
        lambda d: call(
            d.array((3,)),
            K([3], "int32"),
            K([4], "int32"),
            K([1], "int32"),
            shrink_axis_mask=1,
        ),
        lambda d: call(
            d.array((3,)), K([0, 0], "int32"), K([1, 1], "int32"), K([1, 1], "int32")
        ),
    ),
)


def strided_slice_grad(d: Draw) -> Any:
    shape = d.shape(1, 4)
    begin, end, strides, masks = slice_parts(d, shape)
    from tensorloom.framework.graph import graph as graphs  # noqa: F401

    result = sliced(np.zeros(shape), begin, end, strides, masks)
    kind = begin.dtype
    return call(
        K(np.array(shape, kind)),
        K(begin),
        K(end),
        K(strides),
        d.array(result.shape),
        **masks,
    )


def sliced(x: Any, begin: Any, end: Any, strides: Any, masks: dict[str, int]) -> Any:
    """NumPy's slice of the same meaning."""
    index: list[Any] = []
    for i in range(len(begin)):
        bit = 1 << i
        if masks["ellipsis_mask"] & bit:
            index.append(Ellipsis)
        elif masks["new_axis_mask"] & bit:
            index.append(None)
        elif masks["shrink_axis_mask"] & bit:
            index.append(int(begin[i]))
        else:
            index.append(
                slice(
                    None if masks["begin_mask"] & bit else int(begin[i]),
                    None if masks["end_mask"] & bit else int(end[i]),
                    int(strides[i]),
                )
            )
    return x[tuple(index)]


spec("StridedSliceGrad", strided_slice_grad, examples=6)
