"""Batches of serialized Examples, parsed; datasets written to files; rates."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.registry.op_kernel import host_kernel
from tensorloom.framework.registry.shape_inference import format_shape
from tensorloom.kernels.host.data.pipeline import background
from tensorloom.kernels.host.data.pipeline.dataset import (
    Dataset,
    DatasetIterator,
    Element,
    as_dataset,
    dataset_kernel,
    signature,
)
from tensorloom.kernels.host.data.pipeline.environment import Cancellation, Environment
from tensorloom.kernels.host.data.pipeline.mapping import threads_of

if TYPE_CHECKING:
    from tensorloom.framework.registry.op_kernel import (
        Compute,
        OpKernelConstruction,
        OpKernelContext,
    )


class _ParsedDataset(Dataset):
    """The features of each batch; sparse ones as vectors of three."""

    def __init__(
        self,
        types: Any,
        shapes: Any,
        source: Dataset,
        parse: Callable[[Any], Element],
        threads: int,
    ) -> None:
        super().__init__(types, shapes, source)
        self._parse, self._threads = parse, threads

    @property
    def cardinality(self) -> int:
        return self.inputs[0].cardinality

    def iterate(self, env: Environment) -> DatasetIterator:
        parse = self._parse
        return background.ParallelMapIterator(
            self.inputs[0].iterate,
            lambda _, element: parse(element[0]),
            env,
            self._threads,
        )


@dataset_kernel(
    "ParseExampleDataset",
    "ExperimentalParseExampleDataset",
    "ParseExampleDatasetV2",
    retains=("dense_defaults",),
)
def parse_example_dataset(c: OpKernelConstruction) -> Compute:
    """Batches of Examples, parsed; components in the order of their keys."""
    from tensorloom.kernels.host.parsing import example_columns, parsing_ops
    from tensorloom.kernels.host.ragged.variant import RaggedVariant

    types, shapes = signature(c)
    for index, shape in enumerate(c["dense_shapes"]):
        if shape.dims_tuple is None or None in shape.dims_tuple[1:]:
            raise invalid_argument(
                f"dense_shapes[{index}] has unknown rank or unknown inner dimensions: "
                f"{format_shape(shape)}"
            )
    padded = [shape.dims_tuple[:1] == (None,) for shape in c["dense_shapes"]]
    sparse, dense = list(c["sparse_keys"]), list(c["dense_keys"])
    ragged: list[bytes] = []
    ragged_types: tuple[Any, Any] = ((), ())
    if c.op == "ParseExampleDatasetV2":
        ragged = list(c["ragged_keys"])
        ragged_types = c["ragged_value_types"], c["ragged_split_types"]
    features = parsing_ops.Features(
        c["sparse_types"], c["Tdense"], c["dense_shapes"], *ragged_types
    )
    order = sorted([*sparse, *dense, *ragged])

    def compute(source: Any, parallel: Any, *defaults: Any) -> Dataset:
        for index, default in enumerate(defaults):
            if padded[index] and default.size != 1:
                raise invalid_argument(
                    f"dense_shape[{index}] is of variable length, therefore "
                    f"def_value[{index}] must contain a single element (the padding "
                    f"element), but has the shape {list(default.shape)}"
                )

        def parse(serialized: Any) -> Element:
            texts = serialized.reshape(-1).tolist()
            where = example_columns.Where([""] * len(texts))
            found = features.parse(texts, where, (sparse, dense, ragged), defaults)
            count = len(sparse)
            ends = 3 * count + len(dense), 3 * count + len(dense) + len(ragged)
            by_key: dict[bytes, Any] = dict(
                zip(dense, found[3 * count : ends[0]], strict=True)
            )
            rows = zip(ragged, found[ends[0] : ends[1]], found[ends[1] :], strict=True)
            for key, values, splits in rows:
                by_key[key] = RaggedVariant((splits,), values)
            for index, key in enumerate(sparse):
                triple = np.empty(3, object)
                for part in range(3):
                    triple[part] = found[part * count + index]
                by_key[key] = triple
            return tuple(by_key[key] for key in order)

        threads = threads_of(parallel, "num_parallel_calls")
        return _ParsedDataset(types, shapes, as_dataset(source), parse, threads)

    return compute


@host_kernel(
    ["DatasetToTFRecord", "ExperimentalDatasetToTFRecord"],
    devices=("CPU",),
    context=True,
    large=True,
)
def dataset_to_tf_record(c: OpKernelConstruction) -> Compute:
    """Writes the strings of a dataset as records of a file."""

    def compute(
        context: OpKernelContext, source: Any, filename: Any, compression: Any
    ) -> None:
        from tensorloom.storage.records.tfrecord import RecordWriter

        root = Cancellation()
        try:
            with RecordWriter(filename[()].decode(), compression[()]) as writer:
                for (record,) in as_dataset(source).iterate(Environment(context, root)):
                    writer.write(record[()])
                    context.cancellation.check()
        finally:
            root.cancel()

    return compute
