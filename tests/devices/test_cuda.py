"""GPU devices: which there are and what they say, by a driver that is not there."""

from __future__ import annotations

from typing import Any

import pytest

import tensorloom as tf
from tensorloom.devices import cuda, cuda_driver
from tensorloom.framework import errors
from tensorloom.worker.run import node_error
from tests.gpu.pretended import pretended_gpus

TASK = "/job:localhost/replica:0/task:0"
GIGABYTE = 1 << 30


@pytest.fixture(autouse=True)
def _two_devices(monkeypatch: pytest.MonkeyPatch) -> None:
    facts = [
        cuda_driver.CudaDeviceFacts(8 * GIGABYTE, "Card A", "0000:3b:00.0", (9, 0)),
        cuda_driver.CudaDeviceFacts(4 * GIGABYTE, "Card B", "0000:5e:00.0", (7, 5)),
    ]
    monkeypatch.setattr(cuda_driver, "devices", lambda: facts)


@pytest.mark.parametrize(
    ("count", "options", "expected"),
    [
        (None, {}, [(0, 8.0), (1, 4.0)]),
        (1, {}, [(0, 8.0)]),
        (0, {}, []),
        (None, {"visible_device_list": "1,0"}, [(1, 4.0), (0, 8.0)]),
        (1, {"visible_device_list": "1,0"}, [(1, 4.0)]),
        (None, {"visible_device_list": "1,7"}, [(1, 4.0)]),
        (None, {"memory_fraction": 0.25}, [(0, 2.0), (1, 1.0)]),
        (None, {"memory_fraction": 0.0, "allow_growth": True}, [(0, 8.0), (1, 4.0)]),
    ],
)
def test_which_devices_there_are(
    count: int | None, options: dict[str, Any], expected: list[tuple[int, float]]
) -> None:
    made = cuda.make_gpus(TASK, count, options)
    assert [(d.cuda_index, d.memory_limit / GIGABYTE) for d in made] == expected
    names = [f"{TASK}/device:GPU:{i}" for i in range(len(expected))]
    assert [d.name for d in made] == names


def test_descriptions_are_tensorflows() -> None:
    first = cuda.make_gpus(TASK, None, {})[0]
    assert first.physical_description == (
        "device: 0, name: Card A, pci bus id: 0000:3b:00.0, compute capability: 9.0"
    )


@pytest.mark.parametrize(
    "options", [{"visible_device_list": "a"}, {"memory_fraction": 1.5}]
)
def test_bad_options(options: dict[str, Any]) -> None:
    with pytest.raises(errors.InvalidArgumentError, match="not"):
        cuda.make_gpus(TASK, None, options)


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (
            "CUDA out of memory. Tried to allocate 2.00 GiB",
            errors.ResourceExhaustedError,
        ),
        ("CUDA error: an illegal memory access was encountered", errors.InternalError),
        ("cuDNN error: CUDNN_STATUS_NOT_INITIALIZED", errors.InternalError),
        ("shapes do not fit", errors.InvalidArgumentError),
    ],
)
def test_errors_of_the_device_are_no_errors_of_arguments(
    said: str, expected: type[errors.OpError]
) -> None:
    assert type(node_error.to_op_error(RuntimeError(said))) is expected


def test_counters_stay_in_host_memory_and_weights_do_not() -> None:
    with pretended_gpus(), tf.Graph().as_default(), tf.device("/gpu:0"):
        step = tf.get_variable("step", initializer=0, dtype=tf.int32)
        weight = tf.get_variable("weight", initializer=2.0)
        updates = [tf.assign_add(step, 1), tf.assign_add(weight, 4.0)]
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            assert session.run(updates) == [1, 6.0]
            found = session.list_devices()
    assert [d.device_type for d in found] == ["CPU", "GPU", "GPU"]


def test_classic_loops_that_no_pass_takes_apart_run_beside_gpus() -> None:
    tf.disable_control_flow_v2()
    with pretended_gpus(), tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [2])
        switched = tf.raw_ops.Switch(data=x, pred=x[0] > 0)
        joined = tf.raw_ops.Merge(
            inputs=[switched.output_false * 2.0, switched.output_true + 1.0]
        )
        with tf.Session() as session:
            assert session.run(joined.output, {x: [1.0, 2.0]}).tolist() == [2, 3]
            assert session.run(joined.output, {x: [-1.0, 2.0]}).tolist() == [-2, 4]
