"""Collections of a layer's variables and outputs, and what an output is also called."""

from __future__ import annotations

from collections import OrderedDict, namedtuple
from collections.abc import Iterable
from typing import Any

from tensorloom.client.variables.partitioned_variable import PartitionedVariable
from tensorloom.framework.graph.graph import (
    add_to_collection,
    add_to_collections,
    get_collection,
    get_collection_ref,
)

NamedOutputs = namedtuple("NamedOutputs", ["name", "outputs"])


def collect_named_outputs(collections: Any, alias: str, outputs: Any) -> Any:
    """Adds a layer's output to collections, under another name too.

    Args:
      collections: a name or a list of names; nothing is done when there is none.
      alias: what the output is also called.
      outputs: a tensor, which is returned.
    """
    if collections:
        append_tensor_alias(outputs, alias)
        add_to_collections(collections, outputs)
    return outputs


def append_tensor_alias(tensor: Any, alias: str) -> Any:
    """Gives a tensor one more name in `tensor.aliases`; returns the tensor."""
    known = getattr(tensor, "aliases", None)
    if known is None:
        known = tensor.aliases = []
    known.append(alias.removesuffix("/"))
    return tensor


def get_tensor_aliases(tensor: Any) -> list[str]:
    """What a tensor is also called; its operation's name where nothing is."""
    known = getattr(tensor, "aliases", None)
    if known is not None:
        return list(known)
    return [tensor.op.name if tensor.name.endswith(":0") else tensor.name]


def gather_tensors_aliases(tensors: Iterable[Any]) -> list[str]:
    """The aliases of tensors, in their order."""
    return [alias for tensor in tensors for alias in get_tensor_aliases(tensor)]


def convert_collection_to_dict(
    collection: str, clear_collection: bool = False
) -> OrderedDict[str, Any]:
    """The tensors of a collection by their aliases; empties it if asked to."""
    found = OrderedDict(
        (alias, tensor)
        for tensor in get_collection(collection)
        for alias in get_tensor_aliases(tensor)
    )
    if clear_collection:
        get_collection_ref(collection).clear()
    return found


def get_variable_collections(collections: Any, name: str) -> Any:
    """The collections of one variable.

    Args:
      collections: for all variables, or a dict of those of each by its name.
      name: of the variable.
    """
    return collections.get(name) if isinstance(collections, dict) else collections


def add_variable_to_collections(variable: Any, collections: Any, name: str) -> None:
    """Adds a variable, or all its parts, to its collections, once to each."""
    is_whole = not isinstance(variable, PartitionedVariable)
    parts = [variable] if is_whole else list(variable)
    for collection in get_variable_collections(collections, name) or ():
        for part in parts:
            if not any(part is known for known in get_collection(collection)):
                add_to_collection(collection, part)
