"""Crosses of features: all choices of a row, in order."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

import tensorloom as tf
from tensorloom.kernels.host.sparse.cross import fingerprint_cat
from tensorloom.kernels.host.strings.hashes import fingerprint64, siphash

_ROWS = 50
_MASK = 2**64 - 1


def _features(shuffled: bool) -> tuple[list[Any], dict[str, Any]]:
    """(rows of values of each feature, the inputs of the ops)."""
    random = np.random.RandomState(0)
    columns: list[Any] = []
    indices, values = [], []
    for kind in ("text", "number"):
        places = np.argwhere(random.rand(_ROWS, 3) < 0.6)
        if shuffled:
            random.shuffle(places)
        numbers = random.randint(-(2**60), 2**60, len(places))
        texts = np.array([b"%d" % n for n in numbers], object)
        values.append(texts if kind == "text" else numbers)
        indices.append(places)
        rows: list[list[Any]] = [[] for _ in range(_ROWS)]
        for (row, _), value in zip(places.tolist(), values[-1].tolist(), strict=True):
            rows[row].append(value)
        columns.append(rows)
    dense = random.randint(-9, 9, (_ROWS, 2)).astype(np.int64)
    columns.append(dense.tolist())
    shapes = [np.int64([_ROWS, 3])] * 2
    return columns, {
        "indices": indices,
        "values": values,
        "shapes": shapes,
        "dense_inputs": [dense],
    }


def _run(op: str, **attrs: Any) -> Any:
    with tf.Graph().as_default(), tf.Session() as session:
        return session.run(getattr(tf.raw_ops, op)(**attrs))


def _check(found: Any, columns: list[Any], join: Any) -> None:
    crosses = [
        [join(choice) for choice in product(*[rows[row] for rows in columns])]
        for row in range(_ROWS)
    ]
    assert found[1].tolist() == [x for row in crosses for x in row]
    places = [[row, i] for row in range(_ROWS) for i in range(len(crosses[row]))]
    assert found[0].tolist() == places
    assert found[2].tolist() == [_ROWS, max(map(len, crosses))]


@pytest.mark.parametrize("shuffled", [False, True])
def test_texts(shuffled: bool) -> None:
    columns, inputs = _features(shuffled)

    def join(choice: Any) -> bytes:
        return b"|".join([x if isinstance(x, bytes) else b"%d" % x for x in choice])

    _check(_run("SparseCrossV2", sep="|", **inputs), columns, join)


@pytest.mark.parametrize("buckets", [0, 1000])
@pytest.mark.parametrize("kind", ["in order", "shuffled", "dense"])
def test_hashes_of_the_older_op(buckets: int, kind: str) -> None:
    columns, inputs = _features(kind == "shuffled")
    if kind == "dense":
        random = np.random.RandomState(1)
        dense = [random.randint(-9, 9, (_ROWS, width)) for width in (1, 2, 3)]
        dense[1] = np.array([b"%d" % n for n in dense[1].flat], object).reshape(-1, 2)
        columns = [matrix.tolist() for matrix in dense]
        inputs = {"indices": [], "values": [], "shapes": [], "dense_inputs": dense}

    def join(choice: Any) -> int:
        result = 5
        for x in choice:
            number = fingerprint64(x) if isinstance(x, bytes) else x & _MASK
            result = fingerprint_cat(result, number)
        return result % (buckets or 2**63 - 1)

    attrs = {"hashed_output": True, "num_buckets": buckets, "hash_key": 5}
    types = {"out_type": tf.int64, "internal_type": tf.int64}
    _check(_run("SparseCross", **attrs, **types, **inputs), columns, join)


@pytest.mark.parametrize("strong", [False, True])
def test_hashes(strong: bool) -> None:
    columns, inputs = _features(True)
    key = 3, 11

    def number(x: Any, column: int) -> int:
        if not isinstance(x, bytes):
            if not strong and column == 2:  # the dense one
                return int(x & _MASK)
            x = (x & 0xFFFFFFFF).to_bytes(4, "little")
        return siphash(x, key) if strong else fingerprint64(x)

    def join(choice: Any) -> int:
        first, *others = [number(x, i) for i, x in enumerate(choice)]
        for other in others:
            first = fingerprint_cat(first, other)
        return first % 997

    attrs = {"num_buckets": 997, "strong_hash": strong, "salt": list(key)}
    _check(_run("SparseCrossHashed", **attrs, **inputs), columns, join)


@pytest.mark.parametrize(
    ("buckets", "wanted"),
    [
        (
            0,
            [
                *(2419381393806833821, 2419381393806826631, 1475621432464591367),
                *(1475621432464594442, 6632926136591028936),
            ],
        ),
        (1000, [628, 438, 174, 249, 743]),
    ],
)
def test_the_older_hash_of_features(buckets: int, wanted: list[int]) -> None:
    # As TensorFlow 1.15 has them (recorded).
    at = np.array([[0, 0], [0, 1], [1, 0]])
    with tf.Graph().as_default(), tf.Session() as session:
        found = session.run(
            tf.raw_ops.SparseFeatureCross(
                indices=[at, at],
                values=[np.array([b"a", b"bc", b""], object), np.array([4, -5, 6])],
                shapes=[np.array([2, 3])] * 2,
                dense=[np.array([[7], [8]])],
                hashed_output=True,
                num_buckets=buckets,
                out_type=tf.int64,
                internal_type=tf.string,
            )
        )
    assert found[0].tolist() == [[0, 0], [0, 1], [0, 2], [0, 3], [1, 0]]
    assert found[1].tolist() == wanted
    assert found[2].tolist() == [2, 4]
