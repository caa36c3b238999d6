"""Accumulates sums over the iterations of a loop in place.

before: while ...: p = MatMul(x, g, transpose_a); q = AddN(total, p); total = q
after:  total = fresh(start);  s = product_sum(total)
        while ...: s.add(x, g)
        s.finish()

The gradient of a tensor that all iterations share, such as the weights of a recurrent
network, is such a sum. It is not read before the loop ends, so it is accumulated in
place: no iteration allocates a product of the size of the weights, or another sum.
Products with few rows are computed together: see
`kernels/torch/linalg/product_sum.py`.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from tensorloom.framework.types import dtypes
from tensorloom.kernels.torch.linalg.product_sum import ProductSum
from tensorloom.worker.compile.buffer_reuse import mark_as_shared
from tensorloom.worker.compile.kernel_choice import choose_kernel
from tensorloom.worker.compile.loop_sum_parts import (
    ADDITIONS,
    Part,
    Parts,
    Region,
    sizes_of,
    whole,
)
from tensorloom.worker.compile.values import Root, Value

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tensorloom.framework.graph.graph_ir import FunctionIR, Node
    from tensorloom.framework.types.tensor_shape import TensorShape
    from tensorloom.worker.compile.emitter import Emit, Emitter
    from tensorloom.worker.compile.values import Scope

_TYPES: Final = frozenset([dtypes.float32, dtypes.float64])


@dataclass(slots=True, eq=False)
class LoopSum:
    """One loop variable to which each iteration adds something."""

    index: int  # of the loop variable
    addition: str  # the node of the body that adds
    parts: Mapping[str, list[Part]]  # of what it adds, by the node that reads them
    start: Value  # before the first iteration
    # Its names are given by what it gets first: it is in the memory of that.
    variable: Value
    # The names of its regions: (which one, whether in host memory).
    regions: dict[tuple[Region, bool], str] = field(default_factory=dict)
    # Of products: the name, what makes it, and the name of the region it adds to.
    product_sums: list[tuple[str, str, str]] = field(default_factory=list)


def find(
    test: FunctionIR,
    body: FunctionIR,
    scope: Scope,
    node: Node,
    inputs: Sequence[Value],
    in_regions: bool,
) -> list[LoopSum]:
    """The loop variables that are such sums.

    Args:
      test, body: the loop's functions.
      scope: where the loop is.
      node: the loop.
      inputs: the loop variables' first values.
      in_regions: whether parts may go to regions of a sum, which takes a memory that
        NumPy and torch share.
    """
    candidates = [
        i
        for i, (name, _) in enumerate(body.returns)
        if name in body.nodes and body.nodes[name].op in ADDITIONS
    ]
    if not candidates or node.output_shapes is None:
        return []
    reads = Counter(edge for n in body.nodes.values() for edge in n.inputs)
    reads.update(body.returns)
    tested = {edge for n in test.nodes.values() for edge in n.inputs}
    tested.update(test.returns)
    kept = {
        name: value
        for name, end, value in zip(body.arg_names, body.returns, inputs, strict=True)
        if end == (name, 0)
    }
    sums = []
    for i in candidates:
        shape = node.output_shapes[i]
        if (test.arg_names[i], 0) in tested or node.output_types[i] not in _TYPES:
            continue
        parts = Parts(body, reads, kept, in_regions)
        if _adds_parts(i, shape, parts):
            variable = Value(
                node.output_types[i], shape, scope, Root(shared=True), pinned=True
            )
            addition = body.returns[i][0]
            sums.append(LoopSum(i, addition, parts.by_reader, inputs[i], variable))
    return sums


def _adds_parts(index: int, shape: TensorShape, parts: Parts) -> bool:
    """Whether the body adds to its argument, and does nothing else with that."""
    body, sizes = parts.body, sizes_of(shape)
    end, argument = body.returns[index], (body.arg_names[index], 0)
    # With what has another shape the sum might grow.
    if not sizes or parts.reads[end] != 1 or parts.reads[argument] != 1:
        return False
    addition = body.nodes[end[0]]
    added = [edge for edge in addition.inputs if edge != argument]
    if not parts.in_regions and len(added) > 1:
        return False  # the sum would be in one memory, and perhaps one of them not
    return len(added) == len(addition.inputs) - 1 > 0 and all(
        [parts.add(addition.name, edge, whole(sizes)) for edge in added]
    )


def emitters(sums: Sequence[LoopSum]) -> dict[str, Emit]:
    """What emits the nodes of the body that add, by name."""
    emits: dict[str, Emit] = {}
    for one in sums:
        for reader, parts in one.parts.items():
            emits[reader] = _reader_emitter(one, parts)
            for part in parts:
                if part.is_product:
                    emits[part.key[0]] = _product_emitter(one, part)
    return emits


def _product_emitter(one: LoopSum, part: Part) -> Emit:
    def emit(emitter: Emitter, scope: Scope, node: Node) -> None:
        inputs = emitter.inputs_of(scope, node)
        is_host = choose_kernel(node, inputs, emitter.device.kernel_type).host
        mark_as_shared(inputs)
        known = all(value.shape.is_fully_defined() for value in inputs)
        make = emitter.bind(partial(ProductSum, is_host=is_host, known=known))
        name = emitter.new_name(scope, "s")
        total = _region(emitter, one, part.region, is_host)
        one.product_sums.append((name, make, total))
        want = emitter.host if is_host else emitter.tensor
        factors = ", ".join([want(scope, value) for value in inputs])
        scope.write(f"{name}.add({factors})", node)
        part.is_added = True

    return emit


def _reader_emitter(one: LoopSum, parts: Sequence[Part]) -> Emit:
    """What adds the parts that a node reads, in place of that node."""

    def emit(emitter: Emitter, scope: Scope, node: Node) -> None:
        for part in parts:
            if not part.is_added:
                _emit_addition(emitter, scope, node, one, part)
        if node.name == one.addition:
            scope.values[node.name, 0] = one.variable

    return emit


def _emit_addition(
    emitter: Emitter, scope: Scope, node: Node, one: LoopSum, part: Part
) -> None:
    value = emitter.lookup(scope, part.key)
    is_host = value.tensor_name is None or value.is_ref
    total = _region(emitter, one, part.region, is_host)
    if is_host:
        scope.write(f"np.add({total}, {emitter.host(scope, value)}, {total})", node)
    else:
        mark_as_shared([value])
        scope.write(f"{total}.add_({emitter.tensor(scope, value)})", node)


def _region(emitter: Emitter, one: LoopSum, region: Region, is_host: bool) -> str:
    """A name for a region of the sum, in the memory of what is added to it."""
    total = _name(emitter, one, is_host)
    if region == whole(sizes_of(one.variable.shape) or ()):
        return total
    key = region, is_host
    if key not in one.regions:
        one.regions[key] = emitter.new_name(one.variable.owner, "w")
    return one.regions[key]


def _name(emitter: Emitter, one: LoopSum, is_host: bool) -> str:
    variable = one.variable
    if is_host:
        if variable.host_name is None:
            variable.host_name = emitter.new_name(variable.owner)
        return variable.host_name
    if variable.tensor_name is None:
        variable.tensor_name = emitter.new_name(variable.owner)
    return variable.tensor_name


def start(emitter: Emitter, scope: Scope, node: Node, sums: Sequence[LoopSum]) -> None:
    """Emits the sums before the first iteration, in memory of their own."""
    for one in sums:
        host, tensor = one.variable.host_name, one.variable.tensor_name
        if host is None and tensor is None:
            # The body has nothing that could run.
            host = _name(emitter, one, is_host=one.start.tensor_name is None)
        if tensor is not None:
            copy = emitter.bind(_copied_tensor, "f")
            scope.write(f"{tensor} = {copy}({emitter.tensor(scope, one.start)})", node)
            if host is not None:
                scope.write(f"{host} = to_host({tensor})", node)
        else:
            scope.write(f"{host} = np.array({emitter.host(scope, one.start)})", node)
        for (region, is_host), name in one.regions.items():
            index = emitter.bind(tuple(slice(*ends) for ends in region), "c")
            scope.write(f"{name} = {host if is_host else tensor}[{index}]", node)
        for name, make, total in one.product_sums:
            scope.write(f"{name} = {make}({total})", node)


def finish(scope: Scope, node: Node, sums: Sequence[LoopSum]) -> None:
    """Emits what follows the last iteration."""
    for one in sums:
        for name, _, _ in one.product_sums:
            scope.write(f"{name}.finish()", node)
            scope.write(f"del {name}", None)


def _copied_tensor(tensor: Any) -> Any:
    """A copy whose elements are all in places of their own."""
    import torch

    return tensor.clone(memory_format=torch.contiguous_format)
