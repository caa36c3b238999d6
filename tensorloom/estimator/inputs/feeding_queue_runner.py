"""A queue runner whose threads feed what Python gives."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from tensorloom.framework import errors
from tensorloom.train.inputs.queue_runner import QueueRunner


class FeedingQueueRunner(QueueRunner):
    """Runs each enqueue operation with what its feed function returns.

    A feed function raises `OutOfRangeError` when it has nothing more.
    """

    def __init__(
        self,
        queue: Any = None,
        enqueue_ops: Any = None,
        close_op: Any = None,
        cancel_op: Any = None,
        feed_fns: Sequence[Callable[[], dict[Any, Any]] | None] | None = None,
        queue_closed_exception_types: Any = None,
    ) -> None:
        """Makes a runner.

        Args:
          queue: what is filled.
          enqueue_ops: operations, a thread each.
          close_op: closes the queue; its own when None.
          cancel_op: closes it and cancels what is pending; its own when None.
          feed_fns: for each operation a function that gives the feeds of a run.
          queue_closed_exception_types: what says that nothing more comes.

        Raises:
          ValueError: there is no queue, or not a feed function for each operation.
        """
        super().__init__(
            queue,
            enqueue_ops,
            close_op,
            cancel_op,
            queue_closed_exception_types
            or (errors.OutOfRangeError, errors.CancelledError),
        )
        if feed_fns is None:
            feed_fns = [None] * len(enqueue_ops)
        if len(feed_fns) != len(enqueue_ops):
            raise ValueError(
                "If feed_fns is not None, it must have the same length as enqueue_ops: "
                f"{len(enqueue_ops)}; found {len(feed_fns)}."
            )
        self._feed_fns = dict(zip(enqueue_ops, feed_fns, strict=True))

    def _enqueue_call(self, sess: Any, enqueue_op: Any) -> Callable[[], Any]:
        feed_fn = self._feed_fns[enqueue_op]
        if feed_fn is None:
            return super()._enqueue_call(sess, enqueue_op)
        return lambda: sess.run(enqueue_op, feed_dict=feed_fn())

    def _init_from_proto(self, proto: Any, import_scope: str | None) -> NoReturn:
        raise NotImplementedError(
            f"{type(self).__name__} does not support initialization from proto: its "
            "feed functions are Python."
        )

    def to_proto(self, export_scope: str | None = None) -> NoReturn:
        """Fails: Python functions cannot be written into a MetaGraph.

        Raises:
          NotImplementedError: always; a MetaGraph is then written without the runner.
        """
        raise NotImplementedError(
            f"{type(self).__name__} does not support serialization to proto: its feed "
            "functions are Python."
        )
