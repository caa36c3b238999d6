"""Variables, and other values, that all processes begin with alike."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from typing import Any

import numpy as np

from tensorloom.client.session.session import Session
from tensorloom.client.variables.variable_lists import global_variables
from tensorloom.framework.collective import process_group
from tensorloom.framework.graph.dataflow_graph import Graph
from tensorloom.framework.graph.default_graph import get_default_graph
from tensorloom.framework.runtime.scopes import device
from tensorloom.hvd.reductions import broadcast
from tensorloom.ops.control_flow.builders import group
from tensorloom.train.hooks.session_run_hook import SessionRunHook


def broadcast_variables(variables: Sequence[Any], root_rank: int) -> Any:
    """An operation that gives all processes the values of `root_rank`.

    Args:
      variables: the same in all processes.
      root_rank: whose values they get.
    """
    return group(*(v.assign(broadcast(v, root_rank)) for v in variables))


def broadcast_global_variables(root_rank: int) -> Any:
    """An operation that gives all processes `root_rank`'s global variables."""
    return broadcast_variables(global_variables(), root_rank)


class BroadcastGlobalVariablesHook(SessionRunHook):
    """Gives all processes `root_rank`'s variables when the session begins.

    So training starts alike everywhere, from random values or from a checkpoint that
    the root alone has restored.
    """

    def __init__(self, root_rank: int, device: str = "") -> None:
        """Makes the hook.

        Args:
          root_rank: whose values are given.
          device: where it runs.
        """
        self.root_rank = root_rank
        self.bcast_op: Any = None
        self.device = device

    def begin(self) -> None:
        """Makes the operation, in each new graph."""
        if self.bcast_op is None or self.bcast_op.graph is not get_default_graph():
            with device(self.device):
                self.bcast_op = broadcast_global_variables(self.root_rank)

    def after_create_session(self, session: Any, coord: Any) -> None:
        """Runs the operation."""
        session.run(self.bcast_op)


def broadcast_object(
    obj: Any = None,
    root_rank: int = 0,
    session: Any = None,
    name: str | None = None,
) -> Any:
    """A Python object of process `root_rank`, in all processes.

    It travels as a pickle: only for groups whose processes trust each other.

    Args:
      obj: what the root gives; the others' is not looked at.
      root_rank: who gives it.
      session: a session to run in; by default one of its own.
      name: by which the processes meet; by default the object's class.
    """
    name = name or type(obj).__name__
    is_root = process_group.current().rank == root_rank
    data = np.frombuffer(pickle.dumps(obj) if is_root else b"", np.uint8)
    graph = Graph() if session is None else session.graph
    with graph.as_default():
        length = broadcast(np.int64(len(data)), root_rank, name=f"{name}_sz")
        count = _run(session, graph, length)
        given = data if is_root else np.zeros(count, np.uint8)
        found = _run(session, graph, broadcast(given, root_rank, name=f"{name}_obj"))
    return obj if is_root else pickle.loads(found.tobytes())


def _run(session: Any, graph: Graph, fetch: Any) -> Any:
    if session is not None:
        return session.run(fetch)
    with Session(graph=graph) as own:
        return own.run(fetch)
