"""What programs call of TensorFlow's `saved_model_cli`."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import tensorloom as tf
from tensorloom.cli.saved_models import cli


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    """y is half of x, and 2 more."""
    directory = str(tmp_path_factory.mktemp("saved") / "model")
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [None, 1], name="x")
        y = tf.add(x * tf.get_variable("v", initializer=0.5), 2.0, name="y")
        session.run(tf.global_variables_initializer())
        tf.saved_model.simple_save(session, directory, {"x": x}, {"y": y})
    return directory


def call(*arguments: str) -> None:
    args = cli.create_parser().parse_args(arguments)
    args.func(args)


def test_it_stands_where_programs_look() -> None:
    from tensorloom.python.tools import saved_model_cli

    assert saved_model_cli is cli


def test_show_and_scan(model: str, capsys: pytest.CaptureFixture[str]) -> None:
    call("show", "--dir", model)
    says = "The given SavedModel contains the following tag-sets:\nserve\n"
    assert capsys.readouterr().out == says
    with pytest.raises(RuntimeError):
        call("show", "--dir", model, "--tag_set", "bad")
    call("scan", "--dir", model)
    assert "does not contain blacklisted ops" in capsys.readouterr().out


def test_scan_looks_for_the_ops_of_the_program(
    model: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cli, "_OP_BLACKLIST", {"VariableV2"})
    call("scan", "--dir", model, "--tag_set", "serve")
    assert "'VariableV2'" in capsys.readouterr().out


def test_run_writes_outputs(model: str, tmp_path: Path) -> None:
    inputs = tmp_path / "inputs.npz"
    np.savez(inputs, a=np.array([[1.0], [2.0]]), b=np.zeros(3))
    options = ["--tag_set", "serve", "--signature_def", "serving_default"]
    run = ["run", "--dir", model, *options, "--outdir", str(tmp_path / "out")]
    call(*run, "--inputs", f"x={inputs}[a]")
    written = np.load(tmp_path / "out" / "y.npy")
    assert written.tolist() == [[2.5], [3.0]]
    with pytest.raises(RuntimeError, match="already exists"):
        call(*run, "--input_exprs", "x=np.ones((1, 1))")
    call(*run, "--input_exprs", "x=np.ones((1, 1))", "--overwrite")
    assert np.load(tmp_path / "out" / "y.npy").tolist() == [[2.5]]
    with pytest.raises(AttributeError, match="At least one of"):
        call(*run)
    with pytest.raises(ValueError, match="not a valid input key"):
        call(*run, "--input_exprs", "z=1")
    with pytest.raises(ValueError, match="must be a list"):
        call(*run, "--input_examples", 'x={"x": 8.0}')
    with pytest.raises(ValueError, match="feature value must be a list"):
        call(*run, "--input_examples", 'x=[{"x": 8.0}]')


def test_inputs_are_read(tmp_path: Path) -> None:
    named = cli.preprocess_inputs_arg_string("a=/path/file.txt[ab3];b=file2")
    assert named == {"a": ("/path/file.txt", "ab3"), "b": ("file2", None)}
    values = cli.preprocess_input_exprs_arg_string("c=np.zeros([2]);d=[4,5]")
    assert values["c"].tolist() == [0.0, 0.0]
    assert values["d"] == [4, 5]
    for wrong in ("x=file[[v1]v2", "x:file"):
        with pytest.raises(RuntimeError, match="format is incorrect"):
            cli.preprocess_inputs_arg_string(wrong)
    with pytest.raises(RuntimeError, match="format is incorrect"):
        cli.preprocess_input_exprs_arg_string("x:1")
    several = tmp_path / "several.npz"
    np.savez(several, a=np.ones(1), b=np.zeros(2))
    for wrong in (f"x={several}", f"x={several}[c]"):
        with pytest.raises(RuntimeError):
            cli.load_inputs_from_input_arg_string(wrong, "", "")
    loaded = cli.load_inputs_from_input_arg_string(f"x={several}[a]", "x=[7]", "")
    assert loaded == {"x": [7]}
