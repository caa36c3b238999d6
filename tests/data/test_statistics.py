"""What pipelines count is what TensorFlow 1.15 counts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import tensorloom as tf

_INT: dict[str, Any] = {"output_types": [tf.int64], "output_shapes": [[]]}


class _Counted:
    """A dataset that counts into an aggregator of its own."""

    def __init__(self, variant: Any, tag: str = "tag") -> None:
        ops = tf.raw_ops
        self.handle = ops.StatsAggregatorHandleV2(container="", shared_name="counted")
        counted = ops.SetStatsAggregatorDataset(
            input_dataset=variant,
            stats_aggregator=self.handle,
            tag=tag,
            counter_prefix="",
            **_INT,
        )
        iterator = ops.IteratorV2(shared_name="", container="", **_INT)
        self.begin = ops.MakeIterator(dataset=counted, iterator=iterator)
        self.element = ops.IteratorGetNext(iterator=iterator, **_INT)
        self.summary = ops.StatsAggregatorSummary(iterator=self.handle)

    def after(self, session: Any, count: int) -> dict[str, Any]:
        """The values by tag once so many elements have been read."""
        session.run(self.begin)
        for _ in range(count):
            session.run(self.element)
        summary = tf.Summary.FromString(session.run(self.summary))
        return {value.tag: value for value in summary.value}


def test_a_filter_tells_what_it_dropped() -> None:
    dataset = tf.data.Dataset.range(6).filter(lambda x: tf.equal(x % 2, 0))
    counted = _Counted(dataset._variant_tensor)
    with tf.Session() as session:
        found = counted.after(session, 3)
    dropped = found["tag::FilterDataset::dropped_elements"]
    assert dropped.simple_value == 2
    assert found["tag::FilterDataset::filtered_elements"].simple_value == 3


def test_a_prefetch_tells_how_full_it_is() -> None:
    counted = _Counted(tf.data.Dataset.range(6).prefetch(2)._variant_tensor, "")
    with tf.Session() as session:
        found = counted.after(session, 4)
    assert found["PrefetchDataset::buffer_capacity"].simple_value == 2
    assert 1 <= found["PrefetchDataset::buffer_size"].simple_value <= 2
    assert found["PrefetchDataset::buffer_utilization"].histo.num == 4


def test_sizes_and_times_are_histograms() -> None:
    source = tf.data.Dataset.range(6)._variant_tensor
    made = tf.raw_ops.BytesProducedStatsDataset(input_dataset=source, tag="b", **_INT)
    made = tf.raw_ops.LatencyStatsDataset(input_dataset=made, tag="t", **_INT)
    counted = _Counted(made)
    with tf.Session() as session:
        found = counted.after(session, 4)
    sizes, times = found["tag::b"].histo, found["tag::t"].histo
    assert (sizes.num, sizes.sum, sizes.min, sizes.max) == (4, 32, 8, 8)
    assert times.num == 4


def test_what_is_counted_is_written_as_events(tmp_path: Path) -> None:
    dataset = tf.data.Dataset.range(6).filter(lambda x: x > 1)
    counted = _Counted(dataset._variant_tensor)
    ops = tf.raw_ops
    writer = ops.SummaryWriter(shared_name="w", container="")
    opened = ops.CreateSummaryFileWriter(
        writer=writer,
        logdir=str(tmp_path),
        max_queue=np.int32(1),
        flush_millis=np.int32(0),
        filename_suffix="",
    )
    written = ops.StatsAggregatorSetSummaryWriter(
        stats_aggregator=counted.handle, summary=writer
    )
    closed = ops.CloseSummaryWriter(writer=writer)
    with tf.Session() as session:
        session.run(opened)
        session.run(written)
        counted.after(session, 2)
        session.run(closed)
    (file,) = tmp_path.iterdir()
    tags = [
        value.tag
        for event in tf.train.summary_iterator(str(file))
        for value in event.summary.value
    ]
    assert tags.count("tag::FilterDataset::dropped_elements") == 2
    assert tags.count("tag::FilterDataset::filtered_elements") == 2
