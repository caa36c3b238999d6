"""Makes a group of processes: finds the others, and starts what serves the group."""

from __future__ import annotations

import logging
import os
import secrets
import threading
from datetime import timedelta
from multiprocessing.connection import Client, Connection, Listener
from typing import TYPE_CHECKING, Any, Final

from tensorloom.framework import errors
from tensorloom.framework.collective.process_group import ADASUM, Pending, Request
from tensorloom.transport.collectives.coordinator import Coordinator
from tensorloom.transport.collectives.data_ring import DataRing
from tensorloom.transport.collectives.engine import Engine
from tensorloom.transport.collectives.store import distributed

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tensorloom.transport.collectives.place import Place

_logger: Final = logging.getLogger("tensorloom")
# Horovod's variables, and what holds without them.
_FUSION_BYTES: Final = ("HOROVOD_FUSION_THRESHOLD", 64 * 1024 * 1024)
_STALLED_S: Final = ("HOROVOD_STALL_CHECK_TIME_SECONDS", 60)
_TIMEOUT_S: Final = ("HOROVOD_GLOO_TIMEOUT_SECONDS", 300)


class LoneGroup:
    """A group of this process alone: each value is the result."""

    rank, size, local_rank, local_size = 0, 1, 0, 1

    def submit(self, request: Request) -> Pending:
        """The value, at once."""
        pending = Pending()
        if request.kind == "broadcast" and request.root != 0:
            text = f"The root rank of '{request.name}' is {request.root}, of 1 process"
            pending.fail(errors.FailedPreconditionError(None, None, text))
        else:
            pending.resolve(request.value)
        return pending

    def close(self) -> None:
        """There is nothing to leave."""


class Group:
    """A group of several processes."""

    def __init__(self, place: Place, environment: Mapping[str, str]) -> None:
        """Joins the group; returns when all processes have.

        Args:
          place: this process's, and where the others meet.
          environment: for Horovod's variables.

        Raises:
          errors.DeadlineExceededError: the others did not come in time.
        """
        self.rank, self.size = place.rank, place.size
        self.local_rank, self.local_size = place.local_rank, place.local_size
        timeout_s = _number(environment, *_TIMEOUT_S)
        try:
            self._store = distributed.TCPStore(
                place.host,
                place.port,
                place.size,
                place.hosts_store and place.rank == 0,
                timeout=timedelta(seconds=timeout_s),
            )
            ring = DataRing(
                self._store, place.rank, place.size, place.own_host, timeout_s
            )
            self._coordinating: threading.Thread | None = None
            control = self._control(place, environment)
        except RuntimeError as e:
            raise errors.DeadlineExceededError(
                None,
                None,
                f"The {place.size} processes of the group did not meet at "
                f"{place.host}:{place.port}: {e}",
            ) from e
        self._engine = Engine(control, ring, place.rank)

    def submit(self, request: Request) -> Pending:
        """Takes part in a collective; never waits for the others."""
        if request.reduction == ADASUM and self.size & (self.size - 1):
            pending = Pending()
            text = f"Adasum takes a power of two processes, there are {self.size}"
            pending.fail(errors.InvalidArgumentError(None, None, text))
            return pending
        return self._engine.submit(request)

    def close(self) -> None:
        """Leaves the group; what is pending fails, here and elsewhere."""
        self._engine.close()
        if self._coordinating is not None:
            self._coordinating.join(timeout=30)

    def _control(self, place: Place, environment: Mapping[str, str]) -> Connection:
        """The connection to the coordinator; process 0 starts it."""
        if place.rank:
            key = self._store.get("key")
            host, port = self._store.get("control").decode().rsplit(":", 1)
            control = Client((host, int(port)), authkey=key)
            control.send_bytes(str(place.rank).encode())
            return control
        key = secrets.token_hex(32)
        listener = Listener(
            (place.own_host, 0), authkey=key.encode(), backlog=place.size
        )
        host, port = listener.address[:2]
        self._store.set("key", key)
        self._store.set("control", f"{host}:{port}")
        by_rank: dict[int, Connection] = {}
        accepting = threading.Thread(
            target=_accept, args=(listener, by_rank, place.size), daemon=True
        )
        accepting.start()
        own = Client((host, port), authkey=key.encode())
        own.send_bytes(b"0")
        accepting.join(timeout=_number(environment, *_TIMEOUT_S))
        if len(by_rank) < place.size:
            missing = sorted(set(range(place.size)) - by_rank.keys())
            raise RuntimeError(f"ranks {missing} did not come")
        coordinator = Coordinator(
            [by_rank[rank] for rank in range(place.size)],
            int(_number(environment, *_FUSION_BYTES)),
            _number(environment, *_STALLED_S),
            _logger.warning,
        )
        self._coordinating = threading.Thread(
            target=coordinator.run, name="collectives-coordinate", daemon=True
        )
        self._coordinating.start()
        return own


def _accept(listener: Any, by_rank: dict[int, Connection], size: int) -> None:
    with listener:
        while len(by_rank) < size:
            accepted = listener.accept()
            by_rank[int(accepted.recv_bytes(16))] = accepted


def _number(environment: Mapping[str, str], name: str, default: float) -> float:
    text = environment.get(name, "")
    try:
        return float(text) if text else default
    except ValueError:
        raise errors.InvalidArgumentError(
            None, None, f"{name} must be a number, is {text!r}"
        ) from None


def join(place: Place) -> Group | LoneGroup:
    """This process's group; it waits for the others to join."""
    return Group(place, os.environ) if place.size > 1 else LoneGroup()
