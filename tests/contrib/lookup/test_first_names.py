"""`tf.contrib.lookup`: the first functions of tables."""

from __future__ import annotations

from pathlib import Path

import pytest

import tensorloom as tf
from tensorloom.contrib import lookup


def test_strings_and_their_places(tmp_path: Path) -> None:
    words = tmp_path / "words"
    words.write_text("emerson\nlake\npalmer\n")
    with tf.Graph().as_default(), tf.Session() as session:
        given = tf.constant(["lake", "and", "emerson"])
        mapping = tf.constant(["emerson", "lake", "palmer"])
        results = [
            lookup.string_to_index(given, mapping, default_value=-7),
            lookup.string_to_index_table_from_tensor(mapping).lookup(given),
            lookup.string_to_index_table_from_file(str(words), 1).lookup(given),
            lookup.index_to_string(tf.constant([2, 9], tf.int64), mapping),
        ]
        session.run(tf.tables_initializer())
        values = session.run(results)
    assert [value.tolist() for value in values] == [
        [1, -7, 0],
        [1, -1, 0],
        [1, 3, 0],
        [b"palmer", b"UNK"],
    ]


def test_strings_are_asked_for() -> None:
    with tf.Graph().as_default(), pytest.raises(ValueError, match="requires string"):
        lookup.string_to_index_table_from_tensor([1, 2])


@pytest.mark.parametrize(
    ("kind", "elements"), [("tensor", [1.5]), ("file", "words.txt")]
)
def test_keys_are_integers_or_strings(kind: str, elements: object) -> None:
    table = getattr(tf.contrib.lookup, f"index_table_from_{kind}")
    dtype = {"dtype" if kind == "tensor" else "key_dtype": tf.float32}
    with tf.Graph().as_default(), pytest.raises(TypeError, match=r"not float32\.$"):
        table(elements, **dtype)
