"""SavedModels whose operations to run are signatures; modes by both of their names."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import tensorloom as tf
from tensorloom.estimator.mode_keys import KerasModeKeys, ModeKeyMap, ModeKeys
from tensorloom.saved_model import constants, loader
from tensorloom.saved_model.signature_builder import SignatureBuilder

if TYPE_CHECKING:
    from pathlib import Path


def test_operations_and_assets_are_outside_of_the_collections(tmp_path: Path) -> None:
    words = tmp_path / "words.txt"
    words.write_text("a word")
    target = str(tmp_path / "model")
    with tf.Graph().as_default(), tf.Session() as session:
        v = tf.Variable(1.0, name="v")
        asset = tf.constant(str(words), name="asset")
        session.run(v.initializer)
        builder = SignatureBuilder(target)
        with pytest.raises(AssertionError, match="not been saved yet"):
            builder.add_meta_graph(["second"])
        builder.add_meta_graph_and_variables(
            session,
            ["serve"],
            assets_list=[asset],
            init_op=v.assign(5.0).op,
            train_op=v.assign_add(1.0),
        )
        builder.add_meta_graph(["second"], train_op=v.assign(0.0).op)
        builder.save()
        assert tf.get_collection(constants.TRAIN_OP_KEY) == []
        assert tf.get_collection(constants.ASSETS_KEY) == []
    with tf.Graph().as_default(), tf.Session() as session:
        meta_graph = tf.saved_model.loader.load(session, ["serve"], target)
        assert [asset.filename for asset in meta_graph.asset_file_def] == ["words.txt"]
        assert (tmp_path / "model/assets/words.txt").read_text() == "a word"
        train = loader.get_train_op(meta_graph)
        assert isinstance(train, tf.Tensor)
        assert session.run(train) == 6.0
    with tf.Graph().as_default(), tf.Session() as session:
        meta_graph = tf.saved_model.loader.load(session, ["second"], target)
        assert isinstance(loader.get_train_op(meta_graph), tf.Operation)
        assert loader.get_init_op(meta_graph) is None


def test_a_map_of_modes_knows_both_of_their_names() -> None:
    modes = ModeKeyMap(**{KerasModeKeys.PREDICT: 3, ModeKeys.EVAL: 1})
    assert modes[ModeKeys.PREDICT] == modes[KerasModeKeys.PREDICT] == 3
    assert modes[KerasModeKeys.TEST] == 1
    assert list(modes) == ["predict", "eval"]
    assert len(modes) == 2
    with pytest.raises(KeyError):
        modes[ModeKeys.TRAIN]
    with pytest.raises(ValueError, match="Invalid mode key: serve"):
        modes["serve"]
    with pytest.raises(ValueError, match="Multiple keys/values found"):
        ModeKeyMap(infer=1, predict=2)
