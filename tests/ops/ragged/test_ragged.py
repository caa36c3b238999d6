"""Ragged tensors, their strings, and serialized and crossed sparse tensors."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tensorloom as tf
from tests.ops.ragged import ragged_cases

_RECORDED: dict[str, Any] = json.loads(
    (Path(__file__).parents[1] / "recorded/ragged.json").read_text()
)


@pytest.mark.parametrize("expression", ragged_cases.expressions())
def test_value_is_tensorflows(expression: str) -> None:
    """The value, or the class of the error."""
    found = json.loads(json.dumps(ragged_cases.outcome(tf, expression)))
    assert _close(found, _RECORDED[expression]), (found, _RECORDED[expression])


def _close(found: Any, expected: Any) -> bool:
    if isinstance(expected, list) and isinstance(found, list):
        pairs = zip(found, expected, strict=False)
        return len(found) == len(expected) and all(_close(a, b) for a, b in pairs)
    if isinstance(expected, float) and isinstance(found, float):
        return (
            math.isnan(found)
            if math.isnan(expected)
            else math.isclose(found, expected, rel_tol=1e-6)
        )
    return bool(found == expected)


def test_feeds_and_fetches() -> None:
    """A placeholder is fed with a RaggedTensorValue; one is fetched."""
    value = tf.ragged.constant_value([[[1, 2], []], [], [[3]]])
    with tf.Graph().as_default(), tf.Session() as session:
        fed = tf.ragged.placeholder(tf.int32, 2, value_shape=[])
        doubled, same = session.run([fed * 2, fed], {fed: value})
        assert doubled.to_list() == [[[2, 4], []], [], [[6]]]
        assert same.to_list() == value.to_list()
        assert fed.eval({fed: value}).ragged_rank == 2
    assert value.shape == (3, None, None)
    assert str(value) == "<tf.RaggedTensorValue [[[1, 2], []], [], [[3]]]>"


def test_gradient_goes_to_gathered_values() -> None:
    """RaggedGather and the elementwise ops around it have gradients."""
    with tf.Graph().as_default(), tf.Session() as session:
        values = tf.constant([1.0, 2.0, 3.0, 4.0])
        rows = tf.RaggedTensor.from_row_splits(values, [0, 1, 3, 4], validate=False)
        picked = tf.square(tf.gather(rows, [1, 1, 2]))
        total = tf.reduce_sum(picked)
        (slices,) = tf.gradients(total, values)
        dense = session.run(tf.convert_to_tensor(slices))
    assert dense.tolist() == [0.0, 8.0, 12.0, 8.0]


def test_op_pads_to_a_shape() -> None:
    """RaggedTensorToTensor cuts, pads, and gives both gradients."""
    with tf.Graph().as_default(), tf.Session() as session:
        values = tf.constant([1.0, 2.0, 3.0, 4.0])
        default = tf.constant(9.0)
        dense = tf.raw_ops.RaggedTensorToTensor(
            shape=[2, 2],
            values=values,
            default_value=default,
            row_partition_tensors=[np.array([0, 1, 4], np.int64)],
            row_partition_types=["ROW_SPLITS"],
        )
        assert dense.shape.as_list() == [2, 2]
        grads = tf.gradients(dense * [[1.0, 2.0], [3.0, 4.0]], [values, default])
        found, (by_value, by_default) = session.run([dense, grads])
    assert found.tolist() == [[1, 9], [2, 3]]
    assert by_value.tolist() == [1, 3, 4, 0]
    assert by_default == 2


def test_bad_partitions_are_invalid_arguments() -> None:
    """Splits from outside are data to be checked."""
    for splits in ([0, 9], [1, 4], [0, 3, 2, 4], [-1, 4]):
        with tf.Graph().as_default(), tf.Session() as session:
            values = tf.constant([1, 2, 3, 4])
            given = tf.placeholder_with_default(np.array(splits, np.int64), [None])
            for op in (
                lambda g=given, v=values: tf.raw_ops.RaggedTensorToSparse(
                    rt_nested_splits=[g], rt_dense_values=v
                ),
                lambda g=given, v=values: tf.raw_ops.RaggedTensorToTensor(
                    shape=np.int64(-1),
                    values=v,
                    default_value=0,
                    row_partition_tensors=[g],
                    row_partition_types=["ROW_SPLITS"],
                ),
            ):
                result = op()
                # A dense tensor of another number of values is TensorFlow's own error.
                wrong: type[tf.errors.OpError] = tf.errors.InvalidArgumentError
                if splits == [0, 9] and isinstance(result, tf.Tensor):
                    wrong = tf.errors.InternalError
                with pytest.raises(wrong):
                    session.run(result)


def test_a_variant_that_is_no_ragged_tensor_is_named_by_its_place() -> None:
    ragged = tf.ragged.constant([[1], [2, 3]])
    variant = tf.raw_ops.RaggedTensorToVariant(
        rt_nested_splits=[ragged.row_splits],
        rt_dense_values=ragged.values,
        batched_input=False,
    )
    empty = tf.raw_ops.EmptyTensorList(
        element_shape=-1, max_num_elements=1, element_dtype=tf.int32
    )
    values = tf.raw_ops.RaggedTensorFromVariant(
        encoded_ragged=tf.stack([variant, empty]),
        input_ragged_rank=1,
        output_ragged_rank=2,
        Tvalues=tf.int32,
        Tsplits=tf.int64,
    ).output_dense_values
    with (
        tf.Session() as sess,
        pytest.raises(tf.errors.InvalidArgumentError, match="element at index 1 does"),
    ):
        sess.run(values)


def test_ranges_that_are_too_long() -> None:
    """Sizes are checked before memory is asked for."""
    with tf.Graph().as_default(), tf.Session() as session:
        limit = tf.placeholder_with_default(np.int64(2**62), [])
        ragged = tf.ragged.range(limit)
        with pytest.raises((tf.errors.ResourceExhaustedError, tf.errors.OpError)):
            session.run(ragged)


def test_tensors_map() -> None:
    """Sparse tensors outlive the step that puts them into a map, and are taken once."""
    with tf.Graph().as_default(), tf.Session() as session:
        handles = tf.raw_ops.AddManySparseToTensorsMap(
            sparse_indices=[[0, 0], [0, 1], [2, 0]],
            sparse_values=[1, 2, 3],
            sparse_shape=[3, 4],
            shared_name="map",
        )
        wanted = tf.placeholder(tf.int64, [None])
        taken = tf.raw_ops.TakeManySparseFromTensorsMap(
            sparse_handles=wanted, dtype=tf.int32, shared_name="map"
        )
        given = session.run(handles)
        found = session.run(list(taken), {wanted: given})
        assert [x.tolist() for x in found] == [
            [[0, 0], [0, 1], [2, 0]],
            [1, 2, 3],
            [3, 4],
        ]
        with pytest.raises(tf.errors.InvalidArgumentError, match="Unable to find"):
            session.run(list(taken), {wanted: given})


COUNTS: list[tuple[str, dict[str, Any], list[Any]]] = [
    (
        "SparseCountSparseOutput",
        {
            "indices": [[0, 0], [0, 1], [1, 0]],
            "values": [2, 2, 5],
            "dense_shape": np.array([2, 2], np.int64),
            "weights": np.array([0.5, 1, 2], np.float32),
            "minlength": 8,
            "binary_output": False,
        },
        [[[0, 2], [1, 5]], [1.5, 2.0], [2, 8]],
    ),
    (
        "DenseCountSparseOutput",
        {
            "values": [[2, 2], [5, 0]],
            "weights": np.zeros([0], np.int64),
            "maxlength": 4,
            "binary_output": False,
        },
        [[[0, 2], [1, 0]], [2, 1], [2, 4]],
    ),
    (
        "RaggedCountSparseOutput",
        {
            "splits": np.array([0, 2, 3], np.int64),
            "values": [2, 2, 5],
            "weights": np.zeros([0], np.int64),
            "binary_output": True,
        },
        [[[0, 2], [1, 5]], [1, 1], [2, 6]],
    ),
    (
        "SparseSegmentMeanGradV2",
        {
            "grad": np.arange(1, 7, dtype=np.float32).reshape(3, 2),
            "indices": [3, 0, 3],
            "segment_ids": [0, 0, 2],
            "dense_output_dim0": 5,
        },
        [[[0.5, 1.0], [5.5, 7.0]], [0, 3]],
    ),
    (
        "RaggedFillEmptyRows",
        {
            "value_rowids": np.array([0, 0, 2], np.int64),
            "values": [1, 2, 3],
            "nrows": np.int64(4),
            "default_value": 9,
        },
        [[0, 0, 1, 2, 3], [1, 2, 9, 3, 9], [False, True, False, True], [0, 1, 3]],
    ),
    (
        "SparseCrossHashed",
        {
            "indices": [np.array([[0, 0], [0, 1], [1, 0]], np.int64)],
            "values": [np.array([1, 2, 3], np.int64)],
            "shapes": [np.array([2, 4], np.int64)],
            "dense_inputs": [[["a"], ["b"]]],
            "num_buckets": np.int64(100),
            "strong_hash": True,
            "salt": np.array([1, 2], np.int64),
        },
        [[[0, 0], [0, 1], [1, 0]], [45, 44, 74], [2, 2]],
    ),
]


@pytest.mark.parametrize(("op", "inputs", "expected"), COUNTS)
def test_raw_ops(op: str, inputs: dict[str, Any], expected: list[Any]) -> None:
    """Ops that only newer graphs have; values are TensorFlow 2.21's."""
    with tf.Graph().as_default(), tf.Session() as session:
        found = session.run(list(getattr(tf.raw_ops, op)(**inputs)))
    assert [x.tolist() for x in found] == expected


@pytest.mark.parametrize("kind", ["HashTable", "MutableHashTable"])
def test_tables_of_references(kind: str) -> None:
    """The lookup ops of graphs from before resources."""
    with tf.Graph().as_default(), tf.Session() as session:
        table = getattr(tf.raw_ops, kind)(key_dtype=tf.string, value_dtype=tf.int64)
        fill = (
            tf.raw_ops.InitializeTable
            if kind == "HashTable"
            else tf.raw_ops.LookupTableInsert
        )
        filled = fill(
            table_handle=table, keys=["a", "b"], values=np.array([1, 2], np.int64)
        )
        found = tf.raw_ops.LookupTableFind(
            table_handle=table, keys=["b", "z"], default_value=np.int64(-1)
        )
        session.run(filled)
        size = tf.raw_ops.LookupTableSize(table_handle=table)
        assert session.run(found).tolist() == [2, -1]
        assert session.run(size) == 2
