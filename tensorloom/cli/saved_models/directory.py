"""The SavedModel that an action of `tensorloom saved-model` works on."""

from __future__ import annotations

import argparse
from typing import Any


def add_directory(parser: argparse.ArgumentParser) -> None:
    """The argument and the option that name the SavedModel."""
    parser.add_argument("path", nargs="?", metavar="DIR", help="the SavedModel")
    parser.add_argument("--dir", help="the same")


def directory_of(options: argparse.Namespace) -> str:
    """The directory that was named.

    Raises:
      FileNotFoundError: none was, or it is not a SavedModel.
    """
    directory = options.dir or options.path
    if not directory:
        raise FileNotFoundError("name the SavedModel: DIR or --dir DIR")
    from tensorloom.saved_model.loader import maybe_saved_model_directory

    if not maybe_saved_model_directory(directory):
        raise FileNotFoundError(f"{directory}: not a SavedModel")
    return str(directory)


def tags_of(tag_set: str) -> list[str]:
    """The tags of an option, which ',' separates.

    Raises:
      ValueError: there are none.
    """
    tags = [tag.strip() for tag in tag_set.split(",") if tag.strip()]
    if not tags:
        raise ValueError("--tag_set must contain at least one tag")
    return tags


def meta_graph_of(directory: str, tag_set: str) -> Any:
    """The MetaGraphDef that has exactly these tags, which ',' separates.

    Raises:
      RuntimeError: there is none.
    """
    from tensorloom.saved_model.loader import SavedModelLoader

    return SavedModelLoader(directory).get_meta_graph_def_from_tags(tags_of(tag_set))


def signature_of(meta_graph: Any, key: str) -> Any:
    """The SignatureDef of a key.

    Raises:
      ValueError: there is none.
    """
    if key not in meta_graph.signature_def:
        known = ", ".join(sorted(meta_graph.signature_def))
        raise ValueError(f"there is no signature {key!r}; there are: {known}")
    return meta_graph.signature_def[key]


def ops_of(meta_graph: Any) -> set[str]:
    """The ops of a MetaGraphDef's nodes, those of all its functions included.

    Whether a function is called is not asked: an attr anywhere may name it.
    """
    graph_def = meta_graph.graph_def
    functions = graph_def.library.function
    nodes = (graph_def.node, *(function.node_def for function in functions))
    ops = {node.op for some in nodes for node in some}
    return ops - {function.signature.name for function in functions}
