"""What a worker holds and waits for, as data: for people who look at a cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.framework.runtime.rendezvous_key import parse_rendezvous_key

if TYPE_CHECKING:
    from tensorloom.worker.run.worker import Worker


def worker_state(worker: Worker) -> dict[str, Any]:
    """A worker's waits and resources now. Reads only, and holds up no step."""
    variables: list[dict[str, Any]] = []
    queues: list[dict[str, Any]] = []
    for resource in worker.resources():
        facts = resource.facts()
        if facts is None:
            continue
        entry = {"name": resource.name, "container": resource.container, **facts}
        (variables if "bytes" in facts else queues).append(entry)
    return {
        "variables": sorted(variables, key=lambda v: -v["bytes"]),
        "queues": queues,
        "waits": [
            {"step": step, **_wait(key)}
            for step, keys in worker.waited_keys().items()
            for key in keys
        ],
    }


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
