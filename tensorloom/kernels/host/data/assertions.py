"""AssertNextDataset: which transformations come after it, as the pipeline runs.

Names are those of TensorFlow 1.15's iterators: `Map`, `BatchV2`, `FiniteTake`,
`Zip[0]` for the first input of a zip. An iterator compares them when it is made; of
datasets that functions make for an element, nothing is compared.
"""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

from tensorloom.framework.errors import invalid_argument
from tensorloom.kernels.host.data.pipeline.dataset import (
    Dataset,
    as_dataset,
    dataset_kernel,
)

if TYPE_CHECKING:
    from tensorloom.framework.registry.op_kernel import Compute, OpKernelConstruction


def check_next(dataset: Dataset, after: tuple[str, ...] = ()) -> None:
    """Compares what AssertNextDatasets in a pipeline expect with what comes next.

    Args:
      after: the transformations after the dataset, the next one first.

    Raises:
      errors.InvalidArgumentError: another one comes, or fewer come.
    """
    for name, expected in reversed(dataset.handed_on):
        if expected is not None:
            _compare(expected, after)
        after = (name, *after)
    own = dataset.iterator_name
    if not own:
        return
    for index, source in enumerate(dataset.inputs):
        name = own if len(dataset.inputs) == 1 else f"{own}[{index}]"
        check_next(source, (name, *after))


def _compare(expected: tuple[str, ...], found: tuple[str, ...]) -> None:
    if len(expected) > len(found):
        raise invalid_argument(
            f"Asserted next {len(expected)} transformations but encountered only "
            f"{len(found)}."
        )
    for offset, (wanted, name) in enumerate(zip(expected, found, strict=False)):
        if wanted != name:
            raise invalid_argument(
                f"Asserted {wanted} transformation at offset {offset} but encountered "
                f"{name} transformation instead."
            )


def _handing_on(
    dataset: Dataset, name: str, expected: tuple[str, ...] | None = None
) -> Dataset:
    """The dataset, with one more node that hands it on as it is."""
    made = copy.copy(dataset)
    made.handed_on = (*dataset.handed_on, (name, expected))
    return made


@dataset_kernel("AssertNextDataset", "ExperimentalAssertNextDataset")
def assert_next_dataset(c: OpKernelConstruction) -> Compute:
    """The same dataset; iterators check which transformations come next."""

    def compute(source: Any, transformations: Any) -> Dataset:
        expected = tuple(name.decode() for name in transformations.ravel().tolist())
        return _handing_on(as_dataset(source), "AssertNext", expected)

    return compute


@dataset_kernel("ModelDataset")
def model_dataset(c: OpKernelConstruction) -> Compute:
    """The same dataset: threads and buffers are chosen while it runs, always."""
    return lambda source: _handing_on(as_dataset(source), "Model")


@dataset_kernel("NonSerializableDataset", "ExperimentalNonSerializableDataset")
def non_serializable_dataset(c: OpKernelConstruction) -> Compute:
    """The same dataset."""
    return lambda source: _handing_on(as_dataset(source), "NonSerializable")
