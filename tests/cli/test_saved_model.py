"""`tensorloom saved-model`: the lines are those of TensorFlow's `saved_model_cli`."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from google.protobuf import text_format

import tensorloom as tf
from tensorloom.cli.main import main
from tensorloom.cli.saved_models.functions import function_lines
from tensorloom.protos import meta_graph_pb2


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Two MetaGraphs, the first with two signatures, one of which reads a file."""
    directory = str(tmp_path_factory.mktemp("saved") / "model")
    builder = tf.saved_model.builder.SavedModelBuilder(directory)
    predict = tf.saved_model.signature_def_utils.predict_signature_def
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.placeholder(tf.float32, [None, 3], name="x")
        name = tf.placeholder(tf.string, name="name")
        y = tf.identity(x * tf.get_variable("v", initializer=2.0), name="y")
        contents = tf.io.read_file(name)
        sess.run(tf.global_variables_initializer())
        signatures = {
            "serving_default": predict({"x": x}, {"y": y}),
            "read": predict({"name": name}, {"contents": contents}),
        }
        builder.add_meta_graph_and_variables(sess, ["serve"], signatures)
    with tf.Graph().as_default():
        tf.get_variable("v", initializer=2.0)
        builder.add_meta_graph(["train", "gpu"])
    builder.save()
    return directory


def output(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    status = main(["saved-model", *arguments])
    return status, capsys.readouterr().out


SIGNATURE = """\
The given SavedModel SignatureDef contains the following input(s):
  inputs['x'] tensor_info:
      dtype: DT_FLOAT
      shape: (-1, 3)
      name: x:0
The given SavedModel SignatureDef contains the following output(s):
  outputs['y'] tensor_info:
      dtype: DT_FLOAT
      shape: (-1, 3)
      name: y:0
Method name is: tensorflow/serving/predict
"""


def test_show_a_signature(model: str, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--tag_set", " serve ", "--signature_def", "serving_default"]
    assert output(capsys, "show", "--dir", model, *options) == (0, SIGNATURE)


def test_show_tag_sets(model: str, capsys: pytest.CaptureFixture[str]) -> None:
    says = "The given SavedModel contains the following tag-sets:\nserve\ngpu, train\n"
    assert output(capsys, "show", model) == (0, says)


def test_show_all(model: str, capsys: pytest.CaptureFixture[str]) -> None:
    _, text = output(capsys, "show", "--dir", model, "--all")
    indented = "".join(f"  {line}\n" for line in SIGNATURE.splitlines())
    assert f"\nsignature_def['serving_default']:\n{indented}" in text
    end = "\nMetaGraphDef with tag-set: 'train, gpu' contains the following "
    assert text.endswith(end + "SignatureDefs:\n")


def test_show_ops(model: str, capsys: pytest.CaptureFixture[str]) -> None:
    _, text = output(capsys, "show", model, "--tag_set", "serve", "--list_ops")
    first = text.partition("\n")[0]
    assert first.startswith("The MetaGraph with tag set ['serve'] contains the follow")
    assert "'ReadFile'" in first


@pytest.mark.parametrize(
    ("options", "status", "lines"),
    [
        (
            [],
            1,
            "MetaGraph with tag set ['serve'] contains the following denylisted ops: "
            "{'ReadFile'}\n"
            "MetaGraph with tag set ['train', 'gpu'] does not contain the default "
            "denylisted ops: {'PrintV2', 'ReadFile', 'WriteFile'}\n",
        ),
        (
            ["--tag_set", "gpu,train", "--op_denylist", "Mul, Abs"],
            0,
            "MetaGraph with tag set ['train', 'gpu'] does not contain the default "
            "denylisted ops: {'Abs', 'Mul'}\n",
        ),
    ],
)
def test_scan(
    model: str,
    capsys: pytest.CaptureFixture[str],
    options: list[str],
    status: int,
    lines: str,
) -> None:
    assert output(capsys, "scan", "--dir", model, *options) == (status, lines)


def test_scan_looks_into_functions_that_nobody_calls_by_name(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.placeholder(tf.bool, name="x")
        y = tf.cond(x, lambda: tf.io.read_file("a"), lambda: tf.constant("b"))
        tf.saved_model.simple_save(sess, str(tmp_path / "m"), {"x": x}, {"y": y})
    status, text = output(capsys, "scan", str(tmp_path / "m"), "--json")
    assert (status, json.loads(text)) == (1, {"serve": ["ReadFile"]})


@pytest.mark.parametrize(
    ("options", "part"),
    [
        (["--init_tpu"], "--init_tpu: "),
        (["--tag_set", " , "], "--tag_set must contain"),
    ],
)
def test_refused(
    model: str, capsys: pytest.CaptureFixture[str], options: list[str], part: str
) -> None:
    line = ["saved-model", "run", model, "--input_exprs", "x=[[1.,2.,3.]]", *options]
    assert main(line) == 1
    assert part in capsys.readouterr().err


@pytest.mark.parametrize(
    ("commands", "parts"),
    [
        ("run\npt y\nrun\n", ["run-end: run #1", 'Tensor "y:0:', "output key y:"]),
        ("run -n\n", ["run-start: run #1: 1 fetch (y:0)", "output key y:"]),
    ],
    ids=["watched", "not watched"],
)
def test_run_in_the_debugger(
    model: str,
    commands: str,
    parts: list[str],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(commands))
    line = ["saved-model", "run", model, "--input_exprs", "x=[[1.,2.,3.]]"]
    assert main([*line, "--tf_debug"]) == 0
    out = capsys.readouterr().out
    for part in parts:
        assert part in out


OBJECTS = """
object_graph_def {
  nodes {
    children { node_id: 1 local_name: "v" }
    children { node_id: 3 local_name: "g" }
    children { node_id: 2 local_name: "f" }
    user_object { identifier: "_generic_user_object" }
  }
  nodes { variable { dtype: DT_FLOAT } }
  nodes { function { concrete_functions: "f_2" concrete_functions: "f_1" } }
  nodes { function { } }
  concrete_functions {
    key: "f_1"
    value { canonicalized_input_signature { tuple_value {
      values { tuple_value {
        values { tensor_spec_value {
          name: "x" dtype: DT_FLOAT
          shape { dim { size: -1 } dim { size: 2 } }
        } }
        values { bool_value: true }
        values { none_value { } }
        values { list_value { values { int64_value: 1 }
                              values { string_value: "q" } } }
      } }
      values { dict_value { fields { key: "kw" value { float64_value: 0.5 } } } }
    } } }
  }
  concrete_functions {
    key: "f_2"
    value { canonicalized_input_signature { tuple_value {
      values { tuple_value {
        values { dict_value { fields { key: "a" value { tensor_spec_value {
          name: "d/a" dtype: DT_INT4 shape { unknown_rank: true } } } } } }
      } }
      values { dict_value { } }
    } } }
  }
}
"""
FUNCTIONS = """
Defined Functions:
  Function Name: 'f'
    Option #1
      Callable with:
        Argument #1
          x: TensorSpec(shape=(?, 2), dtype=tf.float32, name='x')
        Argument #2
          DType: bool
          Value: True
        Argument #3
          DType: NoneType
          Value: None
        Argument #4
          DType: list
          Value: [1, 'q']
        Named Argument #1
          kw
          DType: float
          Value: 0.5
    Option #2
      Callable with:
        Argument #1
          DType: dict
          Value: {'a': TensorSpec(shape=<unknown>, dtype=DT_INT4, name='d/a')}

  Function Name: 'g'"""


def test_functions_of_objects() -> None:
    meta: Any = text_format.Parse(OBJECTS, meta_graph_pb2.MetaGraphDef())
    assert "\n".join(function_lines([meta])) == FUNCTIONS


def test_no_objects_no_functions() -> None:
    assert not list(function_lines([meta_graph_pb2.MetaGraphDef()]))
