"""Constants that lie beside a graph's file: whether they are there, and whole."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tensorloom.framework import errors
from tensorloom.inspect.findings import ERROR, Finding
from tensorloom.storage.checkpoints.bundle_reader import BundleReader
from tensorloom.train.checkpoints import large_graph

if TYPE_CHECKING:
    from tensorloom.inspect.model_files import GraphInFile


def completed(graph: GraphInFile) -> tuple[GraphInFile, list[Finding]]:
    """The graph with zeros for its outside constants, and what is wrong with them.

    Every value is read, so that every checksum is compared.
    """
    findings: list[Finding] = []
    meta = graph.meta_graph_def
    message = meta if meta is not None else graph.graph_def
    copy = type(message)()
    copy.CopyFrom(message)
    graph_def = copy.graph_def if meta is not None else copy
    result = replace(
        graph, graph_def=graph_def, meta_graph_def=None if meta is None else copy
    )
    try:
        reader = BundleReader(graph.constants)
    except errors.OpError as error:
        return result, [Finding(ERROR, "constants", graph.constants, error.message)]
    with reader:
        for node in filter(large_graph.is_outside, graph_def.node):
            try:
                reader.read(large_graph.put_zero(node, reader))
            except errors.OpError as error:
                findings.append(Finding(ERROR, "Const", node.name, error.message))
    return result, findings
