"""`tf.train.Checkpoint`; tests/peer compares names and files with TensorFlow."""

from __future__ import annotations

import gc
import logging
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tensorloom as tf
from tensorloom.framework import errors
from tensorloom.framework.types.trackable_structures import DictWrapper, ListWrapper
from tensorloom.storage.checkpoints.bundle_writer import BundleWriter

DATA = Path(__file__).resolve().parents[2] / "storage" / "data"


def build(scope: str, factor: float) -> tuple[Any, Any, list[Any]]:
    """A root with an optimizer, and what is compared."""
    with tf.variable_scope(scope):
        w = tf.get_variable("w", initializer=np.full(3, factor, np.float32))
        r = tf.get_variable("r", initializer=factor, use_resource=True)
    optimizer = tf.train.AdamOptimizer(0.1, name=scope)
    train = optimizer.minimize(tf.reduce_sum(w * w) + r * r)
    root = tf.train.Checkpoint(optimizer=optimizer)
    root.parts, root.more = {"w": w}, [r]
    slots = [optimizer.get_slot(v, name) for v in (w, r) for name in ("m", "v")]
    return root, train, [w, r, *slots]


def checkpoint(directory: Path) -> tuple[str, list[Any]]:
    with tf.Graph().as_default(), tf.Session() as sess:
        root, train, fetches = build("saved", 2.0)
        sess.run(tf.global_variables_initializer())
        sess.run(train)
        return root.save(str(directory / "ck")), sess.run(fetches)


def test_names_of_variables_do_not_matter(tmp_path: Path) -> None:
    path, saved = checkpoint(tmp_path)
    assert path == str(tmp_path / "ck-1")
    assert tf.train.latest_checkpoint(str(tmp_path)) == path
    names = [name for name, _ in tf.train.list_variables(path)]
    assert "parts/w/.OPTIMIZER_SLOT/optimizer/m/.ATTRIBUTES/VARIABLE_VALUE" in names
    with tf.Graph().as_default(), tf.Session() as sess:
        root, _, fetches = build("other", 0.0)
        status = root.restore(path).assert_consumed()
        status.initialize_or_restore(sess)
        for found, expected in zip(sess.run(fetches), saved, strict=True):
            np.testing.assert_array_equal(found, expected)


def test_saving_again_adds_no_operations(tmp_path: Path) -> None:
    with tf.Graph().as_default() as graph, tf.Session() as sess:
        root, _, _ = build("saved", 2.0)
        sess.run(tf.global_variables_initializer())
        path = root.save(str(tmp_path / "ck"))
        root.restore(path).run_restore_ops()
        graph.finalize()
        path = root.save(str(tmp_path / "ck"))
        root.restore(path).run_restore_ops()
    assert path.endswith("-2")


def test_what_is_not_used_is_logged(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path, _ = checkpoint(tmp_path)
    for expected in (True, False):
        caplog.clear()
        with tf.Graph().as_default(), caplog.at_level(logging.WARNING):
            root = tf.train.Checkpoint(more=tf.train.Checkpoint())
            status = root.restore(path)
            if not expected:
                status.expect_partial()
            del root, status
            gc.collect()
        assert ("(root).parts" in caplog.text) == expected


def test_no_session(tmp_path: Path) -> None:
    with tf.Graph().as_default():
        root = tf.train.Checkpoint(v=tf.Variable(1.0))
        with pytest.raises(ValueError, match="pass `session`"):
            root.save(str(tmp_path / "ck"))


@pytest.mark.parametrize(
    "graph",
    [
        b"",
        b"\xff\xff",
        b"\x0a\x04\x0a\x02\x08\x07",  # a child that is object 7 of 1
        b"\x0a\x04\x0a\x02\x08\x00",  # its own child
    ],
)
def test_damaged_object_graphs(tmp_path: Path, graph: bytes) -> None:
    path = str(tmp_path / "bad")
    with BundleWriter(path) as writer:
        key = b"_CHECKPOINTABLE_OBJECT_GRAPH"
        writer.add(key, tf.string, np.array(graph, object))
        writer.finish()
    with tf.Graph().as_default():
        root = tf.train.Checkpoint(v=tf.Variable(1.0))
        if graph.endswith(b"\x00"):
            root.restore(path).expect_partial()  # a circle is no damage
            return
        with pytest.raises(errors.DataLossError, match="damaged"):
            root.restore(path)


def test_a_checkpoint_of_tensorflow_2() -> None:
    """Written by TensorFlow 2.21 without a graph; its objects are found by name."""
    names = dict(tf.train.list_variables(str(DATA / "objects_2_21")))
    leaves = [n for n in names if n.endswith("/.ATTRIBUTES/VARIABLE_VALUE")]
    assert leaves
    with tf.Graph().as_default(), tf.Session() as sess:
        root = tf.train.Checkpoint()
        status = root.restore(str(DATA / "objects_2_21")).expect_partial()
        made = {}
        for leaf in leaves:
            path = leaf.removesuffix("/.ATTRIBUTES/VARIABLE_VALUE").split("/")
            if any(part.startswith(".") for part in path) or len(path) > 1:
                continue
            value = tf.train.load_variable(str(DATA / "objects_2_21"), leaf)
            made[leaf] = tf.Variable(np.zeros_like(value))
            setattr(root, path[0], made[leaf])
        status.initialize_or_restore(sess)
        for leaf, variable in made.items():
            expected = tf.train.load_variable(str(DATA / "objects_2_21"), leaf)
            np.testing.assert_array_equal(sess.run(variable), expected)


def test_modules(tmp_path: Path) -> None:
    """What a module holds is saved: in lists, dicts, other modules and layers."""

    class Part(tf.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.v = tf.Variable(3.0)
            self.dense = tf.layers.Dense(2)
            self.dense(tf.ones([1, 2]))

    class Whole(tf.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__(name="whole")
            self.parts = [Part(), Part()]
            self.named = {"a": tf.Variable(1.0)}
            self.generator = tf.random.experimental.Generator.from_seed(7)

    with tf.Graph().as_default(), tf.Session() as sess:
        whole = Whole()
        part = whole.parts[0]
        assert part.variables == (part.v, *part.dense.variables)
        assert [type(m).__name__ for m in part.submodules] == ["Dense"]
        sess.run(tf.global_variables_initializer())
        root = tf.train.Checkpoint(whole=whole)
        path = root.save(str(tmp_path / "c"), session=sess)
        ours = [
            name.removeprefix("whole/").partition("/.ATTRIBUTES")[0]
            for name, _ in tf.train.list_variables(path)
            if name.startswith("whole/")
        ]
        assert ours == [
            "generator/_state_var",
            "named/a",
            *(
                f"parts/{i}/{name}"
                for i in range(2)
                for name in ("dense/bias", "dense/kernel", "v")
            ),
        ]
        sess.run(part.v.assign(0.0))
        root.restore(path).assert_consumed().run_restore_ops(sess)
        assert sess.run(part.v) == 3.0


def test_attributes_become_structures_that_track() -> None:
    with tf.Graph().as_default():
        root = tf.train.Checkpoint()
        v = tf.Variable(1.0)
        root.items, root.named, root.pair = [v, 3], {"a": v}, (v,)
        assert isinstance(root.items, ListWrapper)
        assert root.items == [v, 3]
        assert isinstance(root.named, DictWrapper)
        assert root.named == {"a": v}
        assert isinstance(root.pair, tuple)
        tracked = [name for name, _ in root._checkpoint_dependencies]
        assert tracked == ["items", "named"]
        del root.named
        assert [name for name, _ in root._checkpoint_dependencies] == ["items"]


def test_iterators_go_on(tmp_path: Path) -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        dataset = tf.data.Dataset.range(10).shuffle(10, seed=3)
        iterator = tf.data.make_initializable_iterator(dataset)
        element = iterator.get_next()
        saveable = tf.data.experimental.make_saveable_from_iterator(iterator)
        saver = tf.train.Saver([saveable])
        root = tf.train.Checkpoint(iterator=iterator)
        sess.run(iterator.initializer)
        first = [sess.run(element) for _ in range(4)]
        by_name = saver.save(sess, str(tmp_path / "name"))
        by_object = root.save(str(tmp_path / "object"))
        rest = [sess.run(element) for _ in range(6)]
        assert sorted(first + rest) == list(range(10))
        for restore in (
            lambda: saver.restore(sess, by_name),
            root.restore(by_object).assert_consumed().run_restore_ops,
        ):
            sess.run(iterator.initializer)
            restore()
            assert [sess.run(element) for _ in range(6)] == rest


def test_manager_goes_on_after_a_restart(tmp_path: Path) -> None:
    kept: list[str] = []
    for _ in range(2):
        with tf.Graph().as_default(), tf.Session() as sess:
            root = tf.train.Checkpoint(v=tf.Variable(1.0))
            manager = tf.train.CheckpointManager(root, tmp_path, 2)
            assert manager.checkpoints == kept
            status = root.restore(manager.latest_checkpoint)
            status.initialize_or_restore(sess)
            for _ in range(2):
                manager.save()
            kept = manager.checkpoints
    names = [Path(path).name for path in kept]
    assert names == ["ckpt-3", "ckpt-4"]
    assert {path.stem for path in tmp_path.glob("*.index")} == set(names)
