"""`ModelManager`: versions of models, loaded and unloaded as the source asks.

A request looks a version up in one table, which is never changed: a new one takes its
place. So a version is there for a request as a whole, or not at all.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from tensorloom.framework import errors
from tensorloom.serving.manager import memory
from tensorloom.serving.manager.low_priority import LowPriorityThreads
from tensorloom.serving.manager.memory import MemoryBudget
from tensorloom.serving.manager.model_states import ModelStates, State
from tensorloom.serving.manager.servable import Servable
from tensorloom.serving.manager.transitions import Policy, Snapshot, Stage, Verb

_logger = logging.getLogger("tensorloom.serving")

#: (model, version, directory) -> the loaded version.
Load = Callable[[str, int, str], Servable]
#: (model, version, directory, seconds that it took; None: it failed)
Loaded = Callable[[str, int, str, float | None], None]
_TABLE = Mapping[str, Mapping[int, Servable]]


@dataclass(slots=True)
class _Managed:
    """One version, from its first sight to its end."""

    path: str
    stage: Stage = Stage.NEW
    is_aspired: bool = True
    servable: Servable | None = None


@dataclass(frozen=True, slots=True)
class ManagerOptions:
    """How a manager works."""

    policy: Policy
    load_threads: int = 1
    #: How often a load is tried again, and after how long.
    load_retries: int = 5
    retry_interval_s: float = 60.0
    #: How long requests that run on a version may hold up its unloading.
    unload_grace_s: float = 60.0
    memory_limit_bytes: int | None = None


class ModelManager:
    """Carries out what `transitions.py` decides; answers who serves a request."""

    def __init__(
        self,
        load: Load,
        options: ManagerOptions,
        loaded: Loaded = lambda name, version, path, seconds: None,
    ) -> None:
        """Starts the threads that load and unload.

        Args:
          load: makes servables, in a thread of low priority.
          options: how.
          loaded: is told of each load that has ended.
        """
        self.states = ModelStates()
        self.budget = MemoryBudget(options.memory_limit_bytes)
        self._load, self._options = load, options
        self._loaded = loaded
        self._lock = threading.Lock()
        self._models: dict[str, dict[int, _Managed]] = {}
        self._table: _TABLE = {}
        self._stopping = threading.Event()
        self._loaders = LowPriorityThreads(options.load_threads, "tensorloom-load")
        self._unloaders = LowPriorityThreads(1, "tensorloom-unload")

    # --- who serves a request --------------------------------------------------------

    @contextmanager
    def held(self, name: str, version: int | None = None) -> Iterator[Servable]:
        """Holds the servable for a request.

        Args:
          name: of the model.
          version: None: the newest that is available.

        Raises:
          errors.NotFoundError: there is none.
          errors.ResourceExhaustedError: it runs as many requests as it may.
        """
        servable = self._acquire(name, version)
        try:
            yield servable
        finally:
            servable.release()

    def _acquire(self, name: str, version: int | None) -> Servable:
        while True:
            table = self._table
            servable = self._find(table, name, version)
            if servable is not None and servable.acquire():
                return servable
            if servable is None or table is self._table:
                request = (
                    f"Latest({name})"
                    if version is None
                    else f"Specific({name}, {version})"
                )
                raise errors.NotFoundError(
                    None, None, f"Servable not found for request: {request}"
                )

    @staticmethod
    def _find(table: _TABLE, name: str, version: int | None) -> Servable | None:
        versions = table.get(name)
        if not versions:
            return None
        return versions.get(max(versions) if version is None else version)

    def available(self) -> dict[str, list[Servable]]:
        """The servables that take requests, by model, the newest last."""
        table = self._table
        return {n: [v[k] for k in sorted(v)] for n, v in table.items() if v}

    # --- what is to be served --------------------------------------------------------

    def aspire(self, name: str, versions: Mapping[int, str]) -> None:
        """Says which versions of a model are to be served, with their directories."""
        with self._lock:
            managed = self._models.setdefault(name, {})
            for version, path in versions.items():
                if version not in managed:
                    managed[version] = _Managed(path)
                    self.states.set(name, version, State.START)
                else:
                    managed[version].is_aspired = True
            for version in managed.keys() - versions.keys():
                managed[version].is_aspired = False
            self._advance(name)

    def aspired_models(self) -> list[str]:
        """The models with something that is, or shall be, served."""
        with self._lock:
            return [n for n, m in self._models.items() if m]

    def stop(self, timeout_s: float = 10.0) -> None:
        """Unloads everything; waits so long for each thread."""
        self._stopping.set()
        for name in self.aspired_models():
            self.aspire(name, {})
        self._loaders.stop(timeout_s)
        self._unloaders.stop(timeout_s)

    # --- carrying it out -------------------------------------------------------------

    def _advance(self, name: str) -> None:
        """Starts all that is to be done now; the lock is held."""
        managed = self._models[name]
        for version, entry in list(managed.items()):
            is_over = entry.stage is Stage.DONE or entry.stage is Stage.NEW
            if is_over and not entry.is_aspired:
                if entry.stage is Stage.NEW:
                    self.states.set(name, version, State.END)
                del managed[version]
        while True:
            snapshots = [
                Snapshot(version, entry.stage, entry.is_aspired)
                for version, entry in managed.items()
            ]
            action = self._options.policy(snapshots)
            if action is None:
                break
            verb, version = action
            start = self._start_load if verb is Verb.LOAD else self._start_unload
            start(name, version, managed[version])
        if not managed:
            del self._models[name]

    def _start_load(self, name: str, version: int, entry: _Managed) -> None:
        entry.stage = Stage.LOADING
        self._loaders.submit(lambda: self._run_load(name, version, entry))

    def _run_load(self, name: str, version: int, entry: _Managed) -> None:
        self.states.set(name, version, State.LOADING)
        started = time.monotonic()
        try:
            servable = self._load_again_and_again(name, version, entry)
        except Exception as error:
            self.budget.release(name, version)
            _logger.error("Loading %s version %d failed: %s", name, version, error)
            with self._lock:
                entry.stage = Stage.DONE
                self.states.set(name, version, State.END, error)
                self._advance(name)
            self._loaded(name, version, entry.path, None)
            # What the error holds of the model goes with it.
            error.__traceback__ = None
            memory.give_back()
            return
        self.budget.loaded(name, version)
        seconds = time.monotonic() - started
        with self._lock:
            entry.servable, entry.stage = servable, Stage.READY
            self._change_table(name, version, servable)
            self.states.set(name, version, State.AVAILABLE)
            self._advance(name)
        self._loaded(name, version, entry.path, seconds)
        _logger.info("Loaded %s version %d in %.2f s", name, version, seconds)

    def _load_again_and_again(
        self, name: str, version: int, entry: _Managed
    ) -> Servable:
        for attempt in range(self._options.load_retries + 1):
            try:
                self.budget.release(name, version)
                size = memory.estimate_bytes(entry.path)
                self.budget.reserve(name, version, size)
                return self._load(name, version, entry.path)
            except Exception as error:
                is_last = attempt == self._options.load_retries
                if is_last or not entry.is_aspired or self._stopping.is_set():
                    raise
                _logger.warning(
                    "Loading %s version %d failed, and will be tried again: %s",
                    name,
                    version,
                    error,
                )
            # Not inside of `except`: the error holds what was loaded so far.
            self._stopping.wait(max(0.0, self._options.retry_interval_s))
        raise AssertionError("the last attempt returns or raises")

    def _start_unload(self, name: str, version: int, entry: _Managed) -> None:
        servable = entry.servable
        assert servable is not None
        entry.stage, entry.servable = Stage.UNLOADING, None
        self.states.set(name, version, State.UNLOADING)
        self._change_table(name, version, None)
        servable.retire()
        holder = [servable]  # the task, and it alone, keeps the model
        del servable
        self._unloaders.submit(
            lambda: self._run_unload(name, version, entry, holder.pop())
        )

    def _run_unload(
        self, name: str, version: int, entry: _Managed, servable: Servable
    ) -> None:
        grace_s = 0.0 if self._stopping.is_set() else self._options.unload_grace_s
        if not servable.wait_released(grace_s) and grace_s:
            _logger.warning(
                "%d requests still ran on %s version %d after %g s, and are cancelled",
                servable.holders,
                name,
                version,
                grace_s,
            )
        error: Exception | None = None
        try:
            servable.close()
        except Exception as raised:
            _logger.exception("Unloading %s version %d failed", name, version)
            error = raised
        del servable
        # It stops all threads for a moment: once for all that are unloaded together.
        if not self._unloaders.has_more and not self._stopping.is_set():
            memory.give_back()
        self.budget.release(name, version)
        with self._lock:
            self.states.set(name, version, State.END, error)
            if entry.is_aspired:  # wanted again meanwhile
                entry.stage = Stage.NEW
                self.states.set(name, version, State.START)
            else:
                entry.stage = Stage.DONE
            self._advance(name)

    def _change_table(self, name: str, version: int, servable: Servable | None) -> None:
        """Puts a new table in the place of the one that requests look at."""
        versions = dict(self._table.get(name, {}))
        if servable is None:
            versions.pop(version, None)
        else:
            versions[version] = servable
        self._table = {**self._table, name: versions}
