"""Datasets that TensorFlow's libraries and tests make, and programs seldom."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

from tensorloom.data import option_nodes, specs
from tensorloom.data.dataset import Dataset, DatasetSpec
from tensorloom.data.dataset_classes import new_dataset
from tensorloom.data.structured_function import StructuredFunction
from tensorloom.data.transformations import make, tensor
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.attr_value import NameAttrList
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.framework.types.tensor_shape import TensorShape

if TYPE_CHECKING:
    from tensorloom.framework.graph.tensor import Tensor

COMPRESSION_GZIP: Final = "GZIP"
COMPRESSION_NONE: Final = None

# From a dataset to a dataset, for `Dataset.apply`.
Transformation = Callable[[Dataset], Dataset]


def matching_files_dataset(patterns: Any) -> Dataset:
    """The names of the files that patterns match, a string scalar each."""
    names = tensor(patterns, dtypes.string, "patterns")
    variant = apply_op("MatchingFilesDataset", patterns=names)
    return new_dataset(variant, specs.TensorSpec([], dtypes.string))


def choose_fastest_dataset(
    datasets: Sequence[Dataset], num_experiments: int = 10
) -> Dataset:
    """The elements of that one of several equal datasets which gives them first.

    Args:
      num_experiments: how many elements are taken from all of them before the choice.
    """
    inputs = list(datasets)
    return make(
        "ChooseFastestDataset",
        inputs[0].element_spec,
        inputs,
        input_datasets=[dataset._variant_tensor for dataset in inputs],
        num_experiments=num_experiments,
    )


def choose_fastest_branch_dataset(
    input_dataset: Dataset,
    functions: Sequence[Callable[[Dataset], Dataset]],
    ratio_numerator: int = 1,
    ratio_denominator: int = 1,
    num_elements_per_branch: int | None = None,
) -> Dataset:
    """What the fastest of several equal functions makes of a dataset.

    Args:
      ratio_numerator, ratio_denominator: elements taken in, for elements given out.
      num_elements_per_branch: how many each gives before the choice.

    Raises:
      ValueError: the ratio is not positive.
    """
    of_dataset = DatasetSpec(input_dataset.element_spec)
    branches = [
        StructuredFunction(function, "ChooseFastestV2", of_dataset)
        for function in functions
    ]
    if ratio_numerator <= 0 or ratio_denominator <= 0:
        raise ValueError("ratio must be positive.")
    return make(
        "ChooseFastestBranchDataset",
        branches[0].output_structure.element_spec,
        [input_dataset],
        input_dataset=input_dataset._variant_tensor,
        ratio_numerator=ratio_numerator,
        ratio_denominator=ratio_denominator,
        other_arguments=[found for branch in branches for found in branch.captured],
        num_elements_per_branch=num_elements_per_branch or 10 * ratio_denominator,
        branches=[branch.attr for branch in branches],
        other_arguments_lengths=[len(branch.captured) for branch in branches],
    )


def set_stats_aggregator(
    stats_aggregator: Any, prefix: Any = "", counter_prefix: Any = ""
) -> Transformation:
    """The same elements; their statistics go to an aggregator.

    Args:
      prefix: before the names of all statistics.
      counter_prefix: before the names of counters.
    """

    def apply(dataset: Dataset) -> Dataset:
        variant = option_nodes.measured(
            dataset._variant_tensor,
            stats_aggregator,
            prefix,
            counter_prefix,
            dataset._flat_structure,
        )
        return new_dataset(variant, dataset.element_spec, [dataset])

    return apply


def sleep(sleep_microseconds: Any) -> Transformation:
    """The same elements, each after a pause."""
    return lambda dataset: dataset._same(
        "SleepDataset", sleep_microseconds=sleep_microseconds
    )


def snapshot(
    path: Any,
    compression: str | None = None,
    reader_path_prefix: str | None = None,
    writer_path_prefix: str | None = None,
    shard_size_bytes: int | None = None,
    pending_snapshot_expiry_seconds: int | None = None,
    num_reader_threads: int | None = None,
    reader_buffer_size: int | None = None,
    num_writer_threads: int | None = None,
    writer_buffer_size: int | None = None,
) -> Transformation:
    """The same elements, written to a folder at first and read from there later.

    Args:
      path: of the folder.
      compression: "GZIP", or None.
      reader_path_prefix, writer_path_prefix: stand before the path.
      shard_size_bytes: of a file, 10 GiB by default.
      pending_snapshot_expiry_seconds: when a snapshot that nobody finished is old.
      num_reader_threads, reader_buffer_size: how it is read.
      num_writer_threads, writer_buffer_size: how it is written.
    """
    numbers = {
        "shard_size_bytes": shard_size_bytes,
        "pending_snapshot_expiry_seconds": pending_snapshot_expiry_seconds,
        "num_reader_threads": num_reader_threads,
        "reader_buffer_size": reader_buffer_size,
        "num_writer_threads": num_writer_threads,
        "writer_buffer_size": writer_buffer_size,
    }
    return lambda dataset: dataset._same(
        "SnapshotDataset",
        path=tensor(path, dtypes.string, "path"),
        compression=compression or "",
        reader_path_prefix=reader_path_prefix or "",
        writer_path_prefix=writer_path_prefix or "",
        **{name: -1 if value is None else value for name, value in numbers.items()},
    )


class PrivateThreadPool:
    """Threads of a pipeline's own.

    Args:
      num_threads: how many.
      display_name: of the pool.
      max_intra_op_parallelism: how many an op may take.
    """

    def __init__(
        self,
        num_threads: int,
        display_name: str | None = None,
        max_intra_op_parallelism: int = 1,
    ) -> None:
        self._resource: Tensor = apply_op(
            "ThreadPoolHandle",
            num_threads=num_threads,
            max_intra_op_parallelism=max_intra_op_parallelism,
            display_name=display_name or "",
        )


def override_threadpool(dataset: Dataset, thread_pool: PrivateThreadPool) -> Dataset:
    """The same elements, made by the threads of a pool."""
    return dataset._same("ThreadPoolDataset", thread_pool=thread_pool._resource)


def map_defun(
    fn: Any,
    elems: list[Any],
    output_dtypes: list[Any],
    output_shapes: list[Any],
    max_intra_op_parallelism: int = 1,
) -> list[Tensor]:
    """A function of the slices of tensors along dimension 0, stacked.

    Args:
      fn: a `tf.function` with an input signature, of one slice of each tensor.
      elems: tensors of the same first size.
      output_dtypes, output_shapes: of what the function gives for one slice.

    Raises:
      ValueError: what must be a list is none.
    """
    for name, value, of in (
        ("elems", elems, "tensors"),
        ("output_dtypes", output_dtypes, "`tf.DType` objects"),
        ("output_shapes", output_shapes, "`tf.TensorShape` objects"),
    ):
        if not isinstance(value, list):
            raise ValueError(f"`{name}` must be a list of {of}.")
    concrete = fn.get_concrete_function()
    concrete.add_to_graph()
    outputs: list[Tensor] = apply_op(
        "MapDefun",
        arguments=[convert_to_tensor(each) for each in elems],
        captured_inputs=concrete.captured_inputs,
        output_types=output_dtypes,
        output_shapes=[TensorShape(shape) for shape in output_shapes],
        f=NameAttrList(concrete.name.decode()),
        max_intra_op_parallelism=max_intra_op_parallelism,
    )
    return outputs
