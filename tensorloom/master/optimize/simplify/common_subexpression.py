"""Merges nodes that compute the same value (common subexpression elimination).

before: a = Exp(x);  b = Exp(x);  c = Add(a, b)
after:  a = Exp(x);  c = Add(a, a)
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from tensorloom.framework.registry import op_registry
from tensorloom.framework.types import dtypes
from tensorloom.master.optimize.node_facts import is_pure
from tensorloom.master.optimize.rewriting import Rewriting

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph_ir import GraphIR, Node
    from tensorloom.master.optimize.target import OptimizeTarget

# Comparing larger constants costs more than holding one twice.
_MAX_CONSTANT_BYTES = 1024


def merge_duplicates(graph: GraphIR, target: OptimizeTarget) -> GraphIR:
    """The graph with each pure computation done once.

    Two nodes are equal when op, attrs, device, inputs and control inputs are; the
    inputs of a commutative op may be swapped. References are not inputs like others:
    what they read depends on when.
    """
    rewriting = Rewriting(graph, target)
    current = rewriting.current
    first: dict[Hashable, tuple[Node, ...]] = {}
    mutable = _reference_makers(graph)
    for node in graph.nodes.values():
        node = current(node)
        key = _key(node, mutable)
        if key is not None:
            candidates = first.get(key)
            if candidates is None:
                first[key] = (node,)
            else:
                twin = _find_twin(node, candidates)
                if twin is None:
                    first[key] = (*candidates, node)
                elif rewriting.merge(node, twin):
                    continue
        rewriting.keep(node)
    return rewriting.result()


def _reference_makers(graph: GraphIR) -> set[str]:
    return {
        node.name
        for node in graph.nodes.values()
        if node.output_types and node.output_types[0]._is_ref_dtype
    }


def _find_twin(node: Node, candidates: tuple[Node, ...]) -> Node | None:
    for candidate in candidates:
        if _same_attrs(candidate.attrs, node.attrs):
            return candidate
    return None


def _key(node: Node, mutable: set[str]) -> Hashable | None:
    """What equal nodes have in common, attrs left out; None if it must not merge."""
    op, inputs = node.op, node.inputs
    if not inputs:
        return _constant_key(node) if op == "Const" else None
    facts = _FACTS.get(op)
    if facts is None:
        facts = _FACTS[op] = _find_facts(node)
    mergeable, commutative = facts
    if not mergeable or not node.output_types:
        return None
    if mutable:
        for name, _ in inputs:
            if name in mutable:
                return None
    if commutative and len(inputs) == 2 and inputs[0] > inputs[1]:
        inputs = (inputs[1], inputs[0])
    return (op, inputs, node.device, node.control_inputs)


def _constant_key(node: Node) -> Hashable | None:
    value = node.attrs["value"]
    if value.nbytes > _MAX_CONSTANT_BYTES:
        return None
    if value.dtype == object:
        return _strings_key(node)
    # Bytes, not ==: NaN equals itself here, and 0.0 differs from -0.0.
    return (
        value.tobytes(),
        value.shape,
        node.output_types[0],
        node.device,
        node.control_inputs,
    )


def _strings_key(node: Node) -> Hashable | None:
    strings = node.attrs["value"].reshape(-1).tolist()
    if node.output_types[0] != dtypes.string or (
        sum(map(len, strings)) > _MAX_CONSTANT_BYTES
    ):
        return None
    shape = node.attrs["value"].shape
    return (tuple(strings), shape, dtypes.string, node.device, node.control_inputs)


# By op: (may equal nodes become one, may its two inputs be swapped).
_FACTS: dict[str, tuple[bool, bool]] = {}


def _find_facts(node: Node) -> tuple[bool, bool]:
    op_def = op_registry.find(node.op)
    return is_pure(node), op_def is not None and op_def.is_commutative


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
        if a.dtype != b.dtype or a.shape != b.shape:
            return False
        if a.dtype == object:
            return bool(a.tolist() == b.tolist())
        return a.tobytes() == b.tobytes()
    return type(a) is type(b) and bool(a == b)
