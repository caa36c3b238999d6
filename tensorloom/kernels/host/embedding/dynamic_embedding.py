"""Host kernels of embedding tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.registry.op_kernel import host_kernel
from tensorloom.framework.runtime.resource import container_of
from tensorloom.kernels.host.embedding.restoring import read_contents
from tensorloom.kernels.host.embedding.table import (
    VALUES,
    Contents,
    EmbeddingTable,
    TableOptions,
)
from tensorloom.kernels.host.math.errors import shape_text
from tensorloom.kernels.host.training.update_rules import FORMULAS, LAYOUT

if TYPE_CHECKING:
    from tensorloom.framework.registry.op_kernel import Compute, OpKernelConstruction
    from tensorloom.framework.types.dtypes import DType


@host_kernel("DynamicEmbeddingTable", large=True)
def dynamic_embedding_table(c: OpKernelConstruction) -> Compute:
    """Finds or makes the table."""
    assert c.resources is not None
    resources, dtype = c.resources, c["T"]
    container = container_of(c["container"])
    name = (c["shared_name"] or b"").decode() or resources.own_name(c.node_name)
    options = TableOptions(
        dim=c["dim"],
        kind=c["initializer"].decode(),
        first=c["first"],
        second=c["second"],
        seed=c["seed"],
        filter_freq=c["filter_freq"],
        unadmitted_value=c["unadmitted_value"],
        steps_to_live=c["steps_to_live"],
    )

    def compute() -> EmbeddingTable:
        table = resources.lookup_or_create(
            container,
            name,
            EmbeddingTable,
            lambda: EmbeddingTable(container, name, dtype, options),
        )
        table.check(dtype, options)
        return table

    return compute


def check_rows(table: EmbeddingTable, what: str, dtype: DType, rows: Any) -> Any:
    """Rows of the table's dtype and width, contiguous.

    Raises:
      InvalidArgumentError: they are not.
    """
    if dtype != table.dtype:
        raise invalid_argument(
            f"{what} for embedding table {table.name} are {dtype.name}, its rows are "
            f"{table.dtype.name}"
        )
    if rows.ndim != 2 or rows.shape[1] != table.options.dim:
        raise invalid_argument(
            f"{what} for embedding table {table.name} have shape "
            f"{shape_text(rows.shape)}; expected [n,{table.options.dim}]"
        )
    return np.ascontiguousarray(rows)


def _check_keys(table: EmbeddingTable, keys: Any, rows: Any) -> Any:
    if keys.shape != rows.shape[:1]:
        raise invalid_argument(
            f"embedding table {table.name} got keys of shape {shape_text(keys.shape)} "
            f"for {len(rows)} rows"
        )
    return np.ascontiguousarray(keys)


@host_kernel("DynamicEmbeddingLookup", large=True)
def lookup(c: OpKernelConstruction) -> Compute:
    """The rows of keys."""
    dtype: DType = c["T"]
    dim: int = c["dim"]

    def compute(table: EmbeddingTable, keys: Any) -> Any:
        if (dtype, dim) != (table.dtype, table.options.dim):
            raise invalid_argument(
                f"embedding table {table.name} has rows {table.dtype.name}"
                f"[{table.options.dim}], asked for are {dtype.name}[{dim}]"
            )
        keys = np.asarray(keys)
        rows = table.lookup(np.ascontiguousarray(keys.reshape(-1)))
        return rows.reshape((*keys.shape, dim))

    return compute


@host_kernel([f"DynamicEmbeddingApply{rule}" for rule in FORMULAS], large=True)
def apply(c: OpKernelConstruction) -> Compute:
    """The update of keys' rows by an optimizer's rule."""
    rule = c.op.removeprefix("DynamicEmbeddingApply")
    formula, dtype, attrs = FORMULAS[rule], c["T"], c.attrs
    state_count, gradient_at = LAYOUT[rule]
    names = [name.decode() for name in c["slots"]]
    slots = list(zip(names, c["fills"], strict=True))
    if len(slots) != state_count - 1:
        raise invalid_argument(
            f"{rule} has {state_count - 1} slots, {len(slots)} were given: {names}"
        )

    def compute(
        table: EmbeddingTable, keys: Any, grad: Any, step: Any, *numbers: Any
    ) -> None:
        for number in (step, *numbers):
            if np.ndim(number):
                raise invalid_argument(
                    f"the step and the numbers of {rule} have to be scalars, got shape "
                    f"{shape_text(np.shape(number))}"
                )
        grad = check_rows(table, "gradients", dtype, grad)

        def update(rows: tuple[Any, ...], sums: Any) -> Any:
            inputs = (*numbers[:gradient_at], sums, *numbers[gradient_at:])
            return formula(np, rows, inputs, attrs)

        table.apply(update, slots, _check_keys(table, keys, grad), grad, int(step))

    return compute


@host_kernel("DynamicEmbeddingUpsert", large=True)
def upsert(c: OpKernelConstruction) -> Compute:
    """Sets the rows of keys."""
    dtype: DType = c["T"]

    def compute(table: EmbeddingTable, keys: Any, values: Any, step: Any) -> None:
        values = check_rows(table, "values", dtype, values)
        table.upsert(_check_keys(table, keys, values), values, int(step))

    return compute


@host_kernel("DynamicEmbeddingRemove", large=True)
def remove(c: OpKernelConstruction) -> Compute:
    """Removes the rows of keys."""
    return lambda table, keys: table.remove(np.asarray(keys).reshape(-1))


@host_kernel("DynamicEmbeddingEvict", large=True)
def evict(c: OpKernelConstruction) -> Compute:
    """Removes the rows that were not updated since a step."""
    return lambda table, before: np.int64(table.evict(int(before)))


@host_kernel("DynamicEmbeddingClear", large=True)
def clear(c: OpKernelConstruction) -> Compute:
    """Removes all rows."""
    return lambda table: table.clear()


@host_kernel("DynamicEmbeddingSize", large=True)
def size(c: OpKernelConstruction) -> Compute:
    """How many keys have a row."""
    return lambda table: np.int64(table.size())


@host_kernel("DynamicEmbeddingExport", large=True)
def export(c: OpKernelConstruction) -> Compute:
    """What changed since a save."""
    names = [name.decode() for name in c["slots"]]
    slots = list(zip(names, c["fills"], strict=True))

    def compute(table: EmbeddingTable, since: Any) -> list[Any]:
        rows, counted, gone, save = table.export(slots, int(since))
        return [
            *(rows.keys, rows.freqs, rows.steps),
            *(counted.keys, counted.freqs, counted.steps),
            *(gone, np.int64(save)),
            *rows.blocks.values(),
        ]

    return compute


@host_kernel("DynamicEmbeddingImport", large=True)
def import_rows(c: OpKernelConstruction) -> Compute:
    """Makes a table what another one was."""
    dtype: DType = c["T"]
    names = [name.decode() for name in c["slots"]]
    slots = list(zip(names, c["fills"], strict=True))

    def compute(table: EmbeddingTable, *exported: Any) -> None:
        arrays = [np.ascontiguousarray(x) for x in exported[:6]]
        (keys, freqs, steps), counted = arrays[:3], arrays[3:]
        blocks = [check_rows(table, "rows", dtype, x) for x in exported[6:]]
        for block in blocks:
            _check_keys(table, keys, block)
        rows = Contents(
            keys, freqs, steps, dict(zip([VALUES, *names], blocks, strict=True))
        )
        table.load(rows, Contents(counted[0], counted[1], counted[2], {}), None, slots)

    return compute


@host_kernel("DynamicEmbeddingKeepGone", large=True)
def keep_gone(c: OpKernelConstruction) -> Compute:
    """Numbers a save, since which changes count."""
    return lambda table, since: np.int64(table.keep_gone(int(since)))


@host_kernel("DynamicEmbeddingRestore", blocking=True, large=True)
def restore(c: OpKernelConstruction) -> Compute:
    """Takes over a shard's keys of a checkpoint."""
    name, shard, count = c["name_in_checkpoint"].decode(), c["shard"], c["num_shards"]
    names = [slot.decode() for slot in c["slots"]]
    slots = list(zip(names, c["fills"], strict=True))
    is_increment, slots_required = c["is_increment"], c["slots_required"]

    def compute(table: EmbeddingTable, prefix: Any) -> None:
        rows, counted, gone = read_contents(
            prefix.item().decode(), name, shard, count, names, slots_required
        )
        for block in rows.blocks.values():
            check_rows(table, f"saved rows of {name}", table.dtype, block)
        table.load(rows, counted, gone if is_increment else None, slots)

    return compute
