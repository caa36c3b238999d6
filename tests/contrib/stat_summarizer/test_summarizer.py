"""`tf.contrib.stat_summarizer`, on messages as 1.15 makes them."""

from __future__ import annotations

from typing import Any

import tensorloom as tf
from tensorloom.protos import step_stats_pb2

summarizer = tf.contrib.stat_summarizer


def _step(times: dict[str, int]) -> Any:
    stats = step_stats_pb2.StepStats()
    device = stats.dev_stats.add(device="/device:CPU:0")
    start = 1000
    for name, time in times.items():
        node = device.node_stats.add(node_name=name, all_start_micros=start)
        node.all_end_rel_micros = time
        node.timeline_label = f"{name} = {name.title()}(x)"
        node.memory.add(total_bytes=2000)
        start += time
    return stats


def test_tables() -> None:
    ss = summarizer.StatSummarizer()
    for times in ({"a": 10, "b": 30}, {"a": 20, "b": 50}):
        ss.ProcessStepStatsStr(_step(times).SerializeToString())
    text = ss.GetOutputString()
    rows = [line.split("\t") for line in text.splitlines()]
    by_time = rows[7]
    assert [cell.strip() for cell in rows[2][1:]] == [
        *("A", "0.000", "0.010", "0.015", "27.273%", "27.273%", "2.000", "1", "a")
    ]
    assert [cell.strip() for cell in by_time[1:]] == [
        *("B", "0.015", "0.030", "0.040", "72.727%", "72.727%", "2.000", "1", "b")
    ]
    ends = (
        "Timings (microseconds): count=2 first=40 curr=70 min=40 max=70 avg=55 std=15"
    )
    assert f"{ends}\nMemory (bytes): count=2 curr=4000(all same)\n2 nodes" in text


def test_steps_of_a_session() -> None:
    product = tf.matmul(tf.placeholder_with_default([[3.0]], [1, 1]), [[2.0]], name="p")
    ss = summarizer.NewStatSummarizer(b"")
    options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
    with tf.Session() as sess:
        for _ in range(3):
            metadata = tf.RunMetadata()
            sess.run(product, options=options, run_metadata=metadata)
            ss.ProcessStepStats(metadata.step_stats)
    ss.PrintStepStats()
    assert "count=3" in ss.GetOutputString()
    summarizer.DeleteStatSummarizer(ss)


def test_without_a_step() -> None:
    assert "count=0" in summarizer.StatSummarizer().GetOutputString()
