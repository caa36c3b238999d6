"""Transformations about how a dataset runs, which leave its elements as they are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tensorloom.data.transformations import tensor
from tensorloom.framework.types import dtypes

# From a dataset to a dataset, for `Dataset.apply`.
Transformation = Callable[[Any], Any]


def assert_next(transformations: Sequence[str]) -> Transformation:
    """The same elements; an iterator fails unless these transformations follow.

    They are compared after the pipeline's optimizations. Functions that make datasets
    (`flat_map`, ...) are not looked into.

    Args:
      transformations: names of TensorFlow's iterators: "Map", "BatchV2", "FiniteTake",
        "Zip[0]" for the first input of a zip, "Model" at last, ...
    """
    return lambda dataset: dataset._same(
        "ExperimentalAssertNextDataset",
        transformations=tensor(transformations, dtypes.string, "transformations"),
    )


def model() -> Transformation:
    """The same elements; how many run at a time may be tuned."""
    return lambda dataset: dataset._same("ModelDataset")


def non_serializable() -> Transformation:
    """The same elements, of a dataset that is not to be saved."""
    return lambda dataset: dataset._same("ExperimentalNonSerializableDataset")


def optimize(optimizations: Sequence[str] | None = None) -> Transformation:
    """The same elements of a rewritten dataset.

    Args:
      optimizations: names of rewrites; none if None. Whoever runs it raises an
        InternalError at an unknown one.
    """
    names = list(optimizations or [])
    return lambda dataset: dataset._same(
        "OptimizeDataset", optimizations=tensor(names, dtypes.string, "optimizations")
    )
