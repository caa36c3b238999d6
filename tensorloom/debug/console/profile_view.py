"""`list_profile`: what the nodes of a traced run cost."""

from __future__ import annotations

import argparse
import re
from collections import defaultdict
from typing import Any

from tensorloom.debug.console.commands import Command, CommandTable, parser

_SORTS = ("node", "op_type", "start_time", "op_time", "exec_time")


def add_to(table: CommandTable, step_stats: Any) -> None:
    """Adds the command over the `StepStats` of a run."""
    of = parser("list_profile", "List nodes with their times.")
    of.add_argument("-d", "--device_name_filter", default="", help="regular expression")
    of.add_argument("-n", "--node_name_filter", default="", help="regular expression")
    of.add_argument("-t", "--op_type_filter", default="", help="regular expression")
    of.add_argument("-s", "--sort_by", choices=_SORTS, default="start_time")
    of.add_argument("-r", "--reverse", action="store_true")
    table.add(Command(of, lambda asked: _listed(asked, step_stats), ("lp",)))


def _listed(asked: argparse.Namespace, step_stats: Any) -> str:
    by_device: dict[str, list[tuple[Any, ...]]] = defaultdict(list)
    for device in step_stats.dev_stats:
        if not re.search(asked.device_name_filter, device.device):
            continue
        for node in device.node_stats:
            op = node.timeline_label.rpartition("= ")[2].partition("(")[0]
            if not re.match(asked.node_name_filter, node.node_name):
                continue
            if not re.match(asked.op_type_filter, op):
                continue
            times = (
                node.all_start_micros,
                node.op_end_rel_micros,
                node.all_end_rel_micros,
            )
            by_device[device.device].append((node.node_name, op, *times))
    lines: list[str] = []
    for number, (name, rows) in enumerate(by_device.items()):
        first = min(row[2] for row in rows)
        place = _SORTS.index(asked.sort_by)
        rows.sort(key=lambda row: row[place], reverse=asked.reverse)
        width = max(len(row[0]) for row in rows)
        op_width = max(len(row[1]) for row in rows)
        lines += [f"Device {number + 1} of {len(by_device)}: {name}", ""]
        head = f"{'Node':{width}} {'Op':{op_width}}"
        lines.append(f"{head} {'Start (us)':>10} {'Op (us)':>9} {'Exec (us)':>9}")
        lines += [
            f"{node:{width}} {op:{op_width}} {start - first:>10} "
            f"{op_time:>9} {whole:>9}"
            for node, op, start, op_time, whole in rows
        ]
        total = sum(row[4] for row in rows)
        lines += ["", f"Device total: {total} us", ""]
    return "\n".join(lines).rstrip() or "There is nothing that was traced"
