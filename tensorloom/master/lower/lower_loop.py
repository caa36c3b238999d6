"""A While that spans tasks as the primitives of a frame.

before: y = While(x, cond=..., body=...)
after:  y/enter -> y/merge -> (cond) -> y/loop_cond -> y/switch -> (body)
        y/merge <- y/next_iteration <- (body);   y/switch -> y/exit
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tensorloom.framework.types.tensor_shape import SCALAR, UNKNOWN, TensorShape

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph_ir import Edge, FunctionIR, Node
    from tensorloom.master.lower.lower_functional import Lowering


def lower_loop(
    lowering: Lowering, node: Node, test: FunctionIR, body: FunctionIR
) -> None:
    """Adds the primitives of a loop and the nodes of its test and body."""
    name = node.name
    constant = [
        edge == (arg, 0) for arg, edge in zip(body.arg_names, body.returns, strict=True)
    ]
    if all(constant):
        constant[0] = False  # something must start the iterations
    shapes = body.arg_shapes or (UNKNOWN,) * len(constant)
    entered = [
        lowering.emit(
            node,
            # A reference stays with its variable: the body reads it there.
            "RefEnter"
            if lowering.brings_variable(edge, body.arg_types[i])
            else "Enter",
            f"{name}/enter_{i}",
            [edge],
            {
                "frame_name": name.encode(),
                "is_constant": constant[i],
                "parallel_iterations": node.attrs.get("parallel_iterations", 10),
            },
            control=lowering.waits_of_argument(node, edge),
            shapes=[shapes[i]],
        )
        for i, edge in enumerate(node.inputs)
    ]
    variables = [i for i, is_constant in enumerate(constant) if not is_constant]
    held = list(entered)
    for i in variables:
        back = f"{name}/next_iteration_{i}", 0
        held[i] = lowering.emit(
            node,
            "Merge",
            f"{name}/merge_{i}",
            [entered[i], back],
            {"N": 2},
            shapes=[shapes[i], SCALAR],
        )
    first = variables[0]
    # The test runs once more than the body.
    tested = lowering.inline(node, test, held, f"{name}/cond/", held[first][0])
    going_on = lowering.emit(
        node,
        "LoopCond",
        f"{name}/loop_cond",
        tested.results,
        {},
        control=tested.effects,
        shapes=[SCALAR],
    )
    _add_body(lowering, node, body, held, going_on, variables, shapes)


def _add_body(
    lowering: Lowering,
    node: Node,
    body: FunctionIR,
    held: Sequence[Edge],
    going_on: Edge,
    variables: Sequence[int],
    shapes: Sequence[TensorShape],
) -> None:
    """The second half of a loop: Switches, the body, NextIterations and Exits."""
    name = node.name
    arguments, exits = list(held), []
    for i in variables:
        switch, _ = lowering.emit(
            node,
            "Switch",
            f"{name}/switch_{i}",
            [held[i], going_on],
            {},
            shapes=[shapes[i]] * 2,
            count=2,
        )
        arguments[i] = switch, 1
        exits.append(switch)
    pivot, _ = lowering.emit(
        node, "Identity", f"{name}/body_pivot", [arguments[variables[0]]], {}
    )
    ungated = frozenset(
        arg for i, arg in enumerate(body.arg_names) if i not in set(variables)
    )
    inlined = lowering.inline(node, body, arguments, f"{name}/body/", pivot, ungated)
    for i in variables:
        lowering.emit(
            node,
            "NextIteration",
            f"{name}/next_iteration_{i}",
            [inlined.results[i]],
            {},
            # Not in the last iteration, whatever the value is.
            control=[pivot, *inlined.effects],
            shapes=[shapes[i]],
        )
    ends = []
    for i, switch in zip(variables, exits, strict=True):
        shape = None if node.output_shapes is None else [node.output_shapes[i]]
        end = lowering.emit(
            node, "Exit", f"{name}/exit_{i}", [(switch, 0)], {}, shapes=shape
        )
        lowering.moved[name, i] = end
        ends.append(end[0])
    for i, edge in enumerate(node.inputs):
        if i not in set(variables):
            lowering.passed[name, i] = edge
    lowering.finish(node, ends)
