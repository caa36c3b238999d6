"""DeviceSpec, as recorded from TensorFlow 1.15."""

from __future__ import annotations

import pytest

from tensorloom.framework.devices import device_spec
from tensorloom.framework.devices.device_spec import DeviceSpec
from tests.framework import recorded

NAMES = {"D": DeviceSpec, **vars(device_spec)}


@pytest.mark.parametrize(("expression", "expected"), recorded.read("device_spec"))
def test_is_as_recorded(expression: str, expected: str) -> None:
    assert recorded.outcome(expression, NAMES) == expected


def test_setting_a_component_changes_the_string() -> None:
    spec = DeviceSpec.from_string("/job:a/cpu:0")
    assert spec.to_string() == "/job:a/device:CPU:0"
    spec.task = "3"
    spec.device_type = "gpu"
    spec.device_index = 1
    spec.job = "b"
    spec.replica = 0
    assert spec.to_string() == "/job:b/replica:0/task:3/device:GPU:1"


def test_parse_from_string_forgets_the_old_components() -> None:
    spec = DeviceSpec(job="x", task=3)
    assert spec.parse_from_string("/job:a") is spec
    assert spec.to_string() == "/job:a"


def test_merge_from_keeps_what_the_other_leaves_open() -> None:
    spec = DeviceSpec(job="a", device_type="CPU", device_index=0)
    spec.merge_from(DeviceSpec(job="b"))
    assert spec.to_string() == "/job:b/device:CPU:0"


def test_repr_tells_the_components() -> None:
    assert "job=a" in repr(DeviceSpec(job="a"))


# Outer scope, inner scope, merged: seen in TensorFlow 1.15.
MERGED = [
    ("/job:a", "/task:1", "/job:a/task:1"),
    ("/cpu:0", "/gpu:1", "/device:GPU:1"),
    ("/job:a/cpu:0", "/device:GPU:*", "/job:a/device:GPU:0"),
    ("/job:a", "/job:b/task:1", "/job:b/task:1"),
    ("/job:a/task:2", "", "/job:a/task:2"),
    ("", "/cpu:0", "/device:CPU:0"),
]


@pytest.mark.parametrize(("outer", "inner", "merged"), MERGED)
def test_the_inner_spec_wins(outer: str, inner: str, merged: str) -> None:
    spec = DeviceSpec.from_string(outer)
    assert spec.make_merged_spec(DeviceSpec.from_string(inner)).to_string() == merged
