"""The bytes of embedding variables' tables, whose rows come as they are trained."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from tensorloom.elastic.brief_session import BriefSession
from tensorloom.elastic.copying import place_of, table_handle
from tensorloom.elastic.placed_session import filtered, task_of, tell_of_servers
from tensorloom.framework import errors
from tensorloom.framework.graph.dataflow_graph import Graph
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.runtime.scopes import device as device_scope
from tensorloom.framework.types import dtypes

if TYPE_CHECKING:
    from tensorloom.cluster.server import Server
    from tensorloom.elastic.copying import Place
    from tensorloom.elastic.job import ServerRecord
    from tensorloom.elastic.plan import Home
    from tensorloom.elastic.shards import StoredTable

# So often, and with each change of the servers.
_EVERY_S: Final = 60.0
# Of each key beside its values: itself, its count, its age, its place in the index.
_KEY_BYTES: Final = 4 * 8


class MeasuredTables:
    """The tables of a graph, with the bytes that they had last.

    Args:
      server: the task that asks.
      config: a `tf.ConfigProto` for its sessions.
      tables: of the graph.
    """

    def __init__(
        self, server: Server, config: Any, tables: Sequence[StoredTable]
    ) -> None:
        self._server, self._config = server, config
        self.tables = list(tables)
        self._next_at = 0.0
        self._places: tuple[Mapping[int, Home], set[int]] = {}, set()

    def update(
        self,
        homes: Mapping[int, Home],
        usable: set[int],
        servers: Mapping[int, ServerRecord],
    ) -> None:
        """Asks for the bytes, when others are to have the shards or it is time.

        What a server that does not answer has, and one that is gone had, counts as it
        was.

        Args:
          homes: the shards whose servers are there.
          usable: the servers that may have shards.
          servers: those that are there.
        """
        is_recent = time.monotonic() < self._next_at
        if not self.tables or (is_recent and self._places == (homes, usable)):
            return
        for server in {home.server for home in homes.values()}:
            there = [
                index
                for index, one in enumerate(self.tables)
                if one.shard in homes and homes[one.shard].server == server
            ]
            with suppress(errors.OpError):
                tell_of_servers(self._server, {server: servers[server].address})
                self._measure(there, homes, server)
        self._next_at, self._places = time.monotonic() + _EVERY_S, (homes, usable)

    def _measure(
        self, there: Sequence[int], homes: Mapping[int, Home], server: int
    ) -> None:
        config = filtered(self._config, task_of(self._server), [server])
        asked = [self.tables[index] for index in there]
        places = [place_of(one.shard, homes[one.shard]) for one in asked]
        found = measured(self._server.target, config, asked, places)
        for index, one in zip(there, found, strict=True):
            self.tables[index] = one


def measured(
    target: str, config: Any, tables: Sequence[StoredTable], places: Sequence[Place]
) -> list[StoredTable]:
    """The tables with the bytes that they have now.

    Args:
      target: of the session.
      config: a `tf.ConfigProto` whose filters let all tasks in question through.
      tables, places: which, and where each is.

    Raises:
      errors.OpError: a task was lost.
    """
    if not tables:
        return []
    graph = Graph()
    counts = []
    with graph.as_default():
        for table, place in zip(tables, places, strict=True):
            with device_scope(place.device):
                handle = table_handle(table, place.container)
                counts.append(apply_op("DynamicEmbeddingSize", table=handle))
    with BriefSession(target, graph=graph, config=config) as session:
        found = session.run(counts)
    return [
        replace(table, size=int(count) * _row_bytes(table))
        for table, count in zip(tables, found, strict=True)
    ]


def _row_bytes(table: StoredTable) -> int:
    elements: int = table.options["dim"] * (1 + len(table.slots))
    return elements * int(dtypes.as_dtype(table.options["T"]).size) + _KEY_BYTES
