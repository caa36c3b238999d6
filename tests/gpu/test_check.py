"""The check of a GPU, on pretended ones: all of it runs, and it finds what is wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import tensorloom as tf
from tensorloom.devices import cuda
from tests.gpu import __main__ as command
from tests.gpu import kernels, memory, steps, transfers
from tests.gpu.pretended import TARGET, pretended_gpus
from tests.gpu.pretended_torch import Stream
from tests.gpu.target import GPU

# Families with many kernels over tensors; the others are for `make test-all`.
QUICK = (
    "array_gathers",
    "linear_algebra",
    "reductions",
    "sparse_matrices",
    "structure",
)


@pytest.fixture(autouse=True)
def _gpus() -> Iterator[None]:
    with pretended_gpus():
        yield


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "path",
    [
        pytest.param(path, id=name, marks=() if name in QUICK else (pytest.mark.slow,))
        for path in kernels.families()
        for name in [path.name.split(".")[0]]
    ],
)
def test_kernels_of_a_gpu_give_what_those_of_the_cpu_do(path: Path) -> None:
    result = kernels.compare_family(path, kernels.one_of_each_op)
    assert result.cases
    assert not result.differences, "\n".join(result.differences[:20])


def test_kernels_over_tensors_are_what_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    made: set[str] = set()
    with kernels.noting_kernels(made), tf.Graph().as_default(), tf.device(GPU):
        x = tf.placeholder(tf.float32, [2, 2])
        y = tf.matmul(x, x) + 1.0
        with tf.Session() as session:
            session.run(y, {x: [[1.0, 2.0], [3.0, 4.0]]})
    assert {"MatMul", "Add"} & made or "_FusedMatMul" in made
    assert "MatMul" in kernels.claims()


@pytest.mark.parametrize("part", [transfers, memory])
def test_a_part_finds_nothing(part: Any) -> None:
    assert part.check(TARGET) == []


@pytest.mark.slow
def test_steps_learn_and_do_not_wait() -> None:
    assert steps.check(TARGET) == []


def _forgetful(self: Any, tensor: Any, event: Any = None) -> None:
    self._tensor, self._event = tensor, None


@pytest.mark.parametrize(
    ("broken", "sign"),
    [
        ((Stream, "wait_event", lambda self, event: None), "between|come back|fed"),
        ((cuda._InHost, "__init__", _forgetful), "come back"),
        ((cuda.CudaDevice, "receive", lambda self, tensor: tensor), "same device"),
        ((cuda.CudaDevice, "_set_share", lambda self, *_: None), "two fifths"),
    ],
    ids=["no stream waits", "no copy is waited for", "no copy", "no share"],
)
def test_what_is_broken_is_found(
    broken: tuple[type, str, Callable[..., Any]],
    sign: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(*broken)
    with pytest.raises((AssertionError, tf.errors.OpError), match=sign):
        assert [*transfers.check(TARGET), *memory.check(TARGET)] == []


def test_a_step_that_waits_is_found() -> None:
    def build() -> Any:
        x = tf.placeholder(tf.float32, [1000])
        total = tf.get_variable("total", [1000], initializer=tf.zeros_initializer())
        # How many there are is known on the device alone.
        rows = tf.where(x > 0.5)
        train = tf.assign_add(total, x * tf.cast(tf.shape(rows)[0], tf.float32)).op
        return tf.reduce_sum(total), train, {x: [0.25, 0.75] * 500}

    (line,) = steps._compare(TARGET, "counting", build)
    assert "a step waits for the GPU" in line


def test_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["--pretended", "--only", "memory"]) == 0
    assert capsys.readouterr().out == "--- memory\nall is well\n"


@pytest.mark.slow
def test_the_rows_of_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["--pretended", "--only", "rows"]) == 0
    said = capsys.readouterr().out
    for row in ("CNN", "residual", "LSTM", "MLP", "null step", "host to device"):
        assert row in said


def test_without_a_gpu_the_command_says_what_is_missing(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    import torch

    monkeypatch.setattr(torch.version, "cuda", None)
    assert command.main([]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.count("\n") == 1
    assert "was built for the CPU alone" in said.err
    monkeypatch.setattr(torch.version, "cuda", "13.0")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert command.main([]) == 2
    assert "finds no device" in capsys.readouterr().err
