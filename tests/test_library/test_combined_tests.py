"""A test for each combination of options."""

from __future__ import annotations

import unittest
from typing import Any

import pytest

import tensorloom as tf
from tensorloom.test import combinations, combined_tests, run_modes

ran: list[Any] = []


def test_combinations() -> None:
    assert combinations.combine(a=[1, 2], b="x") == [
        {"a": 1, "b": "x"},
        {"a": 2, "b": "x"},
    ]
    both = combinations.times(combinations.combine(a=[1, 2]), combinations.combine(c=3))
    assert both == [{"a": 1, "c": 3}, {"a": 2, "c": 3}]
    with pytest.raises(ValueError, match="overlap"):
        combinations.times(both, both)
    named = combinations.generate_combinations_with_testcase_name(a_b=[1.5])
    assert named == [{"a_b": 1.5, "testcase_name": "_test_ab_15"}]


def test_classes_are_generated() -> None:
    @combined_tests.generate(combinations.combine(mode=["graph", "eager"], x=[1, 2]))
    class Case(unittest.TestCase):
        def test_it(self, x: int) -> None:
            ran.append((x, tf.get_default_graph()))

    ran.clear()
    result = unittest.TestResult()
    unittest.defaultTestLoader.loadTestsFromTestCase(Case).run(result)
    assert (result.testsRun, len(result.skipped), result.errors) == (4, 2, [])
    assert sorted(x for x, _ in ran) == [1, 2]
    assert ran[0][1] is not ran[1][1]
    assert hasattr(Case, "test_it_test_mode_graph_x_1")


def test_parameters_have_to_fit() -> None:
    @combined_tests.generate(combinations.combine(y=1))
    class Case(unittest.TestCase):
        def test_it(self, x: int) -> None: ...

    result = unittest.TestResult()
    unittest.defaultTestLoader.loadTestsFromTestCase(Case).run(result)
    assert "has the parameters ['self', 'x']" in result.errors[0][1]


def test_named_objects() -> None:
    named = combined_tests.NamedObject("adder", lambda a: a + 1)
    assert (repr(named), named(1), named.__class__.__name__) == (
        "adder",
        2,
        "NamedObject",
    )


class TestModes(tf.test.TestCase):
    @run_modes.run_in_graph_and_eager_modes
    def test_in_a_session(self) -> None:
        assert tf.get_default_session() is not None
        self.assertAllEqual(self.evaluate(tf.constant([1, 2])), [1, 2])

    @run_modes.run_v2_only
    def test_of_version_2(self) -> None:
        raise AssertionError

    @run_modes.run_deprecated_v1
    def test_of_version_1(self) -> None:
        assert not tf.executing_eagerly()

    @run_modes.enable_control_flow_v2
    def test_with_functions(self) -> None:
        assert tf.control_flow_v2_enabled()


@run_modes.with_control_flow_v2
class TestTwice(tf.test.TestCase):
    seen: list[bool] = []  # noqa: RUF012 - of the two runs

    def test_it(self) -> None:
        self.seen.append(tf.control_flow_v2_enabled())


def test_classes_get_a_second_run() -> None:
    names = [name for name in dir(TestTwice) if name.startswith("test_it")]
    assert names == ["test_it", "test_itWithControlFlowV2"]


def test_misuse_is_said() -> None:
    with pytest.raises(ValueError, match="run_all_in_graph_and_eager_modes"):
        run_modes.run_in_graph_and_eager_modes(TestModes)
    with pytest.raises(ValueError, match="should be a string"):
        run_modes.run_v1_only(lambda self: None)  # type: ignore[arg-type]
