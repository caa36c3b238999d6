"""The MNIST data set of digits: its files, and batches of its images."""

from __future__ import annotations

import gzip
from typing import Any, Final

import numpy as np

from tensorloom.contrib.learn.datasets import base
from tensorloom.framework.export import export, export_value
from tensorloom.framework.runtime.random_seed import get_seed
from tensorloom.framework.types import dtypes
from tensorloom.storage.files.file_io import GFile

DEFAULT_SOURCE_URL: Final = "https://storage.googleapis.com/cvdf-datasets/mnist/"
_IMAGES_MAGIC: Final = 2051
_LABELS_MAGIC: Final = 2049
_PIXELS: Final = 784
_CLASSES: Final = 10
_FAKE_EXAMPLES: Final = 10000
_HERE: Final = "contrib.learn.datasets.mnist."

export_value(DEFAULT_SOURCE_URL, _HERE + "DEFAULT_SOURCE_URL")


def _numbers(stream: gzip.GzipFile, count: int) -> list[int]:
    return [int(number) for number in np.frombuffer(stream.read(4 * count), ">u4")]


def _content(file: Any, what: str, magic: int, dimensions: int) -> Any:
    """The bytes of an IDX file as an array."""
    print("Extracting", file.name)
    with gzip.GzipFile(fileobj=file) as stream:
        (found,) = _numbers(stream, 1)
        if found != magic:
            raise ValueError(
                f"Invalid magic number {found} in MNIST {what} file: {file.name}"
            )
        sizes = _numbers(stream, dimensions)
        data = np.frombuffer(stream.read(int(np.prod(sizes))), dtype=np.uint8)
    return data.reshape(sizes)


@export(_HERE + "extract_images")
def extract_images(f: Any) -> Any:
    """The images [examples, rows, columns, 1] in an open gzipped file, as uint8.

    Raises:
      ValueError: it is no file of MNIST images.
    """
    return _content(f, "image", _IMAGES_MAGIC, 3)[..., np.newaxis]


@export(_HERE + "dense_to_one_hot")
def dense_to_one_hot(labels_dense: Any, num_classes: int) -> Any:
    """Rows of zeros with a one at the place of each label: [examples, classes]."""
    one_hot = np.zeros((labels_dense.shape[0], num_classes))
    one_hot[np.arange(labels_dense.shape[0]), labels_dense.ravel()] = 1
    return one_hot


@export(_HERE + "extract_labels")
def extract_labels(f: Any, one_hot: bool = False, num_classes: int = _CLASSES) -> Any:
    """The labels [examples] in an open gzipped file, as uint8, or one-hot rows.

    Raises:
      ValueError: it is no file of MNIST labels.
    """
    labels = _content(f, "label", _LABELS_MAGIC, 1)
    return dense_to_one_hot(labels, num_classes) if one_hot else labels


@export(_HERE + "DataSet")
class DataSet:
    """Images with labels, in batches.

    Args:
      images: [examples, rows, columns, 1], uint8.
      labels: [examples] or [examples, classes].
      fake_data: batches are of constant examples.
      one_hot: whether the labels of fake examples are one-hot.
      dtype: `tf.float32`, which brings pixels into [0, 1], or `tf.uint8`.
      reshape: images become rows: [examples, rows * columns].
      seed: of the order of examples.

    Raises:
      TypeError: another dtype.
    """

    def __init__(
        self,
        images: Any,
        labels: Any,
        fake_data: bool = False,
        one_hot: bool = False,
        dtype: Any = dtypes.float32,
        reshape: bool = True,
        seed: int | None = None,
    ) -> None:
        # Programs rely on the order that TensorFlow's use of NumPy's seed gives.
        graph_seed, op_seed = get_seed(seed)
        np.random.seed(graph_seed if seed is None else op_seed)
        dtype = dtypes.as_dtype(dtype).base_dtype
        if dtype not in (dtypes.uint8, dtypes.float32):
            raise TypeError(f"Invalid image dtype {dtype!r}, expected uint8 or float32")
        self.one_hot = one_hot
        if fake_data:
            self._num_examples = _FAKE_EXAMPLES
        else:
            assert images.shape[0] == labels.shape[0], (
                f"images.shape: {images.shape} labels.shape: {labels.shape}"
            )
            self._num_examples = images.shape[0]
            if reshape:
                assert images.shape[3] == 1
                images = images.reshape(images.shape[0], -1)
            if dtype == dtypes.float32:
                images = np.multiply(images.astype(np.float32), 1.0 / 255.0)
        self._images = images
        self._labels = labels
        self._epochs_completed = 0
        self._index_in_epoch = 0

    @property
    def images(self) -> Any:
        """All images, in the order of this epoch."""
        return self._images

    @property
    def labels(self) -> Any:
        """Their labels."""
        return self._labels

    @property
    def num_examples(self) -> int:
        """How many there are."""
        return self._num_examples

    @property
    def epochs_completed(self) -> int:
        """How often all of them were given."""
        return self._epochs_completed

    def next_batch(
        self, batch_size: int, fake_data: bool = False, shuffle: bool = True
    ) -> tuple[Any, Any]:
        """The next images and labels; a batch may go over the end of an epoch."""
        if fake_data:
            label: Any = [1] + [0] * (_CLASSES - 1) if self.one_hot else 0
            return [[1] * _PIXELS] * batch_size, [label] * batch_size
        start = self._index_in_epoch
        if self._epochs_completed == 0 and start == 0 and shuffle:
            self._shuffle()
        end = start + batch_size
        if end <= self._num_examples:
            self._index_in_epoch = end
            return self._images[start:end], self._labels[start:end]
        self._epochs_completed += 1
        images, labels = self._images[start:], self._labels[start:]
        if shuffle:
            self._shuffle()
        end = self._index_in_epoch = batch_size - len(images)
        return (
            np.concatenate((images, self._images[:end]), axis=0),
            np.concatenate((labels, self._labels[:end]), axis=0),
        )

    def _shuffle(self) -> None:
        order = np.arange(self._num_examples)
        np.random.shuffle(order)
        self._images = self._images[order]
        self._labels = self._labels[order]


@export(_HERE + "read_data_sets")
def read_data_sets(
    train_dir: str,
    fake_data: bool = False,
    one_hot: bool = False,
    dtype: Any = dtypes.float32,
    reshape: bool = True,
    validation_size: int = 5000,
    seed: int | None = None,
    source_url: str = DEFAULT_SOURCE_URL,
) -> base.Datasets:
    """MNIST, as `train`, `validation` and `test`.

    Args:
      train_dir: where its four files are, or are put when they are fetched.
      fake_data: no files: batches are of constant examples.
      one_hot: labels are one-hot rows.
      dtype: as `DataSet`'s.
      reshape: as `DataSet`'s.
      validation_size: how many of the training images are for validation.
      seed: of the order of examples.
      source_url: where the files come from.

    Raises:
      ValueError: there are fewer images than `validation_size`.
    """
    options = {"dtype": dtype, "seed": seed}
    if fake_data:
        fakes = (
            DataSet([], [], fake_data=True, one_hot=one_hot, **options)
            for _ in range(3)
        )
        return base.Datasets(*fakes)

    def read(part: str) -> tuple[Any, Any]:
        images, labels = f"{part}-images-idx3-ubyte.gz", f"{part}-labels-idx1-ubyte.gz"
        url = source_url or DEFAULT_SOURCE_URL
        with GFile(base.maybe_download(images, train_dir, url + images), "rb") as file:
            pictures = extract_images(file)
        with GFile(base.maybe_download(labels, train_dir, url + labels), "rb") as file:
            return pictures, extract_labels(file, one_hot=one_hot)

    images, labels = read("train")
    test_images, test_labels = read("t10k")
    if not 0 <= validation_size <= len(images):
        raise ValueError(
            f"Validation size should be between 0 and {len(images)}. "
            f"Received: {validation_size}."
        )

    def data_set(pictures: Any, names: Any) -> DataSet:
        return DataSet(pictures, names, reshape=reshape, **options)

    return base.Datasets(
        train=data_set(images[validation_size:], labels[validation_size:]),
        validation=data_set(images[:validation_size], labels[:validation_size]),
        test=data_set(test_images, test_labels),
    )


@export(_HERE + "load_mnist")
def load_mnist(train_dir: str = "MNIST-data") -> base.Datasets:
    """`read_data_sets` of a directory."""
    return read_data_sets(train_dir)
