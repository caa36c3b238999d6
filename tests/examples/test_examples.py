"""The examples run, promise what the page says, and are fit for old Pythons too."""

from __future__ import annotations

import ast
import math
import re
from pathlib import Path

import pytest

import tensorloom as tf
from tools import train_examples
from tools.train_examples import Example, all_examples, read_example, run_example

PAGE = train_examples.REPOSITORY / "docs" / "examples.md"
EXAMPLES = [pytest.param(example, id=example.name) for example in all_examples()]


def _outcome(example: Example, *extra: str) -> train_examples.Outcome:
    lines = run_example(example, extra)
    while True:
        try:
            next(lines)
        except StopIteration as stop:
            outcome: train_examples.Outcome = stop.value
            return outcome


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize("example", EXAMPLES)
def test_a_few_steps(example: Example, tmp_path: Path) -> None:
    pytest.importorskip("sklearn")
    model = ["--model_dir", str(tmp_path / "model")]
    first = _outcome(example, "--steps", "3", *model)
    assert first.status == 0, first.output
    assert math.isfinite(example.found_in(first.output))
    saved = _last_step(tmp_path / "model")
    assert saved >= 3  # two workers may make one more
    again = _outcome(example, "--steps", str(saved + 2), *model)
    assert again.status == 0, again.output
    assert _last_step(tmp_path / "model") >= saved + 2


def _last_step(model: Path) -> int:
    checkpoint = tf.train.latest_checkpoint(str(model))
    assert checkpoint is not None
    return int(checkpoint.rpartition("-")[2])


def test_the_page_has_what_the_programs_promise() -> None:
    rows = re.findall(
        r"^\| \[(\S+)\]\(\.\./examples/\S+\.py\) \| .+ \| (.+) \|$",
        PAGE.read_text(),
        re.MULTILINE,
    )
    promised = {example.name: example.promise for example in all_examples()}
    assert dict(rows) == promised


@pytest.mark.parametrize("example", EXAMPLES)
def test_programs_are_python_3_7(example: Example) -> None:
    folder = (train_examples.REPOSITORY / example.path).parent
    for path in folder.glob("*.py"):
        ast.parse(path.read_text(), feature_version=(3, 7))


def _example(folder: Path, doc: str) -> Example | None:
    path = folder / "program.py"
    path.write_text(f'"""{doc}"""\n')
    return read_example(path)


def test_what_a_docstring_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(train_examples, "REPOSITORY", tmp_path)
    found = _example(
        tmp_path,
        "A program.\n\n    tensorloom cluster --ps 1 examples/x.py\n\n"
        "Quality: mean error at most 0.25\n",
    )
    assert found is not None
    assert found.arguments == ("cluster", "--ps", "1", "examples/x.py")
    assert found.promise == "mean error at most 0.25"
    assert found.found_in("mean error: 1.0\nworker 0 | mean error: 0.2\n") == 0.2
    assert [found.is_met_by(v) for v in (0.2, 0.25, 0.3, float("nan"))] == [
        *(True, True, False, False)
    ]
    with pytest.raises(ValueError, match="prints no line 'mean error: NUMBER'"):
        found.found_in("mean error at the start: 0.1")
    assert _example(tmp_path, "A module.") is None
    with pytest.raises(ValueError, match="has no line"):
        _example(tmp_path, "Quality: accuracy at least 0.9\n")
