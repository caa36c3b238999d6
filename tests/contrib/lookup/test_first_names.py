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


def test_files_and_hashers_of_vocabularies(tmp_path: Path) -> None:
    file = tmp_path / "words"
    file.write_text("a\nb\n")
    fed = tf.placeholder(tf.string, [])
    table = lookup.index_table_from_file(fed)
    words = lookup.index_to_string_table_from_file(tf.constant(str(file)))
    files = tf.get_collection(tf.GraphKeys.ASSET_FILEPATHS)
    assert len(files) == 1  # what is fed is no file of the program's
    with tf.Session() as sess:
        sess.run(tf.tables_initializer(), {fed: str(file)})
        assert sess.run(table.lookup(tf.constant(["b"]))).tolist() == [1]
        numbers = tf.constant([0], tf.int64)
        assert sess.run(words.lookup(numbers)).tolist() == [b"a"]
    for given in (str(file), tf.constant(str(file))):
        with pytest.raises(ValueError, match=r"got 0. vocabulary_file: .*words"):
            lookup.index_table_from_file(given, vocab_size=0)
    with pytest.raises(ValueError, match="Filename required"):
        lookup.TextFileIdTableInitializer("")
    with pytest.raises(TypeError, match="Invalid key_dtype"):
        lookup.IdTableWithHashBuckets(None, 5, key_dtype=tf.bool)
    unknown = lookup.HasherSpec("my-hash", None)
    with pytest.raises(ValueError, match="Unknown hasher"):
        lookup.IdTableWithHashBuckets(None, 5, unknown).lookup(tf.constant(["a"]))
