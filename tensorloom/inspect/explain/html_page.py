"""An explanation as one self-contained HTML file.

The page has its own copies of a style sheet, of a script and of the layout library
dagre (https://github.com/dagrejs/dagre, MIT licence), and asks no network. The data are
compressed JSON: tables of names, and records of nodes that stages share. A stage is a
list of what it changed; the script plays the stages to get a graph.
"""

from __future__ import annotations

import base64
import gzip
import html
import json
from collections.abc import Sequence
from importlib import resources
from typing import TYPE_CHECKING, Any

from tensorloom.inspect.explain.differences import changes, outputs_of, shown

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph_ir import Node
    from tensorloom.inspect.explain.explanation import Explanation
    from tensorloom.inspect.explain.fates import Fate
    from tensorloom.inspect.explain.journal import Stage

_MOST_CHANGES = 200_000  # texts of changes; a page with more would be slow to open


def write_page(explanation: Explanation, path: str, title: str = "") -> None:
    """Writes the page of an explanation.

    Args:
      explanation: what to show.
      path: of the file, which is replaced once the page is whole.
      title: of the page.

    Raises:
      errors.OpError: the file cannot be written.
    """
    from tensorloom.storage.files import filesystem

    filesystem.write_file(path, page(explanation, title).encode())


def page(explanation: Explanation, title: str = "") -> str:
    """The page of an explanation, as HTML."""
    data = json.dumps(_Tables().data(explanation), separators=(",", ":"))
    packed = base64.b64encode(gzip.compress(data.encode(), 6)).decode()
    parts = {
        "TITLE": html.escape(title or "tensorloom explain"),
        "STYLE": asset("page.css"),
        "DAGRE": asset("dagre.min.js"),
        "SCRIPT": asset("page.js"),
        "DATA": packed,
    }
    text = asset("page.html")
    for name, part in parts.items():
        text = text.replace(f"@@{name}@@", part)  # the data, last, have no marks
    return text


def asset(name: str) -> str:
    """The text of a file of the page."""
    folder = resources.files("tensorloom.inspect.explain") / "page"
    return (folder / name).read_text(encoding="utf-8")


class _Tables:
    """Strings and records by number: what repeats is written once."""

    def __init__(self) -> None:
        self.strings: dict[str, int] = {}
        self.records: list[Any] = []
        self._record_of: dict[int, int] = {}
        self._kept: list[Node] = []  # so that no other node gets an identity again

    def string(self, text: str | None) -> int:
        """The number of a text."""
        return self.strings.setdefault(text or "", len(self.strings))

    def record(self, node: Node) -> int:
        """The number of a node's record."""
        known = self._record_of.get(id(node))
        if known is None:
            known = self._record_of[id(node)] = len(self.records)
            self._kept.append(node)
            value = node.attrs.get("value") if node.op == "Const" else None
            self.records.append(
                [
                    self.string(node.name),
                    self.string(node.op),
                    [self.string(name) for name, _ in node.inputs],
                    [self.string(name) for name in node.control_inputs],
                    self.string(outputs_of(node)),
                    self.string(node.source_line()),
                    self.string(node.device),
                    self.string(None if value is None else shown(value)),
                ]
            )
        return known

    def data(self, explanation: Explanation) -> dict[str, Any]:
        """All that the page shows."""
        found = {
            "feeds": list(explanation.signature.feeds),
            "fetches": list(explanation.signature.fetches),
            "targets": list(explanation.signature.targets),
            "counts": explanation.counts(),
            "notes": explanation.notes,
            "graphs": self._graphs(explanation),
            "fates": {
                self.string(name): self._fate(fate)
                for name, fate in explanation.fates.items()
            },
            "placements": [
                [self.string(name), self.string(p.device), self.string(p.reason)]
                for name, p in explanation.journal.placements.items()
            ],
            "parts": {
                device: [self.record(node) for node in graph.nodes.values()]
                for device, graph in explanation.parts.items()
            },
            "transfers": [
                [
                    t.tensor,
                    t.source,
                    t.target,
                    t.dtype,
                    t.shape,
                    t.size,
                    t.seconds,
                    self.string(t.recv),
                ]
                for t in explanation.transfers
            ],
            "programs": [
                {
                    "device": function.device,
                    "lines": [
                        [line.text, self.string(line.node), self.string(line.source)]
                        for line in function.lines
                    ],
                }
                for function in explanation.functions
            ],
            "trace": self._trace(explanation),
            "memory": self._memory(explanation),
        }
        found["records"] = self.records
        found["strings"] = list(self.strings)
        return found

    def _graphs(self, explanation: Explanation) -> list[dict[str, Any]]:
        """The step's graph and those of functions, each with its stages."""
        by_graph: dict[str, list[Stage]] = {"": []}
        for stage in explanation.stages:
            by_graph.setdefault(stage.function, []).append(stage)
        return [
            {
                "name": name,
                "build": [self.record(n) for n in stages[0].before.nodes.values()],
                "stages": [self._stage(stage) for stage in stages],
            }
            for name, stages in by_graph.items()
            if stages
        ]

    def _stage(self, stage: Stage) -> dict[str, Any]:
        before, after = stage.before.nodes, stage.after.nodes
        changed = [
            (name, node)
            for name, node in after.items()
            if name not in before or before[name] is not node
        ]
        texts = [
            [self.string(name), changes(before[name], node)]
            for name, node in changed[:_MOST_CHANGES]
            if name in before and stage.name != "place"
        ]
        return {
            "name": stage.name,
            "seconds": stage.seconds,
            "removed": [self.string(name) for name in before if name not in after],
            "set": [self.record(node) for _, node in changed],
            "added": sum(name not in before for name, _ in changed),
            "changes": [text for text in texts if text[1]],
            "rewrites": [
                [
                    self.string(rewrite.kind),
                    self.string(rewrite.node),
                    [self.string(name) for name in rewrite.by],
                    self.string(rewrite.rule),
                ]
                for rewrite in stage.rewrites
            ],
        }

    def _fate(self, fate: Fate) -> list[Any]:
        return [
            self.string(fate.way),
            self.string(fate.stage),
            self.string(fate.rule),
            [self.string(name) for name in fate.by],
            self.string(fate.detail),
        ]

    def _trace(self, explanation: Explanation) -> list[Any]:
        """Every run of a node: [name, op, device, thread, start, length] in us."""
        stats = explanation.stats
        begin = min((one.start_ns for one in stats), default=0)
        threads: dict[int, int] = {}
        return [
            [
                self.string(one.node_name),
                self.string(one.op),
                self.string(one.device),
                threads.setdefault(one.thread_id, len(threads)),
                round((one.start_ns - begin) / 1e3, 2),
                round((one.end_ns - one.start_ns) / 1e3, 2),
            ]
            for one in stats
        ]

    def _memory(self, explanation: Explanation) -> dict[str, Any]:
        memory = explanation.memory
        return {
            "devices": [
                {
                    "device": one.device,
                    "peak": one.peak,
                    "peak_node": self.string(one.peak_node),
                    "peak_values": [list(value) for value in one.peak_values],
                    "held": one.held,
                    "timeline": [
                        [round(seconds * 1e6, 2), self.string(node), size]
                        for seconds, node, size in one.timeline
                    ],
                }
                for one in memory.devices
            ],
            "values": [self._value(life) for life in memory.values],
        }

    def _value(self, life: Any) -> Sequence[Any]:
        return [
            self.string(life.node),
            life.output,
            self.string(life.device),
            life.memory,
            life.dtype,
            list(life.shape),
            life.size,
            life.name,
            life.made,
            life.dropped,
        ]
