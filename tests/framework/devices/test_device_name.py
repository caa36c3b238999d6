"""Device names of the runtime."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorloom.framework.devices import device_name
from tensorloom.framework.devices.device_name import DeviceName

FULL = "/job:worker/replica:0/task:1/device:CPU:0"

WELL_FORMED = [
    ("", ""),
    ("/", ""),
    (FULL, FULL),
    ("/task:1/device:CPU:0/job:worker/replica:0", FULL),
    ("/job:worker/task:1", "/job:worker/task:1"),
    ("/device:GPU", "/device:GPU:*"),
    ("/device:GPU:*", "/device:GPU:*"),
    ("/device:*", ""),
    ("/job:*/replica:*/task:*/device:*", ""),
    ("/job:a/job:b", "/job:b"),
    ("/job:a/job:*", ""),
    ("/device:GPU:1/device:GPU", "/device:GPU:*"),
    ("/gpu:0", "/device:GPU:0"),
    ("/CPU:*", "/device:CPU:*"),
    ("/device:XLA_CPU:0", "/device:XLA_CPU:0"),
]

MALFORMED = [
    *("CPU:0", "//", "/cpu", "/Gpu:0", "/job:a/", "/job:", "/job:1a", "/job:a.b"),
    *("/task:x", "/task:-1", "/task:99999999999", "/device:CPU:x", "/foo:1"),
    *("/job:a b", "/job:worker:0", "/device:", "/xla_cpu:0", " /job:a", "/job:é"),
]


@pytest.mark.parametrize(("text", "canonical"), WELL_FORMED)
def test_parses(text: str, canonical: str) -> None:
    assert str(device_name.parse(text)) == canonical


@pytest.mark.parametrize("text", MALFORMED)
def test_refuses(text: str) -> None:
    with pytest.raises(ValueError, match="Malformed device specification"):
        device_name.parse(text)


def test_parts_of_a_full_name() -> None:
    assert device_name.parse_full(FULL) == DeviceName("worker", 0, 1, "CPU", 0)
    assert device_name.full_name("worker", 0, 1, "CPU", 0) == FULL
    assert device_name.task_of(FULL) == "/job:worker/replica:0/task:1"


def test_a_partial_name_is_no_full_name() -> None:
    with pytest.raises(ValueError, match="does not name one device"):
        device_name.parse_full("/job:a/device:CPU:0")


names = st.builds(
    DeviceName,
    st.sampled_from([None, "a", "b"]),
    st.sampled_from([None, 0]),
    st.sampled_from([None, 0, 1]),
    st.sampled_from([None, "CPU", "GPU"]),
    st.none(),
)


@given(names, names)
def test_merging_and_covering(a: DeviceName, b: DeviceName) -> None:
    merged = a.merged_with(b)
    assert a.covers(merged)
    assert a.is_compatible_with(b) == b.covers(merged)
    assert device_name.parse(str(merged)) == merged
