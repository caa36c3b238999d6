"""`tf.contrib.learn.datasets` and `preprocessing`."""

from __future__ import annotations

import gzip
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import tensorloom as tf

if TYPE_CHECKING:
    from pathlib import Path

datasets = tf.contrib.learn.datasets
preprocessing = tf.contrib.learn.preprocessing


def test_iris() -> None:
    iris = datasets.load_dataset("iris")
    assert iris.data.shape == (150, 4)
    assert np.bincount(iris.target).tolist() == [50, 50, 50]
    np.testing.assert_array_equal(iris.data[34], [4.9, 3.1, 1.5, 0.1])


def test_boston_says_where_it_is_looked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TF_EXP_BASE_DIR", str(tmp_path))
    path = tmp_path / "boston_house_prices.csv"
    with pytest.raises(FileNotFoundError, match=str(path)):
        datasets.load_boston()
    path.write_text("2,2,a,b\n1.0,2.0,3.0\n4.0,5.0,6.0\n")
    boston = datasets.load_boston()
    assert boston.data.tolist() == [[1.0, 2.0], [4.0, 5.0]]
    assert boston.target.tolist() == [3.0, 6.0]


def test_csv_without_header_shrinks(tmp_path: Path) -> None:
    path = tmp_path / "some.csv"
    path.write_text("".join(f"{i},a{i},b{i}\n" for i in range(6)))
    datasets.base.shrink_csv(str(path), 3)
    small = datasets.base.load_csv_without_header(
        str(tmp_path / "some_small.csv"), np.int32, str, target_column=0
    )
    assert small.target.tolist() == [0, 3]
    assert small.data.tolist() == [["a0", "b0"], ["a3", "b3"]]


@pytest.mark.parametrize(
    ("name", "count", "options"),
    [
        ("circles", 10, {"n_classes": 3}),
        ("spirals", 10, {"mode": "fermat", "noise": 0.1}),
        ("spirals", 10, {"mode": "bernoulli", "exp_scale": 0.2}),
    ],
)
def test_synthetic_sets_repeat(name: str, count: int, options: Any) -> None:
    first = datasets.make_dataset(name, n_samples=count, **options)
    again = datasets.make_dataset(name, n_samples=count, **options)
    assert first.data.shape == (count, 2)
    assert first.target.shape == (count,)
    np.testing.assert_array_equal(first.data, again.data)


def test_unknown_sets_are_refused() -> None:
    with pytest.raises(ValueError, match="not found"):
        datasets.load_dataset("no_such")
    with pytest.raises(ValueError, match="not found"):
        datasets.make_dataset("no_such")
    with pytest.raises(ValueError, match="mode"):
        datasets.synthetic.spirals(mode="no_such")


def _write_mnist(directory: Path, part: str, count: int) -> None:
    images = np.arange(count * 4, dtype=np.uint8)
    head = np.array([2051, count, 2, 2], ">u4").tobytes()
    with gzip.open(directory / f"{part}-images-idx3-ubyte.gz", "wb") as file:
        file.write(head + images.tobytes())
    labels = np.arange(count, dtype=np.uint8) % 10
    with gzip.open(directory / f"{part}-labels-idx1-ubyte.gz", "wb") as file:
        file.write(np.array([2049, count], ">u4").tobytes() + labels.tobytes())


def test_mnist_comes_in_batches(tmp_path: Path) -> None:
    _write_mnist(tmp_path, "train", 12)
    _write_mnist(tmp_path, "t10k", 3)
    mnist = datasets.mnist.read_data_sets(
        str(tmp_path), one_hot=True, validation_size=2, seed=1
    )
    assert mnist.train.num_examples == 10
    assert mnist.validation.num_examples == 2
    assert mnist.test.images.shape == (3, 4)
    assert mnist.test.images.max() == pytest.approx(11 / 255)
    seen = [mnist.train.next_batch(4) for _ in range(3)]
    assert mnist.train.epochs_completed == 1
    labels = np.concatenate([np.argmax(labels, 1) for _, labels in seen])
    assert sorted(labels[:10]) == sorted(np.arange(2, 12) % 10)
    raw = datasets.mnist.read_data_sets(
        str(tmp_path), dtype=tf.uint8, reshape=False, validation_size=0
    )
    images, _ = raw.train.next_batch(12, shuffle=False)
    np.testing.assert_array_equal(images.ravel(), np.arange(48))
    with pytest.raises(ValueError, match="Validation size"):
        datasets.mnist.read_data_sets(str(tmp_path), validation_size=13)


def test_fake_mnist_needs_no_files() -> None:
    mnist = datasets.mnist.read_data_sets("nowhere", fake_data=True, one_hot=True)
    images, labels = mnist.train.next_batch(2, fake_data=True)
    assert np.shape(images) == (2, 784)
    assert np.shape(labels) == (2, 10)


def test_words_get_numbers(tmp_path: Path) -> None:
    processor = preprocessing.VocabularyProcessor(4, min_frequency=1)
    texts = ["to be or not to be", "be HTTPServer"]
    rows = list(processor.fit_transform(texts))
    assert [row.tolist() for row in rows] == [[2, 1, 0, 0], [1, 0, 0, 0]]
    assert next(processor.reverse(rows)) == "to be <UNK> <UNK>"
    processor.save(str(tmp_path / "vocabulary"))
    restored = preprocessing.VocabularyProcessor.restore(str(tmp_path / "vocabulary"))
    assert next(restored.transform(["not to be"])).tolist() == [0, 2, 1, 0]
    tokens = next(preprocessing.tokenizer(["it's HTTPServer"]))
    assert tokens == ["it's", "HTTP", "Server"]


def test_bytes_are_filled_up() -> None:
    processor = preprocessing.ByteProcessor(max_document_length=4)
    rows = list(processor.fit_transform(["abcde", "é"]))
    assert [row.tolist() for row in rows] == [[97, 98, 99, 100], [195, 169, 0, 0]]
    assert list(processor.reverse(rows)) == ["abcd", "é"]


def test_categories_of_columns_get_numbers() -> None:
    rows = [["a", 1], ["b", float("nan")], ["a", 2]]
    processor = preprocessing.CategoricalProcessor(min_frequency=1)
    found = [row.tolist() for row in processor.fit_transform(rows)]
    assert found == [[1, 0], [0, 0], [1, 0]]
    shared = preprocessing.CategoricalProcessor(share=True)
    found = [row.tolist() for row in shared.fit_transform([["a", "b"], ["b", "c"]])]
    assert found == [[1, 2], [2, 3]]
    plain = preprocessing.CategoricalVocabulary(support_reverse=False)
    with pytest.raises(ValueError, match="support_reverse"):
        plain.reverse(0)
