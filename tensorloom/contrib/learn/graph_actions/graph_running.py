"""Runs fetches of a graph, from a checkpoint or from initial values."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from typing import Any

from tensorloom.client.program import program_log
from tensorloom.client.session.session import Session
from tensorloom.client.variables.variable_lists import (
    global_variables_initializer,
    local_variables_initializer,
    tables_initializer,
)
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Graph, GraphKeys
from tensorloom.summary.writer_cache import FileWriterCache
from tensorloom.train.checkpoints.saver import Saver
from tensorloom.train.inputs.coordinator import Coordinator
from tensorloom.train.inputs.queue_runner import start_queue_runners
from tensorloom.train.sessions import resources


@export("contrib.learn.graph_actions.clear_summary_writers")
def clear_summary_writers() -> None:
    """Closes the writers of summaries."""
    FileWriterCache.clear()


@export("contrib.learn.graph_actions.get_summary_writer")
def get_summary_writer(logdir: Any) -> Any:
    """The writer of summaries into a directory."""
    return FileWriterCache.get(logdir)


def make_saver(graph: Graph, keep_checkpoint_max: int | None = 5) -> Saver | None:
    """A saver of the graph's variables; None if it has none."""
    saved = [
        *graph.get_collection(GraphKeys.GLOBAL_VARIABLES),
        *graph.get_collection(GraphKeys.SAVEABLE_OBJECTS),
    ]
    if not saved:
        return None
    return Saver(saved, sharded=True, max_to_keep=keep_checkpoint_max)


def restore(
    session: Any, graph: Graph, checkpoint_path: Any, saver: Any = None
) -> None:
    """Restores the graph's variables, by a saver or by one of all variables."""
    program_log.info("Loading model from checkpoint: %s.", checkpoint_path)
    saver = saver or make_saver(graph)
    if saver:
        saver.restore(session, checkpoint_path)
    else:
        program_log.info("No variables found in graph, not creating Saver() object.")


@export("contrib.learn.run_n", "contrib.learn.graph_actions.run_n")
def run_n(
    output_dict: dict[Any, Any],
    feed_dict: Any = None,
    restore_checkpoint_path: Any = None,
    n: int = 1,
) -> list[Any]:
    """Runs tensors `n` times with the same feeds; gives the list of results.

    Args:
      output_dict: tensors by any keys.
      feed_dict: feeds.
      restore_checkpoint_path: a checkpoint; initial values when None.
      n: how often.
    """
    return run_feeds(
        output_dict=output_dict,
        feed_dicts=itertools.repeat(feed_dict, n),
        restore_checkpoint_path=restore_checkpoint_path,
    )


@export("contrib.learn.graph_actions.run_feeds_iter")
def run_feeds_iter(
    output_dict: dict[Any, Any],
    feed_dicts: Iterable[Any],
    restore_checkpoint_path: Any = None,
) -> Iterator[Any]:
    """Runs tensors once for each of the feeds; gives one result after the other.

    Args:
      output_dict: tensors by any keys, of one graph.
      feed_dicts: feeds of each run.
      restore_checkpoint_path: a checkpoint; initial values when None.

    Raises:
      ValueError: there are no tensors or no feeds.
    """
    if not output_dict:
        raise ValueError(f"output_dict is invalid: {output_dict}.")
    if not feed_dicts:
        raise ValueError(f"feed_dicts is invalid: {feed_dicts}.")
    graph = next(iter(output_dict.values())).graph
    with graph.as_default(), Session("") as session:
        held = resources.shared_resources() + resources.local_resources()
        session.run(resources.initialize_resources(held))
        if restore_checkpoint_path:
            restore(session, graph, restore_checkpoint_path)
        else:
            session.run(global_variables_initializer())
        session.run(local_variables_initializer())
        session.run(tables_initializer())
        coordinator = Coordinator()
        threads: Any = None
        try:
            threads = start_queue_runners(session, coord=coordinator)
            for feeds in feed_dicts:
                yield session.run(output_dict, feeds)
        finally:
            coordinator.request_stop()
            if threads:
                coordinator.join(threads, stop_grace_period_secs=120)


@export("contrib.learn.run_feeds", "contrib.learn.graph_actions.run_feeds")
def run_feeds(*args: Any, **kwargs: Any) -> list[Any]:
    """`run_feeds_iter`, with all results in a list."""
    return list(run_feeds_iter(*args, **kwargs))


@export("contrib.learn.infer", "contrib.learn.graph_actions.infer")
def infer(
    restore_checkpoint_path: Any, output_dict: dict[Any, Any], feed_dict: Any = None
) -> Any:
    """Runs tensors once; gives their values by the keys.

    Args:
      restore_checkpoint_path: a checkpoint; initial values when None.
      output_dict: tensors by any keys.
      feed_dict: feeds.
    """
    return run_feeds(
        output_dict=output_dict,
        feed_dicts=[feed_dict],
        restore_checkpoint_path=restore_checkpoint_path,
    )[0]
