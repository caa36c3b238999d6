"""How one member of a collective sends pieces to the others, and gets theirs.

Pieces meet in the rendezvous of the step: our own tasks exchange them as they do other
tensors, TensorFlow's ask for them by `RecvBuf`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from tensorloom.framework import errors
from tensorloom.framework.devices.device_name import task_of
from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.runtime import concurrency
from tensorloom.framework.runtime.rendezvous_key import rendezvous_key
from tensorloom.transport.peers.liveness import task_timeout_s
from tensorloom.worker.run.runtime import received_host

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tensorloom.framework.runtime.cancellation import CancellationManager
    from tensorloom.worker.collective.groups import Group
    from tensorloom.worker.collective.waits import Wait
    from tensorloom.worker.run.step_table import StepRendezvous

# Called once with (response, None) or (None, error).
Done = Callable[[Any, "errors.OpError | None"], None]


class CollectivePeers(Protocol):
    """The other tasks of the cluster, as collectives need them."""

    def start_call(
        self, task: str, name: str, fields: dict[str, Any], done: Done
    ) -> Callable[[], None]:
        """Calls a method of a task's WorkerService; returns what gives the call up."""
        ...

    def is_tensorloom(self, task: str) -> bool:
        """Whether a task runs this system; it is asked if nobody knows.

        Raises:
          errors.UnavailableError: it does not answer.
        """
        ...

    def incarnation_of(self, device: str) -> int:
        """The incarnation of another task's device, as it was told last.

        Raises:
          errors.UnavailableError: the task does not answer, or has no such device.
        """
        ...

    def ask(self, task: str) -> None:
        """Asks a task who it is now, for the two above.

        Raises:
          errors.UnavailableError: it does not answer.
        """
        ...

    @property
    def wait_s(self) -> float:
        """How long to wait for a task that is not there yet."""
        ...


class Exchange:
    """The pieces that one member sends and gets in one collective."""

    def __init__(
        self,
        rendezvous: StepRendezvous,
        peers: CollectivePeers,
        group: Group,
        device: str,
        incarnations: dict[str, int],
        key: str,
        cancellation: CancellationManager,
        wait: Wait,
    ) -> None:
        """Makes it.

        Args:
          rendezvous: of the step.
          peers: the other tasks.
          group: the members.
          device: this member's.
          incarnations: of all members' devices.
          key: what tells the collective from others of the step, and its rounds.
          cancellation: of the step.
          wait: is told which member is waited for.
        """
        self.devices: Sequence[str] = group.devices
        self.rank = self.devices.index(device)
        self._rendezvous = rendezvous
        self._peers = peers
        self._device = device
        self._incarnations = incarnations
        self._key = key
        self._cancellation = cancellation
        self._wait = wait
        self._sent: dict[str, str] = {}  # to which device, by key

    @property
    def size(self) -> int:
        """How many members there are."""
        return len(self.devices)

    def _name(self, source: int, target: int, part: str) -> str:
        device, receiver = self.devices[source], self.devices[target]
        piece = self._piece(part)
        if self._is_ours(device) and self._is_ours(receiver):
            # A member that was restarted takes no piece that was for its last life.
            piece = f"{piece}@{self._incarnations[receiver]}"
        return rendezvous_key(device, self._incarnations[device], receiver, piece)

    def _is_ours(self, device: str) -> bool:
        task = task_of(device)
        return task == task_of(self._device) or self._peers.is_tensorloom(task)

    def _piece(self, part: str) -> str:
        return f"{self._key}:{part}"

    def send(self, rank: int, part: str, value: NDArray[Any]) -> None:
        """Sends a piece to a member; nobody may change it any more."""
        name = self._name(self.rank, rank, part)
        self._sent[name] = self.devices[rank]
        self._rendezvous.send(name, value)

    def expect(
        self, rank: int, pieces: Sequence[tuple[str, int]], dtype: np.dtype[Any]
    ) -> None:
        """Asks a member for pieces that `recv` takes later.

        Args:
          rank: whose.
          pieces: the part, and the number of elements, of each.
          dtype: of the elements.
        """
        task = task_of(self.devices[rank])
        if task == task_of(self._device):
            return
        if self._peers.is_tensorloom(task):
            names = [self._name(rank, self.rank, part) for part, _ in pieces]
            if not self._rendezvous.pushes:
                self._rendezvous.pull(names)
            return
        for part, count in pieces:
            self._rendezvous.pull_by(
                self._name(rank, self.rank, part),
                self._asking(rank, part, count, dtype),
            )

    def _asking(
        self, rank: int, part: str, count: int, dtype: np.dtype[Any]
    ) -> Callable[[Done], Callable[[], None]]:
        """What asks a task of TensorFlow for a piece."""
        device = self.devices[rank]
        fields = {
            "step_id": self._rendezvous.step_id,
            "buf_rendezvous_key": self._piece(part),
            "num_bytes": count * dtype.itemsize,
            "src_device": device,
            "src_incarnation": self._incarnations[device] & 0xFFFFFFFFFFFFFFFF,
            "dst_device": self._device,
        }

        def ask(take: Done) -> Callable[[], None]:
            def done(response: Any, error: errors.OpError | None) -> None:
                if error is not None:
                    take(None, error)
                else:
                    take(_bytes_of(response, dtype), None)

            return self._peers.start_call(task_of(device), "RecvBuf", fields, done)

        return ask

    def recv(
        self, rank: int, part: str, count: int, dtype: np.dtype[Any]
    ) -> NDArray[Any]:
        """Waits for a member's piece.

        Raises:
          errors.InvalidArgumentError: it has another dtype or number of elements.
          errors.OpError: it cannot come.
        """
        name = self._name(rank, self.rank, part)
        self._wait.device = self.devices[rank]
        value = received_host(self._rendezvous.recv(name, self._cancellation))
        found = np.asarray(value)
        if found.dtype != dtype or found.size != count:
            raise invalid_argument(
                f"Shape mismatch in the collective {self._key}: {self._device} expects "
                f"{count} values of {dtype}, but {self.devices[rank]} sent "
                f"{found.size} of {found.dtype}"
            )
        return found.reshape(-1)

    def finish(self) -> None:
        """Waits until the others have taken what was sent: the step may end then.

        Raises:
          errors.UnavailableError: who has not taken a piece is gone.
          errors.OpError: the step was cancelled, or has failed elsewhere.
        """
        left = dict(self._sent)
        changed = concurrency.Event()
        lock = concurrency.Lock()

        def taken(name: str) -> None:
            with lock:
                left.pop(name, None)
                if not left:
                    changed.set()

        for name in list(left):
            self._rendezvous.when_taken(name, lambda n=name: taken(n))  # type: ignore[misc]
        if changed.is_set() or not left:
            return
        token = self._cancellation.register(changed.set)
        try:
            period_s = max(task_timeout_s() / 2, 1.0)
            while token is not None and not changed.wait(period_s):
                with lock:
                    devices = dict.fromkeys(left.values())  # in order
                self._check_are_there(devices)
        finally:
            if token is not None:
                self._cancellation.deregister(token)
        self._cancellation.check()

    def _check_are_there(self, devices: Iterable[str]) -> None:
        for device in devices:
            task = task_of(device)
            if task == task_of(self._device):
                continue
            self._peers.ask(task)
            if self._peers.incarnation_of(device) != self._incarnations[device]:
                raise errors.UnavailableError(
                    None, None, f"{task} was restarted during the step"
                )


def _bytes_of(response: Any, dtype: np.dtype[Any]) -> NDArray[Any]:
    """The values of a `RecvBufResponse`."""
    from tensorloom.protos.transport_options_pb2 import RecvBufRespExtra

    extra = RecvBufRespExtra()
    response.transport_options.Unpack(extra)
    content = b"".join(extra.tensor_content)
    if len(content) % dtype.itemsize:
        return np.frombuffer(content, np.uint8)
    return np.frombuffer(content, dtype)
