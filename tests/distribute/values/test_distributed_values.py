"""Device maps, distributed values, and structures of them."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest

import tensorloom as tf
from tensorloom.distribute.values import device_names
from tensorloom.distribute.values.device_maps import (
    ReplicaDeviceMap,
    SingleDeviceMap,
    WorkerDeviceMap,
)
from tensorloom.distribute.values.distributed_values import Mirrored, PerReplica
from tensorloom.distribute.values.regrouping import (
    regroup,
    select_device_mirrored,
    select_replica,
)

TWO = ReplicaDeviceMap(["/cpu:0", "/cpu:1"])
FULL = "/replica:0/task:0/device:CPU:"


@pytest.mark.parametrize(
    ("given", "full"),
    [
        ("", f"{FULL}0"),
        ("/cpu:1", f"{FULL}1"),
        ("/job:worker/task:2/gpu:0", "/job:worker/replica:0/task:2/device:GPU:0"),
    ],
)
def test_full_names(given: str, full: str) -> None:
    assert device_names.canonicalize(given) == full


def test_the_current_device() -> None:
    assert device_names.current() == ""
    with tf.device("/gpu:1"):
        assert device_names.current() == "/device:GPU:1"
        assert device_names.resolve("/task:3").endswith("/task:3/device:GPU:1")
    with tf.device(lambda op: "/cpu:2"):
        assert device_names.current() == "/cpu:2"


def test_device_maps() -> None:
    assert TWO.all_devices == (f"{FULL}0", f"{FULL}1")
    assert TWO.replica_for_device(f"{FULL}1") == 1
    assert TWO.replica_for_device("elsewhere") is None
    with pytest.raises(ValueError, match="Duplicate devices"):
        ReplicaDeviceMap(["/cpu:0", "/device:CPU:0"])
    with pytest.raises(ValueError, match="not indexed by replicas"):
        SingleDeviceMap("/cpu:0").replica_for_device("/cpu:0")
    with pytest.raises(ValueError, match="not found"):
        TWO.select_for_device((1, 2), "elsewhere")
    assert WorkerDeviceMap(["/cpu:0"], 2).select_for_device("a", "/cpu:0") == "a"


def test_the_part_of_a_device() -> None:
    value = PerReplica(TWO, ("a", "b"))
    assert value.get("/cpu:1") == "b"
    assert value.primary == "a"
    assert value.get() == "a"  # outside of strategies, the first replica's
    assert repr(value).startswith("PerReplica:{\n  0 /replica:0")


def test_a_mirrored_value_acts_as_the_part_at_hand() -> None:
    value = Mirrored(TWO, (3, 4))
    assert value + 1 == 4
    assert 1 - value == -2
    assert value + value == 6
    assert pow(value, 2, 5) == 4
    assert value.bit_length() == 2
    assert -Mirrored(TWO, (tf.constant(1.0), tf.constant(2.0))).get().shape.rank == 0
    with pytest.raises(AttributeError):
        _ = value.unheard_of


class Pair(NamedTuple):
    """A structure."""

    a: Any
    b: Any


def test_structures_are_regrouped_and_taken_apart() -> None:
    same = object()
    grouped = regroup(TWO, [Pair([1, same], {"x": "a"}), Pair([2, same], {"x": "b"})])
    assert isinstance(grouped, Pair)
    assert grouped.a[0].values == (1, 2)
    assert grouped.a[1] is same
    assert grouped.b["x"].values == ("a", "b")
    assert select_replica(1, grouped) == Pair([2, same], {"x": "b"})


@pytest.mark.parametrize(
    "values", [([1], [1, 2]), ((1,), [1]), ({"a": 1}, {"b": 1}), ([1], 3)]
)
def test_structures_that_differ(values: Any) -> None:
    with pytest.raises(AssertionError):
        regroup(TWO, values)


def test_parts_of_a_device_are_of_mirrored_values() -> None:
    mirrored = Mirrored(TWO, ("a", "b"))
    assert select_device_mirrored(f"{FULL}1", [mirrored, 5]) == ["b", 5]
    with pytest.raises(TypeError, match="mirrored across replicas"):
        select_device_mirrored(f"{FULL}1", [PerReplica(TWO, ("a", "b"))])
