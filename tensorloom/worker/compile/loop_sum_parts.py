"""Finds the region of a loop's sum that each partial summand is added to.

before: p = StridedSliceGrad(shape, b, e, s, u); q = Concat([v, w]); total += p + q
after:  total[b:e] += u;  total[:n] += v;  total[n:] += w

Where each iteration uses slices of the weights, their gradients are sums of arrays
that are zero but for a slice, or put together of pieces: these arrays need not be made.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from tensorloom.framework.types import strided_slice
from tensorloom.framework.types.strided_slice import SliceError, SliceMasks

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tensorloom.framework.graph.graph_ir import FunctionIR, Node
    from tensorloom.framework.types.tensor_shape import TensorShape
    from tensorloom.worker.compile.values import Key, Value

#: Ops that add their inputs, if these have one shape.
ADDITIONS: Final = frozenset(["AddN", "Add", "AddV2"])

# From where to where in each dimension of the sum.
Region = tuple[tuple[int, int], ...]


@dataclass(slots=True, eq=False)
class Part:
    """What is added to a region of the sum."""

    key: Key
    region: Region
    is_product: bool  # over rows, which nobody else reads
    is_added: bool = False  # by the line that computes it


@dataclass(slots=True, eq=False)
class Parts:
    """The parts of what an iteration adds to a sum."""

    body: FunctionIR
    reads: Mapping[Key, int]  # how often the body does
    constants: Mapping[str, Value]  # the arguments that no iteration changes
    in_regions: bool  # whether parts may go to regions
    # By the node that reads them. But for the addition itself, none of these nodes need
    # be computed.
    by_reader: dict[str, list[Part]] = field(default_factory=dict)

    def add(self, reader: str, key: Key, region: Region) -> bool:
        """Notes what goes to a region; False, and nothing, if its shape is not known.

        Args:
          reader: the node that reads it.
        """
        if _dims(self.body, key) != _sizes(region):
            return False
        node = self.body.nodes[key[0]]
        is_alone = self.reads[key] == 1
        inner = self._inner(node, region) if is_alone and self.in_regions else []
        if not all(_dims(self.body, edge) == _sizes(place) for edge, place in inner):
            inner = []
        for edge, place in inner:
            self.add(node.name, edge, place)
        if not inner:
            part = Part(key, region, is_alone and _is_product(node))
            self.by_reader.setdefault(reader, []).append(part)
        else:
            self.by_reader.setdefault(reader, [])
        return True

    def _inner(self, node: Node, region: Region) -> Sequence[tuple[Key, Region]]:
        """What the region of a node's output is put together of; empty: it is made."""
        if node.op in ADDITIONS:
            return [(edge, region) for edge in node.inputs]
        if node.op == "StridedSliceGrad":
            return self._of_slice(node, region)
        if node.op == "ConcatV2":
            return self._of_pieces(node, region)
        return []

    def _of_slice(self, node: Node, region: Region) -> Sequence[tuple[Key, Region]]:
        begin, end, strides = (self._constant(edge) for edge in node.inputs[1:4])
        masks = SliceMasks.of(node.attrs)
        if begin is None or end is None or strides is None:
            return []
        if masks.new_axis or masks.shrink_axis:
            return []
        given = begin.tolist(), end.tolist(), strides.tolist()
        try:
            resolved = strided_slice.resolve(_sizes(region), *given, masks)
        except SliceError:
            return []
        if any(axis.stride != 1 for axis in resolved.axes):
            return []
        inner = []
        for (start, _), axis in zip(region, resolved.axes, strict=True):
            if axis.begin is None or axis.size is None:
                return []
            inner.append((start + axis.begin, start + axis.begin + axis.size))
        return [(node.inputs[4], tuple(inner))]

    def _of_pieces(self, node: Node, region: Region) -> Sequence[tuple[Key, Region]]:
        *pieces, last = node.inputs
        axis = self._constant(last)
        if axis is None or not -len(region) <= axis < len(region):
            return []
        at = int(axis) % len(region)
        position, inner = region[at][0], []
        for edge in pieces:
            dims = _dims(self.body, edge)
            if dims is None or len(dims) != len(region):
                return []
            stop = position + dims[at]
            inner.append((edge, (*region[:at], (position, stop), *region[at + 1 :])))
            position = stop
        return inner

    def _constant(self, key: Key) -> Any:
        """The array that is known to be there, or None."""
        name, output = key
        if name in self.body.nodes:
            node = self.body.nodes[name]
            return node.attrs["value"] if node.op == "Const" and not output else None
        value = self.constants.get(name)
        return None if value is None else value.constant


def whole(dims: Sequence[int]) -> Region:
    """The region of all elements."""
    return tuple((0, dim) for dim in dims)


def sizes_of(shape: TensorShape) -> tuple[int, ...] | None:
    """The sizes of a shape, if all are known."""
    dims = shape.dims_tuple
    if dims is None:
        return None
    sizes = tuple([dim for dim in dims if dim is not None])
    return sizes if len(sizes) == len(dims) else None


def _sizes(region: Region) -> tuple[int, ...]:
    return tuple(stop - start for start, stop in region)


def _dims(body: FunctionIR, key: Key) -> tuple[int, ...] | None:
    """The sizes of what a node of the body gives, if they are known."""
    node = body.nodes.get(key[0])
    if node is None or node.output_shapes is None:
        return None
    return sizes_of(node.output_shapes[key[1]])


def _is_product(node: Node) -> bool:
    return (
        node.op == "MatMul"
        and bool(node.attrs["transpose_a"])
        and not node.attrs["transpose_b"]
    )
