"""Checkpoints of cells from before TensorFlow 1.2."""

from __future__ import annotations

from pathlib import Path

import pytest

import tensorloom as tf
from tensorloom.contrib.rnn import renaming

NAMES = {
    "a": "a",
    "rnn/lstm_cell/weights": "rnn/lstm_cell/kernel",
    "rnn/gru_cell/gates/biases": "rnn/gru_cell/gates/bias",
    "nas_rnn/recurrent_weights": "nas_rnn/recurrent_kernel",
    "attention_decoder/LSTMCell/W_0": "attention_decoder/lstm_cell/kernel",
}


@pytest.mark.parametrize("first_format", [False, True])
def test_names_of_today(tmp_path: Path, first_format: bool) -> None:
    old, new = str(tmp_path / "old"), str(tmp_path / "new")
    for number, name in enumerate(NAMES):
        tf.Variable(float(number), name=name)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        tf.train.Saver().save(session, old)
    variables, changed = renaming.convert_names(old, new, first_format)
    assert set(variables) == set(NAMES.values())
    assert changed == {k: v for k, v in NAMES.items() if k != v}
    reader = tf.train.NewCheckpointReader(new)
    found = {n: reader.get_tensor(n) for n in reader.get_variable_to_shape_map()}
    assert found == {name: number for number, name in enumerate(NAMES.values())}


def test_parts_of_a_variable() -> None:
    names = ["GRUCell/W_0", "GRUCell/W_1"]
    assert renaming._new_name(names[1], names) == "gru_cell/weights/part_1"


def test_every_name_changes() -> None:
    assert len(renaming.RNN_NAME_REPLACEMENTS) == 56
    assert all(old != new for old, new in renaming.RNN_NAME_REPLACEMENTS.items())
