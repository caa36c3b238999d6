"""Examples in pandas data frames."""

from __future__ import annotations

import sys
from importlib import util
from typing import Any, Final

from tensorloom.estimator.inputs import pandas_io as core
from tensorloom.framework.export import export, export_value

HAS_PANDAS: Final = util.find_spec("pandas") is not None
export_value(HAS_PANDAS, "contrib.learn.io.HAS_PANDAS")

# Of the columns that models can be given, what they become.
PANDAS_DTYPES: Final = {
    **{f"{sign}int{bits}": "int" for bits in (8, 16, 32, 64) for sign in ("", "u")},
    **{f"float{bits}": "float" for bits in (16, 32, 64)},
    "bool": "i",
}


def _is_frame(data: Any) -> bool:
    """Whether it is a pandas data frame; pandas is not loaded to know that."""
    pandas = sys.modules.get("pandas")
    return pandas is not None and isinstance(data, pandas.DataFrame)


def _check_types(data: Any, what: str) -> None:
    bad = [
        f"'{column}' type='{data[column].dtype.name}'"
        for column in data
        if data[column].dtype.name not in PANDAS_DTYPES
    ]
    if bad:
        raise ValueError(
            f"Data types for extracting {what} must be int, float, or bool. "
            f"Found: {', '.join(bad)}"
        )


@export("contrib.learn.io.pandas_input_fn")
def pandas_input_fn(
    x: Any,
    y: Any = None,
    batch_size: int = 128,
    num_epochs: int | None = 1,
    shuffle: bool = True,
    queue_capacity: int = 1000,
    num_threads: int = 1,
    target_column: str = "target",
) -> Any:
    """`tf.estimator.inputs.pandas_input_fn`, which here shuffles unless told not to."""
    return core.pandas_input_fn(
        x=x,
        y=y,
        batch_size=batch_size,
        shuffle=shuffle,
        num_epochs=num_epochs,
        queue_capacity=queue_capacity,
        num_threads=num_threads,
        target_column=target_column,
    )


@export("contrib.learn.extract_pandas_data", "contrib.learn.io.extract_pandas_data")
def extract_pandas_data(data: Any) -> Any:
    """The values of a data frame as floats; what is no data frame comes back as it is.

    Raises:
      ValueError: a column is of no number and no bool.
    """
    if not _is_frame(data):
        return data
    _check_types(data, "pandas data")
    return data.values.astype("float")


@export("contrib.learn.extract_pandas_matrix", "contrib.learn.io.extract_pandas_matrix")
def extract_pandas_matrix(data: Any) -> Any:
    """The values of a data frame; what is no data frame comes back as it is."""
    return data.to_numpy() if _is_frame(data) else data


@export("contrib.learn.extract_pandas_labels", "contrib.learn.io.extract_pandas_labels")
def extract_pandas_labels(labels: Any) -> Any:
    """The values of a data frame of one column; other things come back as they are.

    Raises:
      ValueError: there are more columns, or it is of no number and no bool.
    """
    if not _is_frame(labels):
        return labels
    if len(labels.columns) > 1:
        raise ValueError("Only one column for labels is allowed.")
    _check_types(labels, "labels")
    return labels.values
