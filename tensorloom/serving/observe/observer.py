"""What is noted of every request, whatever interface it came by."""

from __future__ import annotations

import contextlib
import logging
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, TypeVar

from tensorloom.framework import errors
from tensorloom.serving.calls.limits import CallLimits
from tensorloom.serving.observe.metrics import code_name
from tensorloom.serving.observe.tracing import trace_id
from tensorloom.transport.wire import status

if TYPE_CHECKING:
    from tensorloom.serving.observe.access_log import AccessLog
    from tensorloom.serving.observe.metrics import Metrics
    from tensorloom.serving.observe.tracing import Tracing

_logger = logging.getLogger("tensorloom.serving")
_Response = TypeVar("_Response")

# The status page shows rates and latencies of so many requests of a model.
_RECENT: Final = 2000


@dataclass(slots=True)
class Call:
    """One request: how it came, and what limits it."""

    #: "GRPC" or "REST".
    entrypoint: str
    limits: CallLimits = field(default_factory=CallLimits)
    #: Names in lower case.
    headers: Mapping[str, str] = field(default_factory=dict)
    peer: str = ""
    #: Of the request's body.
    size: int = 0
    #: The version that answers, once it is known.
    version: int | None = None


class Observer:
    """Tells metrics, traces and the access log of each request."""

    def __init__(
        self,
        metrics: Metrics,
        tracing: Tracing,
        access_log: AccessLog | None,
        is_known: Callable[[str], bool],
    ) -> None:
        """`is_known`: whether a model is of the config: others have no own metrics."""
        self.metrics = metrics
        self._tracing, self._access_log = tracing, access_log
        self._is_known = is_known
        # (when it ended, seconds, code) of each model's last requests.
        self._recent: dict[str, deque[tuple[float, float, int]]] = {}

    def observe(
        self, api: str, model: str, call: Call, run: Callable[[], _Response]
    ) -> _Response:
        """Runs a request, and notes it.

        Raises:
          BaseException: what `run` raises.
        """
        with self.observed(api, model, call):
            return run()

    @contextlib.contextmanager
    def observed(self, api: str, model: str, call: Call) -> Iterator[None]:
        """Notes a request, which is the `with` block."""
        started, code = time.perf_counter(), errors.OK
        try:
            with self._tracing.request(api, call.headers, model=model):
                yield
        except BaseException as error:
            code, _ = status.to_wire(error)
            if not isinstance(error, errors.OpError):
                _logger.exception("%s of model %s failed", api, model)
            raise
        finally:
            self._note(api, model, call, code, time.perf_counter() - started)

    def _note(
        self, api: str, model: str, call: Call, code: int, seconds: float
    ) -> None:
        name = model if self._is_known(model) else ""
        self.metrics.request(name, api, call.entrypoint, code, seconds)
        if call.limits.step_s:
            self.metrics.steps(name, api, call.limits.step_s)
        recent = self._recent.get(name)
        if recent is None:
            recent = self._recent.setdefault(name, deque(maxlen=_RECENT))
        recent.append((time.time(), seconds, code))
        if self._access_log is not None:
            fields: dict[str, Any] = {
                "entrypoint": call.entrypoint,
                "method": api,
                "model": model,
                "version": call.version,
                "status": code_name(code),
                "ms": round(seconds * 1e3, 3),
                "step_ms": round(call.limits.step_s * 1e3, 3),
                "bytes": call.size,
                "peer": call.peer,
            }
            if trace := trace_id(call.headers):
                fields["trace_id"] = trace
            self._access_log.write(**fields)

    def recent(self, model: str, seconds: float = 60.0) -> list[tuple[float, int]]:
        """(seconds, code) of the requests that ended lately."""
        since = time.time() - seconds
        return [
            (took, code)
            for at, took, code in list(self._recent.get(model, ()))
            if at >= since
        ]
