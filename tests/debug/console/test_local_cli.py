"""The debugger's command line, with its commands in a pipe."""

from __future__ import annotations

import io
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tensorloom as tf
from tensorloom.debug import LocalCLIDebugHook, LocalCLIDebugWrapperSession


class _Program:
    """A small program whose third run gives NaN."""

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self._monkeypatch = monkeypatch
        self.x = tf.placeholder(tf.float32, [2, 3], name="x")
        w = tf.constant(np.arange(6).reshape(3, 2), tf.float32, name="dense/w")
        self.y = tf.matmul(self.x, w, name="dense/y")
        self.z = tf.log(self.y, name="z")
        self.sess = LocalCLIDebugWrapperSession(
            tf.Session(), str(root / "dump"), ui_type="readline"
        )

    def run(self, commands: str, *values: float) -> list[Any]:
        """Runs a step for each value while somebody types the commands."""
        self._monkeypatch.setattr("sys.stdin", io.StringIO(commands))
        fed = [np.full([2, 3], value, np.float32) for value in values]
        return [self.sess.run(self.z, {self.x: array}) for array in fed]


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> _Program:
    return _Program(tmp_path, monkeypatch)


def _answers(text: str) -> list[str]:
    return [part.strip() for part in re.split("^tfdbg> ", text, flags=re.MULTILINE)]


def test_commands_about_a_run(
    program: _Program, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    saved, written = tmp_path / "y.npy", tmp_path / "lt.txt"
    rows = [
        ("pf x:0[0, :]", "array([1., 1., 1.]"),
        ("pf y", "ERROR: The feed_dict of the current run does not contain the key y"),
        ("run", "run-end: run #1: 1 fetch (z:0); 1 feed (x:0)\n4 dumped tensor(s):"),
        ("lt -n dense -s tensor_name -r", "dense/y:0\n"),
        ("lt -t Log", '1 dumped tensor(s):\nOp type regex filter: "Log"'),
        ("lt -f has_inf_or_nan", '0 dumped tensor(s) passing filter "has_inf_or_nan"'),
        ("lt -f nothing", 'ERROR: There is no tensor filter named "nothing".'),
        ("lt -fenn x", "ERROR: The flag --filter_exclude_node_names is valid only"),
        ("pt dense/y", "array([[6., 9.],\n       [6., 9.]], dtype=float32)"),
        ("pt dense/y:0[0, 1]", 'Tensor "dense/y:0:DebugIdentity[0,1]":'),
        ("pt dense/y[9, 9]", "ERROR: [9,9]: index 9 is out of bounds"),
        ("pt dense/y -s", "| + | total |\n| 4 |     4 |"),
        ('pt dense/w -r "[[-inf, 0], [4, inf]]"', "3 of 6 element(s) (50.00%)"),
        (f"pt dense/y -w {saved}", f"Saved value to: {saved}"),
        ("pt nowhere", 'ERROR: Node "nowhere" does not exist in partition graphs'),
        ("ni -a -d -t dense/y", "test_local_cli.py"),
        ("li -r z", "|- (1) dense/y\n   |- (2) _arg_x_0_0"),
        ("lo -t dense/y", "|- (1) [Log] z"),
        ("ls -n z", "test_local_cli.py"),
        ("ps test_local_cli.py -b 20", "dense/y"),
        ('eval "np.sum(`dense/y:0`) + 1"', "31.0"),
        ('eval "1 / 0"', "ERROR: ZeroDivisionError"),
        (f"lt > {written}", f"Wrote output to: {written}"),
        ("help lt", "List dumped intermediate tensors."),
        ("run -h", "usage: run"),
        ("run -f nothing", 'ERROR: tensor filter "nothing" does not exist.'),
        ("pt", "ERROR: the following arguments are required"),
        ("bad", 'ERROR: Invalid command prefix "bad"'),
    ]
    with pytest.raises(SystemExit):
        program.run("\n".join(line for line, _ in rows), 1.0, 1.0)
    answers = _answers(capsys.readouterr().out)[1:]
    for (line, expected), answer in zip(rows, answers, strict=False):
        assert expected in answer, line
    assert np.load(saved).tolist() == [[6.0, 9.0], [6.0, 9.0]]
    assert "dense/y:0" in written.read_text()
    program.sess.close()
    assert not (tmp_path / "dump").exists()


@pytest.mark.parametrize(
    ("commands", "stops"),
    [
        ("run -f has_inf_or_nan\nrun -n", ["run-start: run #1", "run-end: run #3"]),
        ("run -t 3\nrun -n", ["run-start: run #1", "run-end: run #3"]),
        ("run -n\nrun -n\nrun\nrun -n", ["run #1", "run #2", "run #3", "end: run #3"]),
        ("run -p\nrun -t 3", ["run-start: run #1", "run-end (profiler mode): run #1"]),
        (
            "run --node_name_filter dense.*\nrun -n\nrun -n",
            ["run-start: run #1", "run-end: run #1", "run-start: run #3"],
        ),
    ],
)
def test_where_it_stops(
    program: _Program,
    capsys: pytest.CaptureFixture[str],
    commands: str,
    stops: list[str],
) -> None:
    results = program.run(commands, 1.0, 2.0, -1.0)
    assert np.isnan(results[2]).all()
    titles = [
        line.removeprefix("tfdbg> ")
        for line in capsys.readouterr().out.splitlines()
        if line.removeprefix("tfdbg> ").startswith(("run-start", "run-end"))
    ]
    assert len(titles) == len(stops)
    for title, stop in zip(titles, stops, strict=True):
        assert stop in title


def test_errors_are_shown(
    program: _Program, capsys: pytest.CaptureFixture[str]
) -> None:
    program.sess.add_tensor_filter("large", lambda datum, value: np.max(value) > 8)
    n = tf.placeholder(tf.int32, [], name="n")
    d = tf.floordiv(6, n, name="d")
    program._monkeypatch.setattr(
        "sys.stdin", io.StringIO("run\nli d\nrun -f large\nlt\nrun -n")
    )
    failure = program.sess.run(d, {n: 0})
    assert isinstance(failure, tf.errors.InvalidArgumentError)
    assert program.sess.run(d, {n: 2}) == 3
    out = capsys.readouterr().out
    assert "An error occurred during the run" in out
    assert "Op name:  d" in out
    assert "|- (1) _arg_n_0_0" in out


def test_hooks_and_bad_arguments(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("run -f odd\npt grow\nrun -n"))
    step = tf.train.get_or_create_global_step()
    grow = tf.assign_add(step, 1, name="grow")
    hook = LocalCLIDebugHook("readline", str(tmp_path / "dump"))
    hook.add_tensor_filter("odd", lambda d, v: d.node_name == "grow" and v == 3)
    with tf.train.MonitoredSession(hooks=[hook]) as sess:
        for number in range(1, 5):
            assert sess.run(grow) == number
    out = capsys.readouterr().out
    assert "run-end: run #3" in out
    assert 'Tensor "grow:0:DebugIdentity"' in out
    with pytest.raises(ValueError, match="ui_type"):
        LocalCLIDebugWrapperSession(tf.Session(), ui_type="x")
    (tmp_path / "file").write_text("")
    with pytest.raises(ValueError, match="points to a file"):
        LocalCLIDebugWrapperSession(tf.Session(), str(tmp_path / "file"))
    with pytest.raises(ValueError, match="non-empty"):
        LocalCLIDebugWrapperSession(tf.Session(), str(tmp_path))


def test_stepping(program: _Program, capsys: pytest.CaptureFixture[str]) -> None:
    commands = [
        ("s", "stepping: run #1: 1 fetch (z:0); 1 feed (x:0)\n#0 "),
        ("until dense/y", "dense/y:0 (/job:localhost"),
        ("until", "ERROR: Until what?"),
        ("until -f nothing", "ERROR: There is no tensor filter"),
        ("pt [0, 1]", "array(9., dtype=float32)"),
        ('change "value[0]"', "ERROR: ValueError: dense/y:0 has shape (2, 2)"),
        ('change "np.ones_like(value)"', "dense/y:0 is now\narray([[1., 1.]"),
        ("step", "z:0"),
        ("pt -s", "| 0 | total |"),
        ("finish", "run-start: run #2"),
        ("s", "stepping: run #2"),
        ("u -f has_inf_or_nan", "run-start: run #3"),  # there is none
        ("s", "stepping: run #3"),
    ]
    with pytest.raises(SystemExit):
        program.run("\n".join(line for line, _ in commands), 1.0, 1.0, 1.0)
    answers = _answers(capsys.readouterr().out)[1:]
    for (line, expected), answer in zip(commands, answers, strict=False):
        assert expected in answer, line


def test_what_a_step_gives(
    program: _Program, capsys: pytest.CaptureFixture[str]
) -> None:
    (result,) = program.run('s\nu dense/y\nc "value * 0 + 1"\nf', 1.0)
    np.testing.assert_array_equal(result, np.zeros([2, 2]))
    assert "dense/y:0" in capsys.readouterr().out
