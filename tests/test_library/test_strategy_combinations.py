"""Tests that run with strategies, and are skipped where devices lack."""

from __future__ import annotations

import unittest
from typing import Any

import pytest

from tensorloom.distribute.strategies.one_device import OneDeviceStrategy
from tensorloom.test import strategy_combinations as strategies
from tensorloom.test.combinations import combine


def _run(case: type[unittest.TestCase]) -> unittest.TestResult:
    result = unittest.TestResult()
    unittest.defaultTestLoader.loadTestsFromTestCase(case).run(result)
    assert result.errors == []
    return result


def test_tests_get_strategies_and_are_skipped_without_devices() -> None:
    given: list[Any] = []

    @strategies.generate(
        combine(distribution=[strategies.one_device_strategy, strategies.tpu_strategy])
    )
    class Case(unittest.TestCase):
        def test_it(self, distribution: Any) -> None:
            given.append(distribution)

    result = _run(Case)
    assert [type(each) for each in given] == [OneDeviceStrategy]
    ((skipped, why),) = result.skipped
    assert "distribution_TPU" in skipped.id()
    assert "requires a TPU" in why


@pytest.mark.parametrize(
    ("option", "why"),
    [
        ({"required_gpus": 1000}, "of 1000 required GPUs are available"),
        ({"required_tpus": True}, "requires a TPU"),
        ({"required_tpu": True}, "requires a TPU"),
        ({"required_gpus": 0}, ""),
    ],
)
def test_options_say_what_is_required(option: dict[str, Any], why: str) -> None:
    ran: list[int] = []

    @strategies.generate(combine(x=[1], **option))
    class Case(unittest.TestCase):
        def test_it(self, x: int) -> None:
            ran.append(x)

    skipped = _run(Case).skipped
    assert ran == ([] if why else [1])
    assert [why in told for _, told in skipped] == ([True] if why else [])


def test_requirements_are_said_once() -> None:
    plain = strategies.one_device_strategy
    with pytest.raises(ValueError, match="Do not use `required_gpus` and"):
        strategies.GPUCombination().should_execute_combination(
            {"distribution": plain, "required_gpus": 1}
        )
    with pytest.raises(ValueError, match="were specified"):
        strategies.TPUCombination().should_execute_combination(
            {"required_tpu": True, "required_tpus": 1}
        )


def test_the_lists_hold_what_they_are_called_after() -> None:
    chosen = strategies.all_strategy_combinations_minus_default()
    names = {repr(each["distribution"]) for each in chosen}
    assert "Default" not in names
    assert {"OneDeviceCPU", "Mirrored2GPUs", "TPU"} <= names
    both = strategies.distributions_and_v1_optimizers()
    assert {repr(each["optimizer_fn"]) for each in both} == {
        "GradientDescentV1",
        "AdagradV1",
    }
