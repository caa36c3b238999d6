"""What an audit finds in graphs, checkpoints and programs."""

from __future__ import annotations

import contextlib
from pathlib import Path
from textwrap import dedent

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tensorloom as tf
from tensorloom.framework import errors
from tensorloom.inspect.audit import audit
from tensorloom.inspect.audit_program import _REPLACEMENTS, audit_program
from tensorloom.inspect.program_names import MISSING, find

PROGRAMS = [
    # source, subjects of what is found
    ("import tensorflow as tf\ntf.nn.relu(tf.zeros([2]))", []),
    ("import tensorflow.compat.v1 as tf\ntf.disable_eager", ["tf.disable_eager"]),
    ("import tensorflow\ntensorflow.reduce_summ(1)", ["tf.reduce_summ"]),
    ("from tensorflow.compat import v1 as q\nq.no_such(q.add)", ["tf.no_such"]),
    ("from tensorflow.python.ops import math_ops", []),
    ("from tensorflow.contrib.no_such import rnn", ["tf.contrib.no_such"]),
    ("import tensorflow as tf\nn = tf.nn\nn.reluu(1)", ["tf.nn.reluu"]),
    ("import tensorflow as tf\ntf.train.Saver.savee", ["tf.train.Saver.savee"]),
    ("import tensorflow as tf\ntf.train.Saver(keep=3)", ["tf.train.Saver"]),
    ("import tensorflow as tf\ntf.zeros([1], tf.int32, 'n', 4)", ["tf.zeros"]),
    ("import tensorflow as tf\ntf.matmul(1)", ["tf.matmul"]),
    ("import tensorflow as tf\ntf.matmul(1, a=2)", ["tf.matmul"]),
    ("import tensorflow as tf\ntf.matmul(*x); tf.matmul(1, **y)", []),
    ("import tensorflow as tf\ntf.add(1, 2, name='a').anything.at_all", []),
    ("import tensorflow as tf\ntf.ConfigProto(allow_soft_placement=True)", []),
    ("import tensorflow as tf\nf(x=tf.errors.OutOfRangeError)", []),
    ("import tensorflow as tf\ntf.framework.ops", ["tf.framework"]),
    ("import keras", ["keras"]),
    ("import numpy as tf\ntf.no_such", []),
    ("def f(:", ["syntax"]),
    ("print 'python 2'", ["syntax"]),
    ("import tensorflow as tf\ntf.app.run; tf.flags.FLAGS; tf.gfile.GFile", []),
    ("import tensorflow as tf\ngetattr(tf.math, 'addd')", ["tf.math.addd"]),
    ("import tensorflow as tf\ngetattr(tf.math, 'addd', None)", []),
    ("import tensorflow as tf\ndef f(tf):\n  return tf.no_such", []),
    ("import tensorflow as tf\ndef f(x=tf.no_such):\n  pass", ["tf.no_such"]),
    ("import tensorflow as tf\nlambda tf: tf.no_such", []),
    ("import tensorflow as tf\nlambda x=tf.no_such: x", ["tf.no_such"]),
    ("import tensorflow as tf\n[tf.no_such for tf in x if tf.none]", []),
    ("import tensorflow as tf\n{tf.a: b for b in tf.c for (tf, b) in b}", ["tf.c"]),
    ("import tensorflow as tf\n{tf.no_such(x) for x in tf.a}", ["tf.a", "tf.no_such"]),
    (
        "import importlib\ntf = importlib.import_module('tensorflow')\ntf.no_such",
        ["tf.no_such"],
    ),
]


@pytest.mark.parametrize(("source", "subjects"), PROGRAMS)
def test_programs(source: str, subjects: list[str]) -> None:
    found = audit_program(source.encode(), "p.py")
    assert [finding.subject for finding in found] == subjects


@pytest.mark.parametrize(
    "source",
    [
        "try:\n  import tensorflow.compat.v3 as t\nexcept ImportError:\n  t = None",
        "try:\n  tf.no_such\nexcept (KeyError, AttributeError):\n  pass",
        "try:\n  tf.no_such\nexcept:\n  pass",
        "if hasattr(tf, 'no_such'):\n  tf.no_such()",
        "if tf.__version__.startswith('2'):\n  tf.no_such()",
        "x = tf.no_such if hasattr(tf, 'no_such') else 3",
        "if not hasattr(tf, 'no_such'):\n  pass\nelse:\n  tf.no_such()",
        "if hasattr(tf, 'nn'):\n  pass\nelse:\n  tf.no_such()",
        "if hasattr(tf, 'no_such') and x:\n  tf.no_such()",
        "y = hasattr(tf, 'no_such') and x and tf.no_such",
        "y = not hasattr(tf, 'no_such') or x or tf.no_such",
        "y = hasattr(tf, 'nn') or tf.no_such",
    ],
)
def test_what_a_program_provides_for_is_a_warning(source: str) -> None:
    text = "import tensorflow as tf\n" + source
    (found,) = audit_program(text.encode(), "p.py")
    assert found.severity == "warning"


@pytest.mark.parametrize(
    "source",
    [
        "try:\n  tf.no_such\nexcept KeyError:\n  pass",
        "try:\n  pass\nexcept ImportError:\n  tf.no_such",
        "if x > 3:\n  tf.no_such",
        "if hasattr(tf, 'nn'):\n  tf.nn.no_such",
        "if hasattr(tf, 'no_such'):\n  pass\nelse:\n  tf.nn.no_such",
        "x = tf.no_such if not hasattr(tf, 'no_such') else 3",
        "y = hasattr(tf, 'nn') and tf.no_such",
        "y = hasattr(tf, 'no_such') or tf.no_such",
        "y = x and tf.no_such",
    ],
)
def test_other_branches_are_errors(source: str) -> None:
    text = "import tensorflow as tf\n" + source
    (found,) = audit_program(text.encode(), "p.py")
    assert found.severity == "error"


def test_a_finding_says_where_and_what_instead() -> None:
    source = """
        import tensorflow as tf
        x = tf.reduce_summ([1])
        y = tf.reduce_summ([1])
        tf.keras.optimizers.Adam()
        tf.enable_eager_execution()
    """
    first, second, third = audit_program(dedent(source).encode(), "p.py")
    assert first.where == "p.py:3"
    assert first.count == 2
    assert first.remedy == "nearest: tf.reduce_sum"
    assert "tf.train.AdamOptimizer" in second.remedy
    assert second.message == "there is no tf.keras.optimizers.Adam"
    assert third.message.startswith("tf.enable_eager_execution is refused")


def test_what_is_no_problem_is_not_told() -> None:
    source = """
        import tensorflow as tf
        from tensorflow.compat.v2 import test
        slim = tf.contrib.slim
        with slim.arg_scope([slim.conv2d], kernel_size=3):
            slim.conv2d(tf.test.mock.Mock(), 3)
        tf.compat.v2.reduce_sum([1])
    """
    assert not audit_program(dedent(source).encode(), "p.py")
    text = "import tensorflow as tf\ntf.contrib.slim.conv2d(1, 2, sizze=3)"
    (found,) = audit_program(text.encode(), "p.py")
    assert found.message == "tf.contrib.slim.conv2d has no argument 'sizze'"


def test_replacements_are_there() -> None:
    names = [text.split("(")[0].split()[0] for text in _REPLACEMENTS.values()]
    names = [name.removeprefix("tf.") for name in names if name.startswith("tf.")]
    assert len(names) > 10
    assert [name for name in names if find(name)[0] is MISSING] == []


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=60))
def test_any_text_is_a_program_or_not(text: str) -> None:
    audit_program(text.encode("utf-8", "surrogatepass"), "p.py")


def write_graph(path: Path) -> tf.GraphDef:
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [None], name="x")
        tf.nn.relu(x, name="y")
        proto = graph.as_graph_def()
    path.write_bytes(proto.SerializeToString())
    return proto


def test_graphs(tmp_path: Path) -> None:
    path = tmp_path / "g.pb"
    proto = write_graph(path)
    assert audit(path).as_dict()["will_run"]
    proto.node.add(name="a", op="ReluV2").input.append("x")
    proto.node.add(name="f", op="PyFunc").attr["token"].s = b"t"
    proto.node[-1].attr["Tin"].list.SetInParent()
    proto.node[-1].attr["Tout"].list.SetInParent()
    proto.node.add(name="d", op="NoOp", device="/device:TPU:0")
    proto.node[0].attr["later"].i = 7
    path.write_bytes(proto.SerializeToString())
    found = {finding.subject: finding for finding in audit(path).findings}
    assert found.keys() == {"ReluV2", "PyFunc", "TPU", "Placeholder.later"}
    assert found["ReluV2"].remedy.startswith("nearest: Relu")
    assert "producer has version" in found["Placeholder.later"].message
    assert found["PyFunc"].severity == found["TPU"].severity == "warning"
    assert not audit(path).will_run


def test_classic_control_flow_runs(tmp_path: Path) -> None:
    """What TensorFlow's v1 client makes of `cond` and `while_loop` has no kernels."""
    graph = tf.GraphDef()
    for name, op, inputs in (
        ("x", "Placeholder", []),
        ("enter", "Enter", ["x"]),
        ("merge", "Merge", ["enter", "next"]),
        ("test", "LoopCond", ["merge"]),
        ("switch", "Switch", ["merge", "test"]),
        ("next", "NextIteration", ["switch:1"]),
        ("exit", "Exit", ["switch"]),
    ):
        node = graph.node.add(name=name, op=op, input=inputs)
        if op != "LoopCond":
            attr = "dtype" if op == "Placeholder" else "T"
            node.attr[attr].type = tf.bool.as_datatype_enum
        if op == "Enter":
            node.attr["frame_name"].s = b"loop"
        if op == "Merge":
            node.attr["N"].i = 2
    path = tmp_path / "loop.pb"
    path.write_bytes(graph.SerializeToString())
    assert audit(str(path)).findings == []


def test_edges_are_tried(tmp_path: Path) -> None:
    proto = write_graph(tmp_path / "g.pb")
    proto.node[1].input[0] = "nowhere"
    (tmp_path / "g.pbtxt").write_text(str(proto))
    (finding,) = audit(tmp_path / "g.pbtxt").findings
    assert "nowhere" in finding.message


def test_constants_that_cannot_be_read(tmp_path: Path) -> None:
    with tf.Graph().as_default() as graph:
        tf.identity(tf.constant([1.0, 2.0], name="c"))
    graph_def = graph.as_graph_def()
    graph_def.node[0].attr["value"].tensor.tensor_content = b"abc"
    path = tmp_path / "graph.pb"
    path.write_bytes(graph_def.SerializeToString())
    (finding,) = audit(path).findings
    assert (finding.severity, finding.subject, finding.where) == ("error", "Const", "c")
    assert "3 bytes" in finding.message


@pytest.mark.parametrize("calls", [False, True])
def test_functions_that_cannot_be_called(tmp_path: Path, calls: bool) -> None:
    path = tmp_path / "g.pb"
    proto = write_graph(path)
    for name in ("f", "g", "h"):
        function = proto.library.function.add()
        function.signature.name = name
        function.node_def.add(name="n", op="NoOp", input=["^gone"])
    proto.library.function[1].node_def[0].op = "Unheard"
    if calls:
        for name in ("f", "g"):
            case = proto.node.add(name=name, op="Case", input=["x"])
            case.attr["branches"].list.func.add(name=name)
            for types in ("Tin", "Tout"):
                case.attr[types].list.SetInParent()
        proto.node[0].attr["dtype"].type = tf.int32.as_datatype_enum
        proto.node[1].attr["T"].type = tf.int32.as_datatype_enum
    path.write_bytes(proto.SerializeToString())
    found = audit(path)
    assert found.will_run == (not calls)
    by_severity = {f.subject: (f.severity, f.count) for f in found.findings}
    if calls:
        assert by_severity == {
            "Unheard": ("error", 1),
            "f": ("error", 1),
            "functions": ("note", 1),
        }
        (of_f,) = [f for f in found.findings if f.subject == "f"]
        assert "node 'n' (op NoOp)" in of_f.message
    else:
        assert by_severity == {"functions": ("note", 3)}
        assert "does no harm" in found.findings[0].message


def test_checkpoints(tmp_path: Path) -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        tf.get_variable("w", initializer=[1.0, 2.0])
        sess.run(tf.global_variables_initializer())
        prefix = tf.train.Saver().save(sess, str(tmp_path / "m"), 3)
    for path in (prefix, tmp_path, f"{prefix}.index"):
        found = audit(path)
        assert (found.kind, found.will_run) == ("checkpoint", True)
    assert audit(f"{prefix}.meta").kind == "MetaGraphDef"
    data = Path(f"{prefix}.data-00000-of-00001")
    data.write_bytes(b"\1" + data.read_bytes()[1:])
    assert [finding.subject for finding in audit(prefix).findings] == ["w"]


def test_variables_of_a_model(tmp_path: Path) -> None:
    model = tmp_path / "model"
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.placeholder(tf.float32, [None], name="x")
        w = tf.get_variable("w", initializer=[1.0, 2.0], use_resource=True)
        sess.run(tf.global_variables_initializer())
        tf.saved_model.simple_save(sess, str(model), {"x": x}, {"y": x * w})
    assert audit(model).will_run
    data = model / "variables" / "variables.data-00000-of-00001"
    data.write_bytes(b"\1" + data.read_bytes()[1:])
    (found,) = audit(model).findings
    assert (found.severity, found.subject) == ("error", "w")
    assert f"{data}, offset 0" in found.message
    data.unlink()
    assert not audit(model).will_run


def test_nothing_there(tmp_path: Path) -> None:
    with pytest.raises(errors.NotFoundError, match="no such file"):
        audit(tmp_path / "none")
    with pytest.raises(errors.InvalidArgumentError, match="not a SavedModel"):
        audit(tmp_path)
    (tmp_path / "x").write_bytes(b"\x00\x01 nothing")
    with pytest.raises(errors.InvalidArgumentError, match="damaged"):
        audit(tmp_path / "x")


def test_directories_of_programs(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("import tensorflow as tf\ntf.no_such")
    (tmp_path / "b.py").write_text("import tensorflow as tf\ntf.add")
    found = audit(tmp_path)
    assert (found.kind, found.facts) == ("programs", {"files": 2})
    assert [finding.subject for finding in found.findings] == ["tf.no_such"]


@settings(max_examples=150)
@given(st.data())
def test_any_file_is_a_graph_or_not(tmp_path: Path, data: st.DataObject) -> None:
    path = tmp_path / "g.pb"
    write_graph(path)
    contents = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(0, 5))):
        at = data.draw(st.integers(0, len(contents) - 1))
        contents[at] = data.draw(st.integers(0, 255))
    end = data.draw(st.integers(0, len(contents)))
    path.write_bytes(contents[:end] if data.draw(st.booleans()) else contents)
    with contextlib.suppress(errors.InvalidArgumentError):
        audit(path)


PATHS = """
from tensorflow.python.framework import ops
from tensorflow.python.ops import array_ops, absent_ops
from tensorflow.core.framework import graph_pb2
from tensorflow.examples.tutorials.mnist import input_data
import tensorflow_core.python.framework.dtypes as dtypes
import tensorflow as tf

array_ops.concat([1], 0)
array_ops.concatt
ops.Tensor
graph_pb2.GraphDef()
dtypes.float32
tf.python.framework.ops.Graph
input_data.read_data_sets("x", one_hott=True)
"""


def test_module_paths_are_known() -> None:
    found = audit_program(PATHS.encode(), "p.py")
    assert [(f.subject, f.where) for f in found] == [
        ("tf.python.ops.absent_ops", "p.py:3"),
        ("tf.python.ops.array_ops.concatt", "p.py:10"),
        ("tf.examples.tutorials.mnist.input_data.read_data_sets", "p.py:15"),
    ]
    assert found[1].remedy == "nearest: concat, Concat, concat_v2"


def test_a_tree_is_counted(tmp_path: Path) -> None:
    for name in ("a.py", "b.py"):
        text = "import tensorflow as tf\ntf.absent\ntf.absent\n"
        (tmp_path / name).write_text(text, encoding="utf-8")
    (tmp_path / "c.py").write_text(
        "import tensorflow as tf\ntf.other_absent\n", encoding="utf-8"
    )
    audited = audit(str(tmp_path))
    files = [str(tmp_path / name) for name in ("a.py", "b.py")]
    assert audited.absent_names()[0] == ("tf.absent", 4, files)
    assert [name for name, _, _ in audited.absent_names()] == [
        "tf.absent",
        "tf.other_absent",
    ]
    first = audited.findings[0]
    assert first.places == (f"{files[0]}:2", f"{files[0]}:3")
