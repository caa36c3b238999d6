"""When a step takes machine code: once it is there, right, and for its shapes."""

from __future__ import annotations

import functools
import re
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from tensorloom.worker.compiled import background, program, request, timing
from tensorloom.worker.compiled.background import Background, UncompiledWarning
from tensorloom.worker.compiled.comparison import difference
from tensorloom.worker.compiled.program import Program

_WAIT_S = 300.0


class _Compiler:
    """Stands in for the process: its code is a function of this test."""

    def __init__(self) -> None:
        self.asked: list[request.Request] = []
        self.ended = 0
        self.problem: str | None = None
        self.may_go = threading.Event()
        self.may_go.set()

    def compile(self, wanted: request.Request, path: Path) -> str | None:
        assert self.may_go.wait(_WAIT_S)
        self.asked.append(wanted)
        if self.problem is None:
            path.write_bytes(b"code")
        return self.problem

    def end(self) -> None:
        self.ended += 1


@pytest.fixture
def compiler(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[_Compiler]:
    made = _Compiler()
    threads = Background(lambda: (made.compile, made.end))
    monkeypatch.setenv(request.CACHE, str(tmp_path / "cache"))
    monkeypatch.setenv(background.SWITCH, "1")
    monkeypatch.setattr(background, "_has_compiler", True)
    monkeypatch.setattr(background, "_background", threads)
    monkeypatch.setattr(background, "load", lambda path: _by_code)
    monkeypatch.setattr(background, "is_quicker", lambda code, kernels: True)
    yield made
    made.may_go.set()
    threads.stop()


def _by_code(args: list[Any]) -> list[Any]:
    _CALLS.append("code")
    return [args[0] * 2]


def _by_kernels(context: Any, x: Any) -> tuple[Any, ...]:
    _CALLS.append("kernels")
    return (x + x,)


_CALLS: list[str] = []


def _calls(function: Callable[[], Any]) -> list[str]:
    _CALLS.clear()
    function()
    return list(_CALLS)


def _program() -> Program:
    return Program(b"graph", "f", ["float32"], "the cluster 'c'")


def test_a_step_runs_by_kernels_until_there_is_code(compiler: _Compiler) -> None:
    made, x = _program(), torch.ones(3)
    compiler.may_go.clear()
    assert _calls(lambda: made.run(_by_kernels, x)) == ["kernels"]
    assert _calls(lambda: made.run(_by_kernels, x)) == ["kernels"]
    compiler.may_go.set()
    background.wait()
    assert _calls(lambda: made.run(_by_kernels, x)) == ["code"]
    assert [r.shapes for r in compiler.asked] == [((3,),)]


def test_other_shapes_have_code_of_their_own(compiler: _Compiler) -> None:
    made = _program()
    for size in range(program.MOST_SHAPES + 2):
        made.run(_by_kernels, torch.ones(size))
    background.wait()
    assert len(compiler.asked) == program.MOST_SHAPES
    assert _calls(lambda: made.run(_by_kernels, torch.ones(2))) == ["code"]
    many = torch.ones(program.MOST_SHAPES + 1)
    assert _calls(lambda: made.run(_by_kernels, many)) == ["kernels"]


def test_code_on_disk_is_taken_without_a_compiler(compiler: _Compiler) -> None:
    for _ in range(2):
        made = _program()
        made.run(_by_kernels, torch.ones(3))
        background.wait()
        assert _calls(functools.partial(made.run, _by_kernels, torch.ones(3))) == [
            "code"
        ]
    assert len(compiler.asked) == 1


def test_tensors_of_other_layouts_are_copied(compiler: _Compiler) -> None:
    layouts: list[bool] = []
    made, x = _program(), torch.arange(6.0).reshape(2, 3).t()

    def kernels(context: Any, x: Any) -> tuple[Any, ...]:
        return (x + x,)

    made.run(kernels, x)
    background.wait()

    def code(args: list[Any]) -> list[Any]:
        layouts.append(args[0].is_contiguous())
        return args

    made._codes[(x.shape,)] = code
    made.run(kernels, x)
    assert layouts == [True]


def _warnings(compiler: _Compiler, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    told: list[str] = []
    monkeypatch.setattr(Background, "_warn", lambda self, text: told.append(text))
    made, x = _program(), torch.ones(3)
    made.run(_by_kernels, x)
    background.wait()
    assert _calls(lambda: made.run(_by_kernels, x)) == ["kernels"]
    return told


def test_code_that_takes_longer_is_not_taken(
    compiler: _Compiler, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both are asked for what the step took; nobody is warned."""
    given: list[Any] = []

    def is_quicker(code: Callable[[], Any], kernels: Callable[[], Any]) -> bool:
        given.extend([_calls(code), _calls(kernels), code(), kernels()])
        return False

    monkeypatch.setattr(background, "is_quicker", is_quicker)
    assert _warnings(compiler, monkeypatch) == []
    (in_code, in_kernels, (by_code,), (by_kernels,)) = given
    assert (in_code, in_kernels) == (["code"], ["kernels"])
    assert torch.equal(by_code, by_kernels)


@pytest.mark.parametrize(
    ("code", "kernels", "is_quicker", "runs"),
    [
        ([3, 1, 3, 3, 3], [2, 2, 2, 2, 2], True, 5),
        ([3, 2, 3, 3, 3], [2, 2, 2, 2, 1], False, 5),
        ([1, 1, 1, 1, 1], [1, 1, 1, 1, 1], False, 5),
        ([900], [901], True, 1),
    ],
)
def test_the_least_time_counts(
    monkeypatch: pytest.MonkeyPatch,
    code: list[int],
    kernels: list[int],
    is_quicker: bool,
    runs: int,
) -> None:
    """What takes long is run once."""
    now, ran = [0.0], [0]

    def taking(times: list[int]) -> Callable[[], None]:
        left = list(times)

        def run() -> None:
            now[0] += left.pop(0) / 1000
            ran[0] += 1

        return run

    clock = SimpleNamespace(perf_counter=lambda: now[0])
    monkeypatch.setattr(timing, "time", clock)
    assert timing.is_quicker(taking(code), taking(kernels)) is is_quicker
    assert ran[0] == 2 * runs


def test_code_that_gives_something_else_is_not_taken(
    compiler: _Compiler, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(background, "load", lambda path: lambda args: [args[0] * 3])
    (told,) = _warnings(compiler, monkeypatch)
    assert "the cluster 'c' is not compiled: the machine code gives other" in told
    assert "result 0 differs by 1" in told


def test_what_cannot_be_compiled_runs_and_is_told(
    compiler: _Compiler, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiler.problem = "no such instruction"
    told = _warnings(compiler, monkeypatch)
    assert told == ["the cluster 'c' is not compiled: no such instruction"]


def test_a_missing_compiler_is_told_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(background.SWITCH, "1")
    monkeypatch.setenv("CXX", "no-such-compiler")
    monkeypatch.setattr(background, "_has_compiler", None)
    with pytest.warns(
        UncompiledWarning, match="no C\\+\\+ compiler 'no-such-compiler'"
    ):
        assert not background.can_compile()
    assert not background.can_compile()


def test_nothing_is_compiled_after_the_end(compiler: _Compiler) -> None:
    background._background.stop()
    made, x = _program(), torch.ones(3)
    made.run(_by_kernels, x)
    background.wait()
    assert _calls(lambda: made.run(_by_kernels, x)) == ["kernels"]


def test_a_request_is_one_line() -> None:
    wanted = request.Request(b"\x00graph\n", "f", ("float32",), ((2, 3),))
    line = wanted.to_line(Path("/a/b.pt2"))
    assert line.count(b"\n") == 1
    assert request.Request.of_line(line) == (wanted, Path("/a/b.pt2"))


_ONE = torch.tensor([1.0, 1e-7, -1.0])


@pytest.mark.parametrize(
    ("got", "problem"),
    [
        (_ONE + 1e-6, None),
        (_ONE + 1e-2, "differs by 0.01"),
        (_ONE.double(), "is torch.float64"),
        (_ONE[:2], "of shape \\(2,\\)"),
        (torch.tensor([1.0, 0.0, float("nan")]), "differs"),
    ],
)
def test_rounding_is_no_difference(got: Any, problem: str | None) -> None:
    found = difference([_ONE], [got])
    if problem is None:
        assert found is None
    else:
        assert re.search(problem, found or "")


def test_integers_and_counts_are_compared() -> None:
    x = torch.tensor([1, 2])
    assert difference([x], [x.clone()]) is None
    assert difference([x], [x + 1]) == "result 0 differs"
    assert difference([x], []) == "0 results in place of 1"
    nan = torch.tensor([float("nan"), float("inf")])
    assert difference([nan], [nan.clone()]) is None
