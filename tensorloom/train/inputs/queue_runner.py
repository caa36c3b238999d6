"""`tf.train.QueueRunner`: threads that keep a queue filled."""

from __future__ import annotations

import threading
import weakref
from typing import TYPE_CHECKING, Any

from tensorloom.client.importing.scoped_names import prepend_scope, strip_scope
from tensorloom.client.program import program_log
from tensorloom.framework import errors
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import (
    GraphKeys,
    add_to_collection,
    get_collection,
    get_default_graph,
    get_default_session,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from tensorloom.train.inputs.coordinator import Coordinator


class RunnerThread(threading.Thread):
    """A thread that runs steps of a session and nothing else."""


@export("train.queue_runner.QueueRunner", "train.QueueRunner")
class QueueRunner:
    """Runs each of some enqueue operations in a thread of its own.

    Args:
      queue: the queue.
      enqueue_ops: the operations, one thread each.
      close_op, cancel_op: close the queue, the latter with what is pending; made when
        None.
      queue_closed_exception_types: errors that mean that there is nothing more to
        enqueue; OutOfRangeError when None.
      queue_runner_def, import_scope: a `QueueRunnerDef` in place of all the others.

    Raises:
      ValueError: no queue or no operations.
      TypeError: `queue_closed_exception_types` is not a tuple of errors.
    """

    def __init__(
        self,
        queue: Any = None,
        enqueue_ops: Any = None,
        close_op: Any = None,
        cancel_op: Any = None,
        queue_closed_exception_types: Any = None,
        queue_runner_def: Any = None,
        import_scope: str | None = None,
    ) -> None:
        if queue_runner_def is not None:
            if queue or enqueue_ops:
                raise ValueError("queue_runner_def and queue are mutually exclusive.")
            self._init_from_proto(queue_runner_def, import_scope)
        else:
            if not queue or not enqueue_ops:
                raise ValueError("Must provide queue and enqueue_ops.")
            _check_error_types(queue_closed_exception_types)
            self._queue = queue
            self._enqueue_ops = enqueue_ops
            self._close_op = queue.close() if close_op is None else close_op
            self._cancel_op = (
                queue.close(cancel_pending_enqueues=True)
                if cancel_op is None
                else cancel_op
            )
            self._queue_closed_exception_types = queue_closed_exception_types or (
                errors.OutOfRangeError,
            )
        self._lock = threading.Lock()
        # How many threads of a session are still running.
        self._runs_per_session: weakref.WeakKeyDictionary[Any, int] = (
            weakref.WeakKeyDictionary()
        )
        self._exceptions_raised: list[BaseException] = []

    def _init_from_proto(self, proto: Any, import_scope: str | None) -> None:
        graph = get_default_graph()

        def element(name: str) -> Any:
            return graph.as_graph_element(prepend_scope(name, import_scope))

        self._queue = element(proto.queue_name)
        self._enqueue_ops = [element(name) for name in proto.enqueue_op_name]
        self._close_op = element(proto.close_op_name)
        self._cancel_op = element(proto.cancel_op_name)
        self._queue_closed_exception_types = tuple(
            errors.exception_type_from_error_code(code)
            for code in proto.queue_closed_exception_types
        ) or (errors.OutOfRangeError,)

    @property
    def queue(self) -> Any:
        """The queue."""
        return self._queue

    @property
    def enqueue_ops(self) -> Any:
        """The operations that the threads run."""
        return self._enqueue_ops

    @property
    def close_op(self) -> Any:
        """Closes the queue."""
        return self._close_op

    @property
    def cancel_op(self) -> Any:
        """Closes the queue and cancels what is pending."""
        return self._cancel_op

    @property
    def queue_closed_exception_types(self) -> Any:
        """Errors that mean that there is nothing more to enqueue."""
        return self._queue_closed_exception_types

    @property
    def exceptions_raised(self) -> list[BaseException]:
        """Errors of threads without a coordinator."""
        return self._exceptions_raised

    @property
    def name(self) -> str:
        """The queue's name."""
        name: str = self._queue.name
        return name

    # --- threads ---------------------------------------------------------------------

    def _enqueue_call(self, sess: Any, enqueue_op: Any) -> Callable[[], Any]:
        """What a thread calls again and again."""
        call: Callable[[], Any] = sess.make_callable(enqueue_op)
        return call

    def _run(
        self, sess: Any, enqueue_op: Any, coord: Coordinator | None = None
    ) -> None:
        ended = False
        try:
            enqueue = self._enqueue_call(sess, enqueue_op)
            while not (coord and coord.should_stop()):
                try:
                    enqueue()
                except self._queue_closed_exception_types:
                    ended = True
                    self._end(sess, close=True)
                    return
        except Exception as error:
            if coord:
                coord.request_stop(error)
                return
            program_log.error("Exception in QueueRunner: %s", error)
            with self._lock:
                self._exceptions_raised.append(error)
            raise
        finally:
            if not ended:
                self._end(sess, close=False)

    def _end(self, sess: Any, close: bool) -> None:
        """One thread has ended; the last one closes the queue."""
        with self._lock:
            self._runs_per_session[sess] -= 1
            if not close or self._runs_per_session[sess]:
                return
            try:
                sess.run(self._close_op)
            except errors.OpError as error:
                # The queue may be closed already; that is what was wanted.
                program_log.debug("Ignored exception: %s", error)

    def _close_on_stop(self, sess: Any, cancel_op: Any, coord: Coordinator) -> None:
        coord.wait_for_stop()
        try:
            sess.run(cancel_op)
        except (errors.OpError, RuntimeError) as error:
            # The queue or the session may be closed already.
            program_log.debug("Ignored exception: %s", error)

    def create_threads(
        self,
        sess: Any,
        coord: Coordinator | None = None,
        daemon: bool = False,
        start: bool = False,
    ) -> list[threading.Thread]:
        """The threads for a session; none while those of an earlier call run."""
        with self._lock:
            if self._runs_per_session.get(sess, 0) > 0:
                return []
            self._runs_per_session[sess] = len(self._enqueue_ops)
            self._exceptions_raised = []
        threads: list[threading.Thread] = [
            RunnerThread(
                target=self._run,
                args=(sess, op, coord),
                name=f"QueueRunnerThread-{self.name}-{op.name}",
            )
            for op in self._enqueue_ops
        ]
        if coord:
            threads.append(
                RunnerThread(
                    target=self._close_on_stop,
                    args=(sess, self._cancel_op, coord),
                    name=f"QueueRunnerThread-{self.name}-close_on_stop",
                )
            )
        for thread in threads:
            if coord:
                coord.register_thread(thread)
            if daemon:
                thread.daemon = True
            if start:
                thread.start()
        return threads

    # --- protos ----------------------------------------------------------------------

    def to_proto(self, export_scope: str | None = None) -> Any:
        """A `QueueRunnerDef`, or None when the queue is outside the scope."""
        from tensorloom.protos import queue_runner_pb2

        if export_scope is not None and not self.name.startswith(export_scope):
            return None
        proto = queue_runner_pb2.QueueRunnerDef(
            queue_name=strip_scope(self.name, export_scope),
            close_op_name=strip_scope(self._close_op.name, export_scope),
            cancel_op_name=strip_scope(self._cancel_op.name, export_scope),
        )
        proto.enqueue_op_name.extend(
            strip_scope(op.name, export_scope) for op in self._enqueue_ops
        )
        proto.queue_closed_exception_types.extend(
            errors.error_code_from_exception_type(kind)  # type: ignore[misc]
            for kind in self._queue_closed_exception_types
        )
        return proto

    @staticmethod
    def from_proto(
        queue_runner_def: Any, import_scope: str | None = None
    ) -> QueueRunner:
        """The queue runner that a `QueueRunnerDef` describes."""
        return QueueRunner(queue_runner_def=queue_runner_def, import_scope=import_scope)


def _check_error_types(types: Any) -> None:
    if types is None:
        return
    if (
        not isinstance(types, tuple)
        or not types
        or not all(issubclass(kind, errors.OpError) for kind in types)
    ):
        raise TypeError(
            "queue_closed_exception_types, when provided, must be a tuple of tf.error "
            f"types, but saw: {types}"
        )


@export("train.queue_runner.add_queue_runner", "train.add_queue_runner")
def add_queue_runner(
    qr: QueueRunner, collection: str = GraphKeys.QUEUE_RUNNERS
) -> None:
    """Adds a queue runner to those that `start_queue_runners` starts."""
    add_to_collection(collection, qr)


@export("train.queue_runner.start_queue_runners", "train.start_queue_runners")
def start_queue_runners(
    sess: Any = None,
    coord: Coordinator | None = None,
    daemon: bool = True,
    start: bool = True,
    collection: str = GraphKeys.QUEUE_RUNNERS,
) -> list[threading.Thread]:
    """Starts the threads of all queue runners of the graph.

    Raises:
      ValueError: no session is given, and there is no default session.
      TypeError: `sess` is not a session.
    """
    if sess is None:
        sess = get_default_session()
        if sess is None:
            raise ValueError(
                "Cannot start queue runners: No default session is registered. Use "
                "`with sess.as_default()` or pass an explicit session to "
                "tf.start_queue_runners(sess=sess)"
            )
    if not hasattr(sess, "make_callable"):
        if type(sess).__name__ in ("MonitoredSession", "SingularMonitoredSession"):
            return []  # has started them
        raise TypeError(
            f"sess must be a `tf.Session` object. Given class: {type(sess)}"
        )
    if not get_collection(collection):
        program_log.warning(
            "`tf.train.start_queue_runners()` was called when no queue runners were "
            "defined. You can safely remove the call to this deprecated function."
        )
    with sess.graph.as_default():
        threads = []
        for runner in get_collection(collection):
            threads.extend(
                runner.create_threads(sess, coord=coord, daemon=daemon, start=start)
            )
    return threads
