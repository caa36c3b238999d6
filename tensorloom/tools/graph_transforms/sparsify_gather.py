"""The transform that keeps sparse vectors of weights in a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tensorloom.framework import errors
from tensorloom.framework.types import dtypes
from tensorloom.tools.graph_transforms import nodes
from tensorloom.tools.graph_transforms.matching import Match, pattern, replaced
from tensorloom.train.checkpoints.checkpoint_reader import CheckpointReader

if TYPE_CHECKING:
    from tensorloom.protos.node_def_pb2 import NodeDef
    from tensorloom.tools.graph_transforms.request import Request

# Smaller weights are zero.
_SMALLEST: Final = 1e-5
_WEIGHTS: Final = pattern("Identity", "Const|Variable|VariableV2")
_PATTERNS: Final = (
    pattern("Gather", _WEIGHTS, "*"),
    pattern("GatherV2", _WEIGHTS, "*", "Const"),
)
_KEY: Final = dtypes.int64
_VALUE: Final = dtypes.float32


def sparsify_gather(graph: Any, request: Request) -> Any:
    """Gathering from a column with few weights that are not zero becomes a lookup.

        Gather(w, ids)  ->  ExpandDims(LookupTableFind(table of w, ids, 0), -1)

    The tables are filled by the node `group_init_node` ("group_deps"), which has to run
    first. Parameters: that name; `input_checkpoint`, for weights that are variables.

    Raises:
      FailedPreconditionError: such weights are not of shape [N, 1] and float32, or are
        gathered along another axis.
      NotFoundError: a variable is not in the checkpoint, or none is given.
    """
    for node in graph.node:
        node.attr.pop("_output_shapes", None)
    kept = {nodes.node_of(name) for name in (*request.inputs, *request.outputs)}
    before = {nodes.node_of(name) for node in graph.node for name in node.input}
    files = request.parameters.get("input_checkpoint")
    reader = CheckpointReader(files[0]) if files else None
    tables: dict[str, str] = {}

    def as_lookup(match: Match, read: set[str]) -> list[NodeDef]:
        weights = match.inputs[0].inputs[0].node
        made = list(_lookup(match, weights, weights.name not in tables, reader))
        tables[weights.name] = f"{weights.name}/InitializeTable"
        return [*match.inputs[0].nodes(), *made] if read else made

    for wanted in _PATTERNS:
        count = -1
        # Gathers from the same weights share nodes: a pass each.
        while count != len(found := _gathers(graph)):
            count = len(found)
            graph = replaced(graph, wanted, as_lookup, allow_inconsistencies=True)
    return _without_orphans(
        _with_group(graph, request, list(tables.values())), before, kept
    )


def _gathers(graph: Any) -> list[str]:
    return [node.name for node in graph.node if node.op in ("Gather", "GatherV2")]


def _lookup(
    match: Match, weights: NodeDef, is_new: bool, reader: CheckpointReader | None
) -> list[NodeDef]:
    """The nodes of a lookup, and of the table if there is none yet."""
    gather = match.node
    if gather.op == "GatherV2":
        axis = int(nodes.value_of(match.inputs[2].node))
        if axis != 0:
            raise _failed(f"GatherV2 over axis 0. Found axis {axis}.")
    table = f"{weights.name}/HashTable"
    made = [match.inputs[1].node]
    if is_new:
        indices, values = _sparse(weights, reader)
        made += [
            nodes.constant(f"{weights.name}/indices", indices),
            nodes.constant(f"{weights.name}/values", values),
            nodes.node("HashTable", table, key_dtype=_KEY, value_dtype=_VALUE),
            nodes.node(
                "InitializeTable",
                f"{weights.name}/InitializeTable",
                [table, f"{weights.name}/indices", f"{weights.name}/values"],
                Tkey=_KEY,
                Tval=_VALUE,
            ),
        ]
    find, zero = f"{gather.name}/LookupTableFind", f"{gather.name}/Const"
    last = f"{gather.name}/ExpandDims/Const"
    return [
        *made,
        nodes.node(
            "LookupTableFind",
            find,
            [table, gather.input[1], zero],
            Tin=_KEY,
            Tout=_VALUE,
        ),
        nodes.constant(zero, np.float32(0.0)),
        nodes.constant(last, np.int32(-1)),
        nodes.node("ExpandDims", gather.name, [find, last], T=_VALUE),
    ]


def _sparse(weights: NodeDef, reader: CheckpointReader | None) -> tuple[Any, Any]:
    """The places and values of weights that are not zero."""
    if weights.attr["dtype"].type != _VALUE.as_datatype_enum:
        raise _failed(f"'{weights.op}' of dtype 'DT_FLOAT', not '{weights.name}'.")
    if weights.op == "Const":
        values = nodes.value_of(weights)
    elif reader is None:
        raise errors.NotFoundError(
            None, None, f"{weights.name} is a variable: pass its input_checkpoint"
        )
    else:
        values = reader.get_tensor(weights.name)
    if values.ndim != 2 or values.shape[1] != 1:
        shape = list(values.shape)
        raise _failed(
            f"'Const' with tensor of shape [N, 1]. But instead get shape {shape}."
        )
    column = values[:, 0]
    (places,) = np.nonzero(np.abs(column) >= _SMALLEST)
    if not places.size:
        # A table has to have an entry.
        return np.zeros(1, np.int64), np.zeros(1, np.float32)
    return places.astype(np.int64), column[places]


def _failed(what: str) -> errors.FailedPreconditionError:
    return errors.FailedPreconditionError(
        None, None, f"Transform only applicable to subgraph with {what}"
    )


def _with_group(graph: Any, request: Request, initializers: list[str]) -> Any:
    """The node that fills all tables; one of that name fills them as well."""
    name = request.one("group_init_node", "group_deps")
    found = nodes.by_name(graph).get(name)
    if found is None or found.op != "NoOp":
        found = graph.node.add()
        found.op, found.name = "NoOp", name
    found.input.extend(f"^{one}" for one in initializers)
    return graph


def _without_orphans(graph: Any, before: set[str], kept: set[str]) -> Any:
    """Without the nodes that were read before and are not now, and what those read."""
    while True:
        read = {nodes.node_of(name) for node in graph.node for name in node.input}
        gone = {n.name for n in graph.node if n.name in before - read - kept}
        if not gone:
            return graph
        graph = nodes.with_nodes(graph, (n for n in graph.node if n.name not in gone))
