"""Tables in CSV files, and files that are fetched when they are missing."""

from __future__ import annotations

import csv
import functools
import os
import random
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np

from tensorloom.framework.export import export, export_value
from tensorloom.storage.files import gfile
from tensorloom.storage.files.file_io import GFile

_DATA: Final = Path(__file__).parent / "data"
# ETIMEDOUT on Linux, which TensorFlow tries again on every system.
_RETRIABLE_ERRNOS: Final = {110}
_HERE: Final = "contrib.learn.datasets.base."


class Dataset(NamedTuple):
    """Features [examples, features] and targets [examples]."""

    data: Any
    target: Any


class Datasets(NamedTuple):
    """What a model is trained with, chosen by and judged by."""

    train: Any
    validation: Any
    test: Any


export_value(Dataset, _HERE + "Dataset")
export_value(Datasets, _HERE + "Datasets")


@export(_HERE + "load_csv_with_header")
def load_csv_with_header(
    filename: Any, target_dtype: Any, features_dtype: Any, target_column: int = -1
) -> Dataset:
    """Reads a CSV file whose first line begins with the numbers of rows and features.

    Args:
      filename: the file.
      target_dtype: NumPy type of the targets.
      features_dtype: NumPy type of the features.
      target_column: which column holds the targets.
    """
    with GFile(filename) as file:
        rows = csv.reader(file)
        header = next(rows)
        examples, features = int(header[0]), int(header[1])
        data = np.zeros((examples, features), dtype=features_dtype)
        target = np.zeros((examples,), dtype=target_dtype)
        for index, row in enumerate(rows):
            target[index] = np.asarray(row.pop(target_column), dtype=target_dtype)
            data[index] = np.asarray(row, dtype=features_dtype)
    return Dataset(data=data, target=target)


@export(_HERE + "load_csv_without_header")
def load_csv_without_header(
    filename: Any, target_dtype: Any, features_dtype: Any, target_column: int = -1
) -> Dataset:
    """Reads a CSV file of rows alone; arguments as in `load_csv_with_header`."""
    data, target = [], []
    with GFile(filename) as file:
        for row in csv.reader(file):
            target.append(row.pop(target_column))
            data.append(np.asarray(row, dtype=features_dtype))
    return Dataset(data=np.array(data), target=np.array(target, dtype=target_dtype))


@export(_HERE + "shrink_csv")
def shrink_csv(filename: str, ratio: int) -> None:
    """Writes every `ratio`-th row of `NAME.csv` into `NAME_small.csv`."""
    small = filename.replace(".", "_small.")
    with GFile(small, "w") as out, GFile(filename) as file:
        writer = csv.writer(out)
        for index, row in enumerate(csv.reader(file)):
            if index % ratio == 0:
                writer.writerow(row)


@export("contrib.learn.datasets.load_iris", _HERE + "load_iris")
def load_iris(data_path: Any = None) -> Dataset:
    """The 150 irises of Fisher: four lengths each, and which of three species.

    Args:
      data_path: a CSV file to read in place of the one that comes with the package.
    """
    path = data_path if data_path is not None else str(_DATA / "iris.csv")
    return load_csv_with_header(path, target_dtype=int, features_dtype=float)


@export("contrib.learn.datasets.load_boston", _HERE + "load_boston")
def load_boston(data_path: Any = None) -> Dataset:
    """The 506 house prices of Boston with 13 features each.

    Args:
      data_path: a CSV file whose header begins with `506,13`. Without it
        `boston_house_prices.csv` is read in the directory that the environment variable
        `TF_EXP_BASE_DIR` names, or in the current one.

    Raises:
      FileNotFoundError: it is not there: the data do not come with the package.
    """
    if data_path is None:
        directory = os.environ.get("TF_EXP_BASE_DIR", "")
        data_path = os.path.join(directory, "boston_house_prices.csv")
        if not gfile.exists(data_path):
            raise FileNotFoundError(
                "The house prices of Boston do not come with tensorloom. Put "
                "boston_house_prices.csv of TensorFlow 1.15 or scikit-learn 1.1 at "
                f"{os.path.abspath(data_path)}, or pass its path: "
                "load_boston(data_path=...)"
            )
    return load_csv_with_header(data_path, target_dtype=float, features_dtype=float)


@export(_HERE + "retry")
def retry(
    initial_delay: float,
    max_delay: float,
    factor: float = 2.0,
    jitter: float = 0.25,
    is_retriable: Callable[[Exception], bool] | None = None,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A decorator that calls a function again when it fails, after growing pauses.

    Args:
      initial_delay: the first pause in seconds.
      max_delay: longer pauses are not made; then the function is called once more.
      factor: each pause is so many times the one before.
      jitter: pauses are longer or shorter by up to this part.
      is_retriable: which errors are worth it. The others are raised at once. All are,
        and without a pause, when None.

    Raises:
      ValueError: the factor is under 1, or the jitter not under 1.
    """
    if factor < 1:
        raise ValueError(f"factor must be >= 1; was {factor:f}")
    if jitter >= 1:
        raise ValueError(f"jitter must be < 1; was {jitter:f}")

    def delays() -> Iterator[float]:
        delay = initial_delay
        while delay <= max_delay:
            yield delay * random.uniform(1 - jitter, 1 + jitter)
            delay *= factor

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            for delay in delays():
                try:
                    return function(*args, **kwargs)
                except Exception as error:
                    if is_retriable is None:
                        continue
                    if not is_retriable(error):
                        raise
                    time.sleep(delay)
            return function(*args, **kwargs)

        return call

    return decorate


def _timed_out(error: Exception) -> bool:
    return isinstance(error, OSError) and error.errno in _RETRIABLE_ERRNOS


@export(_HERE + "urlretrieve_with_retry")
@retry(initial_delay=1.0, max_delay=16.0, is_retriable=_timed_out)
def urlretrieve_with_retry(url: str, filename: Any = None) -> Any:
    """`urllib.request.urlretrieve`, tried again when it times out."""
    return urllib.request.urlretrieve(url, filename)


@export(_HERE + "maybe_download")
def maybe_download(filename: str, work_directory: str, source_url: str) -> str:
    """The path of a file in a directory, fetched from `source_url` if it is missing."""
    if not gfile.exists(work_directory):
        gfile.makedirs(work_directory)
    path = os.path.join(work_directory, filename)
    if not gfile.exists(path):
        fetched, _ = urlretrieve_with_retry(source_url)
        gfile.copy(fetched, path)
        with GFile(path) as file:
            print("Successfully downloaded", filename, file.size(), "bytes.")
    return path
