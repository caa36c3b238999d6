"""Sizes, axes, indices and ranks that no op can take fail as they do in TensorFlow.

Each row of the tables is run twice, with the value in question as a constant and fed.
The errors are what TensorFlow 1.15 raises, and where. Where its process dies of a
check, or the memory would really be taken, the row has an InvalidArgumentError.
"""

from __future__ import annotations

import resource
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tensorloom as tf
from tests.kernels.hostile import (
    hostile_parts,
    hostile_places,
    hostile_ranks,
    hostile_shapes,
    hostile_sizes,
    hostile_stages,
)

CASES = {
    **hostile_sizes.CASES,
    **hostile_places.CASES,
    **hostile_shapes.CASES,
    **hostile_stages.CASES,
    **hostile_ranks.CASES,
    **hostile_parts.CASES,
}
GROWTH = 1 << 20  # kilobytes: what one of them may add to the process


def outcome(build: Callable[[Callable[[Any], Any]], Any], fed: bool) -> str:
    """Where it fails and with which class; "fine" if it does not."""
    feeds: dict[Any, Any] = {}

    def given(value: Any) -> Any:
        if not fed:
            return tf.constant(value)
        array = np.asarray(value)
        holder = tf.placeholder(tf.string if array.dtype == object else array.dtype)
        feeds[holder] = value
        return holder

    with tf.Graph().as_default(), tf.Session() as session:
        try:
            result = build(given)
        except (ValueError, TypeError, tf.errors.OpError) as error:
            return f"build {type(error).__name__}"
        try:
            session.run(result, feeds)
        except tf.errors.OpError as error:
            return f"run {type(error).__name__}"
    return "fine"


@pytest.mark.parametrize("fed", [False, True], ids=["constant", "fed"])
@pytest.mark.parametrize("name", CASES)
def test_hostile_value(name: str, fed: bool) -> None:
    when_constant, when_fed, build = CASES[name]
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert outcome(build, fed) == (when_fed if fed else when_constant)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < GROWTH
