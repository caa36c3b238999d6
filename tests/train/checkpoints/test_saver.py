"""`tf.train.Saver` and what reads its checkpoints; see also tests/peer."""

from __future__ import annotations

import os
import shutil
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tensorloom as tf
from tensorloom.storage.checkpoints.bundle_writer import BundleWriter
from tensorloom.storage.checkpoints.later_dtypes import LaterDType
from tensorloom.train.checkpoints.saver_builder import BulkSaverBuilder

DATA = Path(__file__).resolve().parents[2] / "storage" / "data"


@pytest.fixture(params=[False, True], ids=["reference", "resource"])
def use_resource(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


def variables(use_resource: bool) -> list[Any]:
    """Plain, of several dtypes, and partitioned."""
    v = tf.get_variable("v", initializer=[1.0, 2.0], use_resource=use_resource)
    n = tf.get_variable("n", initializer=np.int64(7), use_resource=use_resource)
    s = tf.get_variable("s", initializer=tf.constant(["a", "bc"]))
    with tf.variable_scope("", partitioner=tf.fixed_size_partitioner(3)):
        p = tf.get_variable(
            "p",
            shape=[7, 2],
            initializer=tf.ones_initializer(),
            use_resource=use_resource,
        )
    return [v, n, s, *p]


def nodes(prefix: str) -> list[str]:
    """`name = op(inputs)` of the operations under a name."""
    return [
        f"{op.name} = {op.type}({', '.join(t.name for t in op.inputs)})"
        for op in tf.get_default_graph().get_operations()
        if op.name.startswith(prefix)
    ]


def test_graph() -> None:
    """The names that TensorFlow gives; other systems feed and run them."""
    tf.get_variable("a", initializer=1.0)
    tf.get_variable("b", initializer=1.0, use_resource=True)
    saver = tf.train.Saver()
    assert nodes("save/") == [
        "save/filename/input = Const()",
        "save/filename = PlaceholderWithDefault(save/filename/input:0)",
        "save/Const = PlaceholderWithDefault(save/filename:0)",
        "save/SaveV2/tensor_names = Const()",
        "save/SaveV2/shape_and_slices = Const()",
        "save/SaveV2 = SaveV2(save/Const:0, save/SaveV2/tensor_names:0, "
        "save/SaveV2/shape_and_slices:0, a:0, b/Read/ReadVariableOp:0)",
        "save/control_dependency = Identity(save/Const:0)",
        "save/RestoreV2/tensor_names = Const()",
        "save/RestoreV2/shape_and_slices = Const()",
        "save/RestoreV2 = RestoreV2(save/Const:0, save/RestoreV2/tensor_names:0, "
        "save/RestoreV2/shape_and_slices:0)",
        "save/Assign = Assign(a:0, save/RestoreV2:0)",
        "save/Identity = Identity(save/RestoreV2:1)",
        "save/AssignVariableOp = AssignVariableOp(b:0, save/Identity:0)",
        "save/restore_all = NoOp()",
    ]
    assert saver.as_saver_def().save_tensor_name == "save/control_dependency:0"


@pytest.mark.parametrize("options", [{}, {"sharded": True}, {"write_version": 1}])
def test_round_trip(
    tmp_path: Path, use_resource: bool, options: dict[str, Any]
) -> None:
    path = str(tmp_path / "m")
    with tf.Session() as sess:
        found = variables(use_resource)
        sess.run(tf.global_variables_initializer())
        before = sess.run([tf.identity(v) for v in found])
        saver = tf.train.Saver(**options)
        saved = saver.save(sess, path, global_step=3)
    with tf.Session() as sess:
        saver.restore(sess, saved)
        after = sess.run([tf.identity(v) for v in found])
    for one, other in zip(before, after, strict=True):
        np.testing.assert_array_equal(one, other)
    assert dict(tf.train.list_variables(str(tmp_path)))["p"] == [7, 2]


def test_saved_graph_goes_on(tmp_path: Path, use_resource: bool) -> None:
    path = str(tmp_path / "m")
    with tf.Graph().as_default(), tf.Session() as sess:
        variables(use_resource)
        sess.run(tf.global_variables_initializer())
        tf.train.Saver().save(sess, path)
    with tf.Graph().as_default(), tf.Session() as sess:
        saver = tf.train.import_meta_graph(path + ".meta", import_scope="again")
        saver.restore(sess, path)
        names = [v.op.name for v in tf.global_variables()]
        assert names == [
            f"again/{n}" for n in ("v", "n", "s", "p/part_0", "p/part_1", "p/part_2")
        ]
        assert sess.run(tf.identity(tf.global_variables()[1])) == 7
        saver.save(sess, path + "2")


@pytest.mark.parametrize("version", [tf.train.SaverDef.V1, tf.train.SaverDef.V2])
@pytest.mark.parametrize(
    ("dtype", "base"), [(tf.qint32, tf.int32), (tf.quint8, tf.uint8)]
)
def test_quantized_variables(
    tmp_path: Path, version: int, dtype: tf.DType, base: tf.DType
) -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        value = tf.bitcast(tf.constant([1, 2], base), dtype)
        variable = tf.Variable(value, name="v")
        saver = tf.train.Saver(write_version=version)
        sess.run(variable.initializer)
        path = saver.save(sess, str(tmp_path / "m"))
        sess.run(tf.assign(variable, tf.bitcast(tf.constant([0, 0], base), dtype)))
        saver.restore(sess, path)
        assert sess.run(variable).tolist() == [1, 2]
        assert tf.train.load_variable(path, "v").dtype == base.as_numpy_dtype


def test_another_partition(tmp_path: Path) -> None:
    """Slices are put together and cut anew."""
    path = str(tmp_path / "m")
    whole = np.arange(14, dtype=np.float32).reshape(7, 2)
    for parts in (3, 1, 2, 7):
        with tf.Graph().as_default(), tf.Session() as sess:
            with tf.variable_scope("", partitioner=tf.fixed_size_partitioner(parts)):
                p = tf.get_variable("p", [7, 2], initializer=tf.zeros_initializer())
            saver = tf.train.Saver()
            if parts == 3:
                value = tf.placeholder(tf.float32, [7, 2])
                assign = p.assign(value)
                sess.run(assign, {value: whole})
            else:
                saver.restore(sess, path)
                np.testing.assert_array_equal(sess.run(p.as_tensor()), whole)
            saver.save(sess, path)


def test_max_to_keep(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [1000.0]
    monkeypatch.setattr("tensorloom.train.checkpoints.saver.time.time", lambda: now[0])
    v = tf.get_variable("v", initializer=1.0)
    with tf.Session() as sess:
        sess.run(v.initializer)
        saver = tf.train.Saver(max_to_keep=2, keep_checkpoint_every_n_hours=1.0)
        for step in range(6):
            saver.save(sess, str(tmp_path / "m"), step, write_meta_graph=step == 0)
            now[0] += 2000.0
        for most in (None, 0, -1):
            everything = tf.train.Saver(max_to_keep=most)
            for step in range(2):
                everything.save(sess, str(tmp_path / f"all{most}"), step)
            assert everything.last_checkpoints == []
            assert len(list(tmp_path.glob(f"all{most}*.index"))) == 2
    kept = sorted(p.stem for p in tmp_path.glob("m*.index"))
    assert kept == ["m-2", "m-4", "m-5"]
    assert not list(tmp_path.glob("*.meta.tmp*"))


def test_background(tmp_path: Path, use_resource: bool) -> None:
    """What is saved is what the variables were, whatever is trained meanwhile."""
    path = str(tmp_path / "m")
    config = tf.ConfigProto(device_count={"CPU": 2})
    with tf.Session(config=config) as sess:
        values = []
        for index in range(2):
            with tf.device(f"/device:CPU:{index}"):
                values.append(
                    tf.get_variable(
                        f"v{index}", initializer=[1.0], use_resource=use_resource
                    )
                )
        text = tf.get_variable("text", initializer=tf.constant("word"))
        add = tf.group(*[v.assign_add([1.0]) for v in values])
        sess.run(tf.global_variables_initializer())
        for sharded in (False, True):
            saver = tf.train.Saver(sharded=sharded, max_to_keep=2)
            futures = []
            for step in range(3):
                futures.append(saver.save_in_background(sess, path, step))
                sess.run(add)
            assert [f.result(60) for f in futures] == [f"{path}-{i}" for i in range(3)]
            latest = tf.train.latest_checkpoint(str(tmp_path))
            assert latest == path + "-2"
            before = sess.run(values)
            saver.restore(sess, latest)
            np.testing.assert_array_equal(sess.run(values[0]), before[0] - 1)
            np.testing.assert_array_equal(sess.run(values[1]), before[0] - 1)
            assert sess.run(text) == b"word"
        names = {p.name for p in tmp_path.iterdir()}
        assert not [n for n in names if "temp" in n or n.startswith("m-0")]
        assert "m-2.meta" in names


def test_background_does_not_hold_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    go = threading.Event()
    finish = BundleWriter.finish

    def wait(self: BundleWriter) -> None:
        go.wait(60)
        finish(self)

    monkeypatch.setattr(BundleWriter, "finish", wait)
    v = tf.get_variable("v", initializer=1.0)
    with tf.Session() as sess:
        sess.run(v.initializer)
        saver = tf.train.Saver()
        future = saver.save_in_background(sess, str(tmp_path / "m"))
        assert not future.done()
        assert tf.train.latest_checkpoint(str(tmp_path)) is None
        go.set()
        assert future.result(60) == str(tmp_path / "m")


def test_background_errors(tmp_path: Path) -> None:
    v = tf.get_variable("v", initializer=1.0)
    with tf.Session() as sess:
        sess.run(v.initializer)
        future = tf.train.Saver().save_in_background(sess, str(tmp_path / "a/b/m"))
        with pytest.raises(tf.errors.NotFoundError, match="No such file"):
            future.result(60)
        old = tf.train.Saver(write_version=tf.train.SaverDef.V1)
        with pytest.raises(tf.errors.UnimplementedError, match="SaveV2"):
            old.save_in_background(sess, str(tmp_path / "m"))


def test_object_based_checkpoint(tmp_path: Path) -> None:
    """`tf.train.Checkpoint` of TensorFlow 2.21, by the names of its variables."""
    for file in DATA.glob("objects_2_21*"):
        shutil.copy(file, tmp_path)
    path = str(tmp_path / "objects_2_21")
    weights = tf.get_variable("weights", [1, 2])
    bias = tf.get_variable("bias", [], tf.int32, use_resource=True)
    saver = tf.train.Saver()
    with tf.Session() as sess:
        for _ in range(2):
            saver.restore(sess, path)
            assert sess.run(weights).tolist() == [[1.0, 2.0]]
            assert sess.run(bias) == 3
        tf.get_variable("new", [])
        with pytest.raises(tf.errors.NotFoundError, match=r"in the checkpoint: new\n"):
            tf.train.Saver().restore(sess, path)
    names = [name for name, _ in tf.train.list_variables(path)]
    assert "step/.ATTRIBUTES/VARIABLE_VALUE" in names


def test_debug_string_names_dtypes_as_protos_do(tmp_path: Path) -> None:
    values = {"DT_FLOAT32": tf.float32, "h": tf.float16}
    saved = {name: tf.Variable(1, dtype=kind) for name, kind in values.items()}
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        path = tf.train.Saver(saved).save(sess, str(tmp_path / "m"))
    text = tf.train.NewCheckpointReader(path).debug_string()
    assert text == b"DT_FLOAT32 (DT_FLOAT) []\nh (DT_HALF) []\n"


def test_reader_of_dtypes_of_tensorflow_2(tmp_path: Path) -> None:
    """As TensorFlow 2.21 tells them; only their values cannot be had."""
    numbers = {b"a": 24, b"b": 25, b"c": 29, b"d": 50}
    with BundleWriter(str(tmp_path / "m")) as writer:
        for name, number in numbers.items():
            writer.add_stored(name, LaterDType(number), (1, 3), b"abc")
        writer.add(b"w", tf.float32, np.ones(2, np.float32))
        writer.finish()
    reader = tf.train.NewCheckpointReader(str(tmp_path / "m"))
    names = {
        name: kind.name for name, kind in reader.get_variable_to_dtype_map().items()
    }
    assert names == {
        "a": "float8_e5m2",
        "b": "float8_e4m3fn",
        "c": "int4",
        "d": "dtype50",
        "w": "float32",
    }
    assert repr(reader.get_variable_to_dtype_map()["a"]) == "tf.float8_e5m2"
    assert reader.debug_string().decode() == (
        "a (DT_FLOAT8_E5M2) [1,3]\nb (DT_FLOAT8_E4M3FN) [1,3]\nc (DT_INT4) [1,3]\n"
        "d (DT_DTYPE50) [1,3]\nw (DT_FLOAT) [2]\n"
    )
    with pytest.raises(tf.errors.UnimplementedError, match="float8_e5m2"):
        reader.get_tensor("a")


@pytest.mark.parametrize("op", ["Save", "SaveV2"])
def test_dtypes_of_names_in_any_order(tmp_path: Path, op: str) -> None:
    path, data = str(tmp_path / "m"), [tf.constant([1.5]), tf.constant(True)]
    if op == "Save":
        save = tf.raw_ops.Save(filename=path, tensor_names=["f", "b"], data=data)
    else:
        save = tf.raw_ops.SaveV2(
            prefix=path,
            tensor_names=["f", "b"],
            shape_and_slices=["", ""],
            tensors=data,
        )
    with tf.Session() as sess:
        sess.run(save)
    reader = tf.train.NewCheckpointReader(path)
    assert reader.get_variable_to_dtype_map() == {"f": tf.float32, "b": tf.bool}
    assert reader.get_variable_to_shape_map() == {"f": [1], "b": []}


def test_reader() -> None:
    reader = tf.train.NewCheckpointReader(str(DATA / "v2_1_15"))
    assert reader.has_tensor("f")
    assert not reader.has_tensor("nothing")
    assert reader.get_variable_to_shape_map()["p"] == [4, 2]
    assert reader.get_variable_to_dtype_map()["bf"] == tf.bfloat16
    assert reader.get_tensor("d") == 3.5
    assert isinstance(reader.get_tensor("d"), np.float64)
    lines = reader.debug_string().decode("latin-1").split("\n")
    assert "d (DT_DOUBLE) []" in lines
    assert "bf (DT_BFLOAT16) [2]" in lines
    assert not [line for line in lines if line.startswith("p ")]
    with pytest.raises(tf.errors.NotFoundError, match="Key nothing not found"):
        reader.get_tensor("nothing")
    old = tf.train.NewCheckpointReader(str(DATA / "v1_1_15"))
    assert old.get_tensor("s").tolist() == [b"a", b"bcd" * 50]
    assert b"i16 (DT_INT16) [2]" in old.debug_string()


@pytest.mark.parametrize("as_text", [False, True])
def test_write_graph(tmp_path: Path, as_text: bool) -> None:
    tf.constant(1.5, name="c")
    path = tf.train.write_graph(
        tf.get_default_graph(), str(tmp_path / "new/dir"), "g", as_text
    )
    data = Path(path).read_bytes()
    assert (b'name: "c"' in data) == as_text
    if not as_text:
        assert tf.GraphDef.FromString(data).node[0].name == "c"


def test_checkpoints_iterator(tmp_path: Path) -> None:
    v = tf.get_variable("v", initializer=1.0)
    path = str(tmp_path / "m")
    with tf.Session() as sess:
        sess.run(v.initializer)
        saver = tf.train.Saver()
        saver.save(sess, path, global_step=0)
        timeouts = iter([False, True])

        def on_timeout() -> bool:
            saver.save(sess, path, global_step=1)
            return next(timeouts)

        found = tf.train.checkpoints_iterator(
            str(tmp_path), timeout=0, timeout_fn=on_timeout
        )
        assert [os.path.basename(p) for p in found] == ["m-0", "m-1"]


def test_on_another_file_system() -> None:
    v = tf.get_variable("v", initializer=[1.0, 2.0])
    with tf.Session() as sess:
        sess.run(v.initializer)
        saver = tf.train.Saver(sharded=True, max_to_keep=1)
        for step in range(3):
            saver.save(sess, "memory://saver/run/m", global_step=step)
        sess.run(v.assign([0.0, 0.0]))
        latest = tf.train.latest_checkpoint("memory://saver/run")
        assert latest == "memory://saver/run/m-2"
        saver.restore(sess, latest)
        assert sess.run(v).tolist() == [1.0, 2.0]
        assert sorted(tf.gfile.ListDirectory("memory://saver/run")) == [
            "checkpoint",
            "m-2.data-00000-of-00001",
            "m-2.index",
            "m-2.meta",
        ]
        tf.gfile.DeleteRecursively("memory://saver")


def test_saveable_object(tmp_path: Path) -> None:
    class Doubled(BulkSaverBuilder.SaveableObject):
        """Is saved twice as large."""

        def __init__(self, variable: Any) -> None:
            spec = BulkSaverBuilder.SaveSpec(variable * 2.0, "", "twice")
            super().__init__(variable, [spec], "doubled")

        def restore(self, restored_tensors: Any, restored_shapes: Any) -> Any:
            return self.op.assign(restored_tensors[0] / 2.0)

    v = tf.get_variable("v", initializer=1.5)
    saver = tf.train.Saver([Doubled(v)])
    with tf.Session() as sess:
        sess.run(v.initializer)
        path = saver.save(sess, str(tmp_path / "m"))
        assert tf.train.load_variable(str(tmp_path), "twice") == 3.0
        sess.run(v.assign(0.0))
        saver.restore(sess, path)
        assert sess.run(v) == 1.5
