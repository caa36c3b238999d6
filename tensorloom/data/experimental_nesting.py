"""`tf.data.experimental`: several datasets, groups, states."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tensorloom.data import nest, specs
from tensorloom.data.dataset import Dataset, DatasetSpec
from tensorloom.data.experimental import RandomDatasetV1, Transformation
from tensorloom.data.reduction import relaxed_function
from tensorloom.data.structured_function import StructuredFunction
from tensorloom.data.transformations import boolean, inner_structure, int64, make
from tensorloom.data.variants import normalize_element
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import name_scope
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.framework.types.tensor_shape import TensorShape
from tensorloom.ops.array import array_ops
from tensorloom.ops.math import math_ops


@export("data.experimental.parallel_interleave")
def parallel_interleave(
    map_func: Callable[..., Any],
    cycle_length: Any,
    block_length: Any = 1,
    sloppy: Any = False,
    buffer_output_elements: Any = None,
    prefetch_input_elements: Any = None,
) -> Transformation:
    """Interleaves the datasets that a function gives, their elements made ahead."""
    return lambda dataset: interleaved_in_parallel(
        dataset,
        map_func,
        cycle_length=cycle_length,
        block_length=block_length,
        sloppy=sloppy,
        buffer_output_elements=buffer_output_elements,
        prefetch_input_elements=prefetch_input_elements,
    )


def interleaved_in_parallel(
    dataset: Dataset,
    map_func: Callable[..., Any],
    *,
    cycle_length: Any,
    block_length: Any,
    sloppy: Any,
    buffer_output_elements: Any,
    prefetch_input_elements: Any,
) -> Dataset:
    """What `parallel_interleave` makes of a dataset."""
    function = StructuredFunction(
        map_func,
        "tf.data.experimental.parallel_interleave()",
        dataset.element_spec,
    )
    outputs, inputs = buffer_output_elements, prefetch_input_elements
    return make(
        "ParallelInterleaveDataset",
        inner_structure(function),
        [dataset],
        input_dataset=dataset._variant_tensor,
        other_arguments=function.captured,
        f=function.attr,
        cycle_length=int64(cycle_length, "cycle_length"),
        block_length=int64(block_length, "block_length"),
        sloppy=boolean(sloppy, "sloppy"),
        buffer_output_elements=int64(
            2 * block_length if outputs is None else outputs, "buffer_output_elements"
        ),
        prefetch_input_elements=int64(
            2 * cycle_length if inputs is None else inputs, "prefetch_input_elements"
        ),
    )


# --- a choice among datasets ----------------------------------------------------


def directed_interleave(selector: Dataset, datasets: Sequence[Dataset]) -> Dataset:
    """Takes each element from the dataset whose number `selector` gives.

    Raises:
      TypeError: the datasets' elements differ.
    """
    first = datasets[0]
    for dataset in datasets[1:]:
        if (
            dataset.output_types != first.output_types
            or dataset.output_classes != first.output_classes
        ):
            raise TypeError("All datasets must have the same type and class.")
    structure = first.element_spec
    for dataset in datasets[1:]:
        structure = nest.map_structure(
            lambda a, b: a.most_specific_compatible_type(b),
            structure,
            dataset.element_spec,
        )
    return make(
        "DirectedInterleaveDataset",
        structure,
        [selector, *datasets],
        selector_input_dataset=selector._variant_tensor,
        data_input_datasets=[d._variant_tensor for d in datasets],
    )


def _draw(logits: Any, seed: Any) -> Any:
    from tensorloom.framework.registry.op_def_library import apply_op

    drawn = apply_op("StatelessMultinomial", logits=logits, num_samples=1, seed=seed)
    return array_ops.squeeze(drawn, axis=[0, 1])


@export("data.experimental.sample_from_datasets")
def sample_from_datasets(
    datasets: Sequence[Dataset], weights: Any = None, seed: Any = None
) -> Dataset:
    """Takes each element from a dataset chosen at random.

    Args:
      weights: float [n], or a dataset of such; equal ones by default.

    Raises:
      TypeError: the weights are no floats, or the datasets' elements differ.
      ValueError: there are more or fewer weights than datasets.
    """
    if isinstance(weights, Dataset):
        logits_dataset = weights.map(lambda *p: math_ops.log(p, name="logits"))
        pairs = Dataset.zip((logits_dataset, RandomDatasetV1(seed).batch(2)))
        return directed_interleave(pairs.map(_draw), datasets)
    logits: Any = [[1.0] * len(datasets)]
    if weights is not None:
        weights = convert_to_tensor(weights, name="weights")
        if weights.dtype not in (dtypes.float32, dtypes.float64):
            raise TypeError(
                "`weights` must be convertible to a tensor of `tf.float32` or "
                "`tf.float64` elements."
            )
        if not weights.shape.is_compatible_with([len(datasets)]):
            raise ValueError("`weights` must be a vector of length `len(datasets)`.")
        logits = array_ops.expand_dims(math_ops.log(weights, name="logits"), 0)
    if len(datasets) == 1:
        return datasets[0]
    selector = RandomDatasetV1(seed).batch(2).map(lambda seed: _draw(logits, seed))
    return directed_interleave(selector, datasets)


@export("data.experimental.choose_from_datasets")
def choose_from_datasets(
    datasets: Sequence[Dataset], choice_dataset: Dataset
) -> Dataset:
    """Takes each element from the dataset whose number `choice_dataset` gives.

    Raises:
      TypeError: the numbers are not int64 scalars.
    """
    spec = choice_dataset.element_spec
    if not (
        isinstance(spec, specs.TensorSpec)
        and spec.is_compatible_with(specs.TensorSpec([], dtypes.int64))
    ):
        raise TypeError(
            "`choice_dataset` must be a dataset of scalar `tf.int64` tensors."
        )
    return directed_interleave(choice_dataset, datasets)


# --- a state --------------------------------------------------------------------


@export("data.experimental.scan")
def scan(initial_state: Any, scan_func: Callable[..., Any]) -> Transformation:
    """A function `(state, element) -> (state, result)` of each element.

    Raises:
      TypeError: it does not return a pair, or the state changes its type.
    """

    def apply(dataset: Dataset) -> Dataset:
        state_value = normalize_element(initial_state)
        first = specs.structure_of_value(state_value)
        function, _ = relaxed_function(
            scan_func,
            "tf.data.experimental.scan()",
            first,
            lambda structure: (structure, dataset.element_spec),
            _first_of_pair,
        )
        return make(
            "ScanDataset",
            function.output_structure[1],
            [dataset],
            input_dataset=dataset._variant_tensor,
            initial_state=specs.to_tensors(first, state_value),
            other_arguments=function.captured,
            f=function.attr,
            preserve_cardinality=True,
        )

    return apply


@export("data.experimental.Counter")
def counter(start: Any = 0, step: Any = 1, dtype: Any = dtypes.int64) -> Dataset:
    """Endless numbers from `start` on."""
    with name_scope("counter"):
        first = convert_to_tensor(start, dtype=dtype, name="start")
        by = convert_to_tensor(step, dtype=dtype, name="step")
        return (
            Dataset.from_tensors(0)
            .repeat(None)
            .apply(scan(first, lambda state, _: (state + by, state)))
        )


def _first_of_pair(structure: Any) -> Any:
    if not (isinstance(structure, tuple) and len(structure) == 2):
        raise TypeError(
            "The scan function must return a pair comprising the new state and the "
            "output value."
        )
    return structure[0]


# --- groups ---------------------------------------------------------------------

_INT64 = specs.TensorSpec([], dtypes.int64)


def _key_function(
    key_func: Callable[..., Any], name: str, dataset: Dataset
) -> StructuredFunction:
    def cast(*arguments: Any) -> Any:
        return math_ops.cast(key_func(*arguments), dtypes.int64)

    # Only keys of windows may be of another integer type.
    chosen = cast if name.endswith("window()") else key_func
    function = StructuredFunction(chosen, name, dataset.element_spec)
    found = function.output_structure
    if not (isinstance(found, specs.TensorSpec) and found.is_compatible_with(_INT64)):
        raise ValueError(
            f"`key_func` must return a single tf.int64 tensor. Got {found}."
        )
    return function


@export("data.experimental.group_by_window")
def group_by_window(
    key_func: Callable[..., Any],
    reduce_func: Callable[..., Any],
    window_size: Any = None,
    window_size_func: Callable[..., Any] | None = None,
) -> Transformation:
    """Collects windows of elements with one key, and reduces each to a dataset.

    Args:
      key_func: maps an element to its key, an int64 scalar.
      reduce_func: maps a key and a window, a dataset, to a dataset.
      window_size: how many elements make a window; or
      window_size_func: maps a key to that.

    Raises:
      ValueError: neither or both of the sizes are given, or no key is returned.
      TypeError: `reduce_func` returns no dataset.
    """
    if (window_size is None) == (window_size_func is None):
        raise ValueError("Must pass either window_size or window_size_func.")

    def size_of(key: Any) -> Any:
        size = window_size if window_size_func is None else window_size_func(key)
        return math_ops.cast(size, dtypes.int64)

    def apply(dataset: Dataset) -> Dataset:
        name = "tf.data.experimental.group_by_window()"
        key = _key_function(key_func, name, dataset)
        size = StructuredFunction(size_of, name, _INT64)
        if not size.output_structure.is_compatible_with(_INT64):
            raise ValueError(
                "`window_size_func` must return a single tf.int64 scalar tensor."
            )
        window = DatasetSpec(dataset.element_spec)
        reduce = StructuredFunction(reduce_func, name, (_INT64, window))
        if not isinstance(reduce.output_structure, DatasetSpec):
            raise TypeError("`reduce_func` must return a `Dataset` object.")
        return make(
            "GroupByWindowDataset",
            reduce.output_structure.element_spec,
            [dataset],
            input_dataset=dataset._variant_tensor,
            key_func_other_arguments=key.captured,
            reduce_func_other_arguments=reduce.captured,
            window_size_func_other_arguments=size.captured,
            key_func=key.attr,
            reduce_func=reduce.attr,
            window_size_func=size.attr,
        )

    return apply


@export("data.experimental.Reducer")
class Reducer:
    """How `group_by_reducer` reduces the elements of a key."""

    def __init__(
        self,
        init_func: Callable[..., Any],
        reduce_func: Callable[..., Any],
        finalize_func: Callable[..., Any],
    ) -> None:
        self._functions = init_func, reduce_func, finalize_func

    @property
    def init_func(self) -> Callable[..., Any]:
        """Maps a key to the first state."""
        return self._functions[0]

    @property
    def reduce_func(self) -> Callable[..., Any]:
        """Maps a state and an element to the next state."""
        return self._functions[1]

    @property
    def finalize_func(self) -> Callable[..., Any]:
        """Maps the last state to the result."""
        return self._functions[2]


@export("data.experimental.group_by_reducer")
def group_by_reducer(key_func: Callable[..., Any], reducer: Reducer) -> Transformation:
    """One result for each key of the elements."""

    def apply(dataset: Dataset) -> Dataset:
        name = "tf.data.experimental.group_by_reducer()"
        key = _key_function(key_func, name, dataset)
        begin = StructuredFunction(reducer.init_func, name, _INT64)
        reduce, state = relaxed_function(
            reducer.reduce_func,
            name,
            begin.output_structure,
            lambda structure: (structure, dataset.element_spec),
        )
        finish = StructuredFunction(reducer.finalize_func, name, state)
        return make(
            "GroupByReducerDataset",
            finish.output_structure,
            [dataset],
            input_dataset=dataset._variant_tensor,
            key_func_other_arguments=key.captured,
            init_func_other_arguments=begin.captured,
            reduce_func_other_arguments=reduce.captured,
            finalize_func_other_arguments=finish.captured,
            key_func=key.attr,
            init_func=begin.attr,
            reduce_func=reduce.attr,
            finalize_func=finish.attr,
        )

    return apply


@export("data.experimental.bucket_by_sequence_length")
def bucket_by_sequence_length(
    element_length_func: Callable[..., Any],
    bucket_boundaries: Sequence[int],
    bucket_batch_sizes: Sequence[int],
    padded_shapes: Any = None,
    padding_values: Any = None,
    pad_to_bucket_boundary: bool = False,
    no_padding: bool = False,
    drop_remainder: bool = False,
) -> Transformation:
    """Batches of elements of similar length.

    Args:
      element_length_func: maps an element to its length, an int32 scalar.
      bucket_boundaries: upper limits of the buckets' lengths, ascending.
      bucket_batch_sizes: the batch size of each bucket; one more than limits.

    Raises:
      ValueError: the numbers of limits and sizes do not fit.
    """
    if len(bucket_batch_sizes) != len(bucket_boundaries) + 1:
        raise ValueError(
            "len(bucket_batch_sizes) must equal len(bucket_boundaries) + 1"
        )
    sizes = np.array(bucket_batch_sizes, np.int64)
    lower = [np.iinfo(np.int32).min, *bucket_boundaries]
    upper = [*bucket_boundaries, np.iinfo(np.int32).max]

    def bucket_of(*arguments: Any) -> Any:
        length = element_length_func(*arguments)
        fits = math_ops.logical_and(
            math_ops.less_equal(lower, length), math_ops.less(length, upper)
        )
        return math_ops.reduce_min(array_ops.where(fits))

    def size_of(bucket: Any) -> Any:
        return convert_to_tensor(sizes)[bucket]

    def batches(bucket: Any, grouped: Dataset) -> Dataset:
        size = size_of(bucket)
        if no_padding:
            return grouped.batch(size, drop_remainder=drop_remainder)
        filler = None
        if pad_to_bucket_boundary:
            filler = _boundary(bucket, bucket_boundaries)
        shapes = nest.map_structure_up_to(
            grouped.output_shapes,
            lambda shape: _filled(shape, filler),
            padded_shapes or grouped.output_shapes,
        )
        return grouped.padded_batch(
            size, shapes, padding_values, drop_remainder=drop_remainder
        )

    return lambda dataset: dataset.apply(
        group_by_window(bucket_of, batches, window_size_func=size_of)
    )


def _boundary(bucket: Any, boundaries: Sequence[int]) -> Any:
    from tensorloom.framework.graph.graph import control_dependencies
    from tensorloom.ops.array.constant import constant
    from tensorloom.ops.debugging import check as check_ops

    check = check_ops.assert_less(
        bucket,
        constant(len(boundaries), dtype=dtypes.int64),
        message="When pad_to_bucket_boundary=True, elements must have length < "
        "max(bucket_boundaries).",
    )
    with control_dependencies([check]):
        limits = constant(list(boundaries), dtype=dtypes.int64)
        return limits[bucket] - 1


def _filled(shape: Any, filler: Any) -> Any:
    dims = TensorShape(shape).as_list()
    return [filler if d is None else d for d in dims]
