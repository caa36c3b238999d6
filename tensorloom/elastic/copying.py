"""Copies variables from task to task: their values go as those of a step do."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from tensorloom.elastic.brief_session import BriefSession
from tensorloom.elastic.plan import container
from tensorloom.elastic.shards import JOB, Stored, StoredTable
from tensorloom.framework.graph.dataflow_graph import Graph
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.runtime.scopes import device as device_scope
from tensorloom.framework.types import dtypes
from tensorloom.ops.array.constant import constant
from tensorloom.ops.state import reference_variable, resource_variable

if TYPE_CHECKING:
    from tensorloom.elastic.plan import Home

# So many bytes are on their way at a time.
_BATCH: Final = 1 << 28


@dataclass(frozen=True)
class Place:
    """Where a variable is, or is to be."""

    device: str  # such as /job:ps/task:1
    container: str


@dataclass(frozen=True)
class Copy:
    """A variable, or table, and from where to where."""

    variable: Stored | StoredTable
    source: Place
    target: Place


def place_of(shard: int, home: Home) -> Place:
    """Where a server has a shard's variables."""
    device = f"/job:{JOB}/task:{home.server}/device:CPU:0"
    return Place(device, container(shard, home.epoch))


def copy_variables(target: str, config: Any, copies: Sequence[Copy]) -> int:
    """Makes the variables at other places equal to those that are there.

    A variable that has no value is passed over. The source keeps its value.

    Args:
      target: of the session.
      config: a `tf.ConfigProto` whose filters let all tasks in question through.
      copies: what to copy.

    Returns:
      How many bytes were copied.

    Raises:
      errors.OpError: a task was lost; what was copied then may be any part.
    """
    if not copies:
        return 0
    graph = Graph()
    with graph.as_default():
        ends = [_ends(one) for one in copies]
        flags = [is_there for is_there, _ in ends]
    with BriefSession(target, graph=graph, config=config) as session:
        there = session.run(flags)
        wanted = [
            (one, assign)
            for one, (_, assign), has_value in zip(copies, ends, there, strict=True)
            if has_value
        ]
        for batch in _batches(wanted):
            session.run([assign for _, assign in batch])
    return sum(one.variable.size for one, _ in wanted)


def _batches(wanted: Iterable[tuple[Copy, Any]]) -> Iterator[list[tuple[Copy, Any]]]:
    batch: list[tuple[Copy, Any]] = []
    size = 0
    for one in wanted:
        if batch and size + one[0].variable.size > _BATCH:
            yield batch
            batch, size = [], 0
        batch.append(one)
        size += one[0].variable.size
    if batch:
        yield batch


def _ends(copy: Copy) -> tuple[Any, Any]:
    """Whether a variable has a value, and the operation that copies it."""
    one = copy.variable
    if isinstance(one, StoredTable):
        return _table_ends(one, copy)
    with device_scope(copy.source.device):
        source = _variable(one, copy.source.container)
        if one.is_resource:
            is_there = resource_variable.var_is_initialized_op(source)
            value = resource_variable.read_variable_op(source, dtype=one.dtype)
        else:
            is_there = reference_variable.is_variable_initialized(source)
            value = source
    with device_scope(copy.target.device):
        target = _variable(one, copy.target.container)
        if one.is_resource:
            return is_there, resource_variable.assign_variable_op(target, value)
        assign = reference_variable.assign(target, value, validate_shape=False)
        return is_there, assign.op


def _table_ends(one: StoredTable, copy: Copy) -> tuple[Any, Any]:
    """The same of a table, which is there when it is asked for."""
    slots: dict[str, Any] = {
        "slots": list(one.slots),
        "fills": list(one.slots.values()),
    }
    with device_scope(copy.source.device):
        is_there = constant(True)
        exported = apply_op(
            "DynamicEmbeddingExport",
            table=table_handle(one, copy.source.container),
            since=constant(0, dtypes.int64),
            T=one.options["T"],
            N=1 + len(one.slots),
            dim=one.options["dim"],
            **slots,
        )
    with device_scope(copy.target.device):
        return is_there, apply_op(
            "DynamicEmbeddingImport",
            table=table_handle(one, copy.target.container),
            keys=exported.keys,
            freqs=exported.freqs,
            steps=exported.steps,
            counted_keys=exported.counted_keys,
            counted_freqs=exported.counted_freqs,
            counted_steps=exported.counted_steps,
            blocks=exported.blocks,
            **slots,
        )


def table_handle(one: StoredTable, container: str) -> Any:
    """The table's handle; the device scope says at which task."""
    return apply_op(
        "DynamicEmbeddingTable",
        shared_name=one.name,
        container=container,
        **one.options,
    )


def _variable(one: Stored, container: str) -> Any:
    make = (
        resource_variable.var_handle_op
        if one.is_resource
        else reference_variable.variable_op_v2
    )
    return make(
        shape=one.shape, dtype=one.dtype, shared_name=one.name, container=container
    )


def set_mark(target: str, config: Any, place: Place, mark: int) -> None:
    """Keeps a number beside variables.

    Raises:
      errors.OpError: the task was lost.
    """
    graph = Graph()
    with graph.as_default(), device_scope(place.device):
        value = constant(mark, dtypes.int64)
        assign = resource_variable.assign_variable_op(_mark(place), value)
    with BriefSession(target, graph=graph, config=config) as session:
        session.run(assign)


def read_marks(target: str, config: Any, places: Sequence[Place]) -> list[int | None]:
    """The numbers at these places; None where there is none.

    Raises:
      errors.OpError: a task was lost.
    """
    if not places:
        return []
    graph = Graph()
    flags, reads = [], []
    with graph.as_default():
        for place in places:
            with device_scope(place.device):
                mark = _mark(place)
                flags.append(resource_variable.var_is_initialized_op(mark))
                reads.append(resource_variable.read_variable_op(mark, dtypes.int64))
    with BriefSession(target, graph=graph, config=config) as session:
        there = session.run(flags)
        wanted = [read for read, is_there in zip(reads, there, strict=True) if is_there]
        values = iter(session.run(wanted) if wanted else ())
    return [int(next(values)) if is_there else None for is_there in there]


def _mark(place: Place) -> Any:
    return resource_variable.var_handle_op(
        dtypes.int64, [], "mark", container=place.container
    )
