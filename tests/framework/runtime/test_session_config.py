"""Options of a session: what is decoded, and what is refused by name."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import tensorloom as tf
from tensorloom.framework.runtime import refused_options, session_config
from tensorloom.protos import config_pb2

if TYPE_CHECKING:
    from collections.abc import Callable

REFUSED: list[tuple[str, Callable[[Any], Any]]] = [
    (
        "graph_options.rewrite_options.auto_parallel.enable",
        lambda c: setattr(
            c.graph_options.rewrite_options.auto_parallel, "enable", True
        ),
    ),
    (
        "graph_options.rewrite_options.custom_optimizers.parameter_map",
        lambda c: (
            c.graph_options.rewrite_options.custom_optimizers.add()
            .parameter_map["a"]
            .MergeFrom(tf.AttrValue(i=1))
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


PAGE = Path(tf.__file__).parents[1] / "docs" / "session-options.md"
# Messages of their own, of which the page speaks as a whole.
WHOLE = {"ClusterDef", "VerifierConfig"}


def _fields(message: Any, prefix: str = "") -> Iterator[str]:
    for field in message.fields:
        name = f"{prefix}{field.name}"
        inner = field.message_type
        if inner is None or inner.GetOptions().map_entry or inner.name in WHOLE:
            yield name
        else:
            yield from _fields(inner, f"{name}.")


def test_the_page_of_options_has_every_field_of_tensorflow_1_15() -> None:
    recorded = Path(__file__).with_name("config_fields_1_15.txt").read_text().split()
    known = set(_fields(config_pb2.ConfigProto.DESCRIPTOR))
    assert not [name for name in recorded if name not in known]
    rows = [line for line in PAGE.read_text().splitlines() if line.startswith("| `")]
    told = [name for row in rows for name in re.findall("`(.*?)`", row.split("|")[1])]
    assert len(told) == len(set(told))
    for name in recorded:
        described = [at for at in told if name == at or name.startswith(f"{at}.")]
        assert described, f"{name} is not on the page of options"
    for path in refused_options._REFUSED:
        assert f"`{path.rpartition('.')[0]}" in PAGE.read_text() or path in told


def _checked(**options: Any) -> Any:
    """The config of a graph that must not have negative numbers, and its results."""
    config = tf.ConfigProto()
    config.graph_options.rewrite_options.MergeFrom(
        type(config.graph_options.rewrite_options)(**options)
    )
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [2])
        with tf.control_dependencies([tf.Assert(tf.reduce_all(x > 0), [x])]):
            y = tf.check_numerics(tf.identity(x) / 0.0, "not finite")
        with tf.Session(config=config) as session:
            return session.run(tf.Print(y, [y]), {x: [-1.0, 1.0]}).tolist()


def test_the_debug_stripper_takes_checks_out() -> None:
    with pytest.raises(tf.errors.InvalidArgumentError):
        _checked()
    assert _checked(debug_stripper="ON") == [-np.inf, np.inf]
    assert _checked(optimizers=["debug_stripper"]) == [-np.inf, np.inf]


def test_sessions_of_a_process_have_names_of_their_own() -> None:
    config = tf.ConfigProto()
    config.experimental.session_metadata.name = "only"
    config.experimental.session_metadata.version = 1
    with (
        tf.Session(config=config),
        pytest.raises(tf.errors.InvalidArgumentError, match="already been created"),
    ):
        tf.Session(config=config)
    tf.Session(config=config).close()
    config.experimental.session_metadata.version = -1
    with pytest.raises(tf.errors.InvalidArgumentError, match="negative"):
        tf.Session(config=config)


def test_a_static_graph_does_not_grow() -> None:
    config = tf.ConfigProto()
    config.experimental.optimize_for_static_graph = True
    with tf.Graph().as_default(), tf.Session(config=config) as session:
        a, b = tf.constant(1), tf.constant(2)
        assert session.run([a, b]) == [1, 2]
        assert session.run(b) == 2
        with pytest.raises(tf.errors.FailedPreconditionError, match="static_graph"):
            session.run(tf.constant(3))


@pytest.mark.parametrize(
    ("every", "after", "told"),
    [(1, 0, [0, 1, 2, 3, 4, 5]), (2, 1, [2, 4]), (3, 2, [4]), (0, 1, [])],
)
def test_some_steps_tell_their_costs(every: int, after: int, told: list[int]) -> None:
    config = tf.ConfigProto()
    config.graph_options.build_cost_model = every
    config.graph_options.build_cost_model_after = after
    with tf.Graph().as_default(), tf.Session(config=config) as session:
        y = tf.exp(tf.random_uniform([3]))
        found = []
        for step in range(6):
            metadata = tf.RunMetadata()
            session.run(y, run_metadata=metadata)
            if metadata.cost_graph.node:
                found.append(step)
    assert found == told
