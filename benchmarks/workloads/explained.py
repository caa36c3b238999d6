"""What it costs to look inside: explanations of a large graph, and a trace."""

import os
import pathlib
import shutil
import subprocess
import tempfile
import threading

from benchmarks.workloads.graphs import chain
from benchmarks.workloads.table import Table, seconds_of

table = Table()

# TensorFlow has no explanations: ours have limits of their own.
TERMINAL_S = 3.0
PAGE_S = 6.0
TRACED = 1.3
FIRST_PICTURE_S = 3.0
_RUNS = 30
_BROWSER = shutil.which("chromium") or shutil.which("chromium-browser")
# Says when the first view has been drawn, in milliseconds since the page was asked for.
_PROBE = """<script>
requestAnimationFrame(function look() {
  const drawn = document.body && document.body.dataset.ready === "yes";
  requestAnimationFrame(drawn ? () => console.log("DRAWN " + performance.now()) : look);
});
</script><script"""


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


def first_picture(tf):
    """The time from opening a page of 100,000 nodes until its first view is there."""
    x, y = tf.placeholder(tf.float32, [4]), None
    for _ in range(1000):
        with tf.name_scope("block"):
            for _ in range(50):
                y = tf.tanh(tf.add(x if y is None else y, x))
    with tf.Session() as sess, tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "page.html")
        sess.explain(y, {x: [0.0] * 4}, run=False).write_html(path)
        page = pathlib.Path(path)
        page.write_text(page.read_text().replace("<script", _PROBE, 1))
        return min(_seconds_until_drawn(page) for _ in range(3))


def _seconds_until_drawn(page):
    command = [
        *(_BROWSER, "--headless", "--no-sandbox", "--disable-gpu"),
        *("--enable-logging=stderr", "--remote-debugging-port=0", page.as_uri()),
    ]
    browser = subprocess.Popen(command, stderr=subprocess.PIPE, universal_newlines=True)
    limit = threading.Timer(120.0, browser.kill)
    limit.start()
    try:
        for line in browser.stderr:
            if "DRAWN " in line:
                return float(line.split("DRAWN ")[1].split('"')[0]) / 1e3
        raise RuntimeError("The page drew nothing in two minutes.")
    finally:
        limit.cancel()
        browser.kill()
        browser.wait()
        browser.stderr.close()


if _BROWSER is not None:
    table.once(
        "figure: 100,000 nodes, a page's first picture", seconds=FIRST_PICTURE_S
    )(first_picture)
