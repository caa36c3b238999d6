"""A session that does not wait long for tasks that do not answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from tensorloom.client.session.session import Session
from tensorloom.protos.config_pb2 import ConfigProto

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph import Graph

# Its tasks were there a moment ago: one that does not answer was lost since.
_WAIT_FOR_TASKS_MS: Final = 10_000


class BriefSession(Session):
    """A session with tasks that are known to be there.

    Args:
      target, graph, config: as for `Session`.
    """

    def __init__(self, target: str, graph: Graph, config: Any) -> None:
        super().__init__(target, graph=graph, config=config)
        # The limit of steps, if there is one, was taken from it by now; masters take
        # it for the time that they wait for tasks.
        if self._decoded_config.operation_timeout_s is None:
            brief = ConfigProto(operation_timeout_in_ms=_WAIT_FOR_TASKS_MS)
            brief.MergeFrom(self._config or ConfigProto())
            self._decoded_config = self._decode(brief)
