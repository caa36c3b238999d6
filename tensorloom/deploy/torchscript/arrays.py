"""Ops that move elements, look at shapes, and make one value of many."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tensorloom.deploy.program import Unexportable
from tensorloom.deploy.torchscript.registry import writer

if TYPE_CHECKING:
    from tensorloom.deploy.torchscript.source import Line

_REDUCTIONS: Final = {"Mean": "mean", "Sum": "sum"}
_ENDS: Final = {"Max": "amax", "Min": "amin"}


@writer("Reshape")
def _reshape(line: Line) -> str:
    return f"torch.reshape({line[0]}, {line.ints(1)})"


@writer("Shape", "ShapeN")
def _shape(line: Line) -> list[str]:
    return [f"shape_of({name}, {line.type()})" for name in line.inputs]


@writer("Size")
def _size(line: Line) -> str:
    return f"torch.tensor({line[0]}.numel(), dtype={line.type()})"


@writer("Rank")
def _rank(line: Line) -> str:
    return f"torch.tensor({line[0]}.dim(), dtype={line.type()})"


@writer("ExpandDims")
def _expand_dims(line: Line) -> str:
    return f"torch.unsqueeze({line[0]}, {line.one_int(1)})"


@writer("Squeeze")
def _squeeze(line: Line) -> str:
    axes = line.attr("squeeze_dims")
    if not axes:
        return f"torch.squeeze({line[0]})"
    return f"torch.squeeze({line[0]}, {list(axes)!r})"


@writer("Concat", "ConcatV2")
def _concat(line: Line) -> str:
    *values, axis = range(len(line))
    if line.node.op == "Concat":
        axis, *values = range(len(line))
    parts = ", ".join(line[value] for value in values)
    return f"torch.cat([{parts}], {line.one_int(axis)})"


@writer("Pack")
def _pack(line: Line) -> str:
    return f"torch.stack([{', '.join(line.inputs)}], {line.attr('axis')})"


@writer("Unpack")
def _unpack(line: Line) -> list[str]:
    axis = line.attr("axis")
    return [f"{line[0]}.select({axis}, {at})" for at in range(line.attr("num"))]


@writer("Split")
def _split(line: Line) -> list[str]:
    name, count, axis = line.source.fresh(), line.attr("num_split"), line.one_int(0)
    line.source.add(f"{name} = torch.chunk({line[1]}, {count}, {axis})")
    return [f"{name}[{at}]" for at in range(count)]


@writer("SplitV")
def _split_by_sizes(line: Line) -> list[str]:
    name = line.source.fresh()
    sizes = line.constant(1, "list of sizes")
    if (np.asarray(sizes) < 0).any():
        raise Unexportable("one of its sizes is left open")
    line.source.add(
        f"{name} = torch.split({line[0]}, {line.ints(1)}, {line.one_int(2)})"
    )
    return [f"{name}[{at}]" for at in range(line.attr("num_split"))]


@writer("Transpose")
def _transpose(line: Line) -> str:
    return f"{line[0]}.permute({line.ints(1)})"


@writer("Tile")
def _tile(line: Line) -> str:
    return f"{line[0]}.repeat({line.ints(1)})"


@writer("Fill", "BroadcastTo")
def _fill(line: Line) -> str:
    value, shape = (1, 0) if line.node.op == "Fill" else (0, 1)
    return f"{line[value]}.expand({line.ints(shape)})"


@writer("Range")
def _range(line: Line) -> str:
    ends = ", ".join(f"{name}.item()" for name in line.inputs)
    return f"torch.arange({ends}, dtype={line.type()})"


@writer("Slice")
def _slice(line: Line) -> str:
    return f"part({line[0]}, {line.ints(1)}, {line.ints(2)})"


@writer("StridedSlice")
def _strided_slice(line: Line) -> str:
    strides = [int(one) for one in line.constant(3, "strides")]
    masks = {
        name: int(line.attr(f"{name}_mask"))
        for name in ("begin", "end", "ellipsis", "new_axis", "shrink_axis")
    }
    value, count, axis = line[0], len(strides), 0
    for at in range(count):
        bit = 1 << at
        if masks["ellipsis"] & bit:
            taken = sum(
                not (masks["new_axis"] | masks["shrink_axis"]) >> n & 1
                for n in range(at + 1, count)
            )
            shrunk = sum(
                masks["shrink_axis"] >> n & 1 and not masks["new_axis"] >> n & 1
                for n in range(at + 1, count)
            )
            rank = line.shape(0).ndims
            if rank is None:
                raise Unexportable("the rank of its input is not known")
            before = [n for n in range(at) if not masks["new_axis"] >> n & 1]
            axis += int(rank) - len(before) - taken - shrunk
        elif masks["new_axis"] & bit:
            value = f"torch.unsqueeze({value}, {axis})"
            axis += 1
        elif masks["shrink_axis"] & bit:
            value = f"{value}.select({axis}, {_bound(line, 1, at)})"
        else:
            begin = "None" if masks["begin"] & bit else _bound(line, 1, at)
            end = "None" if masks["end"] & bit else _bound(line, 2, at)
            if (begin, end, strides[at]) != ("None", "None", 1):
                value = f"sliced({value}, {axis}, {begin}, {end}, {strides[at]})"
            axis += 1
    return value


def _bound(line: Line, at: int, place: int) -> str:
    known: Any = line.static(at)
    if known is not None:
        return repr(int(known[place]))
    return f"int({line[at]}[{place}].item())"


@writer("Gather", "GatherV2")
def _gather(line: Line) -> str:
    if line.node.attrs.get("batch_dims"):
        raise Unexportable("it gathers by batches")
    axis = line.one_int(2) if len(line) > 2 else "0"
    return f"gathered({line[0]}, {line[1]}, {axis})"


@writer("GatherNd")
def _gather_nd(line: Line) -> str:
    return f"gathered_nd({line[0]}, {line[1]})"


@writer("Pad", "PadV2")
def _pad(line: Line) -> str:
    filler = "0.0" if line.node.op == "Pad" else f"float({line[2]}.item())"
    return f"padded({line[0]}, {line.ints(1)}, {filler})"


@writer("MirrorPad")
def _mirror_pad(line: Line) -> str:
    border = int(line.attr("mode") == "REFLECT")
    return f"mirrored({line[0]}, {line.ints(1)}, {border})"


@writer("ReverseV2")
def _reverse(line: Line) -> str:
    return f"torch.flip({line[0]}, {line.ints(1)})"


@writer("ReverseSequence")
def _reverse_sequence(line: Line) -> str:
    time, batch = line.attr("seq_dim"), line.attr("batch_dim")
    if {time, batch} != {0, 1}:
        raise Unexportable("its axes are not the first two")
    return f"reversed_sequences({line[0]}, {line[1]}, {time}, {batch})"


@writer("OneHot")
def _one_hot(line: Line) -> str:
    depth, axis = line.one_int(1), line.attr("axis")
    return f"one_hot({line[0]}, {depth}, {line[2]}, {line[3]}, {axis})"


@writer("Where")
def _where(line: Line) -> str:
    return f"torch.nonzero({line[0]})"


# --- one value of many ---------------------------------------------------------------


@writer(*_REDUCTIONS, *_ENDS)
def _reduction(line: Line) -> str:
    op = line.node.op
    axes = line.static(1)
    if axes is not None and np.size(axes) == 0:
        return line[0]
    keep = bool(line.attr("keep_dims"))
    if op in _ENDS:
        return f"torch.{_ENDS[op]}({line[0]}, {line.ints(1)}, {keep})"
    name = _REDUCTIONS[op]
    return f"torch.{name}({line[0]}, {line.ints(1)}, {keep}, dtype={line.type()})"


@writer("Prod", "All", "Any")
def _one_by_one(line: Line) -> str:
    keep = bool(line.attr("keep_dims"))
    axes = [int(axis) for axis in np.reshape(line.constant(1, "axes"), -1)]
    value = line[0]
    if len(axes) > 1:
        rank = line.shape(0).ndims
        if rank is None:
            raise Unexportable("the rank of its input is not known")
        axes = sorted((axis % int(rank) for axis in axes), reverse=True)
    for axis in axes:
        more = f", dtype={line.type()}" if line.node.op == "Prod" else ""
        value = f"torch.{line.node.op.lower()}({value}, {axis}, {keep}{more})"
    return value


@writer("ArgMax", "ArgMin")
def _arg(line: Line) -> str:
    found = f"torch.{line.node.op.lower()}({line[0]}, {line.one_int(1)})"
    return f"{found}.to({line.type()})"


@writer("Cumsum")
def _cumsum(line: Line) -> str:
    if line.attr("exclusive") or line.attr("reverse"):
        raise Unexportable("it sums exclusively or backwards")
    return f"torch.cumsum({line[0]}, {line.one_int(1)}, dtype={line.type()})"


@writer("Softmax")
def _softmax(line: Line) -> str:
    return f"torch.softmax({line[0]}, -1)"


@writer("LogSoftmax")
def _log_softmax(line: Line) -> str:
    return f"torch.log_softmax({line[0]}, -1)"


@writer("L2Loss")
def _l2_loss(line: Line) -> str:
    return f"torch.sum(torch.square({line[0]})) * 0.5"


@writer("TopKV2")
def _top_k(line: Line) -> list[str]:
    name = line.source.fresh()
    line.source.add(f"{name} = top_k({line[0]}, {line.one_int(1)})")
    return [f"{name}[0]", f"{name}[1]"]


@writer("NonMaxSuppression", "NonMaxSuppressionV2", "NonMaxSuppressionV3")
def _suppression(line: Line) -> str:
    overlap = (
        repr(line.attr("iou_threshold"))
        if line.node.op == "NonMaxSuppression"
        else f"float({line[3]}.item())"
    )
    least = "float('-inf')"
    if line.node.op == "NonMaxSuppressionV3":
        least = f"float({line[4]}.item())"
    return f"suppressed({line[0]}, {line[1]}, {line.one_int(2)}, {overlap}, {least})"
