"""`tf.data.experimental`: transformations for `Dataset.apply`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tensorloom.data import specs
from tensorloom.data.dataset import Dataset, DatasetV1Adapter
from tensorloom.data.structured_function import StructuredFunction
from tensorloom.data.transformations import (
    batched_structure,
    boolean,
    check_predicate,
    int64,
    make,
    make_with,
    seeds,
    tensor,
)
from tensorloom.framework.export import export
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.framework.types.tensor_shape import TensorShape

Transformation = Callable[[Dataset], Dataset]


@export("data.experimental.map_and_batch")
def map_and_batch(
    map_func: Callable[..., Any],
    batch_size: Any,
    num_parallel_batches: int | None = None,
    drop_remainder: Any = False,
    num_parallel_calls: Any = None,
) -> Transformation:
    """Map and batch in one; the functions of several elements run at a time.

    Raises:
      ValueError: both kinds of parallelism are given.
    """
    if num_parallel_batches is None and num_parallel_calls is None:
        num_parallel_calls = batch_size
    elif num_parallel_batches is not None and num_parallel_calls is None:
        num_parallel_calls = batch_size * num_parallel_batches
    elif num_parallel_batches is not None:
        raise ValueError(
            "The `num_parallel_batches` and `num_parallel_calls` arguments are "
            "mutually exclusive."
        )

    def apply(dataset: Dataset) -> Dataset:
        function = StructuredFunction(
            map_func, "tf.data.experimental.map_and_batch()", dataset.element_spec
        )
        size = int64(batch_size, "batch_size")
        calls = int64(num_parallel_calls, "num_parallel_calls")
        drop = boolean(drop_remainder, "drop_remainder")
        structure = batched_structure(function.output_structure, size, drop)
        return make_with(
            "MapAndBatchDataset",
            function,
            structure,
            dataset,
            batch_size=size,
            num_parallel_calls=calls,
            drop_remainder=drop,
            preserve_cardinality=True,
        )

    return apply


@export("data.experimental.map_and_batch_with_legacy_function")
def map_and_batch_with_legacy_function(
    map_func: Callable[..., Any],
    batch_size: Any,
    num_parallel_batches: int | None = None,
    drop_remainder: Any = False,
    num_parallel_calls: Any = None,
) -> Transformation:
    """`map_and_batch`."""
    return map_and_batch(
        map_func, batch_size, num_parallel_batches, drop_remainder, num_parallel_calls
    )


@export("data.experimental.shuffle_and_repeat")
def shuffle_and_repeat(
    buffer_size: Any, count: Any = None, seed: Any = None
) -> Transformation:
    """Shuffles and repeats; a round may begin while the last is drawn from."""

    def apply(dataset: Dataset) -> Dataset:
        size = int64(buffer_size, "buffer_size")
        times = int64(-1 if count is None else count, "count")
        first, second = seeds(seed)
        return dataset._same(
            "ShuffleAndRepeatDataset",
            buffer_size=size,
            count=times,
            seed=first,
            seed2=second,
        )

    return apply


@export("data.experimental.ignore_errors")
def ignore_errors() -> Transformation:
    """Leaves out the elements that fail."""
    return lambda dataset: dataset._same("IgnoreErrorsDataset")


@export("data.experimental.unbatch")
def unbatch() -> Transformation:
    """The slices of the elements along dimension 0."""
    return lambda dataset: dataset.unbatch()


@export("data.experimental.unique")
def unique() -> Transformation:
    """Each element once.

    Raises:
      TypeError: the elements are not integers or strings.
    """

    def apply(dataset: Dataset) -> Dataset:
        if dataset.output_types not in (dtypes.int32, dtypes.int64, dtypes.string):
            raise TypeError(
                "`tf.data.experimental.unique()` only supports inputs with a single "
                "`tf.int32`, `tf.int64`, or `tf.string` component."
            )
        return dataset._same("UniqueDataset")

    return apply


@export("data.experimental.take_while")
def take_while(predicate: Callable[..., Any]) -> Transformation:
    """The elements before a function becomes false.

    Raises:
      ValueError: it does not return a boolean scalar.
    """

    def apply(dataset: Dataset) -> Dataset:
        function = StructuredFunction(
            predicate, "tf.data.experimental.take_while()", dataset.element_spec
        )
        check_predicate(function)
        return make_with(
            "TakeWhileDataset",
            function,
            dataset.element_spec,
            dataset,
            attr="predicate",
        )

    return apply


@export("data.experimental.enumerate_dataset")
def enumerate_dataset(start: int = 0) -> Transformation:
    """Pairs of a number and an element."""
    return lambda dataset: dataset.enumerate(start)


@export("data.experimental.dense_to_sparse_batch")
def dense_to_sparse_batch(batch_size: Any, row_shape: Any) -> Transformation:
    """Batches of dense elements of different sizes as sparse tensors.

    Args:
      row_shape: [n], the shape that an element has at most; -1 or None for any size.
    """

    def apply(dataset: Dataset) -> Dataset:
        if not isinstance(dataset.output_types, dtypes.DType):
            raise TypeError(
                "`dense_to_sparse_batch` requires an input dataset with a single "
                "component."
            )
        shape = TensorShape(row_shape)
        sizes = [-1 if d is None else d for d in shape.as_list()]
        structure = specs.SparseTensorSpec(
            TensorShape([None]).concatenate(shape), dataset.output_types
        )
        return make(
            "DenseToSparseBatchDataset",
            structure,
            [dataset],
            input_dataset=dataset._variant_tensor,
            batch_size=int64(batch_size, "batch_size"),
            row_shape=convert_to_tensor(sizes, dtype=dtypes.int64),
        )

    return apply


@export("data.experimental.RandomDataset")
class RandomDatasetV1(DatasetV1Adapter):
    """Endless random int64 numbers below 2^32."""

    def __init__(self, seed: Any = None) -> None:
        first, second = seeds(seed)
        spec = specs.TensorSpec([], dtypes.int64)
        variant = apply_op(
            "RandomDataset",
            seed=first,
            seed2=second,
            output_types=[dtypes.int64],
            output_shapes=[TensorShape([])],
        )
        super().__init__(variant, spec)


# --- devices and statistics -----------------------------------------------------


@export("data.experimental.prefetch_to_device")
def prefetch_to_device(device: Any, buffer_size: Any = None) -> Transformation:
    """Makes elements ahead. Elements stay in host memory until a device needs them."""
    return lambda dataset: dataset.prefetch(buffer_size)


@export("data.experimental.copy_to_device")
def copy_to_device(target_device: Any, source_device: Any = "/cpu:0") -> Transformation:
    """The same elements: a device gets them when they are used there."""
    return lambda dataset: DatasetV1Adapter(
        dataset._variant_tensor, dataset.element_spec, [dataset]
    )


@export("data.experimental.bytes_produced_stats")
def bytes_produced_stats(tag: Any) -> Transformation:
    """The same elements; their bytes have a name."""
    return lambda dataset: dataset._same(
        "BytesProducedStatsDataset", tag=tensor(tag, dtypes.string, "tag")
    )


@export("data.experimental.latency_stats")
def latency_stats(tag: Any) -> Transformation:
    """The same elements; their latencies have a name."""
    return lambda dataset: dataset._same(
        "LatencyStatsDataset", tag=tensor(tag, dtypes.string, "tag")
    )
