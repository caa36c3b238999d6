"""Datasets and their iterators: what every family here builds on."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np

from tensorloom.framework import errors
from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.registry.op_kernel import host_kernel

if TYPE_CHECKING:
    from tensorloom.framework.registry.op_kernel import (
        Compute,
        KernelFactory,
        OpKernelConstruction,
    )
    from tensorloom.framework.types.dtypes import DType
    from tensorloom.framework.types.tensor_shape import TensorShape
    from tensorloom.kernels.host.data.pipeline.environment import Environment

    # A transformation, and which ones AssertNextDataset wants to come next.
    HandedOn = tuple[str, tuple[str, ...] | None]

Element = tuple[Any, ...]
_OP: Final = re.compile(r"(?:Experimental)?(\w+?)Dataset(\w*)")
INFINITE = -1
UNKNOWN = -2


class DatasetIterator:
    """Gives one element after the other.

    An exception of `next()` other than StopIteration fails that element alone: the
    next call goes on behind it, as in TensorFlow. After StopIteration it stays at the
    end.
    """

    @property
    def has_columns(self) -> bool:
        """True when `take` can give the next elements at once."""
        return False

    def __iter__(self) -> DatasetIterator:
        return self

    def __next__(self) -> Element:
        raise StopIteration

    def take(self, count: int) -> Sequence[np.ndarray[Any, Any]]:
        """The components of up to `count` elements, stacked; fewer at the end only."""
        raise NotImplementedError(type(self).__name__)


class Dataset:
    """What a dataset's variant tensor holds."""

    # TensorFlow's name of the kind, as it stands in messages.
    kind: ClassVar[str] = "Dataset"
    # Whether the elements are those of the inputs, all or some, in whatever order.
    keeps_elements: ClassVar[bool] = False
    own_options: bytes = b""  # a serialized tensorflow.data.Options
    #: What its random numbers come from, drawn already where the program says none.
    seeds: tuple[int, int] | None = None
    #: The node that made it; None of what kernels make besides.
    maker: OpKernelConstruction | None = None
    #: What the node got.
    arguments: tuple[Any, ...] = ()
    #: Nodes that hand on the dataset as it is, the first one first; see `assertions`.
    handed_on: tuple[HandedOn, ...] = ()
    #: Its name in the graph of the pipeline, where OptimizeDataset has made one.
    graph_name: str = ""

    def __init__(
        self, types: Sequence[DType], shapes: Sequence[TensorShape], *inputs: Dataset
    ) -> None:
        self.types = tuple(types)
        self.shapes = tuple(shapes)
        self.inputs = inputs

    def iterate(self, env: Environment) -> DatasetIterator:
        """A new iterator from the first element on."""
        raise NotImplementedError(type(self).__name__)

    @property
    def cardinality(self) -> int:
        """Number of elements, INFINITE or UNKNOWN."""
        return UNKNOWN

    @property
    def iterator_name(self) -> str:
        """TensorFlow's name of its iterator; "" where it makes none of its inputs."""
        op = self.kind
        if self.maker is not None and not self.maker.op.startswith("Optimize"):
            op = self.maker.op
        found = _OP.fullmatch(op)
        return op if found is None else found[1] + found[2]

    @property
    def batch_size(self) -> int:
        """How many elements each element was made of; -1 where that is not known."""
        sizes = {one.batch_size for one in self.inputs} if self.keeps_elements else ()
        return next(iter(sizes)) if len(sizes) == 1 else -1

    @property
    def options(self) -> bytes:
        """Those of the whole pipeline. Messages one behind the other are merged."""
        return b"".join(one.options for one in self.inputs) + self.own_options

    @property
    def statistics_name(self) -> str:
        """The name under which it counts."""
        if self.graph_name:
            return self.graph_name
        return self.maker.node_name if self.maker is not None else self.kind

    def all_seeds(self) -> Iterator[tuple[int, int]]:
        """The seeds of the whole pipeline, those of inputs first."""
        for source in self.inputs:
            yield from source.all_seeds()
        if self.seeds is not None:
            yield self.seeds

    def renewed(self, seeds: Iterator[tuple[int, int]]) -> Dataset:
        """The same dataset as it was before anybody iterated over it.

        Args:
          seeds: those of the whole pipeline as `all_seeds` gives them; where they end,
            datasets keep their own.
        """
        fresh = copy.copy(self)
        fresh.inputs = tuple(source.renewed(seeds) for source in self.inputs)
        if self.seeds is not None:
            fresh.seeds = next(seeds, self.seeds)
        return fresh


class BranchIterator(DatasetIterator):
    """Elements of a part with an environment of its own, which gets the step's context.

    Args:
      source: an iterator of the part, made with `inner`.
      env: the environment of what is around the part.
    """

    def __init__(
        self, source: DatasetIterator, env: Environment, inner: Environment
    ) -> None:
        self._source, self._env, self._inner = source, env, inner

    @property
    def has_columns(self) -> bool:
        return self._source.has_columns

    def __next__(self) -> Element:
        self._inner.context = self._env.context
        return next(self._source)

    def take(self, count: int) -> Sequence[np.ndarray[Any, Any]]:
        self._inner.context = self._env.context
        return self._source.take(count)


class RowDataset(Dataset):
    """A dataset whose elements can be had in any order, by their number."""

    #: True when `gather` gives them stacked.
    is_plain: ClassVar[bool] = True

    @property
    def rows(self) -> int:
        """How many there are."""
        raise NotImplementedError(type(self).__name__)

    @property
    def cardinality(self) -> int:
        return self.rows

    def row(self, index: int) -> Element:
        """One element."""
        raise NotImplementedError(type(self).__name__)

    def gather(self, indices: Any) -> Sequence[np.ndarray[Any, Any]]:
        """The components of several elements (an index array or a slice), stacked."""
        raise NotImplementedError(type(self).__name__)

    def iterate(self, env: Environment) -> DatasetIterator:
        return RowIterator(self)


class RowIterator(DatasetIterator):
    """The rows in order: all, or those in [begin, end)."""

    def __init__(
        self, dataset: RowDataset, begin: int = 0, end: int | None = None
    ) -> None:
        self._dataset = dataset
        self._next = begin
        self._end = dataset.rows if end is None else end

    @property
    def has_columns(self) -> bool:
        return True

    def __next__(self) -> Element:
        index = self._next
        if index >= self._end:
            raise StopIteration
        self._next = index + 1
        return self._dataset.row(index)

    def take(self, count: int) -> Sequence[np.ndarray[Any, Any]]:
        begin = self._next
        self._next = end = min(begin + count, self._end)
        return self._dataset.gather(slice(begin, end))

    def skip(self, count: int) -> None:
        """Passes over elements."""
        self._next = min(self._next + count, self._end)


def dataset_kernel(
    *ops: str, retains: Sequence[str] = ()
) -> Callable[[KernelFactory], KernelFactory]:
    """Registers the kernel of ops that make a dataset; they also run in host memory.

    `retains` names the inputs that the dataset keeps: its tensors and the tensors that
    its functions capture. All others are kept for its graph.
    """

    def register(factory: KernelFactory) -> KernelFactory:
        def checked(c: OpKernelConstruction) -> Compute:
            _check_determinism(c.get("deterministic"))
            make = factory(c)

            def compute(*inputs: Any) -> Any:
                dataset = make(*inputs)
                if isinstance(dataset, Dataset) and dataset.maker is None:
                    dataset.maker = c
                    dataset.arguments = inputs
                return dataset

            return compute

        kept = retains or ("inputs",)  # any: no kernel writes into their memory then
        host_kernel(list(ops), devices=("CPU",), retains=kept, large=True)(checked)
        return factory

    return register


def _check_determinism(policy: bytes | None) -> None:
    """Raises InvalidArgumentError for a policy that is none.

    The order is always the deterministic one, which every policy allows.
    """
    if policy not in (None, b"true", b"false", b"default"):
        raise errors.InvalidArgumentError(
            None,
            None,
            f"String {policy.decode(errors='replace')} could not be converted to "
            "DeterminismPolicy. DeterminismPolicy string should be 'true', 'false' or "
            "'default'.",
        )


def signature(c: OpKernelConstruction) -> tuple[list[DType], list[TensorShape]]:
    """The attrs output_types and output_shapes of a dataset's node."""
    return c["output_types"], c["output_shapes"]


def as_dataset(value: Any) -> Dataset:
    """A run-time value that must be a dataset.

    Raises:
      errors.InvalidArgumentError: it is another variant.
    """
    if isinstance(value, Dataset):
        return value
    inner = getattr(value, "item", None)
    if inner is not None and isinstance(inner(), Dataset):
        found: Dataset = inner()
        return found
    raise errors.InvalidArgumentError(None, None, "Tensor must be a Dataset object.")


def numpy_type(dtype: DType) -> Any:
    """The dtype of an array of such values; object for strings and variants."""
    if dtype.name in ("string", "variant", "resource"):
        return object
    return dtype.as_numpy_dtype


def join_columns(parts: Sequence[np.ndarray[Any, Any]]) -> np.ndarray[Any, Any]:
    """Stacked components one behind the other.

    Raises:
      errors.InvalidArgumentError: the elements have different shapes.
    """

    parts = [part for part in parts if len(part)] or list(parts[:1])
    for part in parts[1:]:
        if part.shape[1:] != parts[0].shape[1:]:
            raise invalid_argument(
                "Cannot batch tensors with different shapes in component 0. First "
                f"element had shape {list(parts[0].shape[1:])} and element "
                f"{len(parts[0])} had shape {list(part.shape[1:])}."
            )
    return np.concatenate(parts) if len(parts) > 1 else parts[0]


def check_positive(value: Any, text: str) -> int:
    """A number that must be above zero.

    Raises:
      errors.InvalidArgumentError: it is not; `text` says so.
    """
    number = int(value)
    if number <= 0:
        raise errors.InvalidArgumentError(None, None, text)
    return number


def like(source: Dataset) -> tuple[Any, Any, Dataset]:
    """The first arguments of a dataset with the elements of another."""
    return source.types, source.shapes, source


def rows_of(dataset: Dataset) -> RowDataset | None:
    """The dataset, if its elements can be had in any order."""
    return dataset if isinstance(dataset, RowDataset) and dataset.is_plain else None
