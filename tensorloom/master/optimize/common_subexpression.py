"""Computing equal things once.

before: a = Exp(x);  b = Exp(x);  c = Add(a, b)
after:  a = Exp(x);  c = Add(a, a)
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np

from tensorloom.framework import op_registry
from tensorloom.framework.graph_ir import GraphIR, Node
from tensorloom.master.optimize.node_facts import is_pure
from tensorloom.master.optimize.redirection import Redirection
from tensorloom.master.optimize.target import OptimizeTarget

# Comparing larger constants costs more than holding one twice.
_MAX_CONSTANT_BYTES = 1024


def merge_duplicates(graph: GraphIR, target: OptimizeTarget) -> GraphIR:
    """The graph with each pure computation done once.

    Two nodes are equal when op, attrs, device, inputs and control inputs are; the
    inputs of a commutative op may be swapped. References are not inputs like others:
    what they read depends on when.
    """
    redirection = Redirection()
    first: dict[Hashable, list[Node]] = {}
    kept: list[Node] = []
    mutable = _reference_makers(graph)
    for node in graph.nodes.values():
        node = redirection.apply(node)
        if _may_merge(node, mutable):
            candidates = first.setdefault(_key(node), [])
            twin = next(
                (c for c in candidates if _same_attrs(c.attrs, node.attrs)), None
            )
            if twin is None:
                candidates.append(node)
            elif node.name not in target.preserve:
                redirection.replace_node(node.name, twin.name, len(node.output_types))
                continue
        kept.append(node)
    return graph.with_nodes(kept)


def _reference_makers(graph: GraphIR) -> set[str]:
    return {
        node.name
        for node in graph.nodes.values()
        if node.output_types and node.output_types[0]._is_ref_dtype
    }


def _may_merge(node: Node, mutable: set[str]) -> bool:
    if not is_pure(node) or not node.output_types:
        return False
    if not node.inputs:
        return node.op == "Const" and _is_small(node.attrs["value"])
    if mutable:
        return not any(name in mutable for name, _ in node.inputs)
    return True


def _is_small(value: Any) -> bool:
    return value.dtype != object and value.nbytes <= _MAX_CONSTANT_BYTES


def _key(node: Node) -> Hashable:
    inputs = node.inputs
    if not inputs:
        value = node.attrs["value"]
        # Bytes, not ==: NaN equals itself here, and 0.0 differs from -0.0.
        return (value.tobytes(), value.shape, value.dtype.str, _place(node))
    if len(inputs) == 2 and inputs[0] > inputs[1] and _is_commutative(node.op):
        inputs = (inputs[1], inputs[0])
    return (node.op, inputs, _place(node))


def _place(node: Node) -> tuple[str, tuple[str, ...]]:
    return node.device, node.control_inputs


_COMMUTATIVE: dict[str, bool] = {}


def _is_commutative(op: str) -> bool:
    known = _COMMUTATIVE.get(op)
    if known is None:
        op_def = op_registry.find(op)
        known = _COMMUTATIVE[op] = op_def is not None and op_def.is_commutative
    return known


def _same_attrs(a: Mapping[str, Any], b: Mapping[str, Any]) -> bool:
    if a is b:
        return True
    if a.keys() != b.keys():
        return False
    return all(_same(value, b[key]) for key, value in a.items())


def _same(a: Any, b: Any) -> bool:
    if a is b:
        return True
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        return (
            a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
        )
    return type(a) is type(b) and bool(a == b)
