"""MNIST's files as the tutorials read them."""

from __future__ import annotations

import gzip
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tensorloom as tf
from tensorloom.examples.tutorials.mnist import input_data, mnist


def _write(folder: Path, train: int = 20, test: int = 6, packed: bool = True) -> None:
    pixels = np.arange(28 * 28) % 251
    for kind, count in (("train", train), ("t10k", test)):
        images = (pixels + np.arange(count)[:, None]).astype(np.uint8)
        header = struct.pack(">4i", 2051, count, 28, 28)
        labels = (np.arange(count) % 10).astype(np.uint8)
        for name, data in (
            (f"{kind}-images-idx3-ubyte", header + images.tobytes()),
            (
                f"{kind}-labels-idx1-ubyte",
                struct.pack(">2i", 2049, count) + labels.tobytes(),
            ),
        ):
            path = folder / (f"{name}.gz" if packed else name)
            path.write_bytes(gzip.compress(data) if packed else data)


@pytest.mark.parametrize("packed", [True, False])
def test_four_files(tmp_path: Path, packed: bool) -> None:
    _write(tmp_path, packed=packed)
    data = input_data.read_data_sets(str(tmp_path), validation_size=5, one_hot=True)
    assert [part.num_examples for part in data] == [15, 5, 6]
    assert data.train.images.shape == (15, 784)
    assert data.train.images.dtype == np.float32
    assert data.train.images.max() <= 1.0
    assert data.test.labels[3].tolist() == [0, 0, 0, 1, 0, 0, 0, 0, 0, 0]
    raw = input_data.read_data_sets(
        str(tmp_path), dtype=tf.uint8, reshape=False, validation_size=0
    )
    assert raw.train.images.shape == (20, 28, 28, 1)
    assert raw.train.labels.dtype == np.uint8


def test_batches_go_on_in_the_next_epoch(tmp_path: Path) -> None:
    _write(tmp_path)
    data = input_data.read_data_sets(str(tmp_path), validation_size=0, seed=7).train
    # As TensorFlow 1.15 shuffles with this seed.
    np.random.seed(7)
    orders = [np.arange(20), np.arange(20)]
    for order in orders:
        np.random.shuffle(order)
    np.random.seed(7)
    first = data.next_batch(12)[1]
    second = data.next_batch(12)[1]
    assert data.epochs_completed == 1
    assert first.tolist() == (orders[0] % 10)[:12].tolist()
    rest = (orders[0] % 10)[12:].tolist()
    assert second.tolist() == rest + (orders[0][orders[1]] % 10)[:4].tolist()
    plain = input_data.read_data_sets(str(tmp_path), validation_size=0).train
    assert plain.next_batch(4, shuffle=False)[1].tolist() == [0, 1, 2, 3]


def test_made_up_data() -> None:
    data = input_data.read_data_sets("", fake_data=True, one_hot=True)
    images, labels = data.train.next_batch(3, fake_data=True)
    assert data.train.num_examples == 10000
    assert np.shape(images) == (3, 784)
    assert labels[2] == [1, 0, 0, 0, 0, 0, 0, 0, 0, 0]


def test_what_is_missing_is_said(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="Put these files there") as caught:
        input_data.read_data_sets(str(tmp_path / "data"), source_url="file:///none/")
    for name in ("train-images-idx3-ubyte.gz", "t10k-labels-idx1-ubyte.gz"):
        assert name in str(caught.value)
    assert str(tmp_path / "data") in str(caught.value)


def test_wrong_files(tmp_path: Path) -> None:
    _write(tmp_path)
    with pytest.raises(ValueError, match="between 0 and 20"):
        input_data.read_data_sets(str(tmp_path))
    path = tmp_path / "train-images-idx3-ubyte.gz"
    path.write_bytes((tmp_path / "train-labels-idx1-ubyte.gz").read_bytes())
    with pytest.raises(ValueError, match="Invalid magic number 2049"):
        input_data.read_data_sets(str(tmp_path))
    path.write_bytes(gzip.compress(struct.pack(">4i", 2051, 20, 28, 28) + b"x"))
    with pytest.raises(ValueError, match="ends after 1 of 15680 bytes"):
        input_data.read_data_sets(str(tmp_path))


def test_wrong_arguments() -> None:
    images: Any = np.zeros((2, 28, 28, 1))
    with pytest.raises(TypeError, match="Invalid image dtype"):
        input_data.DataSet(images, np.zeros(2), dtype=tf.int32)
    with pytest.raises(ValueError, match="as many labels"):
        input_data.DataSet(images, np.zeros(3))
    with pytest.raises(ValueError, match="rows of pixels"):
        input_data.DataSet(images[..., 0], np.zeros(2))


def test_the_network() -> None:
    with tf.Graph().as_default():
        tf.set_random_seed(1)
        images = tf.placeholder(tf.float32, [None, 784])
        labels = tf.placeholder(tf.int32, [None])
        logits = mnist.inference(images, 8, 4)
        loss = mnist.loss(logits, labels)
        step = mnist.training(loss, 0.01)
        right = mnist.evaluation(logits, labels)
        names = [v.op.name for v in tf.global_variables()]
        assert names == [
            *("hidden1/weights", "hidden1/biases", "hidden2/weights"),
            *("hidden2/biases", "softmax_linear/weights", "softmax_linear/biases"),
            "global_step",
        ]
        feeds = {images: np.full((3, 784), 0.1), labels: [0, 1, 1]}
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            before = sess.run(loss, feeds)
            for _ in range(5):
                sess.run(step, feeds)
            assert sess.run(loss, feeds) < before
            assert 0 <= sess.run(right, feeds) <= 3
