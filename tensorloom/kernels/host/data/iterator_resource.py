"""Iterators as resources: a pipeline that runs on from step to step."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from tensorloom.framework import errors
from tensorloom.framework.runtime.resource import Resource
from tensorloom.framework.types.dtype_words import dtype_word
from tensorloom.framework.types.variant_codec import VariantCodec, register_variant
from tensorloom.framework.types.varint import decode_varint, encode_varint
from tensorloom.kernels.host.data.assertions import check_next
from tensorloom.kernels.host.data.pipeline.dataset_graph import check_stateless
from tensorloom.kernels.host.data.pipeline.environment import (
    Cancellation,
    Environment,
    without_gradients,
)

if TYPE_CHECKING:
    from tensorloom.framework.registry.op_kernel import OpKernelContext
    from tensorloom.framework.types.dtypes import DType
    from tensorloom.framework.types.tensor_shape import TensorShape
    from tensorloom.kernels.host.data.pipeline.dataset import (
        Dataset,
        DatasetIterator,
        Element,
    )

_numbers = itertools.count()
_MASK64 = (1 << 64) - 1


class _Running:
    """A pipeline under way."""

    def __init__(self, dataset: Dataset, context: OpKernelContext) -> None:
        self.dataset = dataset
        self.root = Cancellation()
        self.env = Environment(context, self.root)
        self.position = 0  # elements asked for
        self.iterator: DatasetIterator = dataset.iterate(self.env)

    def __del__(self) -> None:
        self.root.cancel()  # ends the threads


class IteratorState:
    """What SerializeIterator gives: how far an iterator has come, by which seeds."""

    def __init__(self, position: int, seeds: Iterable[tuple[int, int]] = ()) -> None:
        self.position = position
        # Those that its pipeline drew where the program says none, and all others.
        self.seeds = tuple(seeds)

    def encoded(self) -> bytes:
        """The position, and the seeds behind it, as varints."""
        numbers = self.position, *itertools.chain.from_iterable(self.seeds)
        return b"".join(encode_varint(number & _MASK64) for number in numbers)

    @classmethod
    def decoded(cls, content: bytes) -> IteratorState:
        """The state of `encoded`; of earlier versions it is the position alone."""
        numbers, place = [], 0
        while place < len(content):
            number, place = decode_varint(content, place)
            numbers.append(number)
        seeds = zip(numbers[1::2], numbers[2::2], strict=True)
        return cls(numbers[0], seeds)


register_variant(
    IteratorState,
    VariantCodec(
        # TensorFlow's "tensorflow::Iterator" holds the insides of its own pipelines.
        "tensorloom::IteratorState",
        lambda state: (state.encoded(), ()),
        lambda metadata, _: IteratorState.decoded(metadata),
    ),
)


class IteratorResource(Resource):
    """The position in a dataset; without one until it is initialized."""

    def __init__(
        self,
        container: str,
        name: str,
        types: Sequence[DType],
        shapes: Sequence[TensorShape],
        device: str = "",
    ) -> None:
        super().__init__(container, name, device)
        self.types = tuple(types)
        self.shapes = tuple(shapes)
        self._running: _Running | None = None
        # One element at a time: pipelines are no thread-safe chains.
        self._lock = threading.Lock()

    def make(self, dataset: Dataset, context: OpKernelContext) -> None:
        """Begins at the first element of a dataset.

        Raises:
          errors.InvalidArgumentError: its elements are of other types or shapes, or a
            transformation is another than `assert_next` expects.
        """
        check_types(self.types, dataset.types)
        check_shapes(self.shapes, dataset.shapes)
        check_next(dataset)
        running = _Running(dataset, context)
        with self._lock:
            old, self._running = self._running, running
        if old is not None:
            old.root.cancel()

    @property
    def batch_size(self) -> int | None:
        """The elements in a batch of its dataset; None where nothing tells."""
        with self._lock:
            running = self._running
        dataset = None if running is None else running.dataset
        while dataset is not None:
            size: int | None = getattr(dataset, "batch_size", None)
            if size is not None:
                return size
            dataset = dataset.inputs[0] if len(dataset.inputs) == 1 else None
        return None

    def next(self, context: OpKernelContext) -> Element:
        """The next element.

        Raises:
          errors.FailedPreconditionError: it is not initialized.
          errors.OutOfRangeError: there are no more.
        """
        with self._lock:
            running = self._running
            if running is None:
                raise errors.FailedPreconditionError(
                    None,
                    None,
                    "GetNext() failed because the iterator has not been initialized. "
                    "Ensure that you have run the initializer operation for this "
                    "iterator before getting the next element.",
                )
            running.env.context = context
            running.position += 1
            with without_gradients():
                for element in running.iterator:
                    return element
        raise errors.OutOfRangeError(None, None, "End of sequence")

    def save(self) -> IteratorState:
        """The position.

        Raises:
          errors.FailedPreconditionError: it is not initialized, or a function of its
            dataset has state.
          errors.UnimplementedError: its dataset counts into an aggregator.
        """
        with self._lock:
            if self._running is None:
                raise errors.FailedPreconditionError(
                    None,
                    None,
                    "SerializeIterator() failed because the iterator has not been "
                    "initialized.",
                )
            check_stateless(self._running.dataset)
            dataset = self._running.dataset
            return IteratorState(self._running.position, dataset.all_seeds())

    def restore(self, state: IteratorState, context: OpKernelContext) -> None:
        """Goes to a position, by making the elements before it again.

        Raises:
          errors.FailedPreconditionError: it is not initialized.
        """
        with self._lock:
            running = self._running
        if running is None:
            raise errors.FailedPreconditionError(
                None,
                None,
                "DeserializeIterator() failed because the iterator has not been "
                "initialized.",
            )
        self.make(running.dataset.renewed(iter(state.seeds)), context)
        for _ in range(state.position):
            try:
                self.next(context)
            except errors.OutOfRangeError:
                return
            except errors.OpError:
                context.cancellation.check()

    def close(self) -> None:
        """Ends the pipeline and its threads."""
        running, self._running = self._running, None
        if running is not None:
            running.root.cancel()


def check_types(expected: Sequence[DType], found: Sequence[DType]) -> None:
    """Raises InvalidArgumentError unless the dtypes are the same."""
    if len(expected) != len(found):
        raise errors.InvalidArgumentError(
            None,
            None,
            f"Number of components does not match: expected {len(expected)} types but "
            f"got {len(found)}.",
        )
    for index, (want, got) in enumerate(zip(expected, found, strict=True)):
        if want != got:
            raise errors.InvalidArgumentError(
                None,
                None,
                f"Data type mismatch at component {index}: expected "
                f"{dtype_word(want)} but got {dtype_word(got)}.",
            )


def check_shapes(expected: Sequence[TensorShape], found: Sequence[TensorShape]) -> None:
    """Raises InvalidArgumentError unless the shapes are compatible."""
    if len(expected) != len(found):
        raise errors.InvalidArgumentError(
            None,
            None,
            f"Number of components does not match: expected {len(expected)} shapes "
            f"but got {len(found)}.",
        )
    for index, (want, got) in enumerate(zip(expected, found, strict=True)):
        if not want.is_compatible_with(got):
            raise errors.InvalidArgumentError(
                None,
                None,
                f"Incompatible shapes at component {index}: expected "
                f"{_shape_text(want)} but got {_shape_text(got)}.",
            )


def _shape_text(shape: TensorShape) -> str:
    dims = shape.dims_tuple
    if dims is None:
        return "<unknown>"
    return f"[{','.join('?' if d is None else str(d) for d in dims)}]"


def private_name(node_name: str) -> str:
    """A name for an iterator that is not shared."""
    return f"{node_name}_{next(_numbers)}"
