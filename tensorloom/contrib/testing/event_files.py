"""What is in event files, for tests."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable
from typing import Any

import numpy as np

from tensorloom.framework.export import export
from tensorloom.summary.summary_iterator import summary_iterator


@export("contrib.testing.assert_summary")
def assert_summary(
    expected_tags: Iterable[str],
    expected_simple_values: dict[str, float],
    summary_proto: Any,
) -> None:
    """Checks a `Summary`: its tags, and some of its numbers to two places.

    Raises:
      AssertionError: a number is another one.
      ValueError: the tags are others.
    """
    for value in summary_proto.value:
        if value.tag in expected_simple_values:
            np.testing.assert_almost_equal(
                value.simple_value,
                expected_simple_values[value.tag],
                decimal=2,
                err_msg=value.tag,
            )
    expected, found = set(expected_tags), {value.tag for value in summary_proto.value}
    if expected != found:
        raise ValueError(f"Expected tags {expected}, got {found}.")


@export("contrib.testing.to_summary_proto")
def to_summary_proto(summary_str: bytes) -> Any:
    """A serialized summary as a `Summary`."""
    from tensorloom.protos.summary_pb2 import Summary

    return Summary.FromString(summary_str)


@export("contrib.testing.latest_event_file")
def latest_event_file(base_dir: str) -> str | None:
    """The event file of a directory that is last by its name; None if there is none."""
    files = sorted(glob.glob(os.path.join(base_dir, "events.*")))
    return files[-1] if files else None


@export("contrib.testing.latest_events")
def latest_events(base_dir: str) -> Any:
    """The events of that file."""
    path = latest_event_file(base_dir)
    return summary_iterator(path) if path else []


@export("contrib.testing.latest_summaries")
def latest_summaries(base_dir: str) -> list[Any]:
    """Those of its events that have summaries."""
    return [event for event in latest_events(base_dir) if event.HasField("summary")]


@export("contrib.testing.simple_values_from_events")
def simple_values_from_events(
    events: Iterable[Any], tags: Iterable[str]
) -> dict[str, float]:
    """The numbers of the last steps, by tags.

    Raises:
      ValueError: what has the tag is no number.
    """
    steps: dict[str, int] = {}
    found: dict[str, float] = {}
    wanted = set(tags)
    for event in events:
        for value in event.summary.value if event.HasField("summary") else ():
            if value.tag not in wanted:
                continue
            if not value.HasField("simple_value"):
                raise ValueError(f"Summary for {value.tag} is not a simple_value.")
            if value.tag not in steps or event.step > steps[value.tag]:
                steps[value.tag] = event.step
                found[value.tag] = value.simple_value
    return found
