"""Ops that move elements, and look at shapes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tensorloom.deploy.onnx.registry import builder
from tensorloom.deploy.program import Unexportable
from tensorloom.framework.types import dtypes

if TYPE_CHECKING:
    from tensorloom.deploy.onnx.scope import Site

_END = np.iinfo(np.int64).max


@builder("Reshape")
def _reshape(site: Site) -> str:
    # A zero is a size of zero, not one to take over.
    return site.op("Reshape", site[0], site.int64(1), allowzero=1)


@builder("Shape", "ShapeN", "Size")
def _shape(site: Site) -> list[str]:
    op = "Size" if site.node.op == "Size" else "Shape"
    return [_as(site, site.op(op, name)) for name in site.inputs]


def _as(site: Site, name: str) -> str:
    dtype = site.dtype()
    return name if dtype == dtypes.int64 else site.cast(name, dtype)


@builder("Rank")
def _rank(site: Site) -> str:
    return _as(site, site.op("Size", site.op("Shape", site[0])))


@builder("ExpandDims")
def _expand_dims(site: Site) -> str:
    axis = int(np.reshape(site.constant(1, "axis"), ()))
    return site.op("Unsqueeze", site[0], site.ints(axis))


@builder("Squeeze")
def _squeeze(site: Site) -> str:
    axes = site.attr("squeeze_dims")
    return site.op("Squeeze", site[0], *([site.ints(*axes)] if axes else []))


@builder("Concat", "ConcatV2")
def _concat(site: Site) -> str:
    *values, axis = range(len(site))
    if site.node.op == "Concat":
        axis, *values = range(len(site))
    at = int(site.constant(axis, "axis"))
    return site.op("Concat", *(site[value] for value in values), axis=at)


@builder("Pack")
def _pack(site: Site) -> str:
    axis = site.attr("axis")
    parts = [site.op("Unsqueeze", name, site.ints(axis)) for name in site.inputs]
    return site.op("Concat", *parts, axis=axis)


@builder("Unpack")
def _unpack(site: Site) -> list[str]:
    axis, count = site.attr("axis"), site.attr("num")
    if count == 1:
        return [site.op("Squeeze", site[0], site.ints(axis))]
    parts = site.ops("Split", site[0], outputs=count, axis=axis, num_outputs=count)
    return [site.op("Squeeze", part, site.ints(axis)) for part in parts]


@builder("Split")
def _split(site: Site) -> list[str]:
    axis, count = int(site.constant(0, "axis")), site.attr("num_split")
    if count == 1:
        return [site[1]]
    return site.ops("Split", site[1], outputs=count, axis=axis, num_outputs=count)


@builder("SplitV")
def _split_by_sizes(site: Site) -> list[str]:
    axis, count = int(site.constant(2, "axis")), site.attr("num_split")
    sizes = site.static(1)
    if sizes is not None and (np.asarray(sizes) < 0).any():
        size = site.shape(0)
        whole = None if size.ndims is None else size.as_list()[axis]
        if whole is None:
            raise Unexportable("one of its sizes is left open")
        sizes = np.where(sizes < 0, whole - sizes[sizes >= 0].sum(), sizes)
    name = site.int64(1) if sizes is None else site.value(sizes, np.int64)
    return site.ops("Split", site[0], name, outputs=count, axis=axis)


@builder("Transpose")
def _transpose(site: Site) -> str:
    order = site.static(1)
    if order is None:
        raise Unexportable("its order of axes is no constant")
    return site.transposed(site[0], [int(axis) for axis in order])


@builder("Tile")
def _tile(site: Site) -> str:
    return site.op("Tile", site[0], site.int64(1))


@builder("Fill")
def _fill(site: Site) -> str:
    return site.op("Expand", site[1], site.int64(0))


@builder("BroadcastTo")
def _broadcast(site: Site) -> str:
    return site.op("Expand", site[0], site.int64(1))


@builder("Range")
def _range(site: Site) -> str:
    return site.op("Range", *site.inputs)


@builder("LinSpace")
def _lin_space(site: Site) -> str:
    count = int(site.constant(2, "number of values"))
    start, stop = site.constant(0, "start"), site.constant(1, "stop")
    return site.value(np.linspace(start, stop, count, dtype=np.asarray(start).dtype))


@builder("Slice")
def _slice(site: Site) -> str:
    sizes = site.static(2)
    starts = site.int64(1)
    if sizes is not None:
        # What is left open goes to the end.
        rest = np.asarray(sizes, np.int64)
        if (rest < 0).any():
            ends = site.op("Add", starts, site.value(np.maximum(rest, 0)))
            ends = site.op("Where", site.value(rest < 0), site.ints(_END), ends)
        else:
            ends = site.op("Add", starts, site.value(rest))
    else:
        given = site.int64(2)
        is_open = site.op("Less", given, site.ints(0))
        ends = site.op("Where", is_open, site.ints(_END), site.op("Add", starts, given))
    return site.op("Slice", site[0], starts, ends)


@builder("StridedSlice")
def _strided_slice(site: Site) -> str:
    strides = np.asarray(site.constant(3, "strides"), np.int64)
    masks = {
        name: int(site.attr(f"{name}_mask"))
        for name in ("begin", "end", "ellipsis", "new_axis", "shrink_axis")
    }
    count = len(strides)
    begins, ends = site.static(1), site.static(2)
    starts: list[str] = []
    stops: list[str] = []
    axes: list[int] = []
    steps: list[int] = []
    dropped: list[int] = []
    new: list[int] = []
    axis = place = 0
    for at in range(count):
        bit = 1 << at
        if masks["ellipsis"] & bit:
            after = sum(not masks["new_axis"] >> n & 1 for n in range(at + 1, count))
            skipped = site.rank(0) - after - axis
            axis += skipped
            place += skipped
        elif masks["new_axis"] & bit:
            new.append(place)
            place += 1
        else:
            is_one = bool(masks["shrink_axis"] & bit)
            step = 1 if is_one else int(strides[at])
            start = _bound(site, begins, 1, at)
            stop = _bound(site, ends, 2, at)
            if masks["begin"] & bit and not is_one:
                start = site.ints(0 if step > 0 else _END)
            if is_one:
                stop = _next(site, start, begins, at)
                dropped.append(axis)
            elif masks["end"] & bit:
                stop = site.ints(_END if step > 0 else -_END)
            elif step < 0 and ends is not None and int(ends[at]) == -1:
                stop = site.ints(-1)
            starts.append(start)
            stops.append(stop)
            axes.append(axis)
            steps.append(step)
            place += not is_one
            axis += 1
    value = site[0]
    if axes:
        value = site.op(
            "Slice",
            value,
            _joined(site, starts),
            _joined(site, stops),
            site.ints(*axes),
            site.ints(*steps),
        )
    if dropped:
        value = site.op("Squeeze", value, site.ints(*dropped))
    return site.op("Unsqueeze", value, site.ints(*new)) if new else value


def _bound(site: Site, known: Any, at: int, place: int) -> str:
    """One begin or end, as a vector of one."""
    if known is not None:
        return site.ints(int(known[place]))
    return site.op("Gather", site.int64(at), site.ints(place))


def _next(site: Site, start: str, begins: Any, at: int) -> str:
    """The end of a single element; that of the last is the end."""
    if begins is not None:
        begin = int(begins[at])
        return site.ints(_END if begin == -1 else begin + 1)
    is_last = site.op("Equal", start, site.ints(-1))
    following = site.op("Add", start, site.ints(1))
    return site.op("Where", is_last, site.ints(_END), following)


def _joined(site: Site, parts: list[str]) -> str:
    return parts[0] if len(parts) == 1 else site.op("Concat", *parts, axis=0)


@builder("Gather", "GatherV2", "ResourceGather")
def _gather(site: Site) -> str:
    axis = int(site.constant(2, "axis")) if len(site) > 2 else 0
    if site.node.attrs.get("batch_dims"):
        raise Unexportable("it gathers by batches")
    return site.op("Gather", site[0], site[1], axis=axis)


@builder("GatherNd")
def _gather_nd(site: Site) -> str:
    return site.op("GatherND", site[0], site.int64(1))


@builder("Pad", "PadV2", "MirrorPad")
def _pad(site: Site) -> str:
    pads = site.static(1)
    if pads is not None:
        amounts = site.value(np.transpose(pads).reshape(-1), np.int64)
    else:
        amounts = site.op(
            "Reshape", site.transposed(site.int64(1), [1, 0]), site.ints(-1)
        )
    if site.node.op == "MirrorPad":
        if site.attr("mode") != "REFLECT":
            raise Unexportable("SYMMETRIC padding: ONNX has REFLECT")
        return site.op("Pad", site[0], amounts, mode="reflect")
    filler = [site[2]] if site.node.op == "PadV2" else []
    return site.op("Pad", site[0], amounts, *filler, mode="constant")


@builder("ReverseV2")
def _reverse(site: Site) -> str:
    axes = [int(axis) for axis in np.atleast_1d(site.constant(1, "axes"))]
    if not axes:
        return site[0]
    count = len(axes)
    return site.op(
        "Slice",
        site[0],
        site.ints(*[-1] * count),
        site.ints(*[-_END] * count),
        site.ints(*axes),
        site.ints(*[-1] * count),
    )


@builder("ReverseSequence")
def _reverse_sequence(site: Site) -> str:
    batch, time = site.attr("batch_dim"), site.attr("seq_dim")
    if {batch, time} != {0, 1}:
        raise Unexportable("its axes are not the first two")
    return site.op(
        "ReverseSequence", site[0], site.int64(1), batch_axis=batch, time_axis=time
    )


@builder("OneHot")
def _one_hot(site: Site) -> str:
    ends = [site.op("Reshape", site[at], site.ints(1)) for at in (3, 2)]
    ends_name = site.op("Concat", *ends, axis=0)
    # ONNX counts negative classes from the end; TensorFlow has none of them.
    depth = site.op("Reshape", site.int64(1), site.ints(1))
    classes = site.int64(0)
    is_none = site.op("Less", classes, site.ints(0))
    classes = site.op("Where", is_none, depth, classes)
    return site.op("OneHot", classes, depth, ends_name, axis=site.attr("axis"))


@builder("Where")
def _where(site: Site) -> str:
    found = site.op("NonZero", site[0])
    return site.transposed(found, [1, 0])


@builder("InvertPermutation")
def _invert(site: Site) -> str:
    value = site.constant(0, "order")
    return site.value(np.argsort(value), np.asarray(value).dtype)


@builder("SpaceToBatchND", "BatchToSpaceND")
def _space(site: Site) -> str:
    raise Unexportable("use the transform flatten_atrous_conv before exporting")
