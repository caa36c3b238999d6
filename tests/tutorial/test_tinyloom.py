"""The chapters of docs/tutorial: each file runs, and does what its page says."""

from __future__ import annotations

import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

TUTORIAL = Path(__file__).resolve().parents[2] / "docs" / "tutorial"
CHAPTERS = sorted(TUTORIAL.glob("[1-8]-*.md"))


@pytest.fixture(autouse=True)
def on_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(TUTORIAL))


def fit() -> Any:
    from tinyloom.graph import Graph
    from tinyloom.session import descend, line_data, line_fit

    g = Graph()
    x, y, loss, variables = line_fit(g)
    feeds = dict(zip((x, y), line_data(), strict=True))
    return g, feeds, loss, descend(loss, variables, 0.1)


# --- the pages -----------------------------------------------------------------------


def test_there_are_eight_chapters_of_a_thousand_lines() -> None:
    assert [page.name[0] for page in CHAPTERS] == list("12345678")
    files = TUTORIAL.glob("tinyloom/*.py")
    lines = sum(len(path.read_text().splitlines()) for path in files)
    assert 900 < lines < 1100


@pytest.mark.parametrize("page", CHAPTERS, ids=lambda page: page.stem)
def test_a_page_leads_to_files_that_are_there(page: Path) -> None:
    text = page.read_text()
    assert "## Where the real thing does this" in text
    for target in re.findall(r"\]\(([^)#]+)\)", text):
        assert (TUTORIAL / target).exists(), target


@pytest.mark.multiprocess
@pytest.mark.parametrize(
    ("module", "expected"),
    [
        ("graph", "Add = Add(Mul, Const_1)"),
        ("gradients", "SpreadLike = SpreadLike(grad_y, Mul)"),
        ("session", "100 "),
        ("passes", "Add_1 = Add(Relu, Relu)"),
        ("executor", "def step(v0, v1):"),
        ("devices", "B Relu  Const  Mul  send Mul@A"),
        ("parameter_servers", "w [ 1. "),
    ],
)
def test_a_chapter_runs(module: str, expected: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", f"tinyloom.{module}"],
        cwd=TUTORIAL,
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    if module == "parameter_servers":  # the workers' order differs from run to run
        found = [float(n) for n in re.findall(r"-?\d+\.\d*(?:e-\d+)?", done.stdout)]
        np.testing.assert_allclose(found[2:], [1.0, -2.0, 0.5, 0.25], atol=1e-3)
    else:
        assert expected in done.stdout


# --- the chapters --------------------------------------------------------------------


def test_graphs_name_nodes_and_refuse_what_is_not_theirs() -> None:
    from tinyloom.graph import Graph

    g = Graph()
    assert [g.constant(1.0).name, g.constant(2.0).name] == ["Const", "Const_1"]
    with pytest.raises(ValueError, match="another graph"):
        g.constant(1.0) + Graph().constant(1.0)
    with pytest.raises(ValueError, match="no op Exp"):
        g.add("Exp", 1.0)


@pytest.mark.parametrize(
    "build",
    [
        lambda g, x, b: x + b,
        lambda g, x, b: x - b * b,
        lambda g, x, b: x * b,
        lambda g, x, b: g.add("Transpose", x) @ (x * b),
        lambda g, x, b: g.add("Relu", x * b - 0.1),
    ],
)
def test_gradients_are_difference_quotients(build: Any) -> None:
    from tinyloom.gradients import gradients
    from tinyloom.graph import Graph
    from tinyloom.session import Session

    g = Graph()
    x, b = g.placeholder("x"), g.placeholder("b")
    y = g.add("Mean", build(g, x, b))
    found = gradients(y, [x, b])
    random = np.random.RandomState(0)
    values = {x: random.rand(3, 2) + 0.5, b: random.rand(2) + 0.5}
    sess = Session(g)
    for node, gradient in zip([x, b], sess.run(found, values), strict=True):
        assert gradient.shape == values[node].shape
        for place in np.ndindex(values[node].shape):
            up, down = (
                {**values, node: values[node].copy()},
                {**values, node: values[node].copy()},
            )
            up[node][place] += 1e-2
            down[node][place] -= 1e-2
            slope = (sess.run([y], up)[0] - sess.run([y], down)[0]) / 2e-2
            assert gradient[place] == pytest.approx(slope, abs=2e-3)


def test_sessions_prune_feed_and_explain_errors() -> None:
    from tinyloom.session import Session, pruned

    g, feeds, loss, train = fit()
    sess = Session(g)
    assert sess.run([loss], {loss: 3.0}) == [3.0]
    assert pruned(g, [loss], {loss.name}) == []
    with pytest.raises(ValueError, match="feed a value for the placeholder x"):
        sess.run([loss], {n: v for n, v in feeds.items() if n.name == "y"})
    with pytest.raises(
        ValueError, match=r"MatMul \(MatMul\) of shapes \(2, 2\), \(3, 1"
    ):
        sess.run([loss], {**feeds, g.nodes["x"]: np.ones([2, 2])})
    for _ in range(100):
        value = sess.run([loss, *train], feeds)[0]
    assert value < 1e-9


def test_passes_keep_results() -> None:
    from tinyloom.executor import CompiledSession
    from tinyloom.passes import optimize
    from tinyloom.session import Session

    g, feeds, loss, train = fit()
    x = g.nodes["x"]
    twice = g.add("Relu", x * 2.0) + g.add("Relu", x * (g.constant(1.0) + 1.0))
    fetches = [loss, twice, *train]
    fewer = optimize(g, fetches, {node.name for node in feeds})
    assert sum(node.op == "Relu" for node in fewer.values()) == 1
    assert {node.name for node in fetches} <= fewer.keys()
    plain, compiled = Session(g), CompiledSession(g)
    for _ in range(3):
        for a, b in zip(
            plain.run(fetches, feeds), compiled.run(fetches, feeds), strict=True
        ):
            np.testing.assert_array_equal(a, b)
    assert len(compiled._steps) == 1


def test_devices_share_a_step_and_its_errors() -> None:
    from tinyloom.devices import DevicesSession, partition, place
    from tinyloom.graph import Graph

    g = Graph()
    x = g.placeholder("x")
    with g.device("B"):
        y = x * 2.0
    z, w = y + 1.0, y - 1.0
    nodes = {n.name: n for n in (y, z, w)} | {
        n: g.nodes[n] for n in ("Const", "Const_1", "Const_2")
    }
    nodes = {n: g.nodes[n] for n in g.nodes if n in nodes}
    parts = partition(nodes, place(nodes, ["A", "B"]), ["x"], [z.name, w.name])
    assert [n for n in parts["A"][0] if n.endswith("@A")] == ["Mul@A"]  # one, shared
    sess = DevicesSession(g, ["A", "B"])
    assert sess.run([z, w], {x: 3.0}) == [7.0, 5.0]
    with g.device("B"):
        bad = g.add("Mul", x, np.ones([3]), name="bad")
    end = bad + 1.0
    with pytest.raises(ValueError, match=r"^bad \(Mul\): .* shapes \(2,\) \(3,\)"):
        sess.run([end], {x: np.ones([2])})
    with pytest.raises(ValueError, match="asks for the device C"), g.device("C"):
        sess.run([x + 1.0], {x: 1.0})


@pytest.fixture
def workers(on_path: None) -> Iterator[list[Any]]:
    from tinyloom.cluster import Worker, hang_up

    found = [Worker() for _ in range(2)]
    threads = [threading.Thread(target=w.serve, daemon=True) for w in found]
    for thread in threads:
        thread.start()
    yield found
    hang_up()
    for worker in found:
        worker.close()
    for thread in threads:
        thread.join(10)


def test_a_cluster_trains_and_tells_errors(workers: list[Any]) -> None:
    from tinyloom.cluster import ClusterSession
    from tinyloom.graph import Graph

    server, worker = (w.address for w in workers)
    g = Graph()
    with g.device(server):
        v = g.variable([1.0, 2.0], "v")
    with g.device(worker):
        x = g.placeholder("x")
        y = v * x
    sess = ClusterSession(g, [worker, server])
    (found,) = sess.run([y], {x: [3.0, 4.0]})
    np.testing.assert_array_equal(found, [3.0, 8.0])
    with pytest.raises(RuntimeError, match=rf"{worker}: Mul \(Mul\): .* shapes"):
        sess.run([y], {x: np.ones([3])})
    (found,) = sess.run([y], {x: [1.0, 1.0]})  # it goes on working
    np.testing.assert_array_equal(found, [1.0, 2.0])
    assert not any(w._steps for w in workers)


def test_updates_of_two_workers_are_all_there(workers: list[Any]) -> None:
    from tinyloom.cluster import ClusterSession
    from tinyloom.graph import Graph

    server = workers[0].address

    def work() -> None:
        g = Graph()
        with g.device(server):
            v = g.variable(0.0, "v")
            down = g.add("AssignSub", v, g.constant(1.0), variable="v")
        sess = ClusterSession(g, [server])
        for _ in range(50):
            sess.run([down])

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    g = Graph()
    with g.device(server):
        v = g.variable(0.0, "v")
    assert ClusterSession(g, [server]).run([v]) == [-100.0]


def test_bytes_that_are_no_message_do_not_take_memory(workers: list[Any]) -> None:
    import socket
    import struct

    host, port = workers[0].address.split(":")
    with socket.create_connection((host, int(port))) as connection:
        connection.sendall(struct.pack("<II", 2**31, 5))
        assert connection.recv(10) == b""
