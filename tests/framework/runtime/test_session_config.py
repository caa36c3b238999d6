"""Options of a session: what is decoded, and what is refused by name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import tensorloom as tf
from tensorloom.framework.runtime import session_config
from tensorloom.protos import config_pb2

if TYPE_CHECKING:
    from collections.abc import Callable

REFUSED: list[tuple[str, Callable[[Any], Any]]] = [
    (
        "graph_options.enable_bfloat16_sendrecv",
        lambda c: setattr(c.graph_options, "enable_bfloat16_sendrecv", True),
    ),
    (
        "graph_options.rewrite_options.auto_parallel.enable",
        lambda c: setattr(
            c.graph_options.rewrite_options.auto_parallel, "enable", True
        ),
    ),
    (
        "gpu_options.experimental.virtual_devices",
        lambda c: c.gpu_options.experimental.virtual_devices.add(),
    ),
]


@pytest.mark.parametrize(("path", "change"), REFUSED)
def test_what_is_not_done_is_refused(path: str, change: Callable[[Any], Any]) -> None:
    config = tf.ConfigProto()
    change(config)
    with pytest.raises(tf.errors.UnimplementedError, match=path):
        tf.Session(config=config)


def test_state_of_a_cluster_of_the_client() -> None:
    config = tf.ConfigProto()
    config.cluster_def.job.add(name="worker").tasks[0] = "localhost:1"
    assert session_config.from_proto(config).isolate_session_state
    config.experimental.share_session_state_in_clusterspec_propagation = True
    assert not session_config.from_proto(config).isolate_session_state


def test_messages_are_found_where_programs_look() -> None:
    assert config_pb2.RPCOptions is type(tf.ConfigProto().rpc_options)


def test_named_rewrites_are_the_only_ones() -> None:
    config = tf.ConfigProto()
    config.graph_options.rewrite_options.optimizers.extend(["remap", "loop"])
    decoded = session_config.from_proto(config).optimizer
    assert decoded.allows("remapping")
    assert decoded.allows("loop_optimization")
    assert not decoded.allows("arithmetic_optimization")
