"""Replaces control flow primitives that only pass a value on by Identity."""

from __future__ import annotations

from tensorloom.framework.graph.graph_ir import Node


def as_identity(node: Node) -> Node:
    """Exit, NextIteration or Merge as an Identity under its name, of its first input.

    Shapes are left to inference: they were those of a value that changes its shape.
    """
    dtype = node.output_types[0]
    return Node(
        node.name,
        "Identity",
        node.inputs[:1],
        node.control_inputs,
        node.device,
        {"T": dtype.base_dtype},
        (dtype,),
        None,
        node.source,
    )
