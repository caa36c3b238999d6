"""Kernels read files of any file system."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import tensorloom as tf

WORDS = "memory://elsewhere/words.txt"


@pytest.fixture(autouse=True)
def _words() -> Iterator[None]:
    with tf.gfile.GFile(WORDS, "w") as file:
        file.write("hello\nworld\n")
    yield
    tf.gfile.DeleteRecursively("memory://elsewhere")


def test_tables() -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        initializer = tf.lookup.TextFileInitializer(WORDS, tf.string, -2, tf.int64, -1)
        table = tf.lookup.StaticHashTable(initializer, -1)
        sess.run(tf.tables_initializer())
        assert sess.run(table.lookup(tf.constant(["world", "x"]))).tolist() == [1, -1]


def test_vocabularies() -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        remapping = tf.raw_ops.GenerateVocabRemapping(
            new_vocab_file=WORDS,
            old_vocab_file=WORDS,
            new_vocab_offset=0,
            num_new_vocab=2,
        )
        assert sess.run(remapping[0]).tolist() == [0, 1]


def test_readers() -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        queue = tf.FIFOQueue(1, tf.string)
        _, line = tf.TextLineReader().read(queue)
        sess.run(queue.enqueue(WORDS))
        assert [sess.run(line) for _ in range(2)] == [b"hello", b"world"]
        lines = tf.data.TextLineDataset(WORDS).batch(2)
        element = tf.data.make_one_shot_iterator(lines).get_next()
        assert sess.run(element).tolist() == [b"hello", b"world"]
        assert sess.run(tf.read_file(WORDS)) == b"hello\nworld\n"


def test_lost_files() -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        initializer = tf.lookup.TextFileInitializer(
            "/nowhere/words", tf.string, -2, tf.int64, -1
        )
        table = tf.lookup.StaticHashTable(initializer, -1)
        with pytest.raises(tf.errors.NotFoundError, match="/nowhere/words"):
            sess.run(table.initializer)
