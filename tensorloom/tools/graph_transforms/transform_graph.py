"""`TransformGraph`: a list of transforms, each with its parameters, over a graph."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, Final

from tensorloom.client.program import program_log
from tensorloom.framework import errors
from tensorloom.tools.graph_transforms import (
    backports,
    batch_norms,
    convolutions,
    folding,
    insert_logging,
    nodes,
    quantize_nodes,
    requantization,
    sparsify_gather,
    structure,
    weights,
)
from tensorloom.tools.graph_transforms.request import Request, Transform, invalid

# As TensorFlow's Graph Transform Tool calls them.
TRANSFORMS: Final[dict[str, Transform]] = {
    "add_default_attributes": structure.add_default_attributes,
    "backport_concatv2": backports.backport_concatv2,
    "backport_tensor_array_v3": backports.backport_tensor_array_v3,
    "flatten_atrous_conv": convolutions.flatten_atrous_conv,
    "fold_batch_norms": batch_norms.fold_batch_norms,
    "fold_constants": folding.fold_constants,
    "fold_old_batch_norms": batch_norms.fold_old_batch_norms,
    "freeze_requantization_ranges": requantization.freeze_requantization_ranges,
    "fuse_pad_and_conv": convolutions.fuse_pad_and_conv,
    "fuse_resize_and_conv": convolutions.fuse_resize_and_conv,
    "fuse_resize_pad_and_conv": convolutions.fuse_resize_pad_and_conv,
    "insert_logging": insert_logging.insert_logging,
    "merge_duplicate_nodes": structure.merge_duplicate_nodes,
    "obfuscate_names": structure.obfuscate_names,
    "quantize_nodes": quantize_nodes.quantize_nodes,
    "quantize_weights": weights.quantize_weights,
    "remove_attribute": structure.remove_attribute,
    "remove_control_dependencies": structure.remove_control_dependencies,
    "remove_device": structure.remove_device,
    "remove_nodes": structure.remove_nodes,
    "rename_attribute": structure.rename_attribute,
    "rename_op": structure.rename_op,
    "round_weights": weights.round_weights,
    "set_device": structure.set_device,
    "sort_by_execution_order": structure.sort_by_execution_order,
    "sparsify_gather": sparsify_gather.sparsify_gather,
    "strip_unused_nodes": structure.strip_unused_nodes,
}
_NAME: Final = re.compile(r"\s*(\w+)")
_PARAMETER: Final = re.compile(
    r"[\s,]*(?P<name>\w+)(?:\s*=\s*(?:\"(?P<quoted>[^\"]*)\"|(?P<plain>[^\s,\"')]*))\s*)?"
)


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
        `TRANSFORMS`. With `ignore_errors=true` one that cannot be done is left out.

    Returns:
      a new GraphDef.

    Raises:
      InvalidArgumentError: a transform is not known, cannot be read, or lacks a
        parameter.
      InternalError: a node of the result reads one that is not there.
    """
    graph = type(input_graph_def)()
    graph.CopyFrom(input_graph_def)
    for name, parameters in list(_parsed(" ".join(transforms))):
        transform = TRANSFORMS.get(name)
        if transform is None:
            raise invalid(
                f"Transform '{name}' not recognized; known are "
                f"{', '.join(sorted(TRANSFORMS))}"
            )
        request = Request(name, list(inputs), list(outputs), parameters)
        graph = _transformed(graph, transform, request)
    return graph


def _transformed(graph: Any, transform: Transform, request: Request) -> Any:
    ignores = request.one("ignore_errors", "false").lower()
    if ignores not in ("true", "false"):
        raise invalid(f"ignore_errors should be true or false, found {ignores}")
    before = type(graph)()
    before.CopyFrom(graph)
    try:
        result = transform(graph, request)
    except (errors.OpError, ValueError) as error:
        if ignores == "false":
            raise
        program_log.error("%s: Ignoring error %s", request.transform, error)
        return before
    names = {node.name for node in result.node}
    for node in result.node:
        for name in node.input:
            if nodes.node_of(name) not in names:
                raise errors.InternalError(
                    None,
                    None,
                    f"Invalid graph with inputs referring to nonexistent nodes: "
                    f"{node.name} reads {name} after {request.transform}",
                )
    return result


def _parsed(text: str) -> Iterator[tuple[str, dict[str, list[str]]]]:
    """The transforms of a text, with the values of each parameter."""
    position, end = 0, len(text.rstrip())
    while position < end:
        found = _NAME.match(text, position)
        if found is None:
            raise invalid(f"Looking for transform name, but found {text[position:]}")
        position = found.end()
        parameters: dict[str, list[str]] = {}
        if text.startswith("(", position):
            position = _read_parameters(text, position + 1, parameters)
        yield found.group(1), parameters


def _read_parameters(text: str, position: int, parameters: dict[str, list[str]]) -> int:
    """Reads up to the parenthesis; returns the place after it."""
    while True:
        rest = text[position:]
        if rest.lstrip(" ,\t\n").startswith(")"):
            return position + rest.index(")") + 1
        found = _PARAMETER.match(text, position)
        if found is None:
            raise invalid(f"Looking for parameter name, but found {rest}")
        position = found.end()
        value = found["quoted"] if found["plain"] is None else found["plain"]
        if value is None:
            raise invalid(f"Looking for =, but found {text[position:]}")
        parameters.setdefault(found["name"], []).append(value)
        position += len(text[position:]) - len(text[position:].lstrip("\"'"))
