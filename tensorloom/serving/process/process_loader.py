"""`ProcessLoader`: loads versions into processes of their own."""

from __future__ import annotations

import dataclasses
import threading
import weakref
from collections.abc import Callable
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, Final

from tensorloom.serving.manager.loader_options import names
from tensorloom.serving.manager.servable import Servable
from tensorloom.serving.manager.signature import decode_signatures
from tensorloom.serving.process.model_process import ModelProcess
from tensorloom.serving.process.process_engine import ProcessEngine
from tensorloom.serving.process.spawner import Spawner
from tensorloom.storage.files import filesystem

if TYPE_CHECKING:
    from tensorloom.serving.calls.warm_up import WarmedUp
    from tensorloom.serving.options import ServerOptions

#: With this file, which may be empty, a version asks for a process of its own.
FILE: Final = "assets.extra/tensorloom_own_process"


class ProcessLoader:
    """Its `load` is a manager's `Load`."""

    def __init__(
        self,
        options: ServerOptions,
        warmed_up: WarmedUp,
        ended: Callable[[str], None],
    ) -> None:
        """Loads as the options say.

        Args:
          options: of the server.
          warmed_up: is told of each warm-up.
          ended: is told the name of a model whose process ended by itself.
        """
        self._options, self._warmed_up, self._ended = options, warmed_up, ended
        self._patterns = names(options.model_processes)
        self._fields = dataclasses.asdict(options)
        self._spawner = Spawner()
        self._lock = threading.Lock()
        self._loading: set[ModelProcess] = set()
        self._is_stopped = False
        self._engines: weakref.WeakValueDictionary[tuple[str, int], ProcessEngine] = (
            weakref.WeakValueDictionary()
        )

    def has(self, name: str, path: str) -> bool:
        """Whether a version is to have a process: the server says so, or it does."""
        if any(fnmatchcase(name, pattern) for pattern in self._patterns):
            return True
        return bool(filesystem.exists(filesystem.join(path, FILE)))

    def load(self, name: str, version: int, path: str) -> Servable:
        """Loads, prepares and warms up a version in a process.

        Raises:
          errors.UnavailableError: the process ended meanwhile.
          OSError, errors.OpError: it is no model that can be served.
        """
        from tensorloom.protos.meta_graph_pb2 import MetaGraphDef

        def start() -> ModelProcess:
            return ModelProcess(self._spawner, name, version, path, self._fields)

        process = start()
        with self._lock:
            self._loading.add(process)
            is_stopped = self._is_stopped
        if is_stopped:
            process.kill()
        try:
            report = process.wait_loaded()
        finally:
            with self._lock:
                self._loading.discard(process)
        for code, seconds in report.warm_ups:
            self._warmed_up(path, code, seconds)
        engine = ProcessEngine(
            f"model {name} version {version}",
            process,
            start,
            self._options.model_process_hang_seconds,
            lambda: self._ended(name),
        )
        self._engines[name, version] = engine
        meta_graph: Any = MetaGraphDef.FromString(report.signatures)
        return Servable(
            name,
            version,
            path,
            engine,
            decode_signatures(meta_graph),
            dict(meta_graph.signature_def),
            self._options.max_concurrent_requests_per_model,
            self._options.enable_signature_method_name_check,
        )

    def resident_bytes(self) -> dict[str, float]:
        """The memory of the processes, by model."""
        found: dict[str, float] = {}
        for (name, _), engine in list(self._engines.items()):
            found[name] = found.get(name, 0.0) + engine.resident_bytes()
        return found

    def cancel_loads(self) -> None:
        """Ends the processes that still load; later loads fail."""
        with self._lock:
            self._is_stopped = True
            loading = list(self._loading)
        for process in loading:
            process.kill()

    def stop(self) -> None:
        """Ends all processes that are left."""
        self.cancel_loads()
        self._spawner.stop()
