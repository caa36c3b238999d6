"""The page of an explanation: its data, and how it behaves in a browser."""

from __future__ import annotations

import base64
import gzip
import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tensorloom as tf
from tensorloom.inspect.explain.fates import WAYS
from tensorloom.inspect.explain.html_page import page

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser")


def explained() -> Any:
    x = tf.placeholder(tf.float32, [None, 8], name="x")
    with tf.device("/cpu:1"), tf.variable_scope("layer"):
        y = tf.exp(x + 0.0, name="y")
    z = tf.reduce_sum(y * (tf.constant(1.0) + 1.0), name="z")
    sess = tf.Session(config=tf.ConfigProto(device_count={"CPU": 2}))
    return sess.explain(z, {x: np.ones([4, 8], np.float32)})


def data_of(text: str) -> Any:
    found = re.search(r'id="data">([^<]*)<', text)
    assert found is not None
    return json.loads(gzip.decompress(base64.b64decode(found[1])))


def test_the_data_are_those_of_the_explanation() -> None:
    e = explained()
    data = data_of(page(e))
    strings, records = data["strings"], data["records"]
    assert data["counts"] == e.counts()
    (graph,) = data["graphs"]
    nodes = {strings[records[r][0]]: records[r] for r in graph["build"]}
    assert nodes.keys() == {op.name for op in tf.get_default_graph().get_operations()}
    for stage, told in zip(graph["stages"], e.stages, strict=True):
        for name in stage["removed"]:
            del nodes[strings[name]]
        nodes.update({strings[records[r][0]]: records[r] for r in stage["set"]})
        assert nodes.keys() == told.after.nodes.keys()
        for name, node in told.after.nodes.items():
            assert strings[nodes[name][1]] == node.op
            assert [strings[i] for i in nodes[name][2]] == [n for n, _ in node.inputs]
            assert strings[nodes[name][6]] == node.device
    fates = {strings[int(n)]: strings[f[0]] for n, f in data["fates"].items()}
    assert fates == {name: fate.way for name, fate in e.fates.items()}
    assert [t[5] for t in data["transfers"]] == [t.size for t in e.transfers]
    assert len(data["trace"]) == len(e.stats)
    assert [d["peak"] for d in data["memory"]["devices"]] == [
        d.peak for d in e.memory.devices
    ]


def test_a_page_loads_nothing_and_escapes_names(tmp_path: Path) -> None:
    e = explained()
    text = page(e, "a <b> & c")
    assert "<title>a &lt;b&gt; &amp; c</title>" in text
    assert "@@" not in text
    assert not re.search(r"""(src|href)=["']?(https?:)?//""", text)
    e.write_html(str(tmp_path / "page.html"))
    assert (tmp_path / "page.html").read_text().startswith("<!DOCTYPE html>")


def test_each_way_has_a_colour_of_its_own() -> None:
    text = page(explained())
    told = re.search(r"const WAYS = (\[.*?\]);", text, re.DOTALL)
    assert told is not None
    assert tuple(json.loads(told[1])) == WAYS
    colours = dict(re.findall(r"--([a-z-]+): (#[0-9a-f]{6})", text))
    ways = [colours[way.replace(" ", "-")] for way in WAYS]
    assert len(set(ways)) == len(WAYS)


# --- in a browser ---------------------------------------------------------------------

# What a person does, and the text that is there afterwards, as JSON in the page.
VISIT = """
<script>
addEventListener("error", (e) => { (window.failures ||= []).push(e.message); });
const wait = (ms) => new Promise((done) => setTimeout(done, ms));
async function visit() {
  while (document.body.dataset.ready !== "yes") await wait(20);
  const seen = {};
  for (const tab of document.querySelectorAll("[role=tab]")) {
    tab.click();
    await wait(60);
    seen[tab.textContent] = document.getElementById("view").innerText;
  }
  document.getElementById("tab-graph").click();
  const slider = document.getElementById("slider");
  slider.value = 0;
  slider.dispatchEvent(new Event("input"));
  slider.dispatchEvent(new Event("change"));
  const names = () => [...document.querySelectorAll("g.box")].map(
    (g) => g.dataset.name);
  seen.closed = names();
  const scope = document.querySelector('g.scope[data-name="layer"]');
  scope.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter" }));
  seen.open = names();
  const query = document.getElementById("query");
  query.value = "layer/y";
  query.dispatchEvent(new Event("input"));
  seen.found = document.getElementById("found").innerText;
  query.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter" }));
  seen.node = document.getElementById("node").innerText;
  document.getElementById("tab-summary").dispatchEvent(
    new KeyboardEvent("keydown", { key: "ArrowRight" }));
  seen.tab = document.body.dataset.tab;
  seen.failures = window.failures || [];
  const out = document.createElement("script");
  out.type = "application/json";
  out.id = "seen";
  out.textContent = JSON.stringify(seen).replaceAll("<", "\\\\u003c");
  document.body.append(out);
}
visit().catch((e) => { (window.failures ||= []).push(String(e)); });
</script>
</body>
"""


def dump(path: Path, budget_ms: int = 20_000) -> str:
    assert BROWSER is not None
    return subprocess.run(
        [
            *(BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom"),
            *(f"--virtual-time-budget={budget_ms}", "--window-size=1400,900"),
            path.as_uri(),
        ],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    ).stdout


@pytest.mark.browser
def test_a_visit(tmp_path: Path) -> None:
    e = explained()
    path = tmp_path / "page.html"
    path.write_text(page(e, "visit").replace("</body>", VISIT))
    found = re.search(r'id="seen">(.*?)</script>', dump(path), re.DOTALL)
    assert found is not None
    seen = json.loads(found[1])
    assert seen["failures"] == []
    total = sum(e.counts().values())
    assert f"What became of the {total} nodes" in seen["summary"]
    assert "prune" in seen["passes"]
    assert f"{len(e.transfers)} transfers" in seen["devices"]
    assert "def piece(args, context):" in seen["program"]
    assert "The step took" in seen["timeline"]
    assert f"peak {e.memory.devices[0].peak} bytes" in seen["memory"]
    assert "layer" in seen["closed"]
    assert "layer/y" not in seen["closed"]
    assert "layer/y" in seen["open"]
    assert "layer/y" in seen["found"]
    for text in ("kept", "Exp(", "test_html_page.py", "its device field asks for"):
        assert text in seen["node"]
    assert seen["tab"] == "graph"


# What a page of 100,000 nodes shows first, and what its search finds.
LARGE = """
<script>
(async () => {
  const wait = (ms) => new Promise((done) => setTimeout(done, ms));
  while (document.body.dataset.ready !== "yes") await wait(20);
  const seen = [document.getElementById("view").innerText];
  document.getElementById("tab-graph").click();
  seen.push(document.querySelectorAll("g.box").length);
  const query = document.getElementById("query");
  query.value = "block_999/Tanh_49";
  query.dispatchEvent(new Event("input"));
  query.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter" }));
  seen.push(document.getElementById("node").innerText);
  document.body.append(Object.assign(document.createElement("script"), {
    type: "application/json", id: "seen", textContent: JSON.stringify(seen) }));
})();
</script>
</body>
"""


@pytest.mark.browser
@pytest.mark.parametrize("blocks", [1000], ids=["100,000 nodes"])
def test_a_large_graph(tmp_path: Path, blocks: int) -> None:
    y = x = tf.placeholder(tf.float32, [4])
    for _ in range(blocks):
        with tf.name_scope("block"):
            for _ in range(50):
                y = tf.tanh(tf.add(y, x))
    e = tf.Session().explain(y, {x: np.zeros(4)}, run=False)
    path = tmp_path / "page.html"
    path.write_text(page(e).replace("</body>", LARGE))
    found = re.search(r'id="seen">(.*?)</script>', dump(path, 60_000), re.DOTALL)
    assert found is not None
    first, boxes, node = json.loads(found[1])
    assert f"What became of the {100 * blocks + 1} nodes" in first
    assert 0 < boxes <= 1100
    assert "kept" in node
