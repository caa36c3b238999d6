"""`tf.contrib.testing`."""

from __future__ import annotations

import unittest
from typing import TYPE_CHECKING

import pytest

import tensorloom as tf

if TYPE_CHECKING:
    from pathlib import Path

testing = tf.contrib.testing


def _summary(**values: float) -> tf.Summary:
    message = tf.Summary()
    for tag, value in values.items():
        message.value.add(tag=tag, simple_value=value)
    return message


def test_fake_writers_keep_what_they_are_given() -> None:
    testing.FakeSummaryWriter.install()
    try:
        with pytest.raises(ValueError, match="already installed"):
            testing.FakeSummaryWriter.install()
        writer = tf.summary.FileWriterCache.get("nowhere")
        assert isinstance(writer, testing.FakeSummaryWriter)
        writer.add_summary(_summary(a=1.5).SerializeToString(), 3)
        case = unittest.TestCase()
        writer.assert_summaries(case, "nowhere", expected_summaries={3: {"a": 1.5}})
        with pytest.raises(AssertionError):
            writer.assert_summaries(case, expected_summaries={3: {"a": 2.0}})
        with pytest.raises(ValueError, match="Invalid global_step"):
            writer.add_graph(tf.get_default_graph(), -1)
    finally:
        tf.summary.FileWriterCache.clear()
        testing.FakeSummaryWriter.uninstall()
    with pytest.raises(ValueError, match="not installed"):
        testing.FakeSummaryWriter.uninstall()


def test_events_of_the_latest_file(tmp_path: Path) -> None:
    assert testing.latest_event_file(str(tmp_path)) is None
    with tf.summary.FileWriter(str(tmp_path)) as writer:
        writer.add_summary(_summary(a=1.0, b=2.0), 1)
        writer.add_summary(_summary(a=3.0), 2)
    found = testing.latest_summaries(str(tmp_path))
    assert [event.step for event in found] == [1, 2]
    assert testing.simple_values_from_events(found, ["a"]) == {"a": 3.0}
    testing.assert_summary(["a"], {"a": 3.001}, found[1].summary)
    with pytest.raises(ValueError, match="Expected tags"):
        testing.assert_summary(["b"], {}, found[1].summary)
    serialized = _summary(a=1.0).SerializeToString()
    assert testing.to_summary_proto(serialized) == _summary(a=1.0)
