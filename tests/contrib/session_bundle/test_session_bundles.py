"""Session bundles: written by `Exporter`, loaded with and without signatures."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import tensorloom as tf
from tensorloom.contrib.learn.utils import session_bundle
from tensorloom.contrib.session_bundle import reading, up_conversion
from tensorloom.saved_model import constants

KEY = constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY


def _export(
    directory: Path, signature: Any, named: Any = None, **saver: Any
) -> dict[str, str]:
    """A bundle of y = w * x + length of an asset; returns the names of its tensors."""
    asset = directory / "words.txt"
    asset.write_text("five!")
    with tf.Graph().as_default(), tf.Session() as session:
        path = tf.constant(str(asset))
        length = tf.Variable(0.0, trainable=False, collections=["kept"])
        text = tf.strings.length(tf.read_file(path))
        init = tf.group(length.assign(tf.to_float(text)))
        x = tf.placeholder(tf.float32, [None], name="x")
        w = tf.Variable(3.0)
        y = tf.add(w * x, length, name="y")
        tf.train.create_global_step()
        session.run(tf.global_variables_initializer())
        exporter = session_bundle.Exporter(tf.train.Saver(**saver))
        exporter.init(
            init_op=init,
            default_graph_signature=signature(x, y),
            named_graph_signatures=named and named(x, y),
            assets_collection=[path],
        )
        exporter.export(str(directory / "exports"), tf.train.get_global_step(), session)
    return {"x": x.name, "y": y.name}


BUNDLE = Path("exports") / "00000000"
GENERIC = session_bundle.generic_signature


@pytest.mark.parametrize(
    "saver",
    [{}, {"write_version": 1}, {"sharded": True, "write_version": 1}],
    ids=["second format", "first format", "first format, sharded"],
)
def test_a_bundle_is_loaded_with_its_variables_and_assets(
    tmp_path: Path, saver: dict[str, Any]
) -> None:
    tensors = _export(tmp_path, session_bundle.regression_signature, **saver)
    assert not reading.maybe_session_bundle_dir(str(tmp_path))
    assert reading.maybe_session_bundle_dir(str(tmp_path / BUNDLE))
    (tmp_path / "words.txt").unlink()  # the bundle has its own
    session, meta_graph = reading.load_session_bundle_from_path(str(tmp_path / BUNDLE))
    with session:
        y = session.run(tensors["y"], {tensors["x"]: [1.0, 2.0]})
    assert y.tolist() == [8.0, 11.0]
    assert session_bundle.SIGNATURES_KEY in meta_graph.collection_def


@pytest.mark.parametrize(
    ("signature", "named", "wanted"),
    [
        (
            session_bundle.regression_signature,
            None,
            {KEY: ("tensorflow/serving/regress", ["inputs"], ["outputs"])},
        ),
        (
            lambda x, y: session_bundle.classification_signature(x, y, y),
            lambda x, y: {"inputs": GENERIC({"a": x}), "outputs": GENERIC({"b": y})},
            {
                KEY: ("tensorflow/serving/classify", ["inputs"], ["classes", "scores"]),
                f"{KEY}_from_named": ("tensorflow/serving/predict", ["a"], ["b"]),
            },
        ),
        (lambda x, y: GENERIC({"x": x}), None, {}),
    ],
    ids=["regression", "classification and named", "generic"],
)
def test_signatures_become_those_of_saved_models(
    tmp_path: Path, signature: Any, named: Any, wanted: dict[str, Any]
) -> None:
    _export(tmp_path, signature, named)
    load = up_conversion.load_session_bundle_or_saved_model_bundle_from_path
    session, meta_graph = load(str(tmp_path / BUNDLE))
    session.close()
    assert {
        key: (made.method_name, sorted(made.inputs), sorted(made.outputs))
        for key, made in meta_graph.signature_def.items()
    } == wanted


def test_bad_input(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="Expected meta graph file missing"):
        reading.load_session_bundle_from_path(str(tmp_path))
    load = up_conversion.load_session_bundle_or_saved_model_bundle_from_path
    with pytest.raises(RuntimeError, match="SessionBundle or SavedModelBundle not"):
        load(str(tmp_path))
    _export(
        tmp_path,
        session_bundle.regression_signature,
        lambda x, y: {
            "inputs": GENERIC({"a": x}),
            "outputs": session_bundle.regression_signature(x, y),
        },
    )
    with pytest.raises(RuntimeError, match="can only be up-converted"):
        load(str(tmp_path / BUNDLE))
