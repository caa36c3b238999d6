"""The live page in a browser, with the state of a real cluster."""

from __future__ import annotations

import json
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import tensorloom as tf
from tensorloom.inspect.live.dashboard import page
from tensorloom.inspect.live.watcher import Watcher, tasks_of
from tests.cluster.clusters import PS, WORKER, cluster
from tests.inspect.explain.test_html_page import dump

# In the place of the server: one state. Then somebody looks at each tab.
SOURCE = """
<script>
window.failures = [];
addEventListener("error", (e) => window.failures.push(e.message));
class EventSource {
  constructor() { setTimeout(() => this.onmessage({ data: STATE }), 0); }
}
window.EventSource = EventSource;
const STATE = JSON.stringify(@@STATE@@);
</script>
<script>"""
VISIT = """
<script>
const wait = (ms) => new Promise((done) => setTimeout(done, ms));
async function visit() {
  while (!document.body.dataset.number) await wait(20);
  const seen = {};
  for (const tab of document.querySelectorAll("[role=tab]")) {
    tab.click();
    seen[tab.textContent] = document.getElementById("view").innerText;
  }
  document.querySelector('[data-view="tasks"]').dispatchEvent(
    new KeyboardEvent("keydown", { key: "ArrowLeft" }));
  seen.chosen = document.querySelector('[aria-selected="true"]').textContent;
  seen.failures = window.failures;
  const out = document.createElement("script");
  out.type = "application/json";
  out.id = "seen";
  out.textContent = JSON.stringify(seen).replaceAll("<", "\\\\u003c");
  document.body.append(out);
}
visit().catch((e) => window.failures.push(String(e)));
</script>
</body>
"""


@pytest.mark.browser
def test_a_visit(tmp_path: Path) -> None:
    with cluster(ps=1, worker=1) as servers, tf.Graph().as_default():
        with tf.device(PS):
            v = tf.Variable(np.zeros([256, 4], np.float32), name="weights")
        with tf.device(WORKER):
            bad = tf.floordiv(1, tf.constant([0]), name="bad")
        with tf.Session(servers["worker"][0].target) as sess:
            sess.run(v.initializer)
            with pytest.raises(tf.errors.InvalidArgumentError):
                sess.run(bad)
            tasks = tasks_of(
                {job: tasks[0].target for job, tasks in servers.items()}
                | {"gone": "localhost:1"}
            )
            watcher = Watcher(tasks)
            with ThreadPoolExecutor(3) as pool:
                watcher.look(pool)
    state = json.dumps(watcher.state_after(0, 0.0)).replace("<", "\\u003c")
    text = page().replace("<script>", SOURCE.replace("@@STATE@@", state), 1)
    path = tmp_path / "live.html"
    path.write_text(text.replace("</body>", VISIT))
    found = re.search(r'id="seen">(.*?)</script>', dump(path), re.DOTALL)
    assert found is not None
    seen = json.loads(found[1])
    assert seen["failures"] == []
    assert "2 of 3" in seen["tasks"]
    assert "does not answer" in seen["tasks"]
    assert "2" in seen["sessions"]
    assert "Nobody waits for a tensor" in seen["waits"]
    assert "No lock is held" in seen["waits"]
    assert "shared memory" in seen["traffic"]
    assert "weights" in seen["variables"]
    assert "4.0 KiB" in seen["variables"]
    assert "InvalidArgumentError" in seen["errors"]
    assert seen["chosen"] == "errors"
