"""A lock service of the virtual network, and a process's connection to it."""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from tensorloom.coordination.store import Lease, Store
from tensorloom.framework import errors
from tensorloom.simulate.calls import Listener, SimChannel
from tensorloom.transport.wire.methods import Method

if TYPE_CHECKING:
    from tensorloom.simulate.simulation import Simulation

ADDRESS: Final = "locks0:2379"


@cache
def _method() -> Method:
    from google.protobuf import wrappers_pb2

    return Method(
        "tensorloom.SimulatedLocks",
        "Ask",
        wrappers_pb2.StringValue,
        wrappers_pb2.StringValue,
    )


@dataclass
class _Record:
    value: bytes
    ends: float  # of the virtual clock


@dataclass
class LockServiceState:
    """What the service keeps on its disk: it outlives the process."""

    records: dict[str, _Record] = field(default_factory=dict)
    tokens: dict[str, int] = field(default_factory=dict)
    kept: dict[str, bytes] = field(default_factory=dict)


class LockService:
    """The service, in the process that makes it: atomic operations, leases, tokens.

    Args:
      simulation: with the network.
      state: what earlier lives of it have kept.
      is_quick: whether its answers are made without a strand; other strands go first
        then where they would not, so that a seed is another run.
    """

    def __init__(
        self, simulation: Simulation, state: LockServiceState, is_quick: bool = False
    ) -> None:
        self._simulation = simulation
        self._state = state
        process = simulation.scheduler.here.process
        handlers = {_method(): self._answer}
        simulation.network.listeners[ADDRESS] = Listener(process, handlers, is_quick)

    def _answer(self, request: Any, call: Any) -> Any:
        name, arguments = json.loads(request.value)
        return _method().response(
            value=json.dumps(getattr(self, f"_{name}")(*arguments))
        )

    def _living(self, key: str) -> _Record | None:
        record = self._state.records.get(key)
        lives = record is not None and record.ends > self._simulation.now
        return record if lives else None

    def _create(self, key: str, value: str, fenced: bool, lease_s: float) -> int | None:
        if self._living(key) is not None:
            return None
        token = 0
        if fenced:
            token = self._state.tokens[key] = self._state.tokens.get(key, 0) + 1
        ends = self._simulation.now + lease_s
        self._state.records[key] = _Record(b64decode(value), ends)
        return token

    def _renew(self, key: str, value: str, lease_s: float) -> bool:
        record = self._living(key)
        if record is None or record.value != b64decode(value):
            return False
        record.ends = self._simulation.now + lease_s
        return True

    def _remove(self, key: str, value: str) -> bool:
        record = self._living(key)
        if record is None or record.value != b64decode(value):
            return False
        del self._state.records[key]
        return True

    def _read(self, key: str) -> str | None:
        record = self._living(key)
        return None if record is None else _text(record.value)

    def _list(self, folder: str) -> dict[str, str]:
        found = {}
        for key in sorted(self._state.records):
            record = self._living(key)
            if record is not None and key.startswith(folder + "/"):
                found[key.removeprefix(folder + "/")] = _text(record.value)
        return found

    def _is_newest(self, key: str, token: int) -> bool:
        return self._state.tokens.get(key, 0) == token

    def _keep(self, name: str, value: str, key: str, token: int) -> bool:
        if not self._is_newest(key, token):
            return False
        self._state.kept[name] = b64decode(value)
        return True

    def _kept(self, name: str) -> str | None:
        value = self._state.kept.get(name)
        return None if value is None else _text(value)


class SimStore(Store):
    """A process's way to the service.

    Args:
      simulation: with the network.
      lease_s: how long its records last that are not renewed.
    """

    name = f"simulated://{ADDRESS}"

    def __init__(self, simulation: Simulation, lease_s: float) -> None:
        self.lease_s = lease_s
        self._channel = SimChannel(simulation.network, ADDRESS)

    def _ask(self, name: str, *arguments: Any) -> Any:
        request = _method().request(value=json.dumps([name, arguments]))
        try:
            answer = self._channel.call(_method(), request, self.lease_s)
        except (errors.UnavailableError, errors.DeadlineExceededError) as error:
            raise errors.UnavailableError(
                None,
                None,
                f"The lock service {self.name} cannot be asked: {error.message}",
            ) from error
        return json.loads(answer.value)

    def create(self, key: str, value: bytes, fenced: bool) -> Lease | None:
        """See `Store`."""
        token = self._ask("create", key, _text(value), fenced, self.lease_s)
        return None if token is None else Lease(key, value, token)

    def renew(self, lease: Lease) -> bool:
        """See `Store`."""
        return bool(self._ask("renew", lease.key, _text(lease.value), self.lease_s))

    def remove(self, lease: Lease) -> bool:
        """See `Store`."""
        return bool(self._ask("remove", lease.key, _text(lease.value)))

    def read(self, key: str) -> bytes | None:
        """See `Store`."""
        return _bytes(self._ask("read", key))

    def list(self, folder: str) -> dict[str, bytes]:
        """See `Store`."""
        found = self._ask("list", folder)
        return {name: b64decode(value) for name, value in found.items()}

    def is_newest(self, lease: Lease) -> bool:
        """See `Store`."""
        return bool(self._ask("is_newest", lease.key, lease.token))

    def keep(self, key: str, value: bytes, lease: Lease) -> bool:
        """See `Store`."""
        return bool(self._ask("keep", key, _text(value), lease.key, lease.token))

    def kept(self, key: str) -> bytes | None:
        """See `Store`."""
        return _bytes(self._ask("kept", key))

    def close(self) -> None:
        """See `Store`."""
        self._channel.close()


def _text(value: bytes) -> str:
    return b64encode(value).decode()


def _bytes(text: str | None) -> bytes | None:
    return None if text is None else b64decode(text)
