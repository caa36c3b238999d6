"""What a change did to a model: size, nodes, speed, outputs, accuracy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tensorloom.deploy.runner import Runner, seconds_of
from tensorloom.framework import errors

if TYPE_CHECKING:
    from tensorloom.deploy.examples import Examples
    from tensorloom.deploy.frozen_model import FrozenModel


@dataclass(frozen=True)
class Limits:
    """What a changed model may be like."""

    #: The largest difference of an output, as a share of its largest value.
    difference: float
    #: The least share of right answers.
    accuracy: float | None = None
    #: The largest share of right answers that may be lost.
    accuracy_loss: float | None = None


@dataclass(frozen=True)
class Facts:
    """A model in numbers."""

    nodes: int
    size_bytes: int
    #: The least time of a batch.
    seconds: float
    #: The share of right answers; None without labels.
    accuracy: float | None


@dataclass(frozen=True)
class Comparison:
    """Before and after."""

    before: Facts
    after: Facts
    #: By output: the largest difference, as a share of its largest value.
    differences: Mapping[str, float]
    source: str

    def check(self, limits: Limits) -> None:
        """Raises FailedPreconditionError for what is beyond a limit."""
        problems = [
            f"output {key!r} differs by {share:.3g} of its largest value (at most "
            f"{limits.difference:g}: --max-difference)"
            for key, share in self.differences.items()
            if not share <= limits.difference
        ]
        after, before = self.after.accuracy, self.before.accuracy
        if after is not None and before is not None:
            least, loss = limits.accuracy, limits.accuracy_loss
            if least is not None and after < least:
                problems.append(
                    f"accuracy is {after:.4f} (at least {least:g}: --min-accuracy)"
                )
            if loss is not None and before - after > loss:
                problems.append(
                    f"accuracy went from {before:.4f} to {after:.4f} (by at most "
                    f"{loss:g}: --max-accuracy-loss)"
                )
        if problems:
            raise errors.FailedPreconditionError(
                None, None, "nothing is written: " + "; ".join(problems)
            )

    def as_json(self) -> dict[str, Any]:
        """For programs."""
        return {
            "before": vars(self.before),
            "after": vars(self.after),
            "differences": dict(self.differences),
            "examples": self.source,
        }

    def rows(self) -> list[list[str]]:
        """A table for people."""
        pairs = (self.before, self.after)
        rows = [
            ["", "before", "after", "after / before"],
            ["nodes", *(str(one.nodes) for one in pairs), _share(pairs, "nodes")],
            [
                "size",
                *(f"{one.size_bytes / 1024:.1f} KiB" for one in pairs),
                _share(pairs, "size_bytes"),
            ],
            [
                "time of a batch",
                *(f"{one.seconds * 1000:.3f} ms" for one in pairs),
                _share(pairs, "seconds"),
            ],
        ]
        if self.before.accuracy is not None:
            rows.append(["accuracy", *(f"{one.accuracy:.4f}" for one in pairs), ""])
        for key, share in self.differences.items():
            rows.append([f"difference of {key}", "", f"{share:.3g}", ""])
        return [*rows, [f"measured with {self.source}", "", "", ""]]


def _share(pairs: tuple[Facts, Facts], name: str) -> str:
    before, after = (getattr(one, name) for one in pairs)
    return f"{after / before:.2f}" if before else ""


def compare(
    before: FrozenModel,
    after: FrozenModel,
    examples: Examples,
    *,
    output: str | None = None,
    times: int = 10,
) -> Comparison:
    """Runs two models on the same examples.

    Args:
      before, after: models with the same inputs and outputs.
      examples: what they are run with.
      output: the one that answers; the first, if None.
      times: how often a batch is run to measure its time.

    Raises:
      errors.OpError: one of them cannot run.
    """
    with Runner(before) as first, Runner(after) as second:
        runners = [first, second]
        outputs = [runner.run_all(examples.batches) for runner in runners]
        seconds = seconds_of(runners, examples.batches[0], times)
    key = output or next(iter(before.outputs))
    if key not in before.outputs:
        raise errors.NotFoundError(
            None, None, f"no output {key!r}; there are {sorted(before.outputs)}"
        )
    facts = [
        Facts(
            len(model.graph_def.node),
            model.graph_def.ByteSize(),
            time,
            accuracy(values[key], examples.labels),
        )
        for model, time, values in zip((before, after), seconds, outputs, strict=True)
    ]
    return Comparison(
        facts[0], facts[1], differences(outputs[0], outputs[1]), examples.source
    )


def accuracy(answers: Any, labels: Any) -> float | None:
    """The share of right answers: classes, or the largest scores along the last axis.

    Raises:
      errors.InvalidArgumentError: there are not as many answers as labels.
    """
    if labels is None:
        return None
    answers = np.asarray(answers)
    if answers.dtype.kind == "f":
        if answers.ndim > 1 and answers.shape[-1] > 1:
            answers = answers.argmax(-1)
        else:
            answers = answers >= 0.5
    answers, labels = answers.reshape(-1), np.asarray(labels).reshape(-1)
    if answers.shape != labels.shape:
        raise errors.InvalidArgumentError(
            None, None, f"{labels.size} labels for {answers.size} answers"
        )
    return float(np.mean(answers == labels))


def differences(
    expected: Mapping[str, Any], found: Mapping[str, Any]
) -> dict[str, float]:
    """By output: the largest difference as a share of the largest value.

    Of what is not floating point: the share of elements that differ. Infinite for other
    shapes, and for NaN in one of them alone.
    """
    return {key: difference(expected[key], found[key]) for key in expected}


def difference(expected: Any, found: Any) -> float:
    """See `differences`."""
    expected, found = np.asarray(expected), np.asarray(found)
    if expected.shape != found.shape:
        return float("inf")
    if expected.size == 0:
        return 0.0
    if expected.dtype.kind not in "fcV":
        return float(np.mean(expected != found))
    first, second = (value.astype(np.complex128) for value in (expected, found))
    same = (first == second) | (np.isnan(first) & np.isnan(second))
    largest = np.abs(first[np.isfinite(first)]).max(initial=0.0)
    with np.errstate(invalid="ignore"):
        away = np.where(same, 0.0, np.abs(first - second))
    if not np.isfinite(away).all():
        return float("inf")
    return float(away.max() / max(largest, 1e-6))
