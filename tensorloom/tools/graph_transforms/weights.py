"""Transforms that keep large constants in fewer values, or fewer bits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tensorloom.framework.types import dtypes
from tensorloom.tools.graph_transforms import nodes

if TYPE_CHECKING:
    from tensorloom.protos.node_def_pb2 import NodeDef
    from tensorloom.tools.graph_transforms.request import Request

# Weights with fewer elements are not rounded.
_FEWEST: Final = 16
# TensorFlow begins its search for the largest value here.
_SMALLEST: Final = float(np.finfo(np.float32).tiny)
_LARGEST: Final = float(np.finfo(np.float32).max)
_NEARLY_ZERO: Final = 1e-6


def _range_of(values: Any) -> tuple[float, float]:
    return float(values.min()), max(_SMALLEST, float(values.max()))


def round_weights(graph: Any, request: Request) -> Any:
    """Constants of float32 take one of `num_steps` values (256), evenly spaced.

    The file of the graph compresses well then.
    """
    steps = request.integer("num_steps", 256)
    for node in graph.node:
        if node.op != "Const" or not nodes.is_float(node):
            continue
        values = nodes.value_of(node)
        if values.size < _FEWEST:
            continue
        low, high = _range_of(values)
        if low == high:
            high = low + 1.0 if abs(low) < _NEARLY_ZERO else 2.0 * low
        width = np.float32(high - low) / np.float32(steps)
        buckets = np.floor((values - np.float32(low)) / width)
        rounded = np.float32(low) + width * (buckets + np.float32(0.5))
        node.CopyFrom(nodes.constant(node.name, rounded.astype(np.float32)))
    return graph


def quantize_weights(graph: Any, request: Request) -> Any:
    """Large constants of float32 are kept in eight bits.

        w  ->  Dequantize(w as quint8, min, max)

    Parameters: `minimum_size`, the fewest elements of such a constant (1024).
    """
    fewest = request.integer("minimum_size", 1024)
    made: list[NodeDef] = []
    for node in graph.node:
        if node.op == "Const" and nodes.is_float(node):
            values = nodes.value_of(node)
            if values.size >= fewest:
                made += _in_eight_bits(node.name, values)
                continue
        made.append(node)
    return nodes.with_nodes(graph, made)


def _in_eight_bits(name: str, values: Any) -> list[NodeDef]:
    low, high = _range_of(values) if values.size else (0.0, 0.0)
    low, high = min(low, 0.0), max(high, 0.0)
    if low == high:
        high = 1.0
    kept = [
        nodes.constant(f"{name}_quantized_const", _quint8(values, low, high), _QUINT8),
        nodes.constant(f"{name}_quantized_min", np.float32(low)),
        nodes.constant(f"{name}_quantized_max", np.float32(high)),
    ]
    inputs = [one.name for one in kept]
    return [
        *kept,
        nodes.node("Dequantize", name, inputs, T=_QUINT8, mode=b"MIN_FIRST"),
    ]


_QUINT8: Final = dtypes.quint8


def _quint8(values: Any, low: float, high: float) -> Any:
    """The nearest of 256 steps from `low` to `high`; zero is exactly one of them."""
    scale = np.float32(min(255.0 / (high - low), _LARGEST))
    steps = _rounded(values * scale) - _rounded(np.float32(low) * scale)
    return np.clip(steps, 0, 255).astype(np.uint8)


def _rounded(values: Any) -> Any:
    """The nearest whole numbers; halves are rounded away from zero."""
    whole = np.trunc(values)
    return whole + np.where(np.abs(values - whole) >= 0.5, np.sign(values), 0)
