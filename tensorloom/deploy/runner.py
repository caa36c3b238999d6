"""Runs a frozen model, batch by batch."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any

import numpy as np

from tensorloom.client.importing.importer import import_graph_def
from tensorloom.client.session.session import Session
from tensorloom.framework.graph.dataflow_graph import Graph

if TYPE_CHECKING:
    from tensorloom.deploy.frozen_model import FrozenModel

Values = Mapping[str, Any]


class Runner:
    """A session of a frozen model. Use it in a `with` statement."""

    def __init__(self, model: FrozenModel) -> None:
        self.model = model
        graph = Graph()
        with graph.as_default():
            import_graph_def(model.graph_def, name="")
        self.graph = graph
        self._session = Session(graph=graph)
        if model.init:
            self._session.run(model.init)

    def __enter__(self) -> Runner:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._session.close()

    def run(self, values: Values) -> dict[str, Any]:
        """The outputs by their keys, for inputs by theirs."""
        return self.fetch(values, self.model.outputs)

    def fetch(self, values: Values, tensors: Mapping[str, str]) -> dict[str, Any]:
        """Some tensors by keys, for inputs by theirs."""
        feeds = {self.model.inputs[key]: value for key, value in values.items()}
        found: dict[str, Any] = self._session.run(dict(tensors), feeds)
        return found

    def run_all(self, batches: Sequence[Values]) -> dict[str, Any]:
        """The outputs of several batches, one after the other along the first axis."""
        return joined([self.run(batch) for batch in batches])


def joined(parts: Sequence[Values]) -> dict[str, Any]:
    """The outputs of batches as those of one; flat, if other sizes differ."""
    if len(parts) == 1:
        return dict(parts[0])
    found = {}
    for key in parts[0]:
        values = [np.atleast_1d(part[key]) for part in parts]
        if len({value.shape[1:] for value in values}) > 1:
            values = [value.reshape(-1) for value in values]
        found[key] = np.concatenate(values)
    return found


def seconds_of(runners: Sequence[Runner], values: Values, times: int) -> list[float]:
    """The least time of a run of each; they take turns, so that load hits all."""
    least = [float("inf")] * len(runners)
    for runner in runners:
        runner.run(values)
    for _ in range(times):
        for at, runner in enumerate(runners):
            start = time.perf_counter()
            runner.run(values)
            least[at] = min(least[at], time.perf_counter() - start)
    return least
