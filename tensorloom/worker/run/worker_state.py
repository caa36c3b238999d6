"""What a worker holds and waits for, as data: for people who look at a cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.framework.runtime import concurrency
from tensorloom.framework.runtime.rendezvous_key import parse_rendezvous_key
from tensorloom.framework.runtime.resource import Variable
from tensorloom.worker.run.running_nodes import Running, running_nodes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tensorloom.worker.run.worker import Worker


def worker_state(worker: Worker) -> dict[str, Any]:
    """A worker's waits and resources now. Reads only, and holds up no step."""
    variables: list[dict[str, Any]] = []
    queues: list[dict[str, Any]] = []
    locks: list[dict[str, Any]] = []
    held: list[Variable] = []
    for resource in worker.resources():
        facts = resource.facts()
        if facts is None:
            continue
        entry = {"name": resource.name, "container": resource.container, **facts}
        if isinstance(resource, Variable):
            variables.append(entry)
            if facts["locked"]:
                held.append(resource)
        elif facts["kind"] == "mutex":
            if facts["holder"] or facts["waiting"]:
                locks.append(entry)
        else:
            queues.append(entry)
    users = _Users(worker)
    for lock in locks:
        for user in (lock["holder"], *lock["waiting"]):
            if user is not None:
                user["session"] = users.session_of_step(user["step"])
    return {
        "variables": sorted(variables, key=lambda v: -v["bytes"]),
        "queues": queues,
        "locks": [*locks, *users.variable_locks(held)],
        "waits": [
            {"step": step, **_wait(key)}
            for step, keys in worker.waited_keys().items()
            for key in keys
        ],
    }


class _Users:
    """Finds the steps and sessions of those who hold locks and wait for them."""

    def __init__(self, worker: Worker) -> None:
        self._sessions = worker.sessions()
        self._by_step = {
            step.step_id: handle
            for handle, session in self._sessions.items()
            for step in session.running
        }
        self._by_resources = {
            id(session.resources): handle for handle, session in self._sessions.items()
        }

    def session_of_step(self, step: int) -> str:
        """The session of a step that runs; "" if it does not."""
        return self._by_step.get(step, "")

    def variable_locks(self, held: Sequence[Variable]) -> list[dict[str, Any]]:
        """The locks of some variables: holder and waiters, as far as it has any.

        An optimizer's slot changes under its variable's lock: it is of both.
        """
        watched = [
            (v, guard, guard.holder(), guard.waiting())
            for v in held
            if isinstance(guard := v.guard, concurrency.WatchedLock)
        ]
        threads = {t for _, _, holder, waiting in watched for t in (holder, *waiting)}
        running = running_nodes(threads)
        now = concurrency.monotonic()
        return [
            {
                "name": variable.name,
                "container": variable.container,
                "kind": "variable",
                "holder": self._user(running.get(holder)),
                "waiting": [
                    {**self._user(running.get(thread)), "for_s": now - since}
                    for thread, since in waiting.items()
                ],
            }
            for variable, guard, holder, waiting in watched
            if holder and guard.holder() == holder  # it is the same since
        ]

    def _user(self, running: Running | None) -> dict[str, Any]:
        if running is None:
            return {"node": "", "step": 0, "session": ""}
        session = self._by_resources.get(id(running.resources), "")
        return {"node": running.node, "step": running.step, "session": session}


def _wait(key: str) -> dict[str, Any]:
    source, _, target, tensor, place = parse_rendezvous_key(key)
    frame, _, iteration = place.partition(":")
    return {
        "key": key,
        "tensor": tensor,
        "from": source,
        "to": target,
        "frame": frame,
        "iteration": iteration,
    }
