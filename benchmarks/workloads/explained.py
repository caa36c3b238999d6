"""What it costs to look inside: explanations of a large graph, and a trace."""

import os
import tempfile

from benchmarks.workloads.graphs import chain
from benchmarks.workloads.table import Table, seconds_of

table = Table()

# TensorFlow has no explanations: ours have limits of their own.
TERMINAL_S = 3.0
PAGE_S = 6.0
TRACED = 1.3
_RUNS = 30


def explained(tf, show):
    """The time to explain the second run of 10,000 operations, and to show it."""
    x, y = chain(tf)
    with tf.Session() as sess:
        sess.run(y, {x: 1.0})
        return seconds_of(lambda: show(sess.explain(y, {x: 1.0})))


@table.once("figure: explain 10,000 nodes, on the terminal", seconds=TERMINAL_S)
def on_the_terminal(tf):
    return explained(tf, str)


@table.once("figure: explain 10,000 nodes, as a page", seconds=PAGE_S)
def as_a_page(tf):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "page.html")
        return explained(tf, lambda explanation: explanation.write_html(path))


@table.once(
    "figure: a traced step / an untraced one, kernels above 20 us",
    seconds=TRACED,
    unit="times",
)
def traced(tf):
    y = tf.get_variable("x", [200, 200], initializer=tf.ones_initializer())
    for _ in range(50):  # 100 kernels of 20 to 200 us
        y = tf.tanh(tf.matmul(y, y))
    total = tf.reduce_sum(y)
    options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
    metadata = tf.RunMetadata()
    plain, with_trace = [], []
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        sess.run(total)
        for _ in range(_RUNS):  # in turns: a busy moment then hits both
            plain.append(seconds_of(lambda: sess.run(total)))
            with_trace.append(
                seconds_of(lambda: sess.run(total, None, options, metadata))
            )
    return min(with_trace) / min(plain)
