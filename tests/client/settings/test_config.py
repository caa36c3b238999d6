"""`tf.config`: what it sets is the config of sessions that are given none."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields
from typing import Any

import pytest

import tensorloom as tf
from tensorloom.client.settings.process_settings import SETTINGS, ProcessSettings

experimental = tf.config.experimental
Virtual = experimental.VirtualDeviceConfiguration


@pytest.fixture(autouse=True)
def _usual_settings() -> Iterator[None]:
    """Each test begins and ends with nothing set."""
    yield
    usual = ProcessSettings()
    for field in fields(ProcessSettings):
        setattr(SETTINGS, field.name, getattr(usual, field.name))


def config_of_a_session() -> Any:
    with tf.Session(graph=tf.Graph()) as session:
        return session._config


def test_nothing_set() -> None:
    assert config_of_a_session() is None
    assert not tf.config.get_soft_device_placement()
    assert tf.config.threading.get_intra_op_parallelism_threads() == 0
    assert tf.config.threading.get_inter_op_parallelism_threads() == 0
    assert not tf.config.optimizer.get_jit()
    assert tf.config.optimizer.get_experimental_options() == {
        "disable_model_pruning": False,
        "disable_meta_optimizer": False,
    }
    assert experimental.get_device_policy() == "silent"
    assert experimental.get_synchronous_execution()


def test_what_was_set_is_in_the_config() -> None:
    tf.config.set_soft_device_placement(True)
    tf.config.threading.set_intra_op_parallelism_threads(3)
    tf.config.threading.set_inter_op_parallelism_threads(4)
    tf.config.optimizer.set_experimental_options(
        {"constant_folding": False, "min_graph_nodes": -1, "debug_stripper": True}
    )
    config = config_of_a_session()
    assert config.allow_soft_placement
    assert config.intra_op_parallelism_threads == 3
    assert config.inter_op_parallelism_threads == 4
    assert tf.config.optimizer.get_experimental_options() == {
        "constant_folding": False,
        "debug_stripper": True,
        "disable_model_pruning": False,
        "disable_meta_optimizer": False,
        "min_graph_nodes": -1,
    }
    rewriting = config.graph_options.rewrite_options
    assert rewriting.constant_folding == 2  # OFF
    with tf.Session(graph=tf.Graph(), config=tf.ConfigProto()) as session:
        assert not session._config.allow_soft_placement


def test_a_cpu_in_two_parts() -> None:
    (cpu,) = experimental.list_physical_devices("CPU")
    assert cpu == ("/physical_device:CPU:0", "CPU")
    assert experimental.get_virtual_device_configuration(cpu) is None
    experimental.set_virtual_device_configuration(cpu, [Virtual(), Virtual()])
    assert [d.name for d in experimental.list_logical_devices()] == [
        f"/job:localhost/replica:0/task:0/device:CPU:{index}" for index in (0, 1)
    ]
    with tf.Graph().as_default(), tf.Session() as session:
        with tf.device("/cpu:1"):
            value = tf.add(1, 2)
        assert session.run(value) == 3


_FIRST_CPU = ("/physical_device:CPU:0", "CPU")
REFUSED: dict[str, tuple[Callable[[Any], Any], type[Exception], str]] = {
    "visible": (
        lambda cpu: experimental.set_visible_devices([], "CPU"),
        RuntimeError,
        "Visible devices cannot be modified after being initialized",
    ),
    "threads": (
        lambda cpu: tf.config.threading.set_intra_op_parallelism_threads(5),
        RuntimeError,
        "Intra op parallelism cannot be modified after initialization",
    ),
    "virtual": (
        lambda cpu: experimental.set_virtual_device_configuration(cpu, [Virtual()]),
        RuntimeError,
        "Virtual devices cannot be modified",
    ),
    "log": (
        lambda cpu: tf.debugging.set_log_device_placement(True),
        RuntimeError,
        "must be set at program startup",
    ),
    "growth of a cpu": (
        lambda cpu: experimental.set_memory_growth(cpu, True),
        ValueError,
        "on non-GPU devices",
    ),
    "no device": (
        lambda cpu: experimental.set_visible_devices("x"),
        ValueError,
        "Unrecognized device: 'x'",
    ),
    "policy": (
        lambda cpu: experimental.set_device_policy("bogus"),
        ValueError,
        "Not a valid device policy: 'bogus'",
    ),
    "limit": (
        lambda cpu: experimental.set_virtual_device_configuration(cpu, [Virtual(9.0)]),
        ValueError,
        "memory limit on CPU",
    ),
    "remote": (
        lambda cpu: tf.config.experimental_connect_to_host("localhost:1"),
        RuntimeError,
        "tf.train.Server",
    ),
    "eager": (
        lambda cpu: tf.enable_eager_execution(),
        RuntimeError,
        "no eager execution",
    ),
    "2.x": (lambda cpu: tf.enable_v2_behavior(), RuntimeError, "tf.enable_resource"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case: str) -> None:
    call, error, message = REFUSED[case]
    (cpu,) = experimental.list_physical_devices("CPU")
    experimental.list_logical_devices()
    with pytest.raises(error, match=message):
        call(cpu)


def test_settings_after_the_devices_exist() -> None:
    experimental.list_logical_devices()
    tf.config.set_soft_device_placement(True)
    assert config_of_a_session().allow_soft_placement


def test_sizes_of_shapes_as_in_tensorflow_2() -> None:
    shape = tf.TensorShape([2, None])
    assert isinstance(shape[0], tf.Dimension)
    tf.enable_v2_tensorshape()
    try:
        assert shape[0] == 2
        assert type(shape[0]) is int
        assert list(shape) == [2, None]
    finally:
        tf.disable_v2_tensorshape()
    assert isinstance(shape[0], tf.Dimension)


def test_a_fact() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        assert session.run(tf.user_ops.my_fact()) == b"0! == 1"
