"""Shared names and containers: what two nodes of one session find under a name.

The expectations are TensorFlow 1.15's.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import tensorloom as tf

R = tf.raw_ops
_INT: dict[str, Any] = {"component_types": [tf.int32]}
_SHARED: dict[str, Any] = {"shared_name": "n"}


def _queue(kind: str, **attrs: Any) -> Callable[[], Any]:
    return lambda: R.QueueSizeV2(
        handle=getattr(R, f"{kind}V2")(**(_INT | _SHARED | attrs))
    )


def _table(kind: str, value: Any) -> Callable[[], Any]:
    return lambda: R.LookupTableSizeV2(
        table_handle=getattr(R, f"{kind}V2")(
            key_dtype=tf.int64, value_dtype=value, **_SHARED
        )
    )


def _barrier(**attrs: Any) -> Callable[[], Any]:
    return lambda: R.BarrierReadySize(
        handle=R.Barrier(**({"shapes": [[]]} | _INT | _SHARED | attrs))
    )


def _variable(dtype: Any) -> Callable[[], Any]:
    return lambda: R.IsVariableInitialized(
        ref=R.VariableV2(shape=[], dtype=dtype, **_SHARED)
    )


def _resource_variable(dtype: Any) -> Callable[[], Any]:
    return lambda: R.VarIsInitializedOp(
        resource=R.VarHandleOp(shape=[], dtype=dtype, **_SHARED)
    )


_RESOURCES: dict[str, Callable[[], Any]] = {
    "fifo": _queue("FIFOQueue"),
    "fifo of 3": _queue("FIFOQueue", capacity=3),
    "padding": _queue("PaddingFIFOQueue", shapes=[[]]),
    "priority": _queue("PriorityQueue", shapes=[[]]),
    "shuffle": _queue("RandomShuffleQueue"),
    "shuffle after 1": _queue("RandomShuffleQueue", min_after_dequeue=1),
    "shuffle seeded": _queue("RandomShuffleQueue", seed=1),
    "hash": _table("HashTable", tf.int64),
    "hash of strings": _table("HashTable", tf.string),
    "mutable": _table("MutableHashTable", tf.int64),
    "barrier": _barrier(),
    "barrier of floats": _barrier(component_types=[tf.float32]),
    "barrier of vectors": _barrier(shapes=[[1]]),
    "barrier without shapes": _barrier(shapes=[]),
    "barrier of 3": _barrier(capacity=3),
    "variable": _variable(tf.float32),
    "variable of ints": _variable(tf.int32),
    "resource variable": _resource_variable(tf.float32),
    "resource variable of ints": _resource_variable(tf.int32),
}
_INVALID, _INTERNAL = tf.errors.InvalidArgumentError, tf.errors.InternalError

# Who comes second finds an error; all other pairs get along.
_ERRORS: dict[tuple[str, str], type[Exception]] = {
    **{
        (first, second): _INVALID
        for first in list(_RESOURCES)[:7]
        for second in list(_RESOURCES)[:7]
        if first != second and (first, second) != ("shuffle seeded", "shuffle")
    },
    ("hash", "hash of strings"): _INVALID,
    ("hash of strings", "hash"): _INVALID,
    ("hash of strings", "mutable"): _INVALID,
    ("mutable", "hash of strings"): _INVALID,
    ("barrier", "barrier of floats"): _INVALID,
    ("barrier of floats", "barrier"): _INVALID,
    ("barrier", "barrier of vectors"): _INVALID,
    ("barrier of vectors", "barrier"): _INVALID,
    ("barrier of vectors", "barrier of floats"): _INVALID,
    ("barrier of floats", "barrier of vectors"): _INVALID,
    ("variable", "variable of ints"): _INTERNAL,
    ("variable of ints", "variable"): _INTERNAL,
}
_ALONE_WRONG = ("barrier without shapes", "barrier of 3")


@pytest.mark.parametrize("first", [r for r in _RESOURCES if r not in _ALONE_WRONG])
def test_the_second_of_a_name(first: str) -> None:
    for second in _RESOURCES:
        expected = _ERRORS.get((first, second))
        if second in _ALONE_WRONG:
            expected = _INVALID
        with tf.Graph().as_default(), tf.Session() as session:
            session.run(_RESOURCES[first]())
            if expected is None:
                session.run(_RESOURCES[second]())
                continue
            with pytest.raises(expected):
                session.run(_RESOURCES[second]())


def test_a_table_that_is_not_initialized_is_empty() -> None:
    with tf.Session() as session:
        assert session.run(_RESOURCES["hash"]()) == 0


_REFERENCES: dict[str, Callable[[], Any]] = {
    "queue": lambda: R.FIFOQueue(**_INT, **_SHARED),
    "table": lambda: R.HashTable(key_dtype=tf.int64, value_dtype=tf.int64, **_SHARED),
    "reader": lambda: R.WholeFileReader(**_SHARED),
    "barrier": lambda: R.Barrier(shapes=[[]], **_INT, **_SHARED),
}


@pytest.mark.parametrize("kind", _REFERENCES)
def test_a_fetched_reference_is_a_name(kind: str) -> None:
    with tf.Session() as session:
        assert session.run(_REFERENCES[kind]()).tolist() == [b"localhost", b"n"]


# keys, values, shape of the barrier's component, whether TensorFlow takes them.
_INSERTIONS: list[tuple[list[str], Any, Any, bool]] = [
    ([], [], [], True),
    ([], [], [2], True),
    (["a"], [1], [], True),
    (["a"], [1], None, True),
    (["a"], [[1, 2]], None, False),
    (["a"], [[]], [0], False),
    (["a"], [1], [2], False),
]


@pytest.mark.parametrize(("keys", "values", "shape", "fits"), _INSERTIONS)
def test_what_a_barrier_takes(
    keys: list[str], values: Any, shape: Any, fits: bool
) -> None:
    insert = R.BarrierInsertMany(
        handle=R.Barrier(shapes=[shape], **_INT),
        keys=tf.constant(keys, tf.string),
        values=tf.constant(values, tf.int32),
        component_index=0,
    )
    with tf.Session() as session:
        if fits:
            session.run(insert)
        else:
            with pytest.raises(_INVALID):
                session.run(insert)


def _with_container(container: str) -> dict[str, Callable[[], Any]]:
    at: dict[str, Any] = {"container": container}
    types = {"key_dtype": tf.int64, "value_dtype": tf.int64}
    return {
        "queue": lambda: R.QueueSizeV2(handle=R.FIFOQueueV2(**_INT, **at)),
        "table": lambda: R.LookupTableSizeV2(table_handle=R.HashTableV2(**types, **at)),
        "variable": lambda: R.IsVariableInitialized(
            ref=R.VariableV2(shape=[], dtype=tf.float32, **at)
        ),
        "barrier": lambda: R.BarrierReadySize(
            handle=R.Barrier(shapes=[[]], **_INT, **at)
        ),
        "reader": lambda: R.ReaderNumRecordsProducedV2(
            reader_handle=R.IdentityReaderV2(**at)
        ),
        "iterator": lambda: R.IteratorToStringHandle(
            resource_handle=R.Iterator(
                shared_name="x",
                output_types=[tf.int64],
                output_shapes=[[]],
                **at,
            )
        ),
        "resource variable": lambda: R.VarIsInitializedOp(
            resource=R.VarHandleOp(shape=[], dtype=tf.float32, **at)
        ),
    }


@pytest.mark.parametrize(
    ("container", "exists"),
    [
        *((name, True) for name in ("", "a", "1", ".a", "a-b", "a/b.c")),
        *((name, False) for name in ("-a", "/a", "_a", "a_b", "a b", "é", "a>b")),
    ],
)
def test_names_of_containers(container: str, exists: bool) -> None:
    for kind, make in _with_container(container).items():
        with tf.Graph().as_default(), tf.Session() as session:
            # A resource variable takes any name.
            if exists or kind == "resource variable":
                session.run(make())
                continue
            with pytest.raises(_INVALID, match="container contains invalid characters"):
                session.run(make())
