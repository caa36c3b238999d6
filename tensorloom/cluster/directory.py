"""The workers of a cluster, as one task's master and worker reach them."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing, suppress
from typing import TYPE_CHECKING, Any, Final

from tensorloom.cluster import diagnosis
from tensorloom.framework import errors
from tensorloom.framework.devices import device_name
from tensorloom.framework.runtime import concurrency, threads
from tensorloom.master.run.remote_worker import RemoteWorker
from tensorloom.train.cluster_spec import ClusterSpec
from tensorloom.transport.peers import host_port
from tensorloom.transport.peers.liveness import task_timeout_s
from tensorloom.transport.sockets.connection import NotConnected
from tensorloom.transport.wire import status, tensors
from tensorloom.transport.wire.methods import worker_methods
from tensorloom.transport.wire.request_ids import new_request_id

if TYPE_CHECKING:
    from tensorloom.framework.interfaces import WorkerInterface
    from tensorloom.framework.runtime.session_config import SessionConfig
    from tensorloom.transport.interface import Channel
    from tensorloom.transport.sockets.channel import SocketChannel
    from tensorloom.transport.tensor_subscriber import TensorDone
    from tensorloom.transport.wire.value_methods import Sent
    from tensorloom.worker.collective.task_collectives import TaskCollectives
    from tensorloom.worker.run.worker import Worker

# A task that does not answer is asked again after this.
_PROBE_S: Final = 2.0

#: How long a new session waits for the tasks of its cluster, in seconds.
WAIT_VARIABLE: Final = "TENSORLOOM_WAIT_FOR_TASKS_S"
_DEFAULT_WAIT_S: Final = 600.0


def wait_limit_s() -> float:
    """How long sessions wait for tasks that do not answer.

    Raises:
      ValueError: the environment variable is no number.
    """
    return float(os.environ.get(WAIT_VARIABLE, _DEFAULT_WAIT_S))


# Makes a channel to an address.
Connect = Callable[[str], "Channel"]


class ClusterDirectory:
    """Who is in the cluster. Implements `WorkerDirectory` and the worker's `Peers`."""

    def __init__(
        self,
        own_task: str,
        addresses: Mapping[str, str],
        connect: Connect,
        wait_s: float,
        is_open: bool = True,
    ) -> None:
        """Makes a directory.

        Args:
          own_task: the task that looks.
          addresses: of all tasks, by task name.
          connect: makes channels; the first call to a task uses it.
          wait_s: how long a new session waits for tasks that do not answer.
          is_open: whether sessions may bring tasks that are not known.
        """
        self._own_task = own_task
        self._addresses = dict(addresses)
        self._is_open = is_open
        # Tasks that sessions have brought: others do not have to do with them.
        self._guests: set[str] = set()
        self._connect = connect
        self._wait_s = wait_s
        self._lock = concurrency.Lock()
        self._remote: dict[str, RemoteWorker] = {}
        self._own: Worker | None = None

    def set_own_worker(self, worker: Worker) -> None:
        """Takes the worker of this task, which knows the directory as its peers."""
        self._own = worker

    def close(self) -> None:
        """Closes the channels."""
        with self._lock:
            workers = list(self._remote.values())
            self._remote.clear()
        for worker in workers:
            worker.channel.close()

    # --- for the master --------------------------------------------------------------

    def for_session(self, config: SessionConfig) -> Sequence[WorkerInterface]:
        """This task's worker and those that the device filters let through.

        Raises:
          errors.UnavailableError: some did not answer in time; the message says what
            was found at each one's address.
          errors.InvalidArgumentError, errors.PermissionDeniedError: the cluster that
            the client makes cannot be had.
        """
        wanted = [
            task
            for task in sorted(self._cluster_of(config).addresses())
            if task != self._own_task and passes_filters(task, config)
        ]
        workers = [self._worker(task) for task in wanted]
        limit = config.operation_timeout_s or self._wait_s
        self._wait_for(workers, limit, bool(config.device_filters))
        assert self._own is not None
        return [self._own, *workers]

    def _cluster_of(self, config: SessionConfig) -> ClusterSpec:
        """The tasks of a session: those of a cluster that its client makes, or ours."""
        if config.cluster_def is None:
            return self.cluster()
        cluster = ClusterSpec(config.cluster_def)
        tasks = cluster.addresses()
        if self._own_task not in tasks:
            raise errors.InvalidArgumentError(
                None,
                None,
                f"This server is {self._own_task}, which is not in the session's "
                f"cluster_def: {cluster}. Start it with that name.",
            )
        self.learn(cluster)
        strangers = sorted(tasks.keys() - self._addresses.keys())
        if strangers:
            raise self._stranger(strangers[0])
        return cluster

    def calls_otherwise(self, config: SessionConfig) -> bool:
        """Whether a client's cluster has other names for tasks than they have.

        Tasks that are not known are asked, if the directory is open: else nothing
        connects to where a client says. One that does not answer in time counts as
        called by its name.
        """
        cluster = ClusterSpec(config.cluster_def)
        asked: dict[str, str] = {}
        with self._lock:
            names = {address: task for task, address in self._addresses.items()}
            for task, address in cluster.addresses().items():
                if task == self._own_task or not passes_filters(task, config):
                    continue
                if names.get(address, task) != task:
                    return True
                known = self._addresses.get(task)
                if known is None:
                    if self._is_open:
                        asked[task] = address
                elif known != address:
                    return True
        deadline = concurrency.monotonic() + (
            config.operation_timeout_s or self._wait_s
        )
        return any(
            _name_at(self._connect(address), deadline) not in (task, None)
            for task, address in asked.items()
        )

    def learn(self, cluster: ClusterSpec) -> None:
        """Takes tasks that are not known yet, if the directory is open.

        A step fails when it comes to one that was not taken; others go on.

        Raises:
          errors.InvalidArgumentError: one is known at another address, or one's address
            is no `host:port`.
        """
        for address in cluster.addresses().values():
            host_port.parse(address)
        with self._lock:
            for task, address in cluster.addresses().items():
                known = self._addresses.get(task)
                if known is None:
                    if self._is_open:
                        self._addresses[task] = address
                        self._guests.add(task)
                elif known != address and task != self._own_task:
                    raise errors.InvalidArgumentError(
                        None,
                        None,
                        f"{self._own_task} is of another cluster, in which {task} is "
                        f"at {known} and not at {address}",
                    )

    def _stranger(self, task: str) -> errors.OpError:
        if self._is_open:
            return errors.InvalidArgumentError(
                None, None, f"{task} is not in the cluster of {self._own_task}"
            )
        return errors.PermissionDeniedError(
            None,
            None,
            f"{self._own_task} connects only to the tasks that it was started with, "
            f"as it does not run all ops for its clients; {task} is not one of them",
        )

    def update(self, cluster: ClusterSpec) -> None:
        """Takes tasks that joined or moved; an empty address takes one out.

        Raises:
          errors.InvalidArgumentError: an address is no `host:port`.
        """
        gone = []
        for address in filter(None, cluster.addresses().values()):
            host_port.parse(address)
        with self._lock:
            for task, address in cluster.addresses().items():
                if task == self._own_task:
                    continue
                self._guests.discard(task)
                if self._addresses.get(task) == address:
                    continue
                if address:
                    self._addresses[task] = address
                else:
                    self._addresses.pop(task, None)
                gone.append(self._remote.pop(task, None))
        for worker in gone:
            if worker is not None:
                worker.channel.close()

    def _origin(self) -> tuple[str, int]:
        """This task, and its incarnation."""
        assert self._own is not None
        return self._own_task, self._own.devices()[0].incarnation

    def _cluster_def(self, config: SessionConfig) -> Any:
        if config.cluster_def is not None:
            return config.cluster_def
        return self.cluster().as_cluster_def()

    def cluster(self) -> ClusterSpec:
        """The tasks as they are known now, without those of single sessions."""
        jobs: dict[str, dict[int, str]] = {}
        with self._lock:
            for task, address in self._addresses.items():
                if task in self._guests:
                    continue
                name = device_name.parse(task)
                assert name.job is not None
                assert name.task is not None
                jobs.setdefault(name.job, {})[name.task] = address
        return ClusterSpec(jobs)

    def known(self) -> Sequence[WorkerInterface]:
        """This task's worker and those that have answered before."""
        assert self._own is not None
        with self._lock:
            answered = [w for w in self._remote.values() if w.devices()]
        return [self._own, *answered]

    def _worker(self, task: str) -> RemoteWorker:
        with self._lock:
            worker = self._remote.get(task)
            if worker is None:
                address = self._addresses.get(task)
                if address is None:
                    raise self._stranger(task)
                worker = self._remote[task] = RemoteWorker(
                    task,
                    self._connect(address),
                    self._cluster_def,
                    self._origin,
                    self._own,
                )
            return worker

    def _wait_for(
        self, workers: Sequence[RemoteWorker], limit_s: float, is_filtered: bool
    ) -> None:
        """Asks all at once, again and again, until each has answered."""
        deadline = concurrency.monotonic() + limit_s
        outcomes: dict[str, errors.OpError | None] = {}
        changed = concurrency.Condition()

        def probe(worker: RemoteWorker) -> None:
            outcome = _probe_until(worker, deadline)
            with changed:
                outcomes[worker.task] = outcome
                changed.notify_all()

        for worker in workers:
            threads.start(lambda w=worker: probe(w))  # type: ignore[misc]
        with changed:
            while len(outcomes) < len(workers):
                changed.wait()
        lost = {task: error for task, error in outcomes.items() if error is not None}
        if lost:
            raise diagnosis.tasks_are_missing(
                self._own_task,
                {w.task: w.channel.address for w in workers},
                lost,
                {w.task: w.devices()[0].incarnation for w in workers if w.devices()},
                limit_s,
                is_filtered,
            )

    @property
    def collectives(self) -> TaskCollectives | None:
        """How this task takes part in collectives."""
        assert self._own is not None
        return self._own.collectives

    # --- for collectives -------------------------------------------------------------

    @property
    def wait_s(self) -> float:
        """How long to wait for a task that is not there yet."""
        return self._wait_s

    def start_call(
        self,
        task: str,
        name: str,
        fields: dict[str, Any],
        done: Callable[[Any, errors.OpError | None], None],
    ) -> Callable[[], None]:
        """Calls a method of a task's WorkerService; see `CollectivePeers`."""
        method = worker_methods()[name]
        request = method.request(**fields)
        if "request_id" in method.request.DESCRIPTOR.fields_by_name:
            request.request_id = new_request_id()
        cancel: Callable[[], None] = (
            self._worker(task).channel.start(method, request, done).cancel
        )
        return cancel

    def is_tensorloom(self, task: str) -> bool:
        """Whether a task runs this system; see `CollectivePeers`."""
        return self._answered(task).is_tensorloom

    def incarnation_of(self, device: str) -> int:
        """The incarnation of another task's device; see `CollectivePeers`."""
        task = device_name.task_of(device)
        for found in self._answered(task).devices():
            if found.name == device:
                return found.incarnation
        raise errors.UnavailableError(None, None, f"{task} has no device {device}")

    def ask(self, task: str) -> None:
        """Asks a task who it is now; see `CollectivePeers`."""
        self._refresh(self._worker(task))

    def _answered(self, task: str) -> RemoteWorker:
        """A worker that has said who it is."""
        worker = self._worker(task)
        if not worker.devices():
            self._refresh(worker)
        return worker

    def _refresh(self, worker: RemoteWorker) -> None:
        try:
            worker.refresh(max(task_timeout_s(), _PROBE_S))
        except errors.DeadlineExceededError:  # nobody has set the step a deadline
            raise errors.UnavailableError(
                None, None, f"{worker.task} does not answer {self._own_task}"
            ) from None

    # --- for the worker --------------------------------------------------------------

    def recv_tensors(
        self,
        task: str,
        step_id: int,
        keys: Sequence[str],
        done: Callable[[str], TensorDone],
    ) -> Callable[[], None]:
        """Asks a task for tensors; see `worker.step_table.Peers.recv_tensors`."""
        channel = self._worker(task).channel
        if channel.values is not None:
            sockets = channel.values
            try:
                sockets.recv_tensors(step_id, keys, done)
            except NotConnected:
                channel.negotiate(None)  # the task is gone, or was restarted
            else:
                return lambda: sockets.forget_tensors(step_id)
        cancels = [self._recv_tensor(task, step_id, key, done(key)) for key in keys]

        def cancel() -> None:
            for cancel_one in cancels:
                cancel_one()

        return cancel

    def push_tensors(self, task: str, step_id: int, tensors: Sequence[Sent]) -> None:
        """Sends tensors to a task; see `worker.step_table.Peers.push_tensors`."""
        worker, channel = self._pushing_to(task)
        try:
            channel.push(step_id, tensors)
            return
        except NotConnected:
            worker.channel.negotiate(None)  # the task is gone, or was restarted
        worker, channel = self._pushing_to(task)
        try:
            channel.push(step_id, tensors)
        except NotConnected as error:
            raise errors.UnavailableError(
                None, None, f"{task} cannot be reached: {error}"
            ) from None

    def push_failure(self, task: str, step_id: int, error: errors.OpError) -> None:
        """Tells a task of a failure; see `worker.step_table.Peers.push_failure`."""
        # A peer that cannot be told hears from the master.
        with suppress(NotConnected, errors.OpError):
            _, channel = self._pushing_to(task)
            channel.push_failure(step_id, status.derived(error))

    def _pushing_to(self, task: str) -> tuple[RemoteWorker, SocketChannel]:
        """The way to push to a task, which is asked for its endpoints if need be."""
        worker = self._worker(task)
        if worker.channel.values is None:
            try:
                worker.refresh(_PROBE_S)
            except errors.DeadlineExceededError:  # nobody has set the step a deadline
                raise errors.UnavailableError(
                    None, None, f"{task} does not answer {self._own_task}"
                ) from None
        channel = worker.channel.values
        if channel is None:
            raise errors.UnavailableError(
                None, None, f"{task} takes no tensors from {self._own_task}"
            )
        return worker, channel

    def _recv_tensor(
        self,
        task: str,
        step_id: int,
        key: str,
        done: TensorDone,
    ) -> Callable[[], None]:
        """Asks a task for a tensor by a message."""
        method = worker_methods()["RecvTensor"]
        request = method.request(
            step_id=step_id,
            rendezvous_key=key,
            request_id=new_request_id(),
        )

        def ended(response: Any, error: errors.OpError | None) -> None:
            if error is None:
                try:
                    done(tensors.decode(response.tensor), response.is_dead, None)
                    return
                except errors.OpError as malformed:
                    error = malformed
            done(None, False, _from_peer(error))

        return self._worker(task).channel.start(method, request, ended).cancel


def _from_peer(error: errors.OpError) -> errors.OpError:
    """Why a tensor did not come. What the peer's step failed of is its to report."""
    if isinstance(error, errors.UnavailableError):
        return error
    return status.derived(error)


def _probe_until(worker: RemoteWorker, deadline: float) -> errors.OpError | None:
    """Asks a worker for its status until it answers; the last error if never."""
    while True:
        left = deadline - concurrency.monotonic()
        try:
            worker.refresh(max(0.1, min(left, _PROBE_S)))
            return None
        except errors.OpError as error:
            if concurrency.monotonic() + 0.1 >= deadline:
                return error
            concurrency.sleep(0.1)


def _name_at(channel: Channel, deadline: float) -> str | None:
    """The name of the task that a channel leads to; None if it does not answer."""
    with closing(channel):
        while True:
            left = deadline - concurrency.monotonic()
            try:
                answer = channel.ask_status(max(0.1, min(left, _PROBE_S)))
            except errors.OpError:
                if left <= 0.1:
                    return None
                concurrency.sleep(0.1)
            else:
                names = [device.name for device in answer.device_attributes]
                return device_name.task_of(names[0]) if names else None


def passes_filters(task: str, config: SessionConfig) -> bool:
    """Whether a session sees the task, by its device filters.

    Raises:
      errors.InvalidArgumentError: a filter is no device name.
    """
    filters = config.device_filters
    if not filters:
        return True
    name = device_name.parse(task)
    return any(name.is_compatible_with(_task_part(text)) for text in filters)


def _task_part(text: str) -> device_name.DeviceName:
    try:
        parsed = device_name.parse(text)
    except ValueError as error:
        message = f"In device_filters: {error}"
        raise errors.InvalidArgumentError(None, None, message) from None
    return device_name.DeviceName(parsed.job, parsed.replica, parsed.task)
