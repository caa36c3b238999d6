"""`Explanation`: what became of one step, to be asked and printed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from tensorloom.inspect.explain import fates
from tensorloom.inspect.explain.differences import (
    Difference,
    changes,
    described,
    difference,
)
from tensorloom.inspect.explain.generated import GeneratedFunction, generated_functions
from tensorloom.inspect.explain.memory import StepMemory, step_memory
from tensorloom.inspect.explain.times import StepTimes, step_times
from tensorloom.inspect.explain.transfers import (
    Transfer,
    device_graphs,
    transfer_text,
    transfers,
)

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph_ir import GraphIR, Node
    from tensorloom.framework.interfaces import NodeStats, StepSignature
    from tensorloom.inspect.explain.fates import Fate
    from tensorloom.inspect.explain.journal import Journal, Stage


@dataclass(frozen=True, slots=True)
class LifeEvent:
    """Something that happened to a node."""

    stage: str
    text: str


class Explanation:
    """What became of a step. `print` gives the summary; `report.py` has the texts."""

    def __init__(
        self,
        signature: StepSignature,
        journal: Journal,
        stats: Sequence[NodeStats] = (),
        results: Any = None,
    ) -> None:
        """Makes an explanation of what a journal was told.

        Args:
          signature: of the step.
          journal: of the step.
          stats: what a traced run of it recorded; nothing if it was not run.
          results: the fetches of that run.
        """
        self.signature = signature
        self.journal = journal
        self.stats = tuple(stats)
        self.results = results

    # --- the graphs --------------------------------------------------------------

    @property
    def stages(self) -> list[Stage]:
        """The stages of the step and, before those of its passes, of its functions."""
        return self.journal.stages

    @cached_property
    def graphs(self) -> dict[str, GraphIR]:
        """The step's graph as built, and after each stage, by the stage's name."""
        own = [stage for stage in self.stages if not stage.function]
        found = {"build": own[0].before} if own else {}
        found.update({stage.name: stage.after for stage in own})
        return found

    @cached_property
    def parts(self) -> dict[str, GraphIR]:
        """By device: its part, with `_Send` and `_Recv` nodes."""
        return device_graphs(self.journal.parts)

    @property
    def built(self) -> GraphIR:
        """The graph of the session, as the program built it."""
        return self.graphs["build"]

    @property
    def notes(self) -> list[str]:
        """What is not told of this step, and why."""
        told = list(self.journal.notes)
        elsewhere = [
            part.task
            for part in self.journal.parts
            if part.registered is not None and not hasattr(part.registered, "codes")
        ]
        if elsewhere:
            told.append(
                f"{', '.join(elsewhere)}: another process, which does not tell the "
                "program of its part and the memory of its values."
            )
        return told

    # --- what follows ------------------------------------------------------------

    @cached_property
    def fates(self) -> dict[str, Fate]:
        """What became of each node of the graph, by name."""
        return fates.fates(self.journal, self.signature.feeds)

    @cached_property
    def fates_in_functions(self) -> dict[str, dict[str, Fate]]:
        """By function that the step calls: what became of each node of its body."""
        return fates.fates_in_functions(self.journal)

    @cached_property
    def functions(self) -> list[GeneratedFunction]:
        """The generated program of each piece."""
        return generated_functions(self.journal.parts)

    @cached_property
    def transfers(self) -> list[Transfer]:
        """What crosses devices."""
        return transfers(self.parts, self.stats)

    @cached_property
    def times(self) -> StepTimes | None:
        """How long each node took; None if the step was not run."""
        return step_times(self.stats)

    @cached_property
    def memory(self) -> StepMemory:
        """The values of the traced run, and each device's memory over it."""
        return step_memory(self.functions, self.stats)

    def counts(self) -> dict[str, int]:
        """How many nodes of the graph ended in each way."""
        found = dict.fromkeys(fates.WAYS, 0)
        for fate in self.fates.values():
            found[fate.way] += 1
        return found

    # --- questions ---------------------------------------------------------------

    def diff(self, name: str, function: str = "") -> Difference:
        """What a stage changed, over all its runs in this step.

        Raises:
          KeyError: there was no such stage; the message has those that were.
        """
        found = [s for s in self.stages if (s.name, s.function) == (name, function)]
        if not found:
            known = ", ".join(dict.fromkeys(s.name for s in self.stages))
            raise KeyError(f"No stage '{name}'. The stages of this step: {known}")
        return difference(found[0].before.nodes, found[-1].after.nodes)

    def node(self, name: str) -> list[LifeEvent]:
        """The life of a node: of the graph, of a function, or made by a pass.

        Raises:
          KeyError: no stage had a node of that name; the message has similar ones.
        """
        events = list(self._life(name))
        if not events:
            raise KeyError(self._unknown(name))
        return events

    def _life(self, name: str) -> Iterator[LifeEvent]:
        built = self.built.nodes.get(name)
        if built is not None:
            yield LifeEvent("build", described(built))
            line = built.source_line()
            if line:
                yield LifeEvent("build", f"made at {line}")
            if built.device:
                yield LifeEvent("build", f"its device field is {built.device}")
        for stage in self.stages:
            yield from self._in_stage(stage, name)
        placed = self.journal.placements.get(name)
        if placed is not None:
            yield LifeEvent("place", f"on {placed.device}: {placed.reason}")
        for device, graph in self.parts.items():
            if name in graph.nodes:
                yield LifeEvent("partition", f"in the part of {device}")
        for transfer in self.transfers:
            if transfer.recv == name:
                yield LifeEvent("partition", transfer_text(transfer))
            elif _sends(transfer, name):
                yield LifeEvent("partition", f"sent: {transfer_text(transfer)}")
        yield from self._in_program(name)
        fate = self.fates.get(name)
        if fate is not None:
            yield LifeEvent("end", str(fate))

    def _in_stage(self, stage: Stage, name: str) -> Iterator[LifeEvent]:
        where = stage.name + (f" in {stage.function}" if stage.function else "")
        before, after = stage.before.nodes.get(name), stage.after.nodes.get(name)
        for rewrite in stage.rewrites:
            rule = f" by the rule {rewrite.rule}" if rewrite.rule else ""
            if rewrite.node == name:
                by = ", ".join(rewrite.by) or "nothing"
                yield LifeEvent(where, f"{rewrite.kind}{rule}: {by} stands in for it")
            elif name in rewrite.by and after is not None:
                text = f"stands in for {rewrite.node} ({rewrite.kind}{rule})"
                yield LifeEvent(where, text)
        if before is None and after is not None:
            yield LifeEvent(where, f"made: {described(after)}")
        elif before is not None and after is None:
            yield LifeEvent(where, "removed")
        elif before is not None and after is not None and stage.name != "place":
            for change in changes(before, after):
                yield LifeEvent(where, change)

    def _in_program(self, name: str) -> Iterator[LifeEvent]:
        for function in self.functions:
            for line in function.lines:
                if name == line.node:
                    text = f"{function.device} line {line.number}: {line.text.strip()}"
                    yield LifeEvent("compile", text)
        for value in self.memory.values:
            if value.node == name:
                yield LifeEvent("run", _value_text(value))
        for one in self.times.nodes if self.times is not None else ():
            if one.node == name:
                runs = f" in {one.runs} runs" if one.runs > 1 else ""
                text = f"took {one.seconds * 1e6:.1f} us{runs} on {one.device}"
                yield LifeEvent("run", text)

    def _unknown(self, name: str) -> str:
        from difflib import get_close_matches

        known: dict[str, None] = dict.fromkeys(self.built.nodes)
        for stage in self.stages:
            known.update(dict.fromkeys(stage.after.nodes))
        close = get_close_matches(name, known, 5)
        hint = f" Similar: {', '.join(close)}" if close else ""
        return f"No stage of this step has a node '{name}'.{hint}"

    # --- output ------------------------------------------------------------------

    def __str__(self) -> str:
        from tensorloom.inspect.explain import report

        return "\n".join(report.summary(self))

    def compare(self, other: Explanation) -> str:
        """What differs in another explanation of the same step, as text."""
        from tensorloom.inspect.explain import report

        return "\n".join(report.comparison(self, other))

    def chrome_trace(self) -> str:
        """The traced step as JSON for Perfetto or `chrome://tracing`.

        Raises:
          ValueError: the step was not run.
        """
        from tensorloom.client.session.timeline import Timeline
        from tensorloom.framework.runtime import run_metadata
        from tensorloom.protos.step_stats_pb2 import StepStats

        if not self.stats:
            raise ValueError("There is no trace: the step was not run.")
        step_stats = StepStats()
        run_metadata.fill_step_stats(step_stats, self.stats)
        return Timeline(step_stats).generate_chrome_trace_format()

    def write_profile(self, logdir: str, run: str = "explained") -> str:
        """Writes the traced step for the trace viewer of TensorBoard's profiler.

        Args:
          logdir: what `tensorboard --logdir` is given.
          run: what the profiler calls it.

        Returns:
          The path of the file.

        Raises:
          ValueError: the step was not run.
          errors.OpError: the file cannot be written.
        """
        from tensorloom.inspect.explain import profile_plugin

        if not self.stats:
            raise ValueError("There is no trace: the step was not run.")
        return profile_plugin.write_profile(logdir, run, self.stats)

    def write_html(self, path: str, title: str = "") -> None:
        """Writes one self-contained page with all of it, to be opened in a browser.

        Raises:
          errors.OpError: the file cannot be written.
        """
        from tensorloom.inspect.explain import html_page

        html_page.write_page(self, path, title)

    def as_dict(self) -> dict[str, Any]:
        """All of it as plain data, as `tensorloom explain --json` prints it."""
        return {
            "feeds": list(self.signature.feeds),
            "fetches": list(self.signature.fetches),
            "targets": list(self.signature.targets),
            "counts": self.counts(),
            "notes": self.notes,
            "stages": [self._stage_dict(stage) for stage in self.stages],
            "nodes": {
                name: _node_dict(self.built.nodes[name], fate)
                for name, fate in self.fates.items()
            },
            "functions": {
                function: {name: str(fate) for name, fate in body.items()}
                for function, body in self.fates_in_functions.items()
            },
            "placements": {
                name: {"device": p.device, "reason": p.reason}
                for name, p in self.journal.placements.items()
            },
            "parts": {
                device: [described(node) for node in graph.nodes.values()]
                for device, graph in self.parts.items()
            },
            "transfers": [asdict(transfer) for transfer in self.transfers],
            "programs": [asdict(function) for function in self.functions],
            "memory": asdict(self.memory),
            "times": None if self.times is None else asdict(self.times),
        }

    def _stage_dict(self, stage: Stage) -> dict[str, Any]:
        found = stage.difference
        return {
            "name": stage.name,
            "function": stage.function,
            "seconds": stage.seconds,
            "nodes": len(stage.after.nodes),
            "removed": list(found.removed),
            "added": [described(stage.after.nodes[name]) for name in found.added],
            "changed": {
                name: changes(stage.before.nodes[name], stage.after.nodes[name])
                for name in found.changed
            },
            "rewrites": [asdict(rewrite) for rewrite in stage.rewrites],
        }


def _sends(transfer: Transfer, name: str) -> bool:
    """Whether a transfer is of an output of the node: `edge_5_y` is, of `y`."""
    return transfer.tensor.split("_", 2)[-1] == name


def _value_text(value: Any) -> str:
    memory = {
        "host": "host memory",
        "device": "device memory",
        "variable": "the variable",
        "?": "memory that is not told",
    }.get(value.memory, "no memory of its own")
    text = f"output {value.output}: {value.dtype} {list(value.shape)}, "
    text += f"{value.size} bytes in {memory}"
    if value.name:
        end = f"dropped in line {value.dropped}" if value.dropped else "kept to the end"
        text += f", {value.name} made in line {value.made}, {end}"
    return text


def _node_dict(node: Node, fate: Fate) -> dict[str, Any]:
    return {
        "op": node.op,
        "line": node.source_line(),
        "device": node.device,
        "fate": fate.way,
        "stage": fate.stage,
        "rule": fate.rule,
        "by": list(fate.by),
        "detail": fate.detail,
    }
