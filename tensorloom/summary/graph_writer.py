"""`tf.contrib.summary`: writers that live in the graph, and when they record."""

from __future__ import annotations

import os
import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Any, Final

from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import (
    Graph,
    GraphKeys,
    Operation,
    Tensor,
    add_to_collection,
    control_dependencies,
    device,
    get_collection,
    get_default_session,
)
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.constant_value import constant_value
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.ops.array import placeholder as placeholder_ops
from tensorloom.ops.array.constant import constant
from tensorloom.ops.control_flow.builders import no_op
from tensorloom.ops.math import math_ops

if TYPE_CHECKING:
    from tensorloom.client.session.base_session import BaseSession

_INITIALIZERS: Final = "_SUMMARY_WRITER_V2"
_EXPERIMENT_NAME: Final = re.compile(r"^[^\x00-\x1F<>]{0,256}$")
_RUN_NAME: Final = re.compile(r"^[^\x00-\x1F<>]{0,512}$")
_USER_NAME: Final = re.compile(r"^[a-z]([-a-z0-9]{0,29}[a-z0-9])?$", re.I)


class _Defaults(threading.local):
    """What the with-blocks of this thread have set."""

    writer: Any = None  # a ResourceSummaryWriter
    recording: Any = None  # a bool, a tensor, or a function that gives one


_defaults = _Defaults()


@export("contrib.summary.SummaryWriter")
class SummaryWriter:
    """A writer that a with-block makes the default; this one does nothing."""

    def set_as_default(self) -> None:
        """Makes it the default of this thread."""

    @contextmanager
    def as_default(self) -> Iterator[SummaryWriter]:
        """Makes it the default of this thread for a while."""
        yield self

    def init(self) -> Operation | None:
        """The op that opens it."""
        return None

    def flush(self) -> Operation | None:
        """An op that flushes it."""
        return None

    def close(self) -> Operation | None:
        """An op that flushes and closes it."""
        return None


class NoopSummaryWriter(SummaryWriter):
    """What `create_file_writer(None)` gives."""


class ResourceSummaryWriter(SummaryWriter):
    """A writer as a resource of the session.

    Args:
      shared_name: who has the same name has the same writer.
      make_init: the op that opens the writer of a handle.
    """

    def __init__(
        self, shared_name: str, make_init: Callable[[Tensor], Operation]
    ) -> None:
        self._resource: Tensor = apply_op("SummaryWriter", shared_name=shared_name)
        self._make_init = make_init
        self._init = make_init(self._resource)
        add_to_collection(_INITIALIZERS, self._init)

    def set_as_default(self) -> None:
        """Makes it the default of this thread."""
        _defaults.writer = self

    @contextmanager
    def as_default(self) -> Iterator[SummaryWriter]:
        """Makes it the default of this thread for a while."""
        old = _defaults.writer
        _defaults.writer = self
        try:
            yield self
            self.flush()
        finally:
            _defaults.writer = old

    def init(self) -> Operation:
        """An op that opens it; nothing when it is open."""
        return self._make_init(self._resource)

    def flush(self) -> Operation:
        """An op that flushes it."""
        return flush(self)

    def close(self) -> Operation:
        """An op that flushes and closes it."""
        with control_dependencies([self.flush()]), device("cpu:0"):
            return writer_op("CloseSummaryWriter", writer=self._resource)


@export("contrib.summary.create_file_writer")
def create_file_writer(
    logdir: Any,
    max_queue: Any = None,
    flush_millis: Any = None,
    filename_suffix: Any = None,
    name: str | None = None,
) -> SummaryWriter:
    """A writer of event files in the graph.

    Args:
      logdir: the directory; None for a writer that does nothing.
      max_queue: events that may wait for a flush; 10 when None.
      flush_millis: the longest time between flushes; two minutes when None.
      filename_suffix: ".v2" when None.
      name: under which it is shared; "logdir:" and the directory when None.
    """
    if logdir is None:
        return NoopSummaryWriter()
    directory = str(logdir)
    with device("cpu:0"):
        arguments: dict[str, Any] = {
            "max_queue": constant(10) if max_queue is None else max_queue,
            "flush_millis": (
                constant(2 * 60 * 1000) if flush_millis is None else flush_millis
            ),
            "filename_suffix": (
                constant(".v2") if filename_suffix is None else filename_suffix
            ),
        }
        return ResourceSummaryWriter(
            f"logdir:{directory}" if name is None else name,
            lambda handle: writer_op(
                "CreateSummaryFileWriter", writer=handle, logdir=directory, **arguments
            ),
        )


@export("contrib.summary.create_db_writer")
def create_db_writer(
    db_uri: Any,
    experiment_name: str | None = None,
    run_name: str | None = None,
    user_name: str | None = None,
    name: str | None = None,
) -> SummaryWriter:
    """A writer, in the graph, to an SQLite database on the local disk.

    Args:
      db_uri: the file, or its URI ("file:/tmp/runs.sqlite").
      experiment_name: the date when None; "" for none.
      run_name: the time when None; "" for none.
      user_name: the system's when None.
      name: under which it is shared.

    Raises:
      ValueError: a name has characters that are not allowed.
    """
    if experiment_name is None:
        experiment_name = time.strftime("%Y-%m-%d")
    if run_name is None:
        run_name = time.strftime("%H:%M:%S")
    if user_name is None:
        import getpass

        user_name = getpass.getuser()
    with device("cpu:0"):
        names = [
            _checked_name("experiment_name", _EXPERIMENT_NAME, experiment_name),
            _checked_name("run_name", _RUN_NAME, run_name),
            _checked_name("user_name", _USER_NAME, user_name),
        ]
        return ResourceSummaryWriter(
            name or "",
            lambda handle: writer_op(
                "CreateSummaryDbWriter",
                writer=handle,
                db_uri=db_uri,
                experiment_name=names[0],
                run_name=names[1],
                user_name=names[2],
            ),
        )


def _checked_name(what: str, pattern: re.Pattern[str], value: Any) -> Any:
    if isinstance(value, str) and not pattern.search(value):
        raise ValueError(f"{what} ({value}) must match {pattern.pattern}")
    return convert_to_tensor(value, dtypes.string)


@export("contrib.summary.create_summary_db_writer")
def create_summary_db_writer(*args: Any, **kwargs: Any) -> SummaryWriter:
    """The old name of `create_db_writer`."""
    return create_db_writer(*args, **kwargs)


@export("contrib.summary.create_summary_file_writer")
def create_summary_file_writer(*args: Any, **kwargs: Any) -> SummaryWriter:
    """The old name of `create_file_writer`."""
    return create_file_writer(*args, **kwargs)


# --- when to record ------------------------------------------------------------------


@contextmanager
def record_if(condition: Any) -> Iterator[None]:
    """Summaries record in this block if `condition`, or what it returns, is true."""
    old = _defaults.recording
    _defaults.recording = condition
    try:
        yield
    finally:
        _defaults.recording = old


@export("contrib.summary.always_record_summaries")
def always_record_summaries() -> AbstractContextManager[None]:
    """A block in which summaries record."""
    return record_if(True)


@export("contrib.summary.never_record_summaries")
def never_record_summaries() -> AbstractContextManager[None]:
    """A block in which summaries do not record."""
    return record_if(False)


@export("contrib.summary.record_summaries_every_n_global_steps")
def record_summaries_every_n_global_steps(
    n: int, global_step: Any = None
) -> AbstractContextManager[None]:
    """A block in which summaries record when the global step is a multiple of `n`."""
    from tensorloom.train.training_util import get_or_create_global_step

    if global_step is None:
        global_step = get_or_create_global_step()
    with device("cpu:0"):
        return record_if(math_ops.equal(global_step % n, 0))


@export("contrib.summary.should_record_summaries")
def should_record_summaries() -> Tensor:
    """A bool scalar: whether a summary that is made here records."""
    return recording_condition()[0]


def recording_condition() -> tuple[Tensor, bool | None]:
    """Whether summaries record: as a tensor, and as a bool where that is known."""
    condition = _defaults.recording
    if callable(condition):
        condition = condition()
    if condition is None:
        condition = False
    known = constant_value(condition) if isinstance(condition, Tensor) else condition
    wanted = math_ops.logical_and(True, condition)
    return wanted, None if known is None else bool(known)


# --- collections, flushing, initialization -------------------------------------------


@export("summary.all_v2_summary_ops", "contrib.summary.all_summary_ops")
def all_v2_summary_ops() -> list[Any]:
    """The ops of the default graph that write summaries to writers in the graph."""
    return get_collection(GraphKeys._SUMMARY_COLLECTION)


@export("contrib.summary.summary_writer_initializer_op")
def summary_writer_initializer_op() -> list[Any]:
    """The ops that open the writers of the default graph."""
    return get_collection(_INITIALIZERS)


@export("contrib.summary.flush")
def flush(writer: Any = None, name: str | None = None) -> Operation:
    """An op that makes all events of a writer, or of the default one, readable."""
    if writer is None:
        writer = _defaults.writer
        if writer is None:
            return no_op()
    handle = writer._resource if isinstance(writer, ResourceSummaryWriter) else writer
    with device("cpu:0"):
        return writer_op("FlushSummaryWriter", name, writer=handle)


@export("summary.initialize", "contrib.summary.initialize")
def initialize(graph: Any = None, session: BaseSession | None = None) -> None:
    """Opens the writers of the default graph.

    Args:
      graph: a `Graph` or `GraphDef` to write, with step 0.
      session: the default session when None.

    Raises:
      RuntimeError: no writer is the default.
      ValueError: there is no session.
    """
    if _defaults.writer is None:
        raise RuntimeError("No default tf.contrib.summary.SummaryWriter found")
    if session is None:
        session = get_default_session()
        if session is None:
            raise ValueError("session must be passed if no default session exists")
    session.run(summary_writer_initializer_op())
    if graph is not None:
        if isinstance(graph, Graph):
            graph = graph.as_graph_def(add_shapes=True)
        serialized = placeholder_ops.placeholder(dtypes.string)
        written = write_graph(serialized, 0)
        session.run(written, {serialized: graph.SerializeToString()})


@export("contrib.summary.graph")
def write_graph(param: Any, step: Any = None, name: str | None = None) -> Operation:
    """An op that writes a serialized GraphDef.

    Args:
      param: a string tensor.
      step: the global step when None.

    Raises:
      TypeError: `param` is no tensor.
    """
    if not isinstance(param, Tensor):
        raise TypeError(
            "graph() needs a tf.Tensor (e.g. tf.placeholder) in graph mode, but was: "
            f"{type(param)}"
        )
    if _defaults.writer is None:
        return no_op()
    with device("cpu:0"):
        tensor = apply_op("Identity", input=param)
        return writer_op(
            "WriteGraphSummary",
            name,
            writer=default_handle(),
            step=chosen_step(step),
            tensor=tensor,
        )


@export("contrib.summary.import_event")
def import_event(tensor: Any, name: str | None = None) -> Operation:
    """An op that writes a serialized Event to the default writer."""
    return writer_op("ImportEvent", name, writer=default_handle(), event=tensor)


@export("contrib.summary.eval_dir")
def eval_dir(model_dir: str, name: str | None = None) -> str:
    """The directory of the events of an evaluation."""
    return os.path.join(model_dir, f"eval_{name}" if name else "eval")


def writer_op(op: str, name: str | None = None, **inputs: Any) -> Operation:
    """An op that uses a writer."""
    made: Operation = apply_op(op, name, **inputs)
    return made


def has_default_writer() -> bool:
    """Whether a writer is the default of this thread."""
    return _defaults.writer is not None


def default_handle() -> Tensor:
    """The handle of the default writer."""
    handle: Tensor = _defaults.writer._resource
    return handle


def chosen_step(step: Any) -> Any:
    """A step as a tensor; the global step when None."""
    from tensorloom.framework.types.tensor_conversion import convert_to_tensor
    from tensorloom.train.training_util import get_or_create_global_step

    if step is None:
        return get_or_create_global_step()
    return step if isinstance(step, Tensor) else convert_to_tensor(step, dtypes.int64)
