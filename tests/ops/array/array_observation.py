"""What a program shows: its nodes, its fetched values, or the class of its error."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np


def observe(tf: Any, program: Callable[[Any, dict[Any, Any]], Any]) -> dict[str, Any]:
    """Builds and runs a program, as plain JSON values.

    `error` is (when, class) of an error in building or running; the nodes are those of
    a graph that was built whole.
    """
    with tf.Graph().as_default() as graph:
        feed: dict[Any, Any] = {}
        try:
            fetches = program(tf, feed)
        except Exception as error:
            return {"error": ["build", type(error).__name__]}
        shown = {"nodes": [_describe(op) for op in graph.get_operations()]}
        if fetches is None:
            return shown
        try:
            shown["values"] = _run(tf, graph, fetches, feed)
        except Exception as error:
            shown["error"] = ["run", type(error).__name__]
        return shown


def _describe(op: Any) -> str:
    fields = [
        op.name,
        op.type,
        " ".join(t.name for t in op.inputs),
        " ".join(sorted(c.name for c in op.control_inputs)),
        " ".join(f"{t.dtype.name}{t.shape}" for t in op.outputs),
    ]
    return " | ".join(fields).rstrip(" |")


def _run(tf: Any, graph: Any, fetches: Any, feed: dict[Any, Any]) -> Any:
    with tf.Session(graph=graph) as session:
        if graph.get_collection("variables"):
            session.run(tf.global_variables_initializer())
        return _plain(session.run(fetches, feed_dict=feed))


def _plain(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return [_plain(v) for v in value]
    if isinstance(value, (np.ndarray, np.generic)):
        array = np.asarray(value)
        return [str(array.dtype), list(array.shape), _elements(array)]
    return repr(value)


def _elements(array: Any) -> Any:
    flat = array.reshape(-1)
    if array.dtype.kind in "OSU":
        return [v.decode() if isinstance(v, bytes) else str(v) for v in flat.tolist()]
    if array.dtype.kind == "c":
        return [[v.real, v.imag] for v in flat.tolist()]
    return (
        flat.astype(float).tolist() if array.dtype.kind not in "biu" else flat.tolist()
    )
