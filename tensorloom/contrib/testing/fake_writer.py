"""A writer of summaries that keeps them, for tests."""

from __future__ import annotations

from typing import Any, ClassVar

from tensorloom.framework.export import export
from tensorloom.summary import writer, writer_cache

# Supervisors write it when they like.
_SPEED_TAG = "global_step/sec"


@export("contrib.testing.FakeSummaryWriter")
class FakeSummaryWriter:
    """Takes the place of `tf.summary.FileWriter` and keeps what it is given.

    Args:
      logdir: where a real writer would write.
      graph: the graph that it would write.
    """

    _replaced_summary_writer: ClassVar[Any] = None

    @classmethod
    def install(cls) -> None:
        """Makes the writers that are made from now on fake ones.

        Raises:
          ValueError: they are already.
        """
        if cls._replaced_summary_writer:
            raise ValueError("FakeSummaryWriter already installed.")
        cls._replaced_summary_writer = writer.FileWriter
        _replace(FakeSummaryWriter)

    @classmethod
    def uninstall(cls) -> None:
        """Makes writers real ones again.

        Raises:
          ValueError: they are already.
        """
        if not cls._replaced_summary_writer:
            raise ValueError("FakeSummaryWriter not installed.")
        _replace(cls._replaced_summary_writer)
        cls._replaced_summary_writer = None

    def __init__(self, logdir: Any, graph: Any = None) -> None:
        self._logdir = logdir
        self._graph = graph
        self._summaries: dict[int, list[Any]] = {}
        self._added_graphs: list[Any] = []
        self._added_meta_graphs: list[Any] = []
        self._added_session_logs: list[Any] = []
        self._added_run_metadata: dict[str, Any] = {}

    @property
    def summaries(self) -> dict[int, list[Any]]:
        """`Summary` messages by steps."""
        return self._summaries

    def assert_summaries(
        self,
        test_case: Any,
        expected_logdir: Any = None,
        expected_graph: Any = None,
        expected_summaries: Any = None,
        expected_added_graphs: Any = None,
        expected_added_meta_graphs: Any = None,
        expected_session_logs: Any = None,
    ) -> None:
        """Fails a test unless it was given these things; None: whatever it was.

        Args:
          test_case: a `unittest.TestCase`.
          expected_logdir: the directory.
          expected_graph: the graph that it was made with.
          expected_summaries: numbers by tags, by steps.
          expected_added_graphs: graphs.
          expected_added_meta_graphs: `MetaGraphDef`s.
          expected_session_logs: `SessionLog`s.
        """
        if expected_logdir is not None:
            assert expected_logdir == self._logdir
        if expected_graph is not None:
            assert expected_graph is self._graph
        for step, expected in (expected_summaries or {}).items():
            assert step in self._summaries
            found = {
                value.tag: value.simple_value
                for message in self._summaries[step]
                for value in message.value
                if value.tag != _SPEED_TAG
            }
            assert expected == found
        for wanted, given in (
            (expected_added_graphs, self._added_graphs),
            (expected_added_meta_graphs, self._added_meta_graphs),
            (expected_session_logs, self._added_session_logs),
        ):
            if wanted is not None:
                assert list(wanted) == given

    def add_summary(self, summ: Any, current_global_step: int) -> None:
        """Keeps a `Summary`, or a serialized one."""
        from tensorloom.protos.summary_pb2 import Summary

        message = Summary.FromString(summ) if isinstance(summ, bytes) else summ
        self._summaries.setdefault(current_global_step, []).append(message)

    def add_graph(
        self, graph: Any, global_step: int | None = None, graph_def: Any = None
    ) -> None:
        """Keeps a graph.

        Raises:
          ValueError: the step is negative, or a GraphDef is given.
        """
        _check_step(global_step)
        if graph_def is not None:
            raise ValueError(f"Unexpected graph_def {graph_def}.")
        self._added_graphs.append(graph)

    def add_meta_graph(
        self, meta_graph_def: Any, global_step: int | None = None
    ) -> None:
        """Keeps a `MetaGraphDef`. Raises ValueError for a negative step."""
        _check_step(global_step)
        self._added_meta_graphs.append(meta_graph_def)

    def add_session_log(self, session_log: Any, global_step: int | None = None) -> None:
        """Keeps a `SessionLog`."""
        self._added_session_logs.append(session_log)

    def add_run_metadata(
        self, run_metadata: Any, tag: str, global_step: int | None = None
    ) -> None:
        """Keeps `RunMetadata` by a tag. Raises ValueError for a negative step."""
        _check_step(global_step)
        self._added_run_metadata[tag] = run_metadata

    def flush(self) -> None:
        """Does nothing."""

    def reopen(self) -> None:
        """Does nothing."""

    def close(self) -> None:
        """Does nothing."""


def _check_step(global_step: int | None) -> None:
    if global_step is not None and global_step < 0:
        raise ValueError(f"Invalid global_step {global_step}.")


def _replace(kind: Any) -> None:
    for module in (writer, writer_cache):
        setattr(module, "FileWriter", kind)  # noqa: B010 - mypy knows the name as a class
