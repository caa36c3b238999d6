"""MNIST as the tutorials of TensorFlow 1 read it."""

from __future__ import annotations

import gzip
import io
import os
import urllib.error
import urllib.request
from typing import IO, Any, Final, NamedTuple

import numpy as np

from tensorloom.framework.runtime.random_seed import get_seed
from tensorloom.framework.types import dtypes
from tensorloom.storage.files import filesystem
from tensorloom.storage.files.file_io import GFile

DEFAULT_SOURCE_URL: Final = "https://storage.googleapis.com/cvdf-datasets/mnist/"
TRAIN_IMAGES: Final = "train-images-idx3-ubyte.gz"
TRAIN_LABELS: Final = "train-labels-idx1-ubyte.gz"
TEST_IMAGES: Final = "t10k-images-idx3-ubyte.gz"
TEST_LABELS: Final = "t10k-labels-idx1-ubyte.gz"
_FILES: Final = (TRAIN_IMAGES, TRAIN_LABELS, TEST_IMAGES, TEST_LABELS)
_MAGIC: Final = {"image": 2051, "label": 2049}
_FAKE_EXAMPLES: Final = 10000
_TIMEOUT_S: Final = 30


class Datasets(NamedTuple):
    """The three parts of the data."""

    train: DataSet
    validation: DataSet
    test: DataSet


class DataSet:
    """Images and labels, given out in batches.

    Args:
      images: uint8 `[count, rows, columns, 1]`.
      labels: `[count]`, or `[count, classes]` if they are one-hot.
      fake_data: there are no images; `next_batch(fake_data=True)` makes some up.
      one_hot: whether made-up labels are one-hot.
      dtype: float32 scales the images to [0, 1]; uint8 leaves them.
      reshape: makes each image one row of pixels.
      seed: of the shuffling; the graph's if None.

    Raises:
      TypeError: another dtype.
      ValueError: as many labels as images are needed, and one channel to reshape.
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
        graph_seed, op_seed = get_seed(seed)
        # NumPy's global generator, as in TensorFlow: programs seed it themselves, too.
        np.random.seed(graph_seed if seed is None else op_seed)
        dtype = dtypes.as_dtype(dtype).base_dtype
        if dtype not in (dtypes.uint8, dtypes.float32):
            raise TypeError(f"Invalid image dtype {dtype!r}, expected uint8 or float32")
        self.one_hot = one_hot
        if fake_data:
            self._num_examples = _FAKE_EXAMPLES
        else:
            images = _prepared(images, labels, reshape)
            self._num_examples = len(images)
            if dtype == dtypes.float32:
                images = np.multiply(images.astype(np.float32), 1.0 / 255.0)
        self._images, self._labels = images, labels
        self._epochs_completed = 0
        self._index_in_epoch = 0

    @property
    def images(self) -> Any:
        """All images, in the order of this epoch."""
        return self._images

    @property
    def labels(self) -> Any:
        """All labels, in the order of this epoch."""
        return self._labels

    @property
    def num_examples(self) -> int:
        """How many there are."""
        return self._num_examples

    @property
    def epochs_completed(self) -> int:
        """How often all were given out."""
        return self._epochs_completed

    def next_batch(
        self, batch_size: int, fake_data: bool = False, shuffle: bool = True
    ) -> Any:
        """The next images and labels; the last of an epoch with the first of the next.

        Args:
          batch_size: how many.
          fake_data: made-up ones, all alike.
          shuffle: in another order in each epoch.

        Returns:
          images and labels.
        """
        if fake_data:
            label: Any = [1] + [0] * 9 if self.one_hot else 0
            return [[1] * 784] * batch_size, [label] * batch_size
        start = self._index_in_epoch
        if self._epochs_completed == 0 and start == 0 and shuffle:
            self._shuffle()
        end = start + batch_size
        if end <= self._num_examples:
            self._index_in_epoch = end
            return self._images[start:end], self._labels[start:end]
        self._epochs_completed += 1
        rest = self._images[start:], self._labels[start:]
        if shuffle:
            self._shuffle()
        end -= self._num_examples
        self._index_in_epoch = end
        return (
            np.concatenate((rest[0], self._images[:end]), axis=0),
            np.concatenate((rest[1], self._labels[:end]), axis=0),
        )

    def _shuffle(self) -> None:
        order = np.arange(self._num_examples)
        np.random.shuffle(order)
        self._images, self._labels = self._images[order], self._labels[order]


def _prepared(images: Any, labels: Any, reshape: bool) -> Any:
    if len(images) != len(labels):
        raise ValueError(
            f"images.shape: {images.shape} labels.shape: {labels.shape}: there have to "
            "be as many labels as images"
        )
    if not reshape:
        return images
    if images.ndim != 4 or images.shape[3] != 1:
        raise ValueError(
            f"images.shape: {images.shape}: only [count, rows, columns, 1] can be "
            "reshaped to rows of pixels"
        )
    return images.reshape(len(images), images.shape[1] * images.shape[2])


def _read(f: IO[bytes], kind: str, rank: int) -> Any:
    """The array of an idx file, packed by gzip."""
    name = getattr(f, "name", "the file")
    print("Extracting", name)
    with gzip.GzipFile(fileobj=f) as stream:
        header = np.frombuffer(stream.read(4 * (rank + 1)), ">u4")
        if len(header) != rank + 1 or header[0] != _MAGIC[kind]:
            magic = header[0] if len(header) else "none"
            raise ValueError(
                f"Invalid magic number {magic} in MNIST {kind} file: {name}; expected "
                f"{_MAGIC[kind]}"
            )
        shape = tuple(int(size) for size in header[1:])
        data = stream.read(int(np.prod(shape)))
    if len(data) != np.prod(shape):
        raise ValueError(f"{name} ends after {len(data)} of {np.prod(shape)} bytes")
    return np.frombuffer(data, np.uint8).reshape(shape)


def extract_images(f: IO[bytes]) -> Any:
    """The images of an idx file packed by gzip: uint8 `[count, rows, columns, 1]`.

    Raises:
      ValueError: it is no such file.
    """
    return _read(f, "image", 3)[..., np.newaxis]


def dense_to_one_hot(labels_dense: Any, num_classes: int) -> Any:
    """Class numbers `[count]` as one-hot rows `[count, num_classes]` of float64."""
    one_hot = np.zeros((len(labels_dense), num_classes))
    one_hot[np.arange(len(labels_dense)), labels_dense.ravel()] = 1
    return one_hot


def extract_labels(f: IO[bytes], one_hot: bool = False, num_classes: int = 10) -> Any:
    """The labels of an idx file packed by gzip: uint8 `[count]`, or one-hot rows.

    Raises:
      ValueError: it is no such file.
    """
    labels = _read(f, "label", 1)
    return dense_to_one_hot(labels, num_classes) if one_hot else labels


def maybe_download(filename: str, work_directory: str, source_url: str) -> str:
    """The path of a file in a folder; it is fetched if it is not there.

    Args:
      filename: its name in the folder.
      work_directory: the folder; made if need be.
      source_url: where it is fetched from.

    Raises:
      OSError: it is not there and cannot be fetched. The message says what has to be
        put where.
    """
    path = filesystem.join(work_directory, filename)
    if filesystem.exists(path):
        return path
    unpacked = path.removesuffix(".gz")
    if unpacked != path and filesystem.exists(unpacked):
        return unpacked
    filesystem.make_directories(work_directory)
    try:
        with urllib.request.urlopen(source_url, timeout=_TIMEOUT_S) as answer:
            data = answer.read()
    except (OSError, ValueError) as error:
        raise OSError(
            _where_to_put(filename, work_directory, source_url, error)
        ) from None
    with GFile(path, "wb") as file:
        file.write(data)
    print("Successfully downloaded", filename, len(data), "bytes.")
    return path


def _where_to_put(name: str, folder: str, url: str, error: Exception) -> str:
    reason = getattr(error, "reason", error)
    missing = [f for f in _FILES if not filesystem.exists(filesystem.join(folder, f))]
    listed = ", ".join(missing if name in missing else [name])
    return (
        f"{name} is not in {os.path.abspath(folder)!r}, and {url} cannot be read "
        f"({reason}). Put these files there, from any copy of MNIST (packed by gzip or "
        f"not): {listed}"
    )


def _open(path: str) -> IO[bytes]:
    """An idx file packed by gzip; one that is not packed is packed first."""
    file: Any = GFile(path, "rb")
    if path.endswith(".gz"):
        return file  # type: ignore[no-any-return]
    with file:
        data = file.read()
    packed = io.BytesIO(gzip.compress(data, 1))
    packed.name = path
    return packed


def read_data_sets(
    train_dir: str,
    fake_data: bool = False,
    one_hot: bool = False,
    dtype: Any = dtypes.float32,
    reshape: bool = True,
    validation_size: int = 5000,
    seed: int | None = None,
    source_url: str = DEFAULT_SOURCE_URL,
) -> Datasets:
    """Reads MNIST's four files from a folder; those that are not there are fetched.

    Args:
      train_dir: the folder, for `train-images-idx3-ubyte.gz`,
        `train-labels-idx1-ubyte.gz`, `t10k-images-idx3-ubyte.gz` and
        `t10k-labels-idx1-ubyte.gz`.
      fake_data, one_hot, dtype, reshape, seed: as for `DataSet`.
      validation_size: how many of the first training examples are for validation.
      source_url: where files that are not there are fetched from.

    Raises:
      OSError: a file is not there and cannot be fetched.
      ValueError: a file is no such file, or there are fewer training examples.
    """
    options: dict[str, Any] = {"dtype": dtype, "reshape": reshape, "seed": seed}
    if fake_data:
        train, validation, test = (
            DataSet([], [], fake_data=True, one_hot=one_hot, dtype=dtype, seed=seed)
            for _ in range(3)
        )
        return Datasets(train, validation, test)
    url = source_url or DEFAULT_SOURCE_URL
    arrays = []
    for name in _FILES:
        with _open(maybe_download(name, train_dir, url + name)) as file:
            images = name in (TRAIN_IMAGES, TEST_IMAGES)
            arrays.append(
                extract_images(file) if images else extract_labels(file, one_hot)
            )
    train_images, train_labels, test_images, test_labels = arrays
    if not 0 <= validation_size <= len(train_images):
        raise ValueError(
            f"Validation size should be between 0 and {len(train_images)}. Received: "
            f"{validation_size}."
        )
    size = validation_size
    return Datasets(
        DataSet(train_images[size:], train_labels[size:], **options),
        DataSet(train_images[:size], train_labels[:size], **options),
        DataSet(test_images, test_labels, **options),
    )


def load_mnist(train_dir: str = "MNIST-data") -> Datasets:
    """`read_data_sets` of a folder."""
    return read_data_sets(train_dir)
