"""Where ops run, and what becomes of inputs that are elsewhere."""

from __future__ import annotations

import logging
from typing import Any

import numpy as np
import pytest

import tensorloom as tf
from tensorloom.eager import Context, PlacementPolicy
from tensorloom.framework.runtime.session_config import SessionConfig
from tests.gpu.pretended import pretended_gpus

TWO = SessionConfig(device_count={"CPU": 2, "GPU": 0})
CPU = "/job:localhost/replica:0/task:0/device:CPU:"


def _two(policy: PlacementPolicy = PlacementPolicy.SILENT, **options: Any) -> Context:
    return Context(TWO, policy=policy, **options)


@pytest.mark.parametrize(
    ("device", "wanted"),
    [("", "0"), ("/cpu:1", "1"), ("/device:CPU:1", "1"), (CPU + "1", "1")],
)
def test_an_op_runs_where_it_should(device: str, wanted: str) -> None:
    with _two() as context:
        x = context.handle(np.ones([100, 100], np.float32))
        (y,) = context.execute("MatMul", [x, x], {}, device)
        assert y.device_name == y.backing_device_name == CPU + wanted
        assert y.numpy()[0, 0] == 100


def test_a_resource_decides() -> None:
    with _two() as context:
        attrs = {"dtype": tf.float32, "shape": []}
        (variable,) = context.execute("VarHandleOp", [], attrs, "/cpu:1")
        context.execute("AssignVariableOp", [variable, context.handle(1.0)])
        (value,) = context.execute("ReadVariableOp", [variable], {"dtype": tf.float32})
        assert value.device_name == CPU + "1"


def test_soft_placement() -> None:
    with _two(soft_placement=True) as context:
        x = context.handle(1.0)
        for device in ("/gpu:0", "/cpu:9"):
            assert context.execute("Neg", [x], {}, device)[0].device_name == CPU + "0"
        with pytest.raises(tf.errors.InvalidArgumentError, match="Could not satisfy"):
            context.execute("Neg", [x], {}, "/job:worker/cpu:0")


@pytest.mark.parametrize(
    ("policy", "value", "is_allowed"),
    [
        (PlacementPolicy.SILENT, 1.0, True),
        (PlacementPolicy.WARN, 1.0, True),
        (PlacementPolicy.EXPLICIT, 1.0, False),
        (PlacementPolicy.EXPLICIT, 1, False),
        (PlacementPolicy.SILENT_FOR_INT32, 1.0, False),
        (PlacementPolicy.SILENT_FOR_INT32, 1, True),
    ],
)
def test_policies(
    policy: PlacementPolicy,
    value: Any,
    is_allowed: bool,
    caplog: pytest.LogCaptureFixture,
) -> None:
    with _two(policy) as context:
        x = context.handle(value)
        if is_allowed:
            with caplog.at_level(logging.WARNING, "tensorloom"):
                (y,) = context.execute("Neg", [x], {}, "/cpu:1")
            assert y.numpy() == -value
            assert bool(caplog.records) == (policy is PlacementPolicy.WARN)
            return
        with pytest.raises(tf.errors.InvalidArgumentError, match="conflicting devices"):
            context.execute("Neg", [x], {}, "/cpu:1")
        there = x.copy_to_device(context.device_named("/cpu:1"))
        assert context.execute("Neg", [there], {}, "/cpu:1")[0].numpy() == -value


def test_names_of_devices() -> None:
    with _two() as context:
        assert [device.name for device in context.devices] == [CPU + "0", CPU + "1"]
        assert context.device_named("").name == CPU + "0"
        assert context.device_named("CPU:1").name == CPU + "1"
        for name in ("/gpu:0", "nothing", "/cpu:7", "GPU:0", "NoSuchDevice:0"):
            with pytest.raises(tf.errors.InvalidArgumentError, match="unknown device"):
                context.device_named(name)
            with pytest.raises(tf.errors.InvalidArgumentError, match="unknown device"):
                context.handle(1.0, device=name)


def test_a_gpu_is_preferred() -> None:
    """Values go between devices; small results stay where reading them costs least."""
    with pretended_gpus(), Context() as context:
        gpu = CPU.replace("CPU:", "GPU:0")
        ones = context.handle(np.ones([100, 100], np.float32))
        (product,) = context.execute("MatMul", [ones, ones])
        (text,) = context.execute("StringJoin", [[context.handle("a")]])
        assert (product.device_name, product.is_host) == (gpu, False)
        assert text.backing_device_name == CPU + "0"
        there = product.copy_to_device(context.device_named("/gpu:1"))
        back = there.copy_to_device(context.device_named("/cpu:0"))
        (small,) = context.execute("Shape", [product])
        assert small.numpy().tolist() == [100, 100]
        for value in (product, there, back):
            assert value.numpy()[0, 0] == 100
        attrs = {"dtype": tf.float32, "shape": [100, 100]}
        (variable,) = context.execute("VarHandleOp", [], attrs)
        context.execute("AssignVariableOp", [variable, back])
        context.execute("AssignAddVariableOp", [variable, product])
        (value,) = context.execute("ReadVariableOp", [variable], {"dtype": tf.float32})
        assert variable.device_name == value.device_name == gpu
        assert value.numpy()[0, 0] == 200
