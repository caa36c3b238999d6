"""Clusters in the test's own process: every task a server at a free port."""

from __future__ import annotations

import itertools
import random
import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import Any

import pytest

import tensorloom as tf
from tensorloom.cluster import remote
from tensorloom.transport.negotiated import TRANSPORT_VARIABLE

PS, PS1 = "/job:ps/task:0", "/job:ps/task:1"
WORKER, OTHER = "/job:worker/task:0", "/job:worker/task:1"


# Below those that a system gives to who asks for any port: what is free stays free
# until a server listens there, however many others are opened meanwhile. Processes that
# test side by side begin somewhere else.
_PORTS = range(16_384, 32_768)
_next_port = itertools.count(random.SystemRandom().randrange(len(_PORTS)))


def free_ports(count: int, address: str = "127.0.0.1") -> list[int]:
    """Ports of loopback that nobody listens at."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    found: list[int] = []
    while len(found) < count:
        port = _PORTS[next(_next_port) % len(_PORTS)]
        with socket.socket(family) as listener, suppress(OSError):
            listener.bind((address, port))
            found.append(port)
    return found


@contextmanager
def cluster(**jobs: int) -> Iterator[dict[str, list[tf.train.Server]]]:
    """Servers by job; `cluster(ps=1, worker=2)`."""
    with cluster_at("localhost", "127.0.0.1", **jobs) as servers:
        yield servers


@contextmanager
def cluster_at(
    host: str, address: str, **jobs: int
) -> Iterator[dict[str, list[tf.train.Server]]]:
    """The same at a host, whose address is given too: `"[::1]", "::1"`."""
    ports = iter(free_ports(sum(jobs.values()), address))
    spec = {
        job: [f"{host}:{next(ports)}" for _ in range(count)]
        for job, count in jobs.items()
    }
    with ExitStack() as stack:
        servers: dict[str, list[tf.train.Server]] = {}
        for job, count in jobs.items():
            for index in range(count):
                server = tf.train.Server(spec, job_name=job, task_index=index)
                stack.callback(server.stop)
                servers.setdefault(job, []).append(server)
        yield servers


@contextmanager
def cluster_over(
    transport: str, **jobs: int
) -> Iterator[dict[str, list[tf.train.Server]]]:
    """The same, held to a transport: "grpc", or "sockets", which tasks here prefer."""
    with pytest.MonkeyPatch.context() as patch:
        if transport == "grpc":
            patch.setenv(TRANSPORT_VARIABLE, "grpc")
        with cluster(**jobs) as servers:
            yield servers


def over_the_network(patch: pytest.MonkeyPatch) -> None:
    """Sessions speak to servers of this process as to those of another."""
    patch.setattr(remote, "running_at", lambda target: None)


def assert_not_made(target: str, *told: str, **config: Any) -> None:
    """That no session of a configuration can be made, and that the error says why.

    A busy machine needs longer to find out why.
    """
    for limit_ms in (300, 3000, 30_000):
        limited = tf.ConfigProto(operation_timeout_in_ms=limit_ms, **config)
        with (
            tf.Session(target, config=limited) as sess,
            pytest.raises(tf.errors.UnavailableError) as caught,
        ):
            sess.run(tf.constant(2))
        if all(part in caught.value.message for part in told):
            return
    raise AssertionError(caught.value.message)
