"""The results of earlier evaluations, read from event files."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tensorloom.storage.files import filesystem
from tensorloom.summary.summary_iterator import summary_iterator


def results_of_files(pattern: str) -> Iterator[tuple[int, dict[str, float]]]:
    """(step, metrics by name) of each evaluation in the files of a pattern."""
    for path in sorted(filesystem.glob(pattern)):
        for event in summary_iterator(path):
            metrics = {
                value.tag: value.simple_value
                for value in event.summary.value
                if value.HasField("simple_value")
            }
            if metrics:
                yield event.step, metrics


def read_eval_metrics(eval_dir: Any) -> dict[int, dict[str, float]]:
    """Metrics by name of each step, in the order of steps.

    Args:
      eval_dir: the directory of event files; nothing is read if it is not there.
    """
    directory = filesystem.path_text(eval_dir)
    by_step: dict[int, dict[str, float]] = {}
    if filesystem.exists(directory):
        pattern = filesystem.join(directory, "events.out.tfevents.*")
        for step, metrics in results_of_files(pattern):
            by_step.setdefault(step, {}).update(metrics)
    return dict(sorted(by_step.items()))
