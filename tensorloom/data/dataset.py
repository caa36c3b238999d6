"""`tf.data.Dataset`: what a pipeline is made of."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tensorloom.data import nest, option_nodes, specs, transformations
from tensorloom.data.dataset_classes import flat_structure, register_classes
from tensorloom.data.iterators import FunctionIterator, Iterator
from tensorloom.data.one_shot import make_factory
from tensorloom.data.options import Options
from tensorloom.data.type_spec import TypeSpec
from tensorloom.framework.export import export, export_value
from tensorloom.framework.graph.default_graph import get_default_graph
from tensorloom.framework.graph.graph import colocate_with
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_shape import TensorShape

if TYPE_CHECKING:
    from tensorloom.framework.graph.tensor import Tensor

AUTOTUNE = -1
INFINITE_CARDINALITY = -1
UNKNOWN_CARDINALITY = -2
for _name, _number in (
    ("AUTOTUNE", AUTOTUNE),
    ("INFINITE_CARDINALITY", INFINITE_CARDINALITY),
    ("UNKNOWN_CARDINALITY", UNKNOWN_CARDINALITY),
):
    export_value(_number, f"data.experimental.{_name}")


@export("data.Dataset")
class Dataset:
    """A sequence of elements, each a structure of tensors.

    Args:
      variant_tensor: the tensor that stands for it in the graph.
      element_spec: the specs of an element's components.
      inputs: the datasets that it is made of.
      options: said for it alone.
    """

    def __init__(
        self,
        variant_tensor: Tensor,
        element_spec: Any,
        inputs: Sequence[Dataset] = (),
        options: Options | None = None,
    ) -> None:
        self._variant_tensor = variant_tensor
        self._element_spec = element_spec
        self._input_datasets = list(inputs)
        self._own_options = options

    # --- the structure of an element ---------------------------------------------

    @property
    def element_spec(self) -> Any:
        """The specs of an element's components."""
        return self._element_spec

    @property
    def output_classes(self) -> Any:
        """The Python class of each component."""
        return nest.map_structure(lambda s: s.legacy_classes, self.element_spec)

    @property
    def output_shapes(self) -> Any:
        """The static shape of each component."""
        return nest.map_structure(lambda s: s.legacy_shapes, self.element_spec)

    @property
    def output_types(self) -> Any:
        """The dtype of each component."""
        return nest.map_structure(lambda s: s.legacy_types, self.element_spec)

    @property
    def _type_spec(self) -> DatasetSpec:
        return DatasetSpec(self.element_spec)

    @property
    def _flat_structure(self) -> dict[str, Any]:
        """The attrs output_types and output_shapes."""
        return flat_structure(self.element_spec)

    def _inputs(self) -> list[Dataset]:
        """The datasets that it is made of."""
        return self._input_datasets

    def __repr__(self) -> str:
        shapes = str(nest.map_structure(str, self.output_shapes)).replace("'", "")
        types = str(nest.map_structure(repr, self.output_types)).replace("'", "")
        return f"<{type(self).__name__} shapes: {shapes}, types: {types}>"

    def __iter__(self) -> Any:
        """In a `tf.function`: an iterator, whose elements are tensors.

        Raises:
          RuntimeError: elsewhere; a session runs an iterator's `get_next`.
        """
        if get_default_graph()._add_control_dependencies:
            return FunctionIterator(self)
        raise RuntimeError(
            "__iter__() is only supported inside of tf.function or when eager "
            "execution is enabled."
        )

    # --- sources -----------------------------------------------------------------

    @staticmethod
    def from_tensors(tensors: Any) -> Dataset:
        """A dataset of one element."""
        return transformations.from_tensors(tensors)

    @staticmethod
    def from_tensor_slices(tensors: Any) -> Dataset:
        """A dataset of the slices of tensors along dimension 0."""
        return transformations.from_tensor_slices(tensors)

    @staticmethod
    def from_sparse_tensor_slices(sparse_tensor: Any) -> Dataset:
        """A dataset of the rows of a sparse tensor, as (indices, values, shape)."""
        return transformations.from_sparse_tensor_slices(sparse_tensor)

    @staticmethod
    def from_generator(
        generator: Callable[..., Any],
        output_types: Any,
        output_shapes: Any = None,
        args: Any = None,
    ) -> Dataset:
        """A dataset of what a Python generator yields.

        Args:
          generator: called for each pass; what it returns is iterated.
          output_types, output_shapes: the structure of an element.
          args: tensors, given to the generator as arrays.
        """
        from tensorloom.data.generators import from_generator

        return from_generator(generator, output_types, output_shapes, args)

    @staticmethod
    def range(*args: Any) -> Dataset:
        """int64 numbers: `range(stop)`, `(start, stop)` or `(start, stop, step)`."""
        return transformations.range_dataset(*args)

    @staticmethod
    def zip(datasets: Any) -> Dataset:
        """A dataset of structures of the elements of several."""
        return transformations.zip_datasets(datasets)

    @staticmethod
    def list_files(
        file_pattern: Any, shuffle: bool | None = None, seed: Any = None
    ) -> Dataset:
        """The names of the files that match patterns; shuffled by default."""
        return transformations.list_files(file_pattern, shuffle, seed)

    # --- which elements ----------------------------------------------------------

    def concatenate(self, dataset: Dataset) -> Dataset:
        """These elements, then those of another dataset."""
        return transformations.concatenate(self, dataset)

    def prefetch(self, buffer_size: Any) -> Dataset:
        """Makes elements ahead."""
        size = -1 if buffer_size is None else buffer_size
        return self._same(
            "PrefetchDataset",
            buffer_size=transformations.int64(size, "buffer_size"),
        )

    def repeat(self, count: Any = None) -> Dataset:
        """The elements `count` times; for ever by default."""
        count = transformations.int64(-1 if count is None else count, "count")
        return self._same("RepeatDataset", count=count)

    def enumerate(self, start: int = 0) -> Dataset:
        """Pairs of a number and an element."""
        numbers = Dataset.range(start, np.iinfo(np.int64).max)
        return Dataset.zip((numbers, self))

    def shuffle(
        self,
        buffer_size: Any,
        seed: Any = None,
        reshuffle_each_iteration: bool | None = None,
    ) -> Dataset:
        """The elements in random order, drawn from a buffer."""
        size = transformations.int64(buffer_size, "buffer_size")
        first, second = transformations.seeds(seed)
        return self._same(
            "ShuffleDataset",
            buffer_size=size,
            seed=first,
            seed2=second,
            reshuffle_each_iteration=reshuffle_each_iteration is None
            or bool(reshuffle_each_iteration),
        )

    def cache(self, filename: Any = "") -> Dataset:
        """Keeps the elements of the first pass, in memory or in files."""
        name = transformations.tensor(filename, dtypes.string, "filename")
        return self._same("CacheDataset", filename=name)

    def take(self, count: Any) -> Dataset:
        """The first elements."""
        return self._same("TakeDataset", count=transformations.int64(count, "count"))

    def skip(self, count: Any) -> Dataset:
        """All but the first elements."""
        return self._same("SkipDataset", count=transformations.int64(count, "count"))

    def shard(self, num_shards: Any, index: Any) -> Dataset:
        """Every `num_shards`-th element, from number `index` on."""
        return self._same(
            "ShardDataset",
            num_shards=transformations.int64(num_shards, "num_shards"),
            index=transformations.int64(index, "index"),
        )

    def batch(self, batch_size: Any, drop_remainder: Any = False) -> Dataset:
        """Stacks consecutive elements."""
        return transformations.batch(self, batch_size, drop_remainder)

    def padded_batch(
        self,
        batch_size: Any,
        padded_shapes: Any,
        padding_values: Any = None,
        drop_remainder: Any = False,
    ) -> Dataset:
        """Pads consecutive elements to one shape and stacks them."""
        from tensorloom.data.padding import padded_batch

        return padded_batch(
            self, batch_size, padded_shapes, padding_values, drop_remainder
        )

    def unbatch(self) -> Dataset:
        """The slices of the elements along dimension 0."""
        return transformations.unbatch(self)

    def window(
        self, size: Any, shift: Any = None, stride: Any = 1, drop_remainder: Any = False
    ) -> Dataset:
        """Runs of elements, each component's as a dataset."""
        return transformations.window(self, size, shift, stride, drop_remainder)

    # --- functions ---------------------------------------------------------------

    def map(
        self, map_func: Callable[..., Any], num_parallel_calls: Any = None
    ) -> Dataset:
        """A function of each element."""
        return transformations.map_dataset(self, map_func, num_parallel_calls)

    def map_with_legacy_function(
        self, map_func: Callable[..., Any], num_parallel_calls: Any = None
    ) -> Dataset:
        """`map`."""
        return transformations.map_dataset(self, map_func, num_parallel_calls)

    def flat_map(self, map_func: Callable[..., Any]) -> Dataset:
        """The elements of the datasets that a function gives."""
        return transformations.flat_map(self, map_func)

    def interleave(
        self,
        map_func: Callable[..., Any],
        cycle_length: Any = AUTOTUNE,
        block_length: Any = 1,
        num_parallel_calls: Any = None,
    ) -> Dataset:
        """Blocks of elements of the datasets that a function gives, in turn."""
        return transformations.interleave(
            self, map_func, cycle_length, block_length, num_parallel_calls
        )

    def filter(self, predicate: Callable[..., Any]) -> Dataset:
        """The elements for which a function is true."""
        return transformations.filter_dataset(self, predicate)

    def filter_with_legacy_function(self, predicate: Callable[..., Any]) -> Dataset:
        """`filter`."""
        return transformations.filter_dataset(self, predicate)

    def apply(self, transformation_func: Callable[[Dataset], Any]) -> Dataset:
        """What a function makes of this dataset.

        Raises:
          TypeError: it is no dataset.
        """
        dataset = transformation_func(self)
        if not isinstance(dataset, Dataset):
            raise TypeError(
                f"`transformation_func` must return a Dataset. Got {dataset}."
            )
        return dataset

    def reduce(self, initial_state: Any, reduce_func: Callable[..., Any]) -> Any:
        """The last state of a function `(state, element) -> state`."""
        from tensorloom.data.reduction import reduce_dataset

        return reduce_dataset(self, initial_state, reduce_func)

    # --- options -----------------------------------------------------------------

    def options(self) -> Options:
        """What was said for this dataset and its inputs."""
        options = Options()
        for dataset in self._inputs():
            options = options.merge(dataset.options())
        if self._own_options is not None:
            options = options.merge(self._own_options)
        return options

    def with_options(self, options: Options) -> Dataset:
        """The same dataset with options.

        Raises:
          ValueError: the dataset has options that say something else.
        """
        self.options().merge(options)
        return DatasetV1Adapter(
            self._variant_tensor, self.element_spec, [self], options
        )

    def _with_options_applied(self) -> Tensor:
        """The variant tensor behind the nodes that options ask for."""
        return option_nodes.applied(
            self.options(), self._variant_tensor, self._flat_structure
        )

    def _apply_options(self) -> Dataset:
        """The dataset behind the nodes that options ask for."""
        return DatasetV1Adapter(self._with_options_applied(), self.element_spec, [self])

    def _as_serialized_graph(self, stateful_whitelist: bool | None = None) -> Tensor:
        """A string scalar, the GraphDef of the dataset."""
        graph: Tensor = apply_op("DatasetToGraph", input_dataset=self._variant_tensor)
        return graph

    # --- iterators ---------------------------------------------------------------

    def make_one_shot_iterator(self) -> Iterator:
        """An iterator that needs no initializer; each session begins once.

        Raises:
          ValueError: the dataset uses variables, tables or placeholders.
        """
        factory = make_factory(self._with_options_applied, self._variant_tensor)
        resource = apply_op(
            "OneShotIterator", dataset_factory=factory, **self._flat_structure
        )
        return Iterator(
            resource, None, self.output_types, self.output_shapes, self.output_classes
        )

    def make_initializable_iterator(self, shared_name: str | None = None) -> Iterator:
        """An iterator whose `initializer` begins at the first element."""
        variant = self._with_options_applied()
        resource = apply_op(
            "IteratorV2",
            container="",
            shared_name=shared_name or "",
            **self._flat_structure,
        )
        with colocate_with(resource):
            initializer = apply_op("MakeIterator", dataset=variant, iterator=resource)
        return Iterator(
            resource,
            initializer,
            self.output_types,
            self.output_shapes,
            self.output_classes,
        )

    def _same(self, op: str, **inputs: Any) -> Dataset:
        """A dataset of elements of the same structure."""
        variant = apply_op(
            op,
            input_dataset=self._variant_tensor,
            **inputs,
            **self._flat_structure,
        )
        return DatasetV1Adapter(variant, self.element_spec, [self])


class DatasetV1Adapter(Dataset):
    """What the methods of datasets give; named as TensorFlow shows it."""


@export("data.DatasetSpec", "data.experimental.DatasetStructure")
class DatasetSpec(TypeSpec):
    """A dataset as a component of an element."""

    def __init__(self, element_spec: Any, dataset_shape: Any = ()) -> None:
        self._element_spec = element_spec
        self._dataset_shape = TensorShape(dataset_shape)

    @staticmethod
    def from_value(value: Any) -> DatasetSpec:
        """The spec of a dataset."""
        return DatasetSpec(value.element_spec)

    @property
    def element_spec(self) -> Any:
        """The specs of the dataset's elements."""
        return self._element_spec

    @property
    def value_type(self) -> Any:
        return Dataset

    @property
    def flat_tensors(self) -> list[tuple[dtypes.DType, TensorShape]]:
        return [(dtypes.variant, self._dataset_shape)]

    def to_tensors(self, value: Any) -> list[Any]:
        return [value._variant_tensor]

    def from_tensors(self, tensors: Sequence[Tensor]) -> Any:
        return _VariantDataset(tensors[0], self._element_spec)

    def _serialize(self) -> tuple[Any, ...]:
        return self._element_spec, self._dataset_shape

    @property
    def _component_specs(self) -> Any:
        return specs.TensorSpec(self._dataset_shape, dtypes.variant)

    def _to_components(self, value: Any) -> Any:
        return value._variant_tensor

    def _from_components(self, components: Any) -> Any:
        return _VariantDataset(components, self._element_spec)

    def _batch(self, batch_size: int | None) -> TypeSpec:
        shape = TensorShape([batch_size]).concatenate(self._dataset_shape)
        return DatasetSpec(self._element_spec, shape)

    def _unbatch(self) -> TypeSpec:
        if self._dataset_shape.ndims == 0:
            raise ValueError("Unbatching a dataset is only supported for rank >= 1")
        return DatasetSpec(self._element_spec, self._dataset_shape[1:])

    def __repr__(self) -> str:
        return f"DatasetSpec({self._element_spec!r}, {self._dataset_shape!r})"


class _VariantDataset(DatasetV1Adapter):
    """The dataset in a variant tensor."""


@export("data.experimental.from_variant")
def from_variant(variant: Tensor, structure: Any) -> Dataset:
    """The dataset in a variant tensor, whose elements have that structure."""
    return _VariantDataset(variant, structure)


@export("data.experimental.to_variant")
def to_variant(dataset: Dataset) -> Tensor:
    """The variant tensor of a dataset."""
    return dataset._variant_tensor


register_classes(dataset=Dataset, made=DatasetV1Adapter, spec=DatasetSpec)
