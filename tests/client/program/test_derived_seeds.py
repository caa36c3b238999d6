"""Random ops take the seeds from the graph's seed that they take in TensorFlow 1.15.

Whatever adds another number of operations than TensorFlow gives all random ops after it
other numbers, so each line of the record is also a check of how much a builder adds.
"""

from __future__ import annotations

import pytest

import tensorloom as tf
from tensorloom.client.functions.function import Defun
from tests.client.program.derived_seeds import RECORDED, UNMET, describe, read

PROGRAMS = read(RECORDED)
PARTS = 48


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("part", range(PARTS))
def test_seeds_are_tensorflows(part: int) -> None:
    wrong = [
        f"{program}\n  got      {got}\n  expected {expected}"
        for program, expected in PROGRAMS[part::PARTS]
        if (got := describe(tf, program)) != expected
    ]
    assert not wrong, f"{len(wrong)} programs\n" + "\n".join(wrong)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("program", "expected"), read(UNMET))
def test_what_differs_is_known(program: str, expected: str) -> None:
    assert describe(tf, program) != expected, "equal now: move it to the other file"


def test_a_function_has_seeds_of_its_own() -> None:
    tf.set_random_seed(7)

    @Defun(tf.float32)
    def with_noise(x: tf.Tensor) -> tf.Tensor:
        return x + tf.random_uniform([]) + tf.random_uniform([], seed=3)

    with_noise(tf.constant(1.0))
    (function,) = tf.get_default_graph().as_graph_def().library.function
    seeds = [
        (node.attr["seed"].i, node.attr["seed2"].i)
        for node in function.node_def
        if node.op == "RandomUniform"
    ]
    assert sorted(seeds) == [(0, 0), (87654321, 3)]


def test_operations_of_bodies_are_numbered_with_those_around_them() -> None:
    x = tf.constant(1.0)
    graph = tf.get_default_graph()
    before = graph._last_id
    numbers = []

    def branch() -> tf.Tensor:
        numbers.append(graph._last_id)
        result = x + x
        numbers.append(tf.get_default_graph()._last_id)
        return result

    tf.cond(tf.constant(True), branch, lambda: x)
    # The predicate; Switch, switch_t, switch_f, pred_id. Then Add and Switch.
    assert [n - before for n in numbers] == [5, 7]


def test_control_flow_v2_counts_its_own_nodes() -> None:
    x = tf.constant(1.0)
    tf.enable_control_flow_v2()
    try:
        before = tf.get_default_graph()._last_id
        tf.cond(tf.constant(True), lambda: x + x, lambda: x)
        assert tf.get_default_graph()._last_id - before == 3  # Const, If, Identity
    finally:
        tf.disable_control_flow_v2()
