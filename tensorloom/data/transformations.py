"""How each transformation's node is made, and what its elements are."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tensorloom.data import nest, specs
from tensorloom.data.dataset_classes import (
    dataset_spec,
    flat_structure,
    is_dataset,
    is_dataset_spec,
    new_dataset,
)
from tensorloom.data.structured_function import StructuredFunction
from tensorloom.data.variants import batched_tensors, normalize_element
from tensorloom.framework.graph.graph import control_dependencies, name_scope
from tensorloom.framework.graph.tensor import Tensor
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.runtime.random_seed import get_seed
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.constant_value import constant_value
from tensorloom.framework.types.dimension import Dimension
from tensorloom.framework.types.sparse_tensor import SparseTensor
from tensorloom.framework.types.tensor_conversion import convert_to_tensor

if TYPE_CHECKING:
    from tensorloom.data.dataset import Dataset
    from tensorloom.data.type_spec import TypeSpec


def tensor(value: Any, dtype: Any, name: str) -> Tensor:
    """An argument as a tensor."""
    return convert_to_tensor(value, dtype=dtype, name=name)


def int64(value: Any, name: str) -> Tensor:
    """An integer argument as a tensor."""
    return tensor(value, dtypes.int64, name)


def boolean(value: Any, name: str) -> Tensor:
    """A boolean argument as a tensor."""
    return tensor(value, dtypes.bool, name)


def make(
    op: str, element_spec: Any, inputs: list[Dataset], **arguments: Any
) -> Dataset:
    """A dataset of a new node; `arguments` are all its inputs and further attrs."""
    variant = apply_op(op, **arguments, **flat_structure(element_spec))
    return new_dataset(variant, element_spec, inputs)


def seeds(seed: Any) -> tuple[Tensor, Tensor]:
    """The two seeds of a dataset as tensors; both zero for none."""
    from tensorloom.ops.array.constant import constant

    first, second = get_seed(seed)
    a = (
        constant(0, dtype=dtypes.int64, name="seed")
        if first is None
        else int64(first, "seed")
    )
    if second is None:
        return a, constant(0, dtype=dtypes.int64, name="seed2")
    return a, _second_seed(a, second)


def _second_seed(first: Tensor, second: Any) -> Tensor:
    """(0, 0) would ask for random seeds; it becomes (0, 2^31 - 1)."""
    from tensorloom.ops.array.constant import constant
    from tensorloom.ops.indexing import selection as selection_ops
    from tensorloom.ops.math import math_ops

    with name_scope("seed2") as scope:
        value = convert_to_tensor(second, dtype=dtypes.int64)
        is_zero = math_ops.logical_and(
            math_ops.equal(first, 0), math_ops.equal(value, 0)
        )
        largest = constant(2**31 - 1, dtype=dtypes.int64)
        return selection_ops.where(is_zero, largest, value, name=scope)


# --- sources --------------------------------------------------------------------


def from_tensors(element: Any) -> Dataset:
    """A dataset of one element."""
    element = normalize_element(element)
    structure = specs.structure_of_value(element)
    variant = apply_op(
        "TensorDataset",
        components=specs.to_tensors(structure, element),
        output_shapes=specs.flat_shapes(structure),
    )
    return new_dataset(variant, structure)


def from_tensor_slices(element: Any) -> Dataset:
    """A dataset of slices.

    Raises:
      ValueError: a component is a scalar.
    """
    element = normalize_element(element)
    for component in nest.flatten(element):
        if isinstance(component, Tensor) and component.shape.rank == 0:
            raise ValueError(f"{component} is a scalar, and has no slices.")
    batched = specs.structure_of_value(element)
    components = batched_tensors(batched, element)
    structure = nest.map_structure(lambda spec: spec.unbatch(), batched)
    variant = apply_op(
        "TensorSliceDataset",
        components=components,
        output_shapes=specs.flat_shapes(structure),
    )
    return new_dataset(variant, structure)


def from_sparse_tensor_slices(sparse: Any) -> Dataset:
    """A dataset of the rows of a sparse tensor.

    Raises:
      TypeError: it is no SparseTensor.
    """
    if not isinstance(sparse, SparseTensor):
        raise TypeError(
            f"`sparse_tensor` must be a `tf.SparseTensor` object. Was {sparse}."
        )
    rank = (Dimension(sparse.indices.shape[1]) - 1).merge_with(
        Dimension(sparse.dense_shape.shape[0]) - 1
    )
    structure = (
        specs.TensorSpec([None, rank], dtypes.int64),
        specs.TensorSpec([None], sparse.dtype),
        specs.TensorSpec([rank], dtypes.int64),
    )
    variant = apply_op(
        "SparseTensorSliceDataset",
        indices=sparse.indices,
        values=sparse.values,
        dense_shape=sparse.dense_shape,
    )
    return new_dataset(variant, structure)


def list_files(file_pattern: Any, shuffle: bool | None, seed: Any) -> Dataset:
    """The names of files that match patterns; see `Dataset.list_files`."""
    from tensorloom.ops.array import array_ops
    from tensorloom.ops.control_flow import builders as control_flow_ops
    from tensorloom.ops.io import file as file_ops
    from tensorloom.ops.math import math_ops
    from tensorloom.ops.strings.transform import reduce_join

    with name_scope("list_files"):
        pattern = convert_to_tensor(
            file_pattern, dtype=dtypes.string, name="file_pattern"
        )
        found = file_ops.matching_files(pattern)
        condition = math_ops.greater(
            array_ops.shape(found)[0], 0, name="match_not_empty"
        )
        patterns = reduce_join(pattern, separator=", ")
        message = math_ops.add("No files matched pattern: ", patterns, name="message")
        check = control_flow_ops.Assert(
            condition, [message], summarize=1, name="assert_not_empty"
        )
        with control_dependencies([check]):
            found = array_ops.identity(found)
        dataset = from_tensor_slices(found)
        if shuffle is None or shuffle:
            size = math_ops.maximum(array_ops.shape(found, out_type=dtypes.int64)[0], 1)
            dataset = dataset.shuffle(size, seed=seed)
        return dataset


def range_dataset(*args: Any) -> Dataset:
    """A dataset of numbers.

    Raises:
      ValueError: no argument, or more than three.
    """
    if not 1 <= len(args) <= 3:
        raise ValueError(f"Invalid arguments to RangeDataset: {args}")
    start, stop = (0, args[0]) if len(args) == 1 else args[:2]
    step = args[2] if len(args) == 3 else 1
    return make(
        "RangeDataset",
        specs.TensorSpec([], dtypes.int64),
        [],
        start=int64(start, "start"),
        stop=int64(stop, "stop"),
        step=int64(step, "step"),
    )


def zip_datasets(datasets: Any) -> Dataset:
    """Datasets side by side.

    Raises:
      TypeError: something in the structure is no dataset.
    """
    flat = nest.flatten(datasets)
    for dataset in flat:
        if not is_dataset(dataset):
            raise TypeError(
                "The argument to `Dataset.zip()` must be a nested structure of "
                "`Dataset` objects."
                + (
                    " Nested structures do not support Python lists; please use a "
                    "tuple instead."
                    if isinstance(dataset, list)
                    else ""
                )
            )
    structure = nest.pack_sequence_as(datasets, [d.element_spec for d in flat])
    return make(
        "ZipDataset",
        structure,
        flat,
        input_datasets=[d._variant_tensor for d in flat],
    )


def concatenate(first: Dataset, second: Dataset) -> Dataset:
    """Two datasets one after the other.

    Raises:
      TypeError: their elements are of other types or classes.
    """
    for what in ("types", "classes"):
        mine, theirs = (getattr(d, f"output_{what}") for d in (first, second))
        if mine != theirs:
            raise TypeError(
                f"Two datasets to concatenate have different {what} {mine} and {theirs}"
            )
    structure = nest.map_structure(
        lambda a, b: a.most_specific_compatible_type(b),
        first.element_spec,
        second.element_spec,
    )
    return make(
        "ConcatenateDataset",
        structure,
        [first, second],
        input_dataset=first._variant_tensor,
        another_dataset=second._variant_tensor,
    )


# --- batches --------------------------------------------------------------------


def batched_structure(structure: Any, batch_size: Tensor, drop: Tensor) -> Any:
    """The specs of batches; of known size only if the remainder is dropped."""
    size: Any = None
    if constant_value(drop):
        size = constant_value(batch_size)
        size = None if size is None else int(size)
    return nest.map_structure(lambda spec: spec.batch(size), structure)


def batch(dataset: Dataset, batch_size: Any, drop_remainder: Any) -> Dataset:
    """Batches."""
    size = int64(batch_size, "batch_size")
    drop = boolean(drop_remainder, "drop_remainder")
    return make(
        "BatchDatasetV2",
        batched_structure(dataset.element_spec, size, drop),
        [dataset],
        input_dataset=dataset._variant_tensor,
        batch_size=size,
        drop_remainder=drop,
    )


def unbatch(dataset: Dataset) -> Dataset:
    """The slices of elements.

    Raises:
      ValueError: a component is a scalar, or the sizes differ.
    """
    dataset = normalized_to_dense(dataset)
    shapes = specs.flat_shapes(dataset.element_spec)
    if any(shape.ndims == 0 for shape in shapes):
        raise ValueError("Cannot unbatch an input with scalar components.")
    known = Dimension(None)
    for shape in shapes:
        try:
            known = known.merge_with(Dimension(shape[0]))
        except ValueError:
            raise ValueError(
                "Cannot unbatch an input whose components have different batch sizes."
            ) from None
    structure = nest.map_structure(lambda spec: spec.unbatch(), dataset.element_spec)
    return make(
        "UnbatchDataset", structure, [dataset], input_dataset=dataset._variant_tensor
    )


def normalized_to_dense(dataset: Dataset) -> Dataset:
    """The dataset with sparse and ragged tensors as variants for each row."""
    structure = dataset.element_spec
    if not any(spec.serializes_rows for spec in nest.flatten(structure)):
        return dataset

    def to_batched(*arguments: Any) -> Any:
        value = arguments if type(structure) is tuple else arguments[0]
        return tuple(batched_tensors(structure, value))

    mapped = map_dataset(dataset, to_batched, None)
    return new_dataset(mapped._variant_tensor, _Rows.of(structure), [mapped])


class _Rows:
    """The structure whose flat tensors are rows of serialized sparse tensors."""

    @staticmethod
    def of(structure: Any) -> Any:
        """The same structure: unbatching a spec gives that of a row."""
        return nest.map_structure(_RowSpec.of, structure)


class _RowSpec(specs.SparseTensorSpec):
    """A sparse tensor whose rows are serialized one by one: variants [n, 3]."""

    @staticmethod
    def of(spec: Any) -> Any:
        """The spec of serialized rows for a sparse tensor's."""
        is_sparse = type(spec) is specs.SparseTensorSpec
        return _RowSpec(spec.shape, spec.dtype) if is_sparse else spec

    def unbatch(self) -> TypeSpec:
        shape = self.shape[1:] if self.shape.ndims is not None else self.shape
        return specs.SparseTensorSpec(shape, self.dtype)


def window(
    dataset: Dataset, size: Any, shift: Any, stride: Any, drop_remainder: Any
) -> Dataset:
    """Windows."""
    if shift is None:
        shift = size
    structure = nest.map_structure(dataset_spec, dataset.element_spec)
    return make(
        "WindowDataset",
        structure,
        [dataset],
        input_dataset=dataset._variant_tensor,
        size=int64(size, "size"),
        shift=int64(shift, "shift"),
        stride=int64(stride, "stride"),
        drop_remainder=boolean(drop_remainder, "drop_remainder"),
    )


# --- functions ------------------------------------------------------------------


def make_with(
    op: str,
    function: StructuredFunction,
    structure: Any,
    dataset: Dataset,
    attr: str = "f",
    **arguments: Any,
) -> Dataset:
    """A dataset of a node with one function."""
    with control_dependencies(function.control_inputs):
        return make(
            op,
            structure,
            [dataset],
            input_dataset=dataset._variant_tensor,
            other_arguments=function.captured,
            **{attr: function.attr},
            **arguments,
        )


def map_dataset(
    dataset: Dataset, map_func: Callable[..., Any], num_parallel_calls: Any
) -> Dataset:
    """A function of each element."""
    function = StructuredFunction(map_func, "Dataset.map()", dataset.element_spec)
    if num_parallel_calls is None:
        return make_with(
            "MapDataset",
            function,
            function.output_structure,
            dataset,
            preserve_cardinality=False,
        )
    calls = tensor(num_parallel_calls, dtypes.int32, "num_parallel_calls")
    return make_with(
        "ParallelMapDataset",
        function,
        function.output_structure,
        dataset,
        num_parallel_calls=calls,
        preserve_cardinality=False,
    )


def filter_dataset(dataset: Dataset, predicate: Callable[..., Any]) -> Dataset:
    """The elements for which a function is true.

    Raises:
      ValueError: it does not return a boolean scalar.
    """
    function = StructuredFunction(predicate, "Dataset.filter()", dataset.element_spec)
    check_predicate(function)
    return make_with(
        "FilterDataset", function, dataset.element_spec, dataset, attr="predicate"
    )


def check_predicate(function: StructuredFunction) -> None:
    """Raises ValueError unless a function returns a boolean scalar."""
    found = function.output_structure
    if not (
        isinstance(found, specs.TensorSpec)
        and found.is_compatible_with(specs.TensorSpec([], dtypes.bool))
    ):
        raise ValueError(
            "`predicate` return type must be convertible to a scalar boolean tensor. "
            f"Was {found}."
        )


def inner_structure(function: StructuredFunction) -> Any:
    """The structure of the elements of the dataset that a function returns.

    Raises:
      TypeError: it returns no dataset.
    """
    spec = function.output_structure
    if not is_dataset_spec(spec):
        raise TypeError(f"`map_func` must return a `Dataset` object. Got {type(spec)}")
    return spec.element_spec


def flat_map(dataset: Dataset, map_func: Callable[..., Any]) -> Dataset:
    """The elements of datasets."""
    function = StructuredFunction(map_func, "Dataset.flat_map()", dataset.element_spec)
    return make_with("FlatMapDataset", function, inner_structure(function), dataset)


def interleave(
    dataset: Dataset,
    map_func: Callable[..., Any],
    cycle_length: Any,
    block_length: Any,
    num_parallel_calls: Any,
) -> Dataset:
    """The elements of datasets in turn."""
    function = StructuredFunction(
        map_func, "Dataset.interleave()", dataset.element_spec
    )
    arguments: dict[str, Any] = {
        "cycle_length": int64(cycle_length, "cycle_length"),
        "block_length": int64(block_length, "block_length"),
    }
    op = "InterleaveDataset"
    if num_parallel_calls is not None:
        op = "ParallelInterleaveDatasetV2"
        arguments["num_parallel_calls"] = int64(
            num_parallel_calls, "num_parallel_calls"
        )
    return make_with(op, function, inner_structure(function), dataset, **arguments)
