"""`tf.summary.FileWriter`: summaries, graphs and run metadata into event files."""

from __future__ import annotations

import time
import warnings
from typing import TYPE_CHECKING, Any

from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Graph
from tensorloom.summary.event_writer import EventFileWriter
from tensorloom.summary.plugin_assets import write_plugin_assets

if TYPE_CHECKING:
    from tensorloom.client.session.base_session import BaseSession


class SummaryToEventTransformer:
    """Makes events of summaries, graphs and the like, and hands them to a writer.

    Args:
      event_writer: has `add_event` and `get_logdir`.
      graph, graph_def: added first, if given.
    """

    def __init__(
        self, event_writer: Any, graph: Any = None, graph_def: Any = None
    ) -> None:
        self.event_writer = event_writer
        self._run_tags: set[str] = set()
        self._described_tags: set[str] = set()
        if graph is not None or graph_def is not None:
            self.add_graph(graph=graph, graph_def=graph_def)
            self._add_meta_graph_of(graph_def if graph is None else graph)

    def _add_meta_graph_of(self, graph: Any) -> None:
        from tensorloom.train.meta_graph.meta_graph import create_meta_graph_def

        if isinstance(graph, Graph):
            graph = graph.as_graph_def(add_shapes=True)
        self.add_meta_graph(create_meta_graph_def(graph_def=graph))

    def add_summary(self, summary: Any, global_step: Any = None) -> None:
        """Adds a summary.

        Args:
          summary: a `Summary`, or one that is serialized: what a summary op gives.
          global_step: the step that it belongs to.

        Raises:
          google.protobuf.message.DecodeError: the bytes are no summary.
        """
        from tensorloom.protos.event_pb2 import Event

        event = Event()
        if isinstance(summary, bytes):
            event.summary.ParseFromString(summary)
        else:
            event.summary.CopyFrom(summary)
        event.summary.SetInParent()
        # Readers keep the metadata that they saw first: to repeat it costs space.
        described = self._described_tags
        for value in event.summary.value:
            if value.HasField("metadata"):
                if value.tag in described:
                    value.ClearField("metadata")
                else:
                    described.add(value.tag)
        self._add_event(event, global_step)

    def add_session_log(self, session_log: Any, global_step: Any = None) -> None:
        """Adds a `SessionLog`: the program started, stopped or saved a checkpoint."""
        from tensorloom.protos.event_pb2 import Event

        self._add_event(Event(session_log=session_log), global_step)

    def add_graph(
        self, graph: Any, global_step: Any = None, graph_def: Any = None
    ) -> None:
        """Adds a graph.

        Args:
          graph: a `Graph`; a `GraphDef` is taken too.
          global_step: the step that it belongs to.
          graph_def: the old name of `graph`.

        Raises:
          ValueError: both are given.
          TypeError: it is something else.
        """
        from tensorloom.protos.event_pb2 import Event
        from tensorloom.protos.graph_pb2 import GraphDef

        if graph is not None and graph_def is not None:
            raise ValueError(
                "Please pass only graph, or graph_def (deprecated), but not both."
            )
        given = graph_def if graph is None else graph
        if isinstance(given, Graph):
            write_plugin_assets(given, self.event_writer.get_logdir())
            given = given.as_graph_def(add_shapes=True)
        elif not isinstance(given, GraphDef):
            raise TypeError(
                "The passed graph must be an instance of `Graph` or the deprecated "
                "`GraphDef`"
            )
        self._add_event(Event(graph_def=given.SerializeToString()), global_step)

    def add_meta_graph(self, meta_graph_def: Any, global_step: Any = None) -> None:
        """Adds a `MetaGraphDef`.

        Raises:
          TypeError: it is something else.
        """
        from tensorloom.protos.event_pb2 import Event
        from tensorloom.protos.meta_graph_pb2 import MetaGraphDef

        if not isinstance(meta_graph_def, MetaGraphDef):
            raise TypeError(
                f"meta_graph_def must be type MetaGraphDef, saw type: "
                f"{type(meta_graph_def)}"
            )
        data = meta_graph_def.SerializeToString()
        self._add_event(Event(meta_graph_def=data), global_step)

    def add_run_metadata(
        self, run_metadata: Any, tag: str, global_step: Any = None
    ) -> None:
        """Adds the `RunMetadata` of one `session.run`.

        Args:
          tag: the name under which it is shown; each is used once.

        Raises:
          ValueError: the tag was used already.
        """
        from tensorloom.protos.event_pb2 import Event, TaggedRunMetadata

        if tag in self._run_tags:
            raise ValueError("The provided tag was already used for this event type")
        self._run_tags.add(tag)
        tagged = TaggedRunMetadata(
            tag=tag, run_metadata=run_metadata.SerializeToString()
        )
        self._add_event(Event(tagged_run_metadata=tagged), global_step)

    def _add_event(self, event: Any, step: Any) -> None:
        event.wall_time = time.time()
        if step is not None:
            event.step = int(step)
        self.event_writer.add_event(event)


@export("summary.FileWriter")
class FileWriter(SummaryToEventTransformer):
    """Writes summaries to event files, for TensorBoard.

    Events are written by a thread of their own. What was flushed is in the file even
    if the process dies.

    Args:
      logdir: the directory, of any file system; made if missing.
      graph: written first, if given.
      max_queue: events that may wait before an `add_*` waits.
      flush_secs: an event waits at most so long for a flush.
      graph_def: the old name of `graph`.
      filename_suffix: of the files' names.
      session: write through ops of this session's graph instead; then the file is
        shared with the other writers of the directory in that session.

    Raises:
      OpError: the directory cannot be made.
    """

    def __init__(
        self,
        logdir: Any,
        graph: Any = None,
        max_queue: int = 10,
        flush_secs: float = 120,
        graph_def: Any = None,
        filename_suffix: str | None = None,
        session: BaseSession | None = None,
    ) -> None:
        writer: Any
        if session is None:
            writer = EventFileWriter(logdir, max_queue, flush_secs, filename_suffix)
        else:
            from tensorloom.summary.session_event_writer import SessionEventWriter

            writer = SessionEventWriter(
                session, logdir, max_queue, flush_secs, filename_suffix
            )
        self._closed = False
        super().__init__(writer, graph, graph_def)

    def __enter__(self) -> FileWriter:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def get_logdir(self) -> str:
        """The directory."""
        return self.event_writer.get_logdir()  # type: ignore[no-any-return]

    def _warn_if_closed(self) -> None:
        if self._closed:
            warnings.warn(
                "Attempting to use a closed FileWriter. The operation will be a noop "
                "unless the FileWriter is explicitly reopened.",
                stacklevel=4,
            )

    def _add_event(self, event: Any, step: Any) -> None:
        self._warn_if_closed()
        super()._add_event(event, step)

    def add_event(self, event: Any) -> None:
        """Adds an `Event`."""
        self._warn_if_closed()
        self.event_writer.add_event(event)

    def flush(self) -> None:
        """Waits until all that was added is in the file.

        Raises:
          OpError: it cannot be written.
        """
        self._warn_if_closed()
        self.event_writer.flush()

    def close(self) -> None:
        """Flushes and closes the file.

        Raises:
          OpError: something could not be written.
        """
        self._closed = True
        self.event_writer.close()

    def reopen(self) -> None:
        """After `close`: what is added from now on goes into a new file."""
        self.event_writer.reopen()
        self._closed = False
