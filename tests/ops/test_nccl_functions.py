"""Reductions among GPUs: nodes, gradients and refusals."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import tensorloom as tf

nccl = tf.contrib.nccl


def _on_gpus(count: int = 2) -> list[Any]:
    tensors = []
    for index in range(count):
        with tf.device(f"/device:GPU:{index}"):
            tensors.append(tf.ones([2]))
    return tensors


@pytest.mark.parametrize(
    ("function", "reduction"),
    [
        (nccl.all_sum, b"sum"),
        (nccl.all_prod, b"prod"),
        (nccl.all_min, b"min"),
        (nccl.all_max, b"max"),
    ],
)
def test_one_result_on_each_device(
    function: Callable[..., Any], reduction: bytes
) -> None:
    results = function(_on_gpus())
    assert [r.device for r in results] == ["/device:GPU:0", "/device:GPU:1"]
    assert {r.op.type for r in results} == {"NcclAllReduce"}
    assert {r.op.get_attr("reduction") for r in results} == {reduction}
    assert {r.op.get_attr("num_devices") for r in results} == {2}
    assert len({r.op.get_attr("shared_name") for r in results}) == 1
    assert results[0].shape == [2]


def test_one_result() -> None:
    tensors = _on_gpus()
    with tf.device("/device:GPU:0"):
        total = nccl.reduce_sum(tensors)
    assert (total.op.type, total.device) == ("NcclReduce", "/device:GPU:0")
    sent = nccl.broadcast(tensors[1])
    assert (sent.op.type, sent.device) == ("NcclBroadcast", "/device:GPU:1")
    grads = tf.gradients(total, tensors)
    assert [g.op.type for g in grads] == ["NcclBroadcast"] * 2


def test_what_is_refused() -> None:
    plain = tf.ones([2])
    with pytest.raises(ValueError, match="Must pass >0 tensors to all reduce"):
        nccl.all_sum([])
    with pytest.raises(ValueError, match="Must pass >0 tensors to reduce"):
        nccl.reduce_sum([])
    for function in (nccl.all_sum, nccl.reduce_sum, lambda x: nccl.broadcast(x[0])):
        with pytest.raises(ValueError, match="Device assignment required"):
            function([plain])
    with (
        tf.device("/device:GPU:3"),
        pytest.raises(ValueError, match="assigned to current device"),
    ):
        nccl.reduce_sum(_on_gpus())
