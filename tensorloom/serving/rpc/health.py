"""`grpc.health.v1.Health`: whether the server, a service or a model takes requests.

A service's name is asked for as the protocol says; "" means the server. The name of a
model is known, too: it is serving while a version of it is available.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Final

from tensorloom.framework import errors
from tensorloom.serving.rpc.service import Method, Methods

if TYPE_CHECKING:
    from tensorloom.serving.observe.observer import Call

SERVICE: Final = "grpc.health.v1.Health"
# How soon a watcher hears of a change.
_LOOK_S: Final = 0.5


class Health:
    """Answers from what the server knows at the moment."""

    def __init__(
        self,
        is_ready: Callable[[], bool],
        is_served: Callable[[str], bool | None],
        services: list[str],
    ) -> None:
        """Makes the service.

        Args:
          is_ready: whether the server takes requests.
          is_served: whether a model does; None: there is no such model.
          services: the names that mean the server.
        """
        self._is_ready, self._is_served = is_ready, is_served
        # TensorFlow Serving's short names, too.
        short = [name.rpartition(".")[2] for name in services]
        self._services = {"", *services, *short}
        self._stopped = threading.Event()

    def methods(self) -> Methods:
        """The methods, by path."""
        from tensorloom.protos.serving import health_pb2

        check = Method(health_pb2.HealthCheckRequest, self._check, is_guarded=False)
        watch = Method(
            health_pb2.HealthCheckRequest,
            self._watch,
            gives_stream=True,
            is_guarded=False,
        )
        every = Method(health_pb2.HealthListRequest, self._list, is_guarded=False)
        path = f"/{SERVICE}/"
        return {f"{path}Check": check, f"{path}Watch": watch, f"{path}List": every}

    def stop(self) -> None:
        """Ends what watchers wait for."""
        self._stopped.set()

    def _status(self, service: str) -> int:
        from tensorloom.protos.serving.health_pb2 import HealthCheckResponse

        if service in self._services:
            is_serving: bool | None = self._is_ready()
        else:
            is_serving = self._is_served(service)
        if is_serving is None:
            return HealthCheckResponse.SERVICE_UNKNOWN
        serving, other = HealthCheckResponse.SERVING, HealthCheckResponse.NOT_SERVING
        return serving if is_serving and not self._stopped.is_set() else other

    def _check(self, request: Any, call: Call) -> Any:
        from tensorloom.protos.serving.health_pb2 import HealthCheckResponse

        found = self._status(request.service)
        if found == HealthCheckResponse.SERVICE_UNKNOWN:
            raise errors.NotFoundError(
                None, None, f"There is no service {request.service!r}"
            )
        return HealthCheckResponse(status=found)  # type: ignore[arg-type]

    def _list(self, request: Any, call: Call) -> Any:
        from tensorloom.protos.serving.health_pb2 import HealthListResponse

        response: Any = HealthListResponse()
        for name in sorted(self._services):
            response.statuses[name].status = self._status(name)
        return response

    def _watch(self, request: Any, call: Call) -> Iterator[Any]:
        from tensorloom.protos.serving.health_pb2 import HealthCheckResponse

        last: int | None = None
        while not call.limits.cancellation.cancelled:
            found = self._status(request.service)
            if found != last:
                last = found
                yield HealthCheckResponse(status=found)  # type: ignore[arg-type]
            if self._stopped.wait(_LOOK_S):
                return
