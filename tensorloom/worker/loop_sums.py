"""Sums over the iterations of a loop, added up in place.

before: while ...: p = MatMul(x, g, transpose_a); q = AddN(total, p); total = q
after:  total = fresh(start)
        while ...: add_product(total, x, g)

The gradient of what all iterations share, as the weights of a recurrent network, is
such a sum. Nobody else sees it before the loop ends, so that it may stay in one place:
neither a product of the size of the weights is written in each iteration, nor another
sum. A product goes to the sum where it would have been computed.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from tensorloom.framework import dtypes
from tensorloom.worker.kernel_choice import choose_kernel
from tensorloom.worker.overwriting import give_away
from tensorloom.worker.values import Root, Value

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tensorloom.framework.graph_ir import FunctionIR, Node
    from tensorloom.framework.tensor_shape import TensorShape
    from tensorloom.worker.emitter import Emit, Emitter
    from tensorloom.worker.values import Key, Scope

_ADDITIONS: Final = frozenset(["AddN", "Add", "AddV2"])
_TYPES: Final = frozenset([dtypes.float32, dtypes.float64])


@dataclass(slots=True, eq=False)
class LoopSum:
    """One loop variable to which each iteration adds a part."""

    index: int  # of the loop variable
    addition: str  # the node of the body that adds
    part: Key  # what it adds
    product: str | None  # the node of the part, if it is a product over rows
    start: Value  # before the first iteration
    # Its names are given by what it gets first: it is in the memory of that.
    variable: Value
    is_complete: bool = False  # the product was added


def find(
    test: FunctionIR,
    body: FunctionIR,
    scope: Scope,
    node: Node,
    inputs: Sequence[Value],
) -> list[LoopSum]:
    """The loop variables that are such sums.

    Args:
      test, body: the loop's functions.
      scope: where the loop is.
      node: the loop.
      inputs: the loop variables' first values.
    """
    candidates = [
        i
        for i, (name, _) in enumerate(body.returns)
        if name in body.nodes and body.nodes[name].op in _ADDITIONS
    ]
    if not candidates or node.output_shapes is None:
        return []
    reads = Counter(edge for n in body.nodes.values() for edge in n.inputs)
    reads.update(body.returns)
    tested = {edge for n in test.nodes.values() for edge in n.inputs}
    tested.update(test.returns)
    sums = []
    for i in candidates:
        shape = node.output_shapes[i]
        if (test.arg_names[i], 0) in tested or not _is_kept(node, i, shape):
            continue
        part = _part(body, i, shape, reads)
        if part is not None:
            product = part[0] if _is_product(body.nodes.get(part[0])) else None
            if reads[part] > 1:
                product = None
            variable = Value(
                node.output_types[i], shape, scope, Root(shared=True), pinned=True
            )
            addition = body.returns[i][0]
            sums.append(LoopSum(i, addition, part, product, inputs[i], variable))
    return sums


def _is_kept(node: Node, index: int, shape: TensorShape) -> bool:
    """Whether a loop variable is of a kind that is worth a place of its own."""
    return node.output_types[index] in _TYPES and _is_array(shape)


def _is_array(shape: TensorShape) -> bool:
    return shape.is_fully_defined() and bool(shape.rank)


def _part(
    body: FunctionIR, index: int, shape: TensorShape, reads: Mapping[Key, int]
) -> Key | None:
    """What the body adds to its argument, if it does nothing else with that."""
    end, argument = body.returns[index], (body.arg_names[index], 0)
    addition = body.nodes[end[0]]
    if reads[end] != 1 or reads[argument] != 1 or len(addition.inputs) != 2:
        return None
    if argument not in addition.inputs:
        return None
    (part,) = (edge for edge in addition.inputs if edge != argument)
    if part[0] not in body.nodes:
        return None
    # With what has another shape the sum might grow.
    shapes = body.nodes[part[0]].output_shapes
    return part if shapes is not None and shapes[part[1]] == shape else None


def _is_product(node: Node | None) -> bool:
    return (
        node is not None
        and node.op == "MatMul"
        and bool(node.attrs["transpose_a"])
        and not node.attrs["transpose_b"]
    )


def emitters(sums: Sequence[LoopSum]) -> dict[str, Emit]:
    """What emits the nodes of the body that add, by name."""
    emits: dict[str, Emit] = {}
    for one in sums:
        emits[one.addition] = _addition_emitter(one)
        if one.product is not None:
            emits[one.product] = _product_emitter(one)
    return emits


def _product_emitter(one: LoopSum) -> Emit:
    def emit(emitter: Emitter, scope: Scope, node: Node) -> None:
        inputs = emitter.inputs_of(scope, node)
        if choose_kernel(node, inputs, emitter.device.kernel_type).host:
            emitter.emit_kernel(scope, node)  # the addition takes it as it is
            return
        give_away(inputs)
        from tensorloom.kernels.math_ops_matmul import product_adder

        add = emitter.bind(product_adder(emitter.construction(scope, node, inputs)))
        total = _name(emitter, one, is_host=False)
        factors = ", ".join(emitter.tensor(scope, value) for value in inputs)
        scope.write(f"{add}({total}, {factors})", node)
        one.is_complete = True

    return emit


def _addition_emitter(one: LoopSum) -> Emit:
    def emit(emitter: Emitter, scope: Scope, node: Node) -> None:
        if not one.is_complete:
            value = emitter.lookup(scope, one.part)
            is_host = value.tensor_name is None or value.is_ref
            total = _name(emitter, one, is_host)
            if is_host:
                part = emitter.host(scope, value)
                scope.write(f"np.add({total}, {part}, {total})", node)
            else:
                give_away([value])
                part = emitter.tensor(scope, value)
                scope.write(f"{total}.add_({part})", node)
        scope.values[node.name, 0] = one.variable

    return emit


def _name(emitter: Emitter, one: LoopSum, is_host: bool) -> str:
    """A name for the sum, in the memory of what is added to it."""
    name = emitter.new_name(one.variable.owner)
    if is_host:
        one.variable.host_name = name
    else:
        one.variable.tensor_name = name
    return name


def start(emitter: Emitter, scope: Scope, node: Node, sums: Sequence[LoopSum]) -> None:
    """Emits the sums before the first iteration, in memory of their own."""
    for one in sums:
        if not one.variable.tensor_name and not one.variable.host_name:
            # The body has nothing that could run.
            _name(emitter, one, is_host=one.start.tensor_name is None)
        if one.variable.tensor_name is not None:
            copy = emitter.bind(_copied_tensor, "f")
            text = emitter.tensor(scope, one.start)
        else:
            copy, text = "np.array", emitter.host(scope, one.start)
        name = one.variable.tensor_name or one.variable.host_name
        scope.write(f"{name} = {copy}({text})", node)


def _copied_tensor(tensor: Any) -> Any:
    """A copy whose elements are all in places of their own."""
    import torch

    return tensor.clone(memory_format=torch.contiguous_format)
