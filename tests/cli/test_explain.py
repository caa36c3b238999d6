"""`tensorloom explain`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

import tensorloom as tf
from tensorloom.cli.main import main

PROGRAM = """
import sys
import tensorflow as tf
x = tf.placeholder(tf.float32, [None, 3], name="x")
w = tf.get_variable("w", [3, 2])
y = tf.exp(tf.matmul(x, w, name="y") + 0.0, name="out")
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for _ in range(3):
        sess.run(y, {x: [[1.0, 2.0, 3.0]]})
if len(sys.argv) > 1:
    raise SystemExit(int(sys.argv[1]))
"""


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    import sys

    monkeypatch.setattr(sys, "argv", list(sys.argv))
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))
    monkeypatch.setitem(sys.modules, "__main__", sys.modules["__main__"])
    before = set(sys.modules)
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    yield str(path)
    for name in set(sys.modules) - before:
        if name.startswith("tensorflow"):
            del sys.modules[name]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ([], ["   0        1", "fetches  out:0", "program.py:6"]),
        (["--node", "y"], ["y = MatMul(x, w/read)", "stands in for add (replaced"]),
        (["--diff", "arithmetic"], ["- add = AddV2", "[replaced (neutral): y]"]),
        (["--stage", "compile"], ["def piece(args, context):", "# y (MatMul)"]),
    ],
)
def test_a_program(
    program: str,
    options: list[str],
    expected: list[str],
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["explain", "--step", "1", *options, program]) == 0
    out = capsys.readouterr().out
    for text in expected:
        assert text in out


def test_data_and_the_status_of_the_program(
    program: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["explain", "--json", program, "3"]) == 3
    captured = capsys.readouterr()
    assert "ended with status 3" in captured.err
    assert json.loads(captured.out)["stages"][0]["name"] == "prune"


def test_a_page_and_a_trace(program: str, tmp_path: Path) -> None:
    page, trace = tmp_path / "page.html", tmp_path / "trace.json"
    options = ["--html", str(page), "--trace", str(trace)]
    assert main(["explain", *options, program]) == 0
    assert "explain" in page.read_text()
    events = json.loads(trace.read_text())["traceEvents"]
    assert any(event.get("args", {}).get("name") == "y" for event in events)


def test_two_steps_compared(program: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "--step", "1", "--compare", "0", program]) == 0
    out = capsys.readouterr().out
    assert "nodes on another device" in out
    assert "a traced step:" in out


def test_what_is_not_there(program: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "--step", "7", program]) == 1
    assert "steps 0 to 1" in capsys.readouterr().err
    assert main(["explain", "no_such_model"]) == 2
    assert "no_such_model" in capsys.readouterr().err


def test_options_after_the_target(
    program: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with tf.Graph().as_default() as graph:
        tf.add(1, 2, name="three")
    model = tmp_path / "graph.pb"
    model.write_bytes(graph.as_graph_def().SerializeToString())
    assert main(["explain", str(model), "--fetch", "three", "--node", "three"]) == 0
    assert "three = Add" in capsys.readouterr().out
    assert main(["explain", program, "0", "--node", "y"]) == 0
    captured = capsys.readouterr()
    assert "the program is given --node;" in captured.err
    assert "y = MatMul" not in captured.out
