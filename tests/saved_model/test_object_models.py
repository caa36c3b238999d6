"""`tf.saved_model.save` and `load_v2`: objects, functions, values, tables, files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tensorloom as tf
from tensorloom.ops.lookup.trackable_resources import TrackableAsset
from tests.saved_model import models_of_tf2

_VECTOR = tf.TensorSpec([None], tf.float32)


def variable(value: Any, **arguments: Any) -> Any:
    return tf.Variable(value, use_resource=True, **arguments)


def run(tensors: Any) -> Any:
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.tables_initializer()])
        return session.run(tensors)


def save(root: Any, path: Any, **arguments: Any) -> None:
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.tables_initializer()])
        tf.saved_model.save(root, str(path), **arguments)


def serve(path: Any, key: str, **inputs: Any) -> Any:
    """What a signature gives in a session that loads the graph."""
    with tf.Graph().as_default(), tf.Session() as session:
        loaded = tf.saved_model.load(session, ["serve"], str(path))
        signature = loaded.signature_def[key]
        feeds = {signature.inputs[name].name: inputs[name] for name in inputs}
        names = {name: one.name for name, one in signature.outputs.items()}
        return session.run(names, feeds)


class Net(tf.Module):
    def __init__(self) -> None:
        super().__init__()
        self.v = variable(3.0, name="v")
        self.frozen = variable([1.0, 2.0], name="w", trainable=False)
        self.constant = tf.constant([5.0, 6.0])
        self.parts = [variable(7.0), {"deep": variable(8.0)}]

    @tf.function(input_signature=[_VECTOR])
    def f(self, x: Any) -> Any:
        return {"y": x * self.v + self.constant, "z": self.g(x)}

    @tf.function
    def g(self, x: Any, n: int = 2, *, shift: float = 0.0) -> Any:
        return x * n + self.parts[0] + shift

    @tf.function(input_signature=[])
    def count(self) -> Any:
        return self.v.assign_add(1.0)


@pytest.fixture(autouse=True)
def graph() -> Any:
    with tf.Graph().as_default() as made:
        yield made


@pytest.mark.parametrize("cycles", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_modules_with_functions(tmp_path: Path, cycles: int) -> None:
    root: Any = Net()
    root.g(tf.constant([1.0, 2.0]), 3, shift=1.0)
    save(root, tmp_path / "0", signatures=root.f)
    for cycle in range(1, cycles):
        with tf.Graph().as_default():
            again = tf.saved_model.load_v2(str(tmp_path / f"{cycle - 1}"))
            save(again, tmp_path / f"{cycle}", signatures=dict(again.signatures))
    path = tmp_path / f"{cycles - 1}"
    x = [1.0, 2.0]
    with tf.Graph().as_default():
        loaded = tf.saved_model.load_v2(str(path))
        assert [v.name for v in tf.global_variables()][:2] == ["v:0", "w:0"]
        assert not tf.trainable_variables()
        assert loaded.v.trainable
        assert not loaded.frozen.trainable
        assert loaded.tensorflow_version == "1.15.0"
        y = loaded.f(x)
        gradient = tf.gradients(y["y"], [loaded.v])
        results = run(
            [
                y,
                loaded.g(tf.constant(x), 3, shift=1.0),
                loaded.signatures["serving_default"](x=tf.constant(x)),
                loaded.parts[1]["deep"],
                loaded.v,
                gradient,
            ]
        )
    expected = {"y": [8.0, 12.0], "z": [9.0, 11.0]}
    for found in (results[0], results[2], serve(path, "serving_default", x=x)):
        assert {name: list(one) for name, one in found.items()} == expected
    assert list(results[1]) == [11.0, 14.0]
    assert results[3:] == [8.0, 3.0, [3.0]]


def test_effects_of_functions(tmp_path: Path) -> None:
    root = Net()
    save(root, tmp_path, signatures={"count": root.count})
    with tf.Graph().as_default(), tf.Session() as session:
        loaded = tf.saved_model.load_v2(str(tmp_path))
        counted = loaded.count()
        session.run(tf.global_variables_initializer())
        assert [session.run(counted) for _ in range(2)] == [4.0, 5.0]
        assert session.run(loaded.v) == 5.0
    assert serve(tmp_path, "count") == {"output_0": 4.0}


def test_the_only_function_is_the_signature(tmp_path: Path) -> None:
    factor = variable(2.0)
    function = tf.function(lambda x: factor * x, input_signature=[_VECTOR])
    root: Any = tf.train.Checkpoint(v=factor, f=function)
    _ = root.save_counter
    save(root, tmp_path)
    assert list(serve(tmp_path, "serving_default", x=[3.0])["output_0"]) == [6.0]
    restored = tf.train.Checkpoint(v=variable(0.0))
    with tf.Session() as session:
        status = restored.restore(str(tmp_path / "variables" / "variables"))
        status.expect_partial().run_restore_ops(session)
        assert session.run(restored.v) == 2.0


def test_tables_files_and_their_copies(tmp_path: Path) -> None:
    words = tmp_path / "words.txt"
    words.write_text("a\nb\nc\n")
    whole, number = (
        tf.lookup.TextFileIndex.WHOLE_LINE,
        tf.lookup.TextFileIndex.LINE_NUMBER,
    )
    initializer = tf.lookup.TextFileInitializer(
        str(words), tf.string, whole, tf.int64, number
    )
    pairs = tf.lookup.KeyValueTensorInitializer(
        tf.constant([1, 2], tf.int64), tf.constant([3.0, 4.0])
    )
    root: Any = tf.Module()
    root.ids = tf.lookup.StaticHashTable(initializer, -1)
    root.values = tf.lookup.StaticHashTable(pairs, 0.0)
    root.buckets = tf.lookup.StaticVocabularyTable(initializer, 1)
    root.changing = tf.contrib.lookup.MutableHashTable(tf.string, tf.int64, -7)
    root.asset = TrackableAsset(str(words))
    spec = [tf.TensorSpec([None], tf.string, name="words")]
    root.f = tf.function(
        lambda w: (root.values.lookup(root.ids.lookup(w)), root.buckets.lookup(w)), spec
    )
    root.h = tf.function(lambda w: root.changing.lookup(w), spec)
    insert = root.changing.insert(tf.constant(["a"]), tf.constant([11], tf.int64))
    with tf.Session() as session:
        session.run([tf.tables_initializer(), insert])
        tf.saved_model.save(root, str(tmp_path / "m"), signatures=root.f)
        assert len(tf.get_collection("table_initializer")) == 3
    words.unlink()
    (tmp_path / "m").rename(tmp_path / "moved")
    with tf.Graph().as_default():
        loaded = tf.saved_model.load_v2(str(tmp_path / "moved"))
        given = tf.constant(["b", "c", "x"])
        results = run([loaded.f(given), loaded.h(["a", "b"]), loaded.asset.asset_path])
    np.testing.assert_array_equal(results[0], [[3.0, 4.0, 0.0], [1, 2, 3]])
    assert list(results[1]) == [11, -7]
    assert Path(results[2].decode()).read_text() == "a\nb\nc\n"
    served = serve(tmp_path / "moved", "serving_default", words=["b", "x"])
    assert list(served["output_0"]) == [3.0, 0.0]


def test_composite_arguments_and_results(tmp_path: Path) -> None:
    root: Any = tf.Module()
    sparse = tf.SparseTensorSpec([None, 2], tf.float32)
    root.dense = tf.function(lambda s: (tf.sparse.to_dense(s), s), [sparse])
    ragged = tf.RaggedTensorSpec([None, None], tf.float32)
    root.twice = tf.function(lambda r: r * 2.0, [ragged])
    save(root, tmp_path, signatures={})
    with tf.Graph().as_default():
        loaded = tf.saved_model.load_v2(str(tmp_path))
        made, same = loaded.dense(tf.SparseTensor([[0, 1]], [5.0], [1, 2]))
        doubled = loaded.twice(tf.ragged.constant([[1.0], [2.0, 3.0]]))
        dense, sparse_value, rows = run([made, same, doubled])
    assert dense.tolist() == [[0.0, 5.0]]
    assert sparse_value.values.tolist() == [5.0]
    assert rows.to_list() == [[2.0], [4.0, 6.0]]


def test_slots_of_optimizers_are_kept(tmp_path: Path) -> None:
    root: Any = tf.train.Checkpoint(v=variable(1.0), optimizer=tf.train.AdamOptimizer())
    _ = root.save_counter
    step = root.optimizer.minimize(root.v * root.v)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(step)
        slot = root.optimizer.get_slot(root.v, "m")
        expected = session.run([root.v, slot])
        tf.saved_model.save(root, str(tmp_path))
    with tf.Graph().as_default():
        loaded = tf.saved_model.load_v2(str(tmp_path))
        found = run([loaded.v, loaded.optimizer.get_slot(loaded.v, "m")])
    assert found == expected


def test_two_loads_share_nothing(tmp_path: Path) -> None:
    save(Net(), tmp_path, signatures={})
    with tf.Graph().as_default(), tf.Session() as session:
        first, second = (tf.saved_model.load_v2(str(tmp_path)) for _ in range(2))
        session.run(tf.global_variables_initializer())
        session.run(first.count())
        assert session.run([first.v, second.v]) == [4.0, 3.0]


@pytest.mark.parametrize("name", models_of_tf2.NAMES)
def test_objects_of_tf2(tmp_path: Path, name: str) -> None:
    signatures = models_of_tf2.unpack(tmp_path)[name]
    with tf.Graph().as_default():
        loaded = tf.saved_model.load_v2(str(tmp_path / name))
        calls = {
            key: loaded.signatures[key](**{n: tf.constant(v) for n, v in given.items()})
            for key, (given, _) in signatures.items()
        }
        with tf.Session() as session:
            session.run([tf.global_variables_initializer(), tf.tables_initializer()])
            for key, (_, expected) in signatures.items():
                found = session.run(calls[key])
                for output, value in expected.items():
                    models_of_tf2.check(found[output], value, f"{key} {output}")


def test_models_of_graphs(tmp_path: Path) -> None:
    with tf.Session() as session:
        x = tf.placeholder(tf.float32, [None], name="x")
        resource = tf.get_variable("v", initializer=2.0, use_resource=True)
        reference = tf.get_variable("w", initializer=3.0)
        y = tf.add(x * resource, reference, name="y")
        session.run(tf.global_variables_initializer())
        tf.saved_model.simple_save(session, str(tmp_path / "m"), {"x": x}, {"y": y})
    with tf.Graph().as_default():
        loaded = tf.saved_model.load_v2(str(tmp_path / "m"), tags="serve")
        assert [v.name for v in loaded.variables] == ["v:0"]
        assert [v.name for v in tf.global_variables()] == ["v:0"]
        served = loaded.signatures["serving_default"](tf.constant([1.0, 2.0]))
        pruned = loaded.prune("x:0", "y:0")(tf.constant([3.0]))
        results = run([served, pruned])
    assert [list(results[0]["y"]), list(results[1])] == [[5.0, 7.0], [9.0]]


@pytest.mark.slow
def test_models_of_graphs_with_files_go_round(tmp_path: Path) -> None:
    words = tmp_path / "words.txt"
    words.write_text("a\nb\nc\n")
    with tf.Session() as session:
        x = tf.placeholder(tf.string, [None], name="x")
        places = tf.lookup.TextFileInitializer(str(words), tf.string, -2, tf.int64, -1)
        table = tf.lookup.StaticHashTable(places, -1)
        w = tf.get_variable("w", initializer=[1.0, 2.0, 3.0, 4.0], use_resource=True)
        local = tf.Variable(5.0, collections=["local_variables"], use_resource=True)
        y = tf.gather(w, table.lookup(x) + 1) + local
        initializers = [tf.tables_initializer(), tf.local_variables_initializer()]
        session.run([tf.global_variables_initializer(), *initializers])
        builder = tf.saved_model.Builder(str(tmp_path / "0"))
        builder.add_meta_graph_and_variables(
            session,
            ["serve"],
            {"key": tf.saved_model.predict_signature_def({"x": x}, {"y": y})},
            assets_collection=tf.get_collection(tf.GraphKeys.ASSET_FILEPATHS),
            main_op=tf.group(initializers),
        )
        builder.save()
    words.unlink()
    for cycle in range(2):
        with tf.Graph().as_default(), tf.Session() as session:
            loaded = tf.saved_model.load_v2(str(tmp_path / f"{cycle}"))
            found = loaded.signatures["key"](tf.constant(["b", "x"]))
            session.run([tf.global_variables_initializer(), tf.tables_initializer()])
            assert list(session.run(found)["y"]) == [8.0, 6.0]
            keys = dict(loaded.signatures)
            tf.saved_model.save(loaded, str(tmp_path / f"{cycle + 1}"), signatures=keys)
    assert list(serve(tmp_path / "2", "key", x=["c"])["y"]) == [9.0]


def _function(root: Any, body: Any, *specs: Any) -> Any:
    root.f = tf.function(body, input_signature=list(specs))
    return root


def _reads(root: Any, value: Any, kept: bool = False) -> Any:
    if kept:
        root.v = value
    return _function(root, lambda: value * 2.0)


def _unsaveable() -> int:
    @tf.function
    def inner() -> int:
        tf.get_default_graph().mark_as_unsaveable("no reason")
        return 1

    return inner()  # type: ignore[no-any-return]


_REFUSED = {
    "no object": (lambda root: 3, {}, ValueError, "Expected a Trackable object"),
    "a reference variable": (
        lambda root: _reads(root, tf.Variable(1.0), True),
        {},
        ValueError,
        "use_resource=True",
    ),
    "a symbolic tensor": (
        lambda root: _reads(root, tf.random.uniform([2])),
        {},
        ValueError,
        "not a simple constant",
    ),
    "an untracked variable in a signature": (
        lambda root: _reads(root, variable(1.0)),
        {},
        AssertionError,
        "untracked object",
    ),
    "an untracked variable": (
        lambda root: _reads(root, variable(1.0)),
        {"signatures": {}},
        KeyError,
        "not reachable from root",
    ),
    "a function that says so": (
        lambda root: _function(root, _unsaveable),
        {},
        ValueError,
        "for the following reason",
    ),
    "no signature": (
        lambda root: root,
        {"signatures": tf.function(lambda x: x)},
        ValueError,
        "Expected a TensorFlow function to generate a signature for",
    ),
    "a signature of structures": (
        lambda root: root,
        {"signatures": tf.function(lambda x: (x, (x, x)), [_VECTOR])},
        ValueError,
        "Got non-flat outputs",
    ),
    "an attribute of a reserved name": (
        lambda root: setattr(root, "signatures", tf.Module()) or root,
        {},
        ValueError,
        "reserved attribute",
    ),
}


@pytest.mark.parametrize("case", _REFUSED)
def test_what_cannot_be_saved(tmp_path: Path, case: str) -> None:
    make, arguments, kind, message = _REFUSED[case]
    with pytest.raises(kind, match=message):
        save(make(tf.Module()), tmp_path / "m", **arguments)
    assert not (tmp_path / "m" / "saved_model.pb").exists()


def test_arguments_that_no_trace_takes(tmp_path: Path) -> None:
    root = Net()
    root.g(tf.constant([1.0]))
    save(root, tmp_path, signatures={})
    with tf.Graph().as_default():
        loaded = tf.saved_model.load_v2(str(tmp_path))
        with pytest.raises(ValueError, match="one of the following 2 option"):
            loaded.g(tf.constant(["a"]))
        with pytest.raises(ValueError, match="incompatible argument tags=train"):
            tf.saved_model.load_v2(str(tmp_path), tags="train")


def test_saving_inside_a_function(tmp_path: Path) -> None:
    @tf.function
    def traced() -> Any:
        tf.saved_model.save(tf.Module(), str(tmp_path))

    with pytest.raises(AssertionError, match="inside a traced"):
        traced()
