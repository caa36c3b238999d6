"""What a SavedModel's file says, without its graph being made."""

from __future__ import annotations

from typing import Any

from tensorloom.saved_model.export_directory import parse_saved_model


def get_saved_model_tag_sets(saved_model_dir: Any) -> list[list[str]]:
    """The tags of each MetaGraph of a SavedModel.

    Args:
      saved_model_dir: its directory.

    Raises:
      OSError: there is none, or it is damaged.
    """
    model = parse_saved_model(saved_model_dir)
    return [list(graph.meta_info_def.tags) for graph in model.meta_graphs]
