"""Five questions about a step on two devices, answered by its page alone.

docs/inside.md walks through it; INSIDE_PICTURES=FOLDER makes the pictures of that page.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from PIL import Image

import tensorloom as tf
from tensorloom.inspect.explain.html_page import page
from tensorloom.inspect.explain.programs import watched_runs
from tensorloom.inspect.explain.transfers import RECEIVES
from tests.inspect.explain.test_html_page import BROWSER, dump

if TYPE_CHECKING:
    from tensorloom.inspect.explain.explanation import Explanation

PROGRAM = Path(__file__).resolve().parents[3] / "docs/inside/two_devices.py"
VANISHED = "hidden/BiasAdd"
UPDATE = "GradientDescent/update_head/kernel/ApplyGradientDescent"
# What is opened for each question, and the picture of it: its name and height.
VIEWS = {
    "vanished": (f"graph&node={VANISHED}&stage=0&open=hidden", 760),
    "placed": (f"devices&node={UPDATE}", 640),
    "transfers": ("devices", 640),
    "memory": ("memory&node=gradients/hidden/MatMul_grad/MatMul_1", 700),
    "timeline": ("timeline&node=head/spread", 620),
    "program": ("program&node=head/spread", 620),
    "summary": ("summary", 760),
}

VISIT = """
<script>
addEventListener("error", (e) => { (window.failures ||= []).push(e.message); });
const wait = (ms) => new Promise((done) => setTimeout(done, ms));
async function visit() {
  while (document.body.dataset.ready !== "yes") await wait(20);
  const text = (id) => document.getElementById(id).innerText;
  const find = (name) => {
    const query = document.getElementById("query");
    query.value = name;
    query.dispatchEvent(new Event("input"));
    query.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter" }));
    return text("node");
  };
  const open = async (tab) => {
    document.getElementById("tab-" + tab).click();
    await wait(60);
    return text("view");
  };
  // The first row of the n-th table, and the life of what it names.
  const first = (n) => {
    const row = document.querySelectorAll("#view table")[n].querySelector("tbody tr");
    const cells = [...row.cells].map((cell) => cell.innerText.trim());
    row.querySelector("button").click();
    return [cells, text("node")];
  };
  const seen = { vanished: find("@@VANISHED@@"), placed: find("@@UPDATE@@") };
  await open("devices");
  seen.transfer = first(1);
  seen.memory = await open("memory");
  await open("timeline");
  seen.slow = first(0);
  seen.step = text("view");
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


def explained() -> Explanation:
    """The training step of the program, in its second run."""
    source = PROGRAM.read_text().replace("import tensorflow as tf", "")
    with watched_runs() as steps, tf.Graph().as_default():
        exec(compile(source, PROGRAM.name, "exec"), {"tf": tf})
    step = steps.longest
    assert step is not None
    return step.explanation


def line_of(text: str) -> int:
    lines = PROGRAM.read_text().splitlines()
    (number,) = (i for i, line in enumerate(lines, 1) if text in line)
    return number


@pytest.mark.browser
def test_five_questions(tmp_path: Path) -> None:
    e = explained()
    path = tmp_path / "step.html"
    path.write_text(page(e, "two_devices.py"))
    if folder := os.environ.get("INSIDE_PICTURES"):
        for name, (place, height) in VIEWS.items():
            picture(path, place, Path(folder) / f"{name}.png", height)
    visit = VISIT.replace("@@VANISHED@@", VANISHED).replace("@@UPDATE@@", UPDATE)
    path.write_text(path.read_text().replace("</body>", visit))
    found = re.search(r'id="seen">(.*?)</script>', dump(path), re.DOTALL)
    assert found is not None
    seen: dict[str, Any] = json.loads(found[1])
    assert seen["failures"] == []
    answers(e, seen)


def answers(e: Explanation, seen: dict[str, Any]) -> None:
    """What was seen is so, counted without the page."""
    # Why did a node vanish?
    assert VANISHED not in {n for part in e.parts.values() for n in part.nodes}
    assert "fused by fuse_matmul_bias into hidden/Relu" in " ".join(
        seen["vanished"].split()
    )
    # Why did one run on CPU:1? It has to be with its variable.
    assert "/device:CPU:1: colocated with" in seen["placed"]
    assert f"made at {PROGRAM.name}:{line_of('train = ')}" in seen["placed"]
    # Which transfer dominates the step?
    cells, _ = seen["transfer"]
    largest = max(e.transfers, key=lambda t: t.size or 0)
    assert cells[0] == largest.tensor
    assert int(cells[5]) == largest.size == 512 * 320 * 4
    # Where is the peak of memory?
    for device in e.memory.devices:
        assert f"after {device.peak_node};" in seen["memory"]
    # Which line made the slow node?
    cells, life = seen["slow"]
    assert e.times is not None
    work = [node for node in e.times.nodes if node.op not in RECEIVES]
    assert cells[0] == work[0].node
    assert float(cells[3]) == pytest.approx(work[0].seconds * 1e6, abs=0.2)
    busy = sum(node.seconds for node in work)
    assert float(cells[4].split()[0]) == pytest.approx(
        100 * work[0].seconds / busy, abs=0.2
    )
    (step,) = re.findall(r"The step took ([\d.]+) us", seen["step"])
    assert float(step) == pytest.approx(e.times.step * 1e6, abs=0.2)
    made = e.built.nodes[cells[0]].source_line()
    assert made is not None
    assert f"made at {made}" in life


def picture(page_path: Path, place: str, path: Path, height: int) -> None:
    """Makes a picture of one view of a page, with few colours so that it is small."""
    assert BROWSER is not None
    subprocess.run(
        [
            *(BROWSER, "--headless", "--no-sandbox", "--disable-gpu"),
            *("--hide-scrollbars", "--virtual-time-budget=10000"),
            *(f"--window-size=1280,{height}", f"--screenshot={path}"),
            f"{page_path.as_uri()}#{place}",
        ],
        capture_output=True,
        timeout=120,
        check=True,
    )
    with Image.open(path) as image:
        small = image.convert("RGB").quantize(64, dither=Image.Dither.NONE)
    small.save(path, optimize=True)
