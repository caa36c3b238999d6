"""Examples in dask data frames."""

from __future__ import annotations

import sys
from importlib import util
from typing import Any, Final

from tensorloom.framework.export import export, export_value

HAS_DASK: Final = util.find_spec("dask") is not None
export_value(HAS_DASK, "contrib.learn.io.HAS_DASK")


def is_dask(data: Any) -> bool:
    """Whether it is a dask series or data frame; dask is not loaded to know that."""
    frames = sys.modules.get("dask.dataframe")
    return frames is not None and isinstance(data, frames.Series | frames.DataFrame)


def _with_one_index(frame: Any) -> Any:
    """The frame, whose rows are numbered through all of its partitions."""
    lengths = frame.map_partitions(len).compute()
    starts = [sum(lengths[:part]) for part in range(len(lengths))]

    def renumbered(part: Any, partition_info: Any = None) -> Any:
        start = starts[partition_info["number"]] if partition_info else 0
        part = part.copy()
        part.index += start
        return part

    numbered = frame.map_partitions(renumbered, meta=frame._meta)
    numbered.divisions = (*starts, sum(lengths))
    return numbered


@export("contrib.learn.extract_dask_data", "contrib.learn.io.extract_dask_data")
def extract_dask_data(data: Any) -> Any:
    """A dask series or frame with divisions; other things come back as they are."""
    return _with_one_index(data) if is_dask(data) else data


@export("contrib.learn.extract_dask_labels", "contrib.learn.io.extract_dask_labels")
def extract_dask_labels(labels: Any) -> Any:
    """A dask frame of one column, with divisions; others come back as they are.

    Raises:
      ValueError: there are more columns.
    """
    if not is_dask(labels):
        return labels
    if len(getattr(labels, "columns", (labels,))) > 1:
        raise ValueError("Only one column for labels is allowed.")
    return _with_one_index(labels)
