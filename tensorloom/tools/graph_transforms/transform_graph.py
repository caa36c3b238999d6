"""`TransformGraph`: a list of transforms, each with its parameters, over a graph."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, Final

from tensorloom.framework import errors
from tensorloom.tools.graph_transforms import folding, structure
from tensorloom.tools.graph_transforms.request import Request, Transform

# As TensorFlow's Graph Transform Tool calls them.
TRANSFORMS: Final[dict[str, Transform]] = {
    "add_default_attributes": structure.add_default_attributes,
    "fold_batch_norms": folding.fold_batch_norms,
    "fold_constants": folding.fold_constants,
    "fold_old_batch_norms": folding.fold_old_batch_norms,
    "merge_duplicate_nodes": structure.merge_duplicate_nodes,
    "obfuscate_names": structure.obfuscate_names,
    "remove_attribute": structure.remove_attribute,
    "remove_control_dependencies": structure.remove_control_dependencies,
    "remove_device": structure.remove_device,
    "remove_nodes": structure.remove_nodes,
    "rename_attribute": structure.rename_attribute,
    "rename_op": structure.rename_op,
    "round_weights": folding.round_weights,
    "set_device": structure.set_device,
    "sort_by_execution_order": structure.sort_by_execution_order,
    "strip_unused_nodes": structure.strip_unused_nodes,
}
_CALL: Final = re.compile(r"\s*(\w+)\s*(?:\(([^)]*)\))?\s*")
_PARAMETER: Final = re.compile(r"\s*(\w+)\s*=\s*(\"[^\"]*\"|[^,]*?)\s*(?:,|$)")


def TransformGraph(
    input_graph_def: Any,
    inputs: Sequence[str],
    outputs: Sequence[str],
    transforms: Sequence[str],
) -> Any:
    """A graph after some transforms, one after another.

    Args:
      input_graph_def: a frozen GraphDef.
      inputs: names of the nodes that are fed.
      outputs: names of the nodes that are fetched.
      transforms: names, with parameters in parentheses if there are any:
        `"remove_nodes(op=Identity, op=CheckNumerics)"`. The names are in
        `TRANSFORMS`.

    Returns:
      a new GraphDef.

    Raises:
      InvalidArgumentError: a transform is not known, cannot be read, or lacks a
        parameter.
    """
    graph = type(input_graph_def)()
    graph.CopyFrom(input_graph_def)
    for name, parameters in _parsed(" ".join(transforms)):
        transform = TRANSFORMS.get(name)
        if transform is None:
            raise errors.InvalidArgumentError(
                None,
                None,
                f"Transform '{name}' not recognized; known are "
                f"{', '.join(sorted(TRANSFORMS))}",
            )
        request = Request(name, list(inputs), list(outputs), parameters)
        graph = transform(graph, request)
    return graph


def _parsed(text: str) -> Iterator[tuple[str, dict[str, list[str]]]]:
    """The transforms of a text, with the values of each parameter."""
    position = 0
    while position < len(text):
        match = _CALL.match(text, position)
        if match is None or match.end() == position:
            raise errors.InvalidArgumentError(
                None, None, f"Transforms cannot be read at {text[position:]!r}"
            )
        position = match.end()
        parameters: dict[str, list[str]] = {}
        for name, value in _PARAMETER.findall(match.group(2) or ""):
            parameters.setdefault(name, []).append(value.strip('"'))
        yield match.group(1), parameters
