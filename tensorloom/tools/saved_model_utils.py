"""What a SavedModel's file says (`tensorflow.python.tools.saved_model_utils`)."""

from __future__ import annotations

from typing import Any

from tensorloom.framework import errors
from tensorloom.saved_model.export_directory import parse_saved_model


def read_saved_model(saved_model_dir: str) -> Any:
    """The SavedModel message of a directory.

    Raises:
      OSError: there is none, or it cannot be parsed.
    """
    try:
        return parse_saved_model(saved_model_dir)
    except (errors.NotFoundError, errors.DataLossError) as error:
        raise OSError(error.message) from error


def get_saved_model_tag_sets(saved_model_dir: str) -> list[list[str]]:
    """The tags of each graph in it."""
    graphs = read_saved_model(saved_model_dir).meta_graphs
    return [list(graph.meta_info_def.tags) for graph in graphs]


def get_meta_graph_def(saved_model_dir: str, tag_set: str) -> Any:
    """The MetaGraphDef with exactly these tags.

    Args:
      saved_model_dir: the directory.
      tag_set: tags with commas between them.

    Raises:
      RuntimeError: there is none.
    """
    wanted = set(tag_set.split(","))
    graphs = read_saved_model(saved_model_dir).meta_graphs
    for graph in graphs:
        if set(graph.meta_info_def.tags) == wanted:
            return graph
    found = [",".join(graph.meta_info_def.tags) for graph in graphs]
    raise RuntimeError(
        f"MetaGraphDef associated with tag-set {tag_set} could not be found in "
        f"SavedModel; it has {found}"
    )
