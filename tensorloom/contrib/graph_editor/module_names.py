"""The names once more, by the module of `graph_editor` that programs find them in."""

from __future__ import annotations

from typing import Final

from tensorloom.contrib.graph_editor import (
    control_outputs,
    copying,
    cutting,
    element_lists,
    handlers,
    name_filters,
    rerouting,
    scopes_and_placeholders,
    views,
    walks,
)
from tensorloom.framework.export import export_value

_SOURCES: Final = (
    control_outputs,
    copying,
    cutting,
    element_lists,
    handlers,
    name_filters,
    rerouting,
    scopes_and_placeholders,
    views,
    walks,
)

_NAMES: Final = {
    "edit": """bypass connect detach detach_control_inputs detach_control_outputs
        detach_inputs detach_outputs""",
    "reroute": """add_control_inputs remove_control_inputs reroute_inputs reroute_ios
        reroute_outputs reroute_ts swap_inputs swap_ios swap_outputs swap_ts""",
    "select": """can_be_regex check_cios compute_boundary_ts filter_ops
        filter_ops_from_regex filter_ts filter_ts_from_regex get_backward_walk_ops
        get_forward_walk_ops get_name_scope_ops get_ops_ios get_walks_intersection_ops
        get_walks_union_ops get_within_boundary_ops make_regex select_ops
        select_ops_and_ts select_ts""",
    "subgraph": "SubGraphView make_view make_view_from_scope",
    "transform": """Transformer TransformerInfo assign_renamed_collections_handler copy
        copy_op_handler copy_with_input_replacements graph_replace
        keep_t_if_possible_handler replace_t_with_placeholder_handler
        transform_op_if_inside_handler""",
    "util": """ControlOutputs ListView check_graphs find_corresponding
        find_corresponding_elem flatten_tree get_consuming_ops get_generating_ops
        get_predefined_collection_names get_tensors get_unique_graph is_iterable
        make_list_of_op make_list_of_t make_placeholder_from_dtype_and_shape
        make_placeholder_from_tensor placeholder_name scope_basename scope_dirname
        scope_finalize transform_tree""",
}


def _export() -> None:
    for module, names in _NAMES.items():
        for name in names.split():
            source = next(s for s in _SOURCES if _declares(s, name))
            export_value(getattr(source, name), f"contrib.graph_editor.{module}.{name}")
    concatenate_unique = element_lists.add_missing
    export_value(concatenate_unique, "contrib.graph_editor.util.concatenate_unique")


def _declares(module: object, name: str) -> bool:
    value = getattr(module, name, None)
    return getattr(value, "__module__", "") == getattr(module, "__name__", None)


_export()
