"""A worker: makes the elements that consumers ask for."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Any, Final
from weakref import WeakKeyDictionary

from tensorloom.data.service import elements
from tensorloom.data.service.calls import call
from tensorloom.data.service.pipelines import ALL, Pipeline, Share
from tensorloom.data.service.runs import Part, Run
from tensorloom.data.service.shared_cache import SharedCache
from tensorloom.framework import errors
from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.runtime import input_service

if TYPE_CHECKING:
    from tensorloom.data.service.calls import Answer, Fields
    from tensorloom.transport.interface import Channel

#: Pipelines of a dataset that are kept for its next splits.
_KEPT: Final = 4
#: A run that nobody asks for so long is ended: its consumer is gone.
_UNUSED_S: Final = 120.0
_DISPATCHER_S: Final = 60.0
_JOIN_S: Final = 10.0


class Worker:
    """Answers calls for elements.

    Args:
      dispatcher: the way to it, which knows the datasets.
    """

    def __init__(self, dispatcher: Channel) -> None:
        self._dispatcher = dispatcher
        self._lock = threading.Lock()
        self._runs: dict[tuple[int, int], Run] = {}
        self._datasets: dict[str, tuple[Fields, bytes]] = {}
        self._idle: dict[str, list[Pipeline]] = {}
        self._caches: WeakKeyDictionary[Run, SharedCache] = WeakKeyDictionary()
        self._is_stopped = False
        self.made = 0  # elements that were sent

    def answers(self) -> dict[str, Answer]:
        """What answers each method."""
        return {
            "GetElements": self._get_elements,
            "Release": self._release,
            "Describe": self._describe,
        }

    def jobs(self) -> list[int]:
        """The jobs that runs are of."""
        with self._lock:
            return sorted({job for job, _ in self._runs})

    def forget(self, jobs: list[int]) -> None:
        """Ends the runs of jobs that are over, and those that nobody asks for."""
        oldest = time.monotonic() - _UNUSED_S
        with self._lock:
            ended = [
                key
                for key, run in self._runs.items()
                if key[0] in jobs or (run.used < oldest and not run.is_shared)
            ]
            runs = [self._runs.pop(key) for key in ended]
        for run in runs:
            run.close()

    def stop(self) -> None:
        """Ends all runs and their threads."""
        with self._lock:
            self._is_stopped = True
            runs, self._runs = list(self._runs.values()), {}
            idle, self._idle = self._idle, {}
        for run in runs:
            run.close()
        for pipelines in idle.values():
            for pipeline in pipelines:
                pipeline.close()
        for run in runs:
            run.join(_JOIN_S)

    def _get_elements(self, fields: Fields, _: bytes) -> tuple[Fields, bytes]:
        parts = _parts(fields["parts"])
        run = self._run(fields, parts)
        if fields["trainer"] and run.is_shared:
            cache = self._cache(run)
            sections = cache.take(fields["trainer"], fields["most"])
        else:
            sections = run.take(parts[0].number, parts[0].first, fields["most"])
        items = [item for section in sections for item in section.items]
        with self._lock:
            about, _ = self._datasets.get(fields["dataset"], ({}, b""))
        try:
            found, content = elements.pack(items, about.get("compression", ""))
        except errors.OpError as error:
            failed: list[elements.Item] = [error] * len(items)
            found, content = elements.pack(failed)
        self.made += len(items)
        told = [[s.number, s.first, len(s.items), s.ended] for s in sections]
        return {**found, "sections": told}, content

    def _run(self, fields: Fields, parts: list[Part]) -> Run:
        key = fields["job"], fields["run"]
        share = _share(fields["share"])
        with self._lock:
            if self._is_stopped:
                raise errors.UnavailableError(None, None, "The worker has stopped")
            run = self._runs.get(key)
            if run is not None and run.can_give(parts[0].number, parts[0].first):
                run.extend(parts)
                return run
            made = self._runs[key] = Run(
                fields["dataset"], parts, self._borrow, self._give_back, share
            )
        if run is not None:
            run.close()
        return made

    def _cache(self, run: Run) -> SharedCache:
        with self._lock:
            cache = self._caches.get(run)
            if cache is None:
                cache = self._caches[run] = SharedCache(run)
            return cache

    def _release(self, fields: Fields, _: bytes) -> tuple[Fields, bytes]:
        with self._lock:
            run = self._runs.pop((fields["job"], fields["run"]), None)
        if run is not None:
            run.close()
        return {}, b""

    def _describe(self, fields: Fields, _: bytes) -> tuple[Fields, bytes]:
        with self._lock:
            return {"runs": len(self._runs), "elements": self.made}, b""

    # --- pipelines ------------------------------------------------------------------

    def _borrow(self, dataset: str) -> Pipeline:
        with self._lock:
            idle = self._idle.get(dataset)
            if idle:
                return idle.pop()
            found = self._datasets.get(dataset)
        if found is None:
            found = call(
                self._dispatcher,
                "GetDataset",
                {"dataset": dataset},
                timeout_s=_DISPATCHER_S,
            )
            with self._lock:
                self._datasets[dataset] = found
        about, graph = found
        return Pipeline(graph, about["types"], about["shapes"])

    def _give_back(self, dataset: str, pipeline: Pipeline) -> None:
        with self._lock:
            idle: list[Any] = self._idle.setdefault(dataset, [])
            if not self._is_stopped and len(idle) < _KEPT:
                idle.append(pipeline)
                return
        pipeline.close()


def _share(given: list[Any]) -> Share:
    """A share of a dataset as a message says it.

    Raises:
      errors.InvalidArgumentError: it is malformed.
    """
    if [type(one) for one in given] != [str, int, int]:
        raise invalid_argument(f"{given!r:.100} is no share of a dataset")
    share = Share(*given)
    if share != ALL and (
        share.policy not in input_service.STATIC or not 0 <= share.place < share.workers
    ):
        raise invalid_argument(f"{given!r:.100} is no share of a dataset")
    return share


def _parts(given: list[Any]) -> list[Part]:
    """Parts of a dataset as a message says them.

    Raises:
      errors.InvalidArgumentError: it is malformed.
    """
    parts = [
        Part(*numbers)
        for numbers in given
        if isinstance(numbers, list)
        and len(numbers) == 6
        and all(type(number) is int for number in numbers)
    ]
    if not parts or len(parts) < len(given):
        raise invalid_argument(f"{given!r:.100} are no parts of a dataset")
    return parts
