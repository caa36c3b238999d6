"""Attrs that TensorFlow 2.x added: written where they matter, and only there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tensorloom as tf
from tensorloom.framework.registry import newer_attrs, op_registry


def _build(**attrs: Any) -> dict[str, Any]:
    """Nodes of a graph by op, some of which have newer attrs."""
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [2, 5, 5, 1])
        tf.raw_ops.MaxPool(
            input=x,
            ksize=[1, 2, 2, 1],
            strides=[1, 1, 1, 1],
            padding="EXPLICIT" if attrs else "VALID",
            **attrs,
        )
        tf.nn.top_k(x, np.int64(1))
        tf.signal.rfft(x)
    return {node.op: node for node in graph.as_graph_def().node}


@pytest.mark.parametrize("op", sorted(newer_attrs.ADDED))
def test_their_defaults_are_known(op: str) -> None:
    op_def = op_registry.find(op)
    assert op_def is not None
    for name in newer_attrs.ADDED[op]:
        assert newer_attrs.is_default(op, name, op_def.attrs[name].default)


def test_defaults_are_not_written() -> None:
    nodes = _build()
    for op in ("MaxPool", "TopKV2", "RFFT"):
        assert not newer_attrs.ADDED[op] & set(nodes[op].attr)


def test_other_values_are_written() -> None:
    paddings = [0, 0, 1, 0, 0, 1, 0, 0]
    node = _build(explicit_paddings=paddings)["MaxPool"]
    assert list(node.attr["explicit_paddings"].list.i) == paddings


@pytest.mark.parametrize("paddings", [[], [0, 0, 1], [0, 0, -1, 0, 0, 0, 0, 0]])
def test_paddings_must_be_eight_numbers(paddings: list[int]) -> None:
    with pytest.raises(ValueError, match="explicit_paddings"):
        _build(explicit_paddings=paddings)


def test_line_numbers_begin_at_an_offset(tmp_path: Path) -> None:
    (tmp_path / "words").write_text("a\nb\nc\n")
    with tf.Graph().as_default(), tf.Session() as sess:
        table = tf.raw_ops.HashTableV2(key_dtype=tf.string, value_dtype=tf.int64)
        fill = tf.raw_ops.InitializeTableFromTextFileV2(
            table_handle=table,
            filename=str(tmp_path / "words"),
            key_index=-2,
            value_index=-1,
            offset=5,
        )
        found = tf.raw_ops.LookupTableFindV2(
            table_handle=table, keys=["a", "c", "z"], default_value=np.int64(-1)
        )
        sess.run(fill)
        assert sess.run(found).tolist() == [5, 7, -1]
