"""A session whose graph is placed by a plan."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.cluster import control
from tensorloom.elastic.brief_session import BriefSession
from tensorloom.elastic.shards import JOB, Placement
from tensorloom.framework.devices.device_spec import DeviceSpec
from tensorloom.protos.config_pb2 import ConfigProto

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from tensorloom.cluster.server import Server
    from tensorloom.elastic.plan import Plan
    from tensorloom.framework.graph.graph import Graph
    from tensorloom.framework.graph.graph_ir import GraphIR


class PlacedSession(BriefSession):
    """Runs a graph whose shards are at the servers of a plan.

    Args:
      server: the task whose master runs it.
      graph: the program's.
      config: a `tf.ConfigProto`; its filters get the servers of the plan.
      plan: who has which shard.
      own: the container of what is this worker's own.
    """

    def __init__(
        self, server: Server, graph: Graph, config: Any, plan: Plan, own: str
    ) -> None:
        self._placement = Placement(plan.homes, own)
        tell_of_servers(server, plan.addresses)
        config = filtered(config, task_of(server), plan.addresses)
        super().__init__(server.target, graph=graph, config=config)

    def _placed(self, graph: GraphIR) -> GraphIR:
        return self._placement.place(graph)


def tell_of_servers(server: Server, addresses: Mapping[int, str]) -> None:
    """Has a task and parameter servers know where the others are now.

    A task that was started again may be at another address than in its last life.

    Args:
      server: the task.
      addresses: of the servers, by index.

    Raises:
      errors.UnavailableError: a server does not answer.
    """
    own = server.server_def
    tasks = {JOB: dict(addresses)}
    server.update_cluster(tasks)
    tasks = {**tasks, own.job_name: {own.task_index: server.address}}
    for address in addresses.values():
        control.update_server(address, tasks)


def task_of(server: Server) -> str:
    """A task's name."""
    task = server.server_def
    return f"/job:{task.job_name}/task:{task.task_index}"


def filtered(
    config: Any, own_task: str, servers: Collection[int], others: Collection[str] = ()
) -> Any:
    """A config that lets through these tasks, and those that the program names.

    Args:
      config: a `tf.ConfigProto`, or None.
      own_task: of the worker.
      servers: the servers to be let through, and no others.
      others: further tasks.
    """
    made = ConfigProto()
    if config is not None:
        made.CopyFrom(config)
    named = [
        one for one in made.device_filters if DeviceSpec.from_string(one).job != JOB
    ]
    wanted = [own_task, *others, *(f"/job:{JOB}/task:{i}" for i in sorted(servers))]
    del made.device_filters[:]
    made.device_filters.extend(dict.fromkeys([*named, *wanted]))
    return made
