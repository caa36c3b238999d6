"""A step of a graph in a file, explained: a GraphDef, MetaGraph or SavedModel."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tensorloom.framework import errors
from tensorloom.inspect.explain.explain import explain
from tensorloom.inspect.model_files import open_model

if TYPE_CHECKING:
    from tensorloom.inspect.explain.explanation import Explanation


def explain_model(
    path: str,
    fetches: Sequence[str] = (),
    inputs: Mapping[str, Any] | None = None,
    tag_set: str | None = None,
    signature: str | None = None,
    config: Any = None,
) -> Explanation:
    """Explains a step of a model.

    It is run if each placeholder that it needs is given a value; else it is compiled
    for any shapes.

    Args:
      path: a GraphDef or MetaGraph, binary or text, or the directory of a SavedModel.
      fetches: names of tensors and operations; those of the signature, or all results
        that nobody reads, when empty.
      inputs: values of tensors, by name, or by key of the signature.
      tag_set: tags of the MetaGraph, separated by commas, if there are more than one.
      signature: its key; "serving_default" where there is one.
      config: a `tf.ConfigProto`.

    Raises:
      errors.OpError: the file, or a name in it, cannot be used.
    """
    # The public API: it is what a program would call.
    from tensorloom.client.importing.importer import import_graph_def
    from tensorloom.client.session.session import Session
    from tensorloom.framework.graph.graph import Graph

    model = open_model(path)
    chosen = model.choose(tag_set)
    graph = Graph()
    with graph.as_default(), Session(graph=graph, config=config) as session:
        keys: dict[str, str] = {}
        if model.kind == "SavedModel":
            from tensorloom.saved_model.loader import load

            meta = load(session, chosen.label.split(","), path)
            found, keys = _of_signature(meta, signature)
            fetches = fetches or found
        else:
            import_graph_def(chosen.graph_def, name="")
        fetches = fetches or _unread(graph)
        feeds = {
            _tensor_name(keys.get(name, name)): value
            for name, value in (inputs or {}).items()
        }
        run = _has_all(graph, fetches, feeds)
        return explain(session, list(fetches), feeds or None, run)


def _of_signature(meta: Any, signature: str | None) -> tuple[list[str], dict[str, str]]:
    """The outputs of a signature, and the names of its inputs by key."""
    known = sorted(meta.signature_def)
    key = signature or ("serving_default" if "serving_default" in known else None)
    if key is None:
        return [], {}
    if key not in known:
        raise errors.NotFoundError(
            None, None, f"No signature '{key}'; there are {', '.join(known) or 'none'}"
        )
    definition = meta.signature_def[key]
    outputs = [info.name for info in definition.outputs.values() if info.name]
    return outputs, {name: info.name for name, info in definition.inputs.items()}


def _unread(graph: Any) -> list[str]:
    """What nobody reads: the results of a graph that says no more."""
    found = [
        op.name
        for op in graph.get_operations()
        if op.type not in ("Const", "Placeholder", "NoOp")
        and not any(output.consumers() for output in op.outputs)
    ]
    if not found:
        raise errors.InvalidArgumentError(
            None, None, "The graph has no results; name tensors with --fetch."
        )
    return found


def _tensor_name(name: str) -> str:
    return name if ":" in name else f"{name}:0"


def _has_all(graph: Any, fetches: Sequence[str], feeds: Mapping[str, Any]) -> bool:
    """Whether no placeholder that the fetches need lacks a value."""
    stack = [graph.as_graph_element(name) for name in fetches]
    seen = set()
    while stack:
        element = stack.pop()
        if getattr(element, "name", None) in feeds:
            continue
        op = getattr(element, "op", element)
        if op in seen:
            continue
        seen.add(op)
        if op.type in ("Placeholder", "PlaceholderV2"):
            return False
        stack += [*op.inputs, *op.control_inputs]
    return True
