"""DBpedia: what articles are about, by their first lines."""

from __future__ import annotations

import os
import tarfile
from typing import Any, Final

import numpy as np

from tensorloom.contrib.learn.datasets import base
from tensorloom.framework.export import export, export_value
from tensorloom.storage.files import gfile

DBPEDIA_URL: Final = (
    "https://github.com/le-scientifique/torchDatasets/raw/master/dbpedia_csv.tar.gz"
)
_HERE: Final = "contrib.learn.datasets.text_datasets."
_SMALL: Final = 1000

export_value(DBPEDIA_URL, _HERE + "DBPEDIA_URL")


@export(_HERE + "maybe_download_dbpedia")
def maybe_download_dbpedia(data_dir: str) -> None:
    """Fetches and unpacks DBpedia into `data_dir/dbpedia_csv`, if it is not there."""
    files = (os.path.join(data_dir, "dbpedia_csv", name) for name in _FILES)
    if not all(gfile.exists(file) for file in files):
        archive = base.maybe_download("dbpedia_csv.tar.gz", data_dir, DBPEDIA_URL)
        with tarfile.open(archive, "r:*") as packed:
            packed.extractall(data_dir, filter="data")


_FILES: Final = ("train.csv", "test.csv")


@export(_HERE + "load_dbpedia")
def load_dbpedia(
    size: str = "small", test_with_fake_data: bool = False
) -> base.Datasets:
    """DBpedia as `train` and `test`: [examples, 2] texts and a class each.

    The files are in `dbpedia_data` below the directory that the environment variable
    `TF_EXP_BASE_DIR` names, and fetched if they are not.

    Args:
      size: "small": every thousandth example.
      test_with_fake_data: as in TensorFlow, which has files of its own for it; they do
        not come with this package.

    Raises:
      FileNotFoundError: `test_with_fake_data` is true.
    """
    if test_with_fake_data:
        raise FileNotFoundError(
            "The sample of DBpedia that TensorFlow tests itself with does not come "
            "with tensorloom: use test_with_fake_data=False"
        )
    data_dir = os.path.join(os.environ.get("TF_EXP_BASE_DIR", ""), "dbpedia_data")
    maybe_download_dbpedia(data_dir)
    parts = []
    for name in _FILES:
        path = os.path.join(data_dir, "dbpedia_csv", name)
        if size == "small":
            base.shrink_csv(path, _SMALL)
            path = path.replace(name, name.replace(".csv", "_small.csv"))
        parts.append(_read(path))
    return base.Datasets(train=parts[0], validation=None, test=parts[1])


def _read(path: str) -> Any:
    return base.load_csv_without_header(
        path, target_dtype=np.int32, features_dtype=str, target_column=0
    )
