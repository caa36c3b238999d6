"""`_FetchHandler`: fetches for callers that run tensors themselves."""

from __future__ import annotations

import pytest

import tensorloom as tf
from tensorloom.client.session.fetch_handler import FetchHandler


def test_results_have_the_structure() -> None:
    a, b = tf.constant(1, name="a"), tf.placeholder(tf.int32, name="b")
    fetches = {"x": [a, b], "op": a.op, "again": ("a:0",)}
    handler = FetchHandler(tf.get_default_graph(), fetches, {b: 7})
    assert handler.fetches() == [a]
    assert handler.targets() == [a.op]
    results = handler.build_results(None, [5])
    assert results == {"x": [5, 7], "op": None, "again": (5,)}


def test_handles_give_values() -> None:
    with tf.Session() as session:
        handle = session.run(tf.get_session_handle(tf.constant(3)))
        holder, _ = tf.get_session_tensor(handle.handle, tf.int32)
        graph = tf.get_default_graph()
        handler = FetchHandler(graph, holder, {}, {holder: handle})
        assert handler.fetches() == []
        assert handler.build_results(session, []) == 3


def test_what_cannot_be_fetched() -> None:
    with pytest.raises(TypeError, match="invalid type"):
        FetchHandler(tf.get_default_graph(), None, {})
    with pytest.raises(ValueError, match="cannot be interpreted"):
        FetchHandler(tf.get_default_graph(), "nothing", {})
