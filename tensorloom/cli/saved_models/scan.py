"""`tensorloom saved-model scan`: whether a SavedModel has ops that are not wanted."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any

from tensorloom.cli.actions import FINE, PROBLEMS, show
from tensorloom.cli.saved_models.directory import (
    add_directory,
    directory_of,
    meta_graph_of,
    ops_of,
)

#: Ops that read or write files, or print: TensorFlow's list.
DENIED = ("PrintV2", "ReadFile", "WriteFile")


def add_scan(parser: argparse.ArgumentParser) -> None:
    """The options of `scan`."""
    add_directory(parser)
    parser.add_argument(
        "--tag_set", help="tags of the MetaGraph to scan, separated by ',' (all)"
    )
    parser.add_argument(
        "--op_denylist",
        help=f"the ops to look for, separated by ',' ({','.join(DENIED)})",
    )


def scan_saved_model(options: argparse.Namespace) -> int:
    """Tells which MetaGraph has which of the ops; status 1 if one has any."""
    from tensorloom.saved_model.export_directory import parse_saved_model

    directory = directory_of(options)
    if options.tag_set:
        metas = [meta_graph_of(directory, options.tag_set)]
    else:
        metas = list(parse_saved_model(directory).meta_graphs)
    wanted = _wanted(options.op_denylist)
    found = [(m, sorted(wanted & ops_of(m))) for m in metas]
    data = {",".join(m.meta_info_def.tags): denied for m, denied in found}
    show(options, data, _lines(found, wanted))
    return PROBLEMS if any(denied for _, denied in found) else FINE


def _wanted(denylist: str | None) -> set[str]:
    named = {op.strip() for op in (denylist or "").split(",")} - {""}
    return named or set(DENIED)


def _lines(found: list[tuple[Any, list[str]]], wanted: set[str]) -> Iterator[str]:
    for meta, denied in found:
        tags = list(meta.meta_info_def.tags)
        ops = ", ".join(repr(op) for op in denied or sorted(wanted))
        says = (
            "contains the following denylisted ops:"
            if denied
            else "does not contain the default denylisted ops:"
        )
        yield f"MetaGraph with tag set {tags} {says} {{{ops}}}"
