"""A model with constants for variables: what is made smaller, and exported."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from tensorloom.client.importing.graph_util import extract_sub_graph
from tensorloom.client.importing.graph_util_freeze import (
    convert_variables_to_constants,
)
from tensorloom.client.session.session import Session
from tensorloom.framework import errors
from tensorloom.framework.graph.dataflow_graph import Graph
from tensorloom.inspect.model_files import ModelFile, open_model
from tensorloom.saved_model import assets
from tensorloom.saved_model.loader import SavedModelLoader
from tensorloom.tools.graph_transforms import nodes

_INITIALIZERS: Final = (
    *("InitializeTable", "InitializeTableV2"),
    *("InitializeTableFromTextFile", "InitializeTableFromTextFileV2"),
    *("LookupTableImport", "LookupTableImportV2"),
)
_VARIABLES: Final = ("Variable", "VariableV2", "VarHandleOp")
_PLACEHOLDERS: Final = ("Placeholder", "PlaceholderV2", "PlaceholderWithDefault")
#: The node that fills all tables of a frozen model.
INIT_NODE: Final = "deploy/init_tables"
DEFAULT_SIGNATURE: Final = "serving_default"
PREDICT: Final = "tensorflow/serving/predict"


@dataclass(frozen=True)
class FrozenModel:
    """A graph without variables, and what is fed and fetched."""

    graph_def: Any
    #: By the name that callers use, the tensor's.
    inputs: Mapping[str, str]
    outputs: Mapping[str, str]
    #: The node to run first; "" if there are no tables.
    init: str = ""
    signature: str = DEFAULT_SIGNATURE
    method: str = PREDICT
    tags: tuple[str, ...] = ("serve",)
    #: Constants that hold paths of files that the model brings along.
    assets: tuple[str, ...] = ()
    #: The variables' values, by their names.
    variables: Mapping[str, Any] = field(default_factory=dict)

    def with_graph(self, graph_def: Any) -> FrozenModel:
        """The same model with another graph."""
        return replace(self, graph_def=graph_def)

    @property
    def input_nodes(self) -> list[str]:
        """The nodes that are fed."""
        return [nodes.node_of(name) for name in self.inputs.values()]

    @property
    def output_nodes(self) -> list[str]:
        """The nodes that are fetched, and the one that fills tables."""
        names = [nodes.node_of(name) for name in self.outputs.values()]
        return [*dict.fromkeys(names), *([self.init] if self.init else [])]


def load(
    path: str,
    *,
    signature: str | None = None,
    tag_set: str | None = None,
    inputs: Sequence[str] = (),
    outputs: Sequence[str] = (),
) -> FrozenModel:
    """Reads a model and freezes it.

    Args:
      path: a SavedModel's directory, or the file of a GraphDef.
      signature: of a SavedModel; its only one, or `serving_default`, if None.
      tag_set: of the MetaGraph, with commas between them, if there are several.
      inputs, outputs: tensors of a GraphDef, or in the place of a signature; its
        placeholders and what no node reads, if none are given.

    Raises:
      errors.NotFoundError: there is no such file, signature or tensor.
      errors.InvalidArgumentError: a GraphDef has variables.
    """
    file = open_model(path)
    if file.kind == "SavedModel":
        return _of_saved_model(file, signature, tag_set, inputs, outputs)
    graph_def = file.choose(tag_set).graph_def
    found = sorted({n.name for n in graph_def.node if n.op in _VARIABLES})
    if found:
        raise errors.InvalidArgumentError(
            None,
            None,
            f"{path} has variables ({', '.join(found[:5])}), and no values for them: "
            "give a SavedModel, or freeze it with its checkpoint (freeze_graph)",
        )
    return of_graph_def(graph_def, inputs, outputs)


def of_graph_def(
    graph_def: Any, inputs: Sequence[str] = (), outputs: Sequence[str] = ()
) -> FrozenModel:
    """A model of a graph without variables. See `load`."""
    fed = list(inputs) or [n.name for n in graph_def.node if n.op in _PLACEHOLDERS]
    if not outputs:
        read = {nodes.node_of(name) for node in graph_def.node for name in node.input}
        silent = (*_INITIALIZERS, "NoOp", "Assert", "Const")
        outputs = [
            node.name
            for node in graph_def.node
            if node.name not in read and node.op not in silent
        ]
    ends = [nodes.node_of(name) for name in outputs]
    _check_nodes(graph_def, (*fed, *outputs))
    fillers = _initializers(graph_def, ends)
    graph_def = _with_placeholders(graph_def, fed)
    part = extract_sub_graph(graph_def, [*ends, *fillers])
    kept = nodes.by_name(part)
    return FrozenModel(
        _with_init(part, fillers),
        {nodes.node_of(n): _tensor(n) for n in fed if nodes.node_of(n) in kept},
        {_short(name): _tensor(name) for name in outputs},
        init=INIT_NODE if fillers else "",
    )


def _short(name: str) -> str:
    return name.removesuffix(":0")


def _tensor(name: str) -> str:
    return name if ":" in name else f"{name}:0"


def _check_nodes(graph_def: Any, names: Iterable[str]) -> None:
    known = nodes.by_name(graph_def)
    for name in names:
        if nodes.node_of(name) not in known:
            raise errors.NotFoundError(None, None, f"The graph has no node {name!r}")


def _with_placeholders(graph_def: Any, inputs: Iterable[str]) -> Any:
    """A copy of a graph that computes nothing of what is fed, without colocations.

    Raises:
      errors.InvalidArgumentError: an input is one of several outputs of a node.
    """
    fed = {nodes.node_of(name) for name in inputs}
    made = []
    for original in graph_def.node:
        node = nodes.copy(original)
        if node.name in fed and node.op not in _PLACEHOLDERS:
            _, types = nodes.types_of(node)
            if len(types) != 1:
                raise errors.InvalidArgumentError(
                    None,
                    None,
                    f"{node.name} has {len(types)} outputs: it cannot be an input",
                )
            node = nodes.node("Placeholder", node.name, dtype=types[0])
            node.attr["shape"].shape.unknown_rank = True
        # What a colocation names may go.
        node.attr.pop("_class", None)
        made.append(node)
    return nodes.with_nodes(graph_def, made)


def _of_saved_model(
    file: ModelFile,
    signature: str | None,
    tag_set: str | None,
    inputs: Sequence[str],
    outputs: Sequence[str],
) -> FrozenModel:
    chosen = file.choose(tag_set)
    tags = [tag for tag in chosen.label.split(",") if tag]
    meta = chosen.meta_graph_def
    key, fed, fetched, method = _ends(file.path, meta, signature, inputs, outputs)
    loader = SavedModelLoader(file.path)
    with Graph().as_default() as graph, Session() as session:
        loader.load(session, tags)
        graph_def = graph.as_graph_def()
        ends = [nodes.node_of(name) for name in fetched.values()]
        _check_nodes(graph_def, (*fed.values(), *fetched.values()))
        fillers = _initializers(graph_def, ends)
        graph_def = _with_placeholders(graph_def, fed.values())
        frozen = convert_variables_to_constants(session, graph_def, [*ends, *fillers])
        values = _variables(graph, session, graph_def, ends)
    paths = assets.feeds(file.path, meta, None)
    kept = nodes.by_name(frozen)
    held = []
    for tensor, path in paths.items():
        node = kept.get(nodes.node_of(tensor))
        if node is not None:
            held.append(node.name)
            node.CopyFrom(nodes.constant(node.name, _text(path)))
    return FrozenModel(
        _with_init(frozen, fillers),
        {k: name for k, name in fed.items() if nodes.node_of(name) in kept},
        fetched,
        INIT_NODE if fillers else "",
        key,
        method,
        tuple(tags),
        tuple(held),
        values,
    )


def _text(path: Any) -> Any:
    import numpy as np

    return np.array(path if isinstance(path, bytes) else str(path).encode(), object)


def _ends(
    path: str,
    meta: Any,
    signature: str | None,
    inputs: Sequence[str],
    outputs: Sequence[str],
) -> tuple[str, dict[str, str], dict[str, str], str]:
    """The signature's name, inputs, outputs and method."""
    if outputs:
        fed = {nodes.node_of(name): _tensor(name) for name in inputs}
        fetched = {_short(name): _tensor(name) for name in outputs}
        return signature or DEFAULT_SIGNATURE, fed, fetched, PREDICT
    known = {key: value for key, value in meta.signature_def.items() if key[:2] != "__"}
    key = signature
    if key is None:
        key = next(iter(known)) if len(known) == 1 else DEFAULT_SIGNATURE
    if key not in known:
        raise errors.NotFoundError(
            None, None, f"{path} has no signature {key!r}; it has {sorted(known)}"
        )
    chosen = known[key]
    for name, info in (*chosen.inputs.items(), *chosen.outputs.items()):
        if not info.name:
            raise errors.InvalidArgumentError(
                None, None, f"{name!r} of signature {key!r} is no dense tensor"
            )
    return (
        key,
        {name: info.name for name, info in sorted(chosen.inputs.items())},
        {name: info.name for name, info in sorted(chosen.outputs.items())},
        chosen.method_name,
    )


def _initializers(graph_def: Any, ends: Sequence[str]) -> list[str]:
    """The nodes that fill the tables that these nodes look into."""
    part = {node.name for node in extract_sub_graph(graph_def, list(ends)).node}
    return [
        node.name
        for node in graph_def.node
        if node.op in _INITIALIZERS and nodes.node_of(node.input[0]) in part
    ]


def _with_init(graph_def: Any, fillers: Sequence[str]) -> Any:
    if fillers:
        graph_def.node.append(
            nodes.node("NoOp", INIT_NODE, [f"^{name}" for name in fillers])
        )
    return graph_def


def _variables(
    graph: Graph, session: Session, graph_def: Any, ends: Sequence[str]
) -> dict[str, Any]:
    """The values of the variables that these nodes read."""
    part = extract_sub_graph(graph_def, list(ends))
    reads = {}
    with graph.as_default():
        from tensorloom.ops.state.resource_variable import read_variable_op

        for node in part.node:
            if node.op in _VARIABLES:
                tensor = graph.get_tensor_by_name(f"{node.name}:0")
                if node.op == "VarHandleOp":
                    dtype = graph.get_operation_by_name(node.name).get_attr("dtype")
                    tensor = read_variable_op(tensor, dtype=dtype)
                reads[node.name] = tensor
    values: dict[str, Any] = session.run(reads)
    return values
