"""Exports give the model's outputs where they run, or are refused node by node."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tensorloom as tf
from tensorloom.cli.main import main
from tensorloom.deploy import examples, exporting, frozen_model, torch_programs
from tensorloom.deploy.runner import Runner
from tests.deploy import models, op_models

pytest.importorskip("onnx")
onnxruntime = pytest.importorskip("onnxruntime")
pytest.importorskip("safetensors")

# torch says with each use of TorchScript that there is torch.export too.
pytestmark = pytest.mark.filterwarnings("ignore:.*torch.jit:DeprecationWarning")

_WRITERS = {
    "onnx": exporting.to_onnx,
    "torchscript": exporting.to_torchscript,
    "torch": torch_programs.to_torch,
    "aotinductor": torch_programs.to_aotinductor,
}
_BY_COMPILER = [
    pytest.mark.compiler,
    # Of torch about its own parts.
    pytest.mark.filterwarnings("ignore::FutureWarning:copyreg"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning:torch"),
]


def _inputs(name: str, batch: int) -> dict[str, Any]:
    """Inputs that nobody has compared with yet."""
    draws = np.random.default_rng(batch)

    def image(*shape: int) -> Any:
        return draws.standard_normal((batch, *shape)).astype(np.float32)

    return {
        "convolutional": lambda: {"x": image(8, 8, 3)},
        "words": lambda: {"words": np.array([["a", "b", "no", "the"]] * batch, object)},
        "recurrent": lambda: {
            "x": image(7, 3),
            "lengths": draws.integers(1, 8, batch).astype(np.int32),
        },
        "attention": lambda: {
            "ids": draws.integers(0, 20, (batch, 6)).astype(np.int32),
            "mask": draws.integers(0, 2, (batch, 6)).astype(np.int32),
        },
        "detection": lambda: {"boxes": image(4), "scores": image(3)},
        "branching": lambda: {"x": image(4)},
    }[name]()


def _by_onnx(path: str, inputs: dict[str, Any], keys: list[str]) -> dict[str, Any]:
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    return dict(zip(keys, session.run(keys, inputs), strict=True))


def _by_torch(path: str, inputs: dict[str, Any], keys: list[str]) -> dict[str, Any]:
    import torch

    tensors = [torch.from_numpy(inputs[key]) for key in sorted(inputs)]
    if path.endswith(".pt2"):
        found = torch.export.load(path).module()(*tensors)
    else:
        found = torch.jit.load(path)(*tensors)
    return {key: found[key].numpy() for key in keys}


def _compiled(path: str, inputs: dict[str, Any], keys: list[str]) -> dict[str, Any]:
    import torch
    from torch._inductor import aoti_load_package

    tensors = [torch.from_numpy(inputs[key]) for key in sorted(inputs)]
    found = aoti_load_package(path)(*tensors)
    return {key: found[key].numpy() for key in keys}


@pytest.fixture(scope="module")
def saved(
    tmp_path_factory: pytest.TempPathFactory,
) -> dict[str, frozen_model.FrozenModel]:
    return {
        name: frozen_model.load(models.saved(tmp_path_factory.mktemp(name), build))
        for name, build in models.ALL.items()
    }


@pytest.mark.parametrize(
    ("name", "to"),
    [
        *((name, "onnx") for name in ("convolutional", "words", "recurrent")),
        ("branching", "onnx"),
        *(
            pytest.param(name, "onnx", marks=pytest.mark.slow)
            for name in ("attention", "detection")
        ),
        ("recurrent", "torchscript"),
        ("branching", "torchscript"),
        *(
            pytest.param(name, "torchscript", marks=pytest.mark.slow)
            for name in ("convolutional", "attention", "detection")
        ),
        *(
            pytest.param(name, "torch", marks=pytest.mark.slow)
            for name in ("convolutional", "attention")
        ),
        *(
            pytest.param(name, "aotinductor", marks=_BY_COMPILER)
            for name in ("convolutional", "attention")
        ),
    ],
)
def test_other_batches_give_the_same(
    saved: dict[str, frozen_model.FrozenModel], name: str, to: str, tmp_path: Path
) -> None:
    model = saved[name]
    ending = {"onnx": "onnx", "torchscript": "pt"}.get(to, "pt2")
    path = str(tmp_path / f"m.{ending}")
    written = _WRITERS[to](model, path)
    assert max(written.differences.values()) < 1e-5
    assert written.size_bytes == Path(path).stat().st_size
    run = {"onnx": _by_onnx, "aotinductor": _compiled}.get(to, _by_torch)
    with Runner(model) as runner:
        for batch in (2, 5):
            inputs = _inputs(name, batch)
            expected = runner.run(inputs)
            if name == "words":
                inputs = {"words": inputs["words"].astype(str).astype(object)}
            found = run(path, inputs, list(expected))
            for key, value in expected.items():
                np.testing.assert_allclose(found[key], value, rtol=1e-4, atol=1e-5)
                assert found[key].dtype == value.dtype


@pytest.mark.parametrize(
    ("name", "to", "nodes"),
    [
        ("words", "torchscript", {"words", "hash_table", "hash_table_Lookup"}),
        ("recurrent", "torch", {"rnn/while"}),
        ("recurrent", "aotinductor", {"rnn/while"}),
        ("detection", "torch", {"non_max_suppression/NonMaxSuppressionV3"}),
    ],
)
def test_what_cannot_be_written_is_named(
    saved: dict[str, frozen_model.FrozenModel],
    name: str,
    to: str,
    nodes: set[str],
    tmp_path: Path,
) -> None:
    path = tmp_path / "model"
    with pytest.raises(tf.errors.UnimplementedError) as raised:
        _WRITERS[to](saved[name], str(path))
    named = {one.name for one in raised.value.refusals}  # type: ignore[attr-defined]
    assert {node.partition("/")[0] for node in named} == {
        node.partition("/")[0] for node in nodes
    }
    assert all(node in raised.value.message for node in named)
    assert not path.exists()


@pytest.mark.parametrize(
    ("name", "to"),
    [
        *((name, "onnx") for name in op_models.ONNX),
        *((name, "torchscript") for name in op_models.BOTH),
    ],
)
@pytest.mark.slow
def test_operations(name: str, to: str, tmp_path: Path) -> None:
    model = frozen_model.load(models.saved(tmp_path, op_models.ONNX[name]))
    written = _WRITERS[to](model, str(tmp_path / "model"))
    away = {key: share for key, share in written.differences.items() if share > 1e-5}
    assert not away


def test_what_differs_is_not_written(tmp_path: Path) -> None:
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [None], name="x")
        tf.identity(tf.exp(x * 30.0), name="y")
    model = frozen_model.of_graph_def(graph.as_graph_def())
    path = tmp_path / "model.onnx"
    given = examples.Examples([{"x": np.array([0.1, 0.2], np.float32)}])
    with pytest.raises(tf.errors.FailedPreconditionError, match="outputs of the ONNX"):
        exporting.to_onnx(model, str(path), given, difference=-1.0)
    assert not path.exists()
    assert exporting.to_onnx(model, str(path), given).source == ""


def test_tables_from_files(tmp_path: Path) -> None:
    """Their contents are exported: nothing reads the files any more."""
    words = tmp_path / "words.txt"
    words.write_text("red\ngreen\nblue\n")

    def build() -> tuple[dict[str, Any], dict[str, Any]]:
        text = tf.placeholder(tf.string, [None], name="text")
        ids = tf.contrib.lookup.index_table_from_file(str(words), default_value=1)
        names = tf.contrib.lookup.index_to_string_table_from_file(
            str(words), default_value="?"
        )
        found = ids.lookup(text)
        return {"text": text}, {"ids": found, "next": names.lookup(found + 1)}

    model = frozen_model.load(models.saved(tmp_path, build))
    given = np.array([b"blue", b"red", b"none"], object)
    path = str(tmp_path / "m.onnx")
    written = exporting.to_onnx(model, path, examples.Examples([{"text": given}]))
    assert written.differences == {"ids": 0.0, "next": 0.0}
    words.unlink()
    texts = {"text": given.astype(str).astype(object)}
    found = _by_onnx(path, texts, ["ids", "next"])
    assert found["ids"].tolist() == [2, 0, 1]
    assert found["next"].tolist() == ["?", "green", "blue"]


def test_hashed_words_are_refused(tmp_path: Path) -> None:
    """ONNX has no such hash: words that a table does not have would get others."""
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.string, [None], name="x")
        table = tf.contrib.lookup.index_table_from_tensor(["a", "b"], 3)
        tf.identity(table.lookup(x), name="y")
    model = frozen_model.of_graph_def(graph.as_graph_def(), ["x"], ["y"])
    with pytest.raises(tf.errors.UnimplementedError, match="StringToHashBucketFast"):
        exporting.to_onnx(model, str(tmp_path / "m.onnx"))
    assert not list(tmp_path.iterdir())


def test_arrays_in_another_order_are_refused(tmp_path: Path) -> None:
    """Backwards from the middle, two steps at a time, and what is replaced."""
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [4, 2], name="x")
        for name, start, step in (("middle", 2, 1), ("leaping", 3, 2)):
            _, array = tf.while_loop(
                lambda i, a: i >= 0,
                lambda i, a, step=step: (i - step, a.write(i, x[0])),
                [start, tf.TensorArray(tf.float32, 4)],
            )
            tf.identity(array.stack(), name=name)
        array = tf.TensorArray(tf.float32, 1).write(0, x[0]).write(0, x[1])
        tf.identity(array.stack(), name="replaced")
    for output in ("middle", "leaping", "replaced"):
        model = frozen_model.of_graph_def(graph.as_graph_def(), ["x"], [output])
        with pytest.raises(tf.errors.UnimplementedError, match="at other places"):
            exporting.to_onnx(model, str(tmp_path / "m.onnx"))


def test_unknown_operations_are_all_named(tmp_path: Path) -> None:
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [2, 2], name="x")
        tf.add(tf.matrix_inverse(x, name="a"), tf.cholesky(x, name="b"), name="y")
    model = frozen_model.of_graph_def(graph.as_graph_def())
    for write, path in (
        (exporting.to_onnx, "m.onnx"),
        (exporting.to_torchscript, "m.pt"),
    ):
        with pytest.raises(
            tf.errors.UnimplementedError, match="2 nodes cannot"
        ) as raised:
            write(model, str(tmp_path / path))
        assert "a (MatrixInverse)" in raised.value.message
        assert "b (Cholesky)" in raised.value.message
        assert not (tmp_path / path).exists()


def test_machine_code_without_a_compiler(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CXX", "no-compiler")
    with tf.Graph().as_default() as graph:
        tf.identity(tf.placeholder(tf.float32, [2], name="x") * 2.0, name="y")
    model = frozen_model.of_graph_def(graph.as_graph_def())
    path = tmp_path / "m.pt2"
    with pytest.raises(tf.errors.FailedPreconditionError, match="'no-compiler'"):
        torch_programs.to_aotinductor(model, str(path))
    assert not path.exists()


def test_variables_as_safetensors(tmp_path: Path) -> None:
    from safetensors.numpy import load_file

    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.placeholder(tf.float32, [None, 2], name="x")
        w = tf.get_variable("layer/w", initializer=[[1.0], [2.0]])
        y = tf.matmul(x, w) + tf.get_variable("b", initializer=3.0)
        sess.run(tf.global_variables_initializer())
        tf.saved_model.simple_save(sess, str(tmp_path / "saved"), {"x": x}, {"y": y})
        checkpoint = tf.train.Saver().save(sess, str(tmp_path / "model"))
    for number, source in enumerate((str(tmp_path / "saved"), checkpoint)):
        path = str(tmp_path / f"{number}.safetensors")
        assert main(["export", source, "--to", "safetensors", "-o", path]) == 0
        found = load_file(path)
        assert {name: value.tolist() for name, value in found.items()} == {
            "layer/w": [[1.0], [2.0]],
            "b": 3.0,
        }
    with pytest.raises(tf.errors.InvalidArgumentError, match="no such dtypes"):
        exporting.to_safetensors({"s": np.array([b"a"], object)}, path)
    with pytest.raises(tf.errors.InvalidArgumentError, match="no variables"):
        exporting.to_safetensors({}, path)


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = models.saved(tmp_path, models.words)
    path = str(tmp_path / "model.onnx")
    assert main(["export", source, "--to", "onnx", "-o", path]) == 0
    assert "vector: 0 of its largest value" in capsys.readouterr().out
    assert main(["export", source, "--to", "torchscript", "-o", path]) == 1
    assert "words (input): torch has no tensors of string" in capsys.readouterr().err
