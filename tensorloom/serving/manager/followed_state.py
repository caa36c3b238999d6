"""What a served model takes over: read beside it, then put in place at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from tensorloom.framework import errors
from tensorloom.framework.types.tensor_shape import TensorShape
from tensorloom.kernels.host.embedding.dynamic_embedding import check_rows
from tensorloom.kernels.host.embedding.restoring import read_contents
from tensorloom.kernels.host.embedding.table import EmbeddingTable
from tensorloom.serving.manager.memory import available_bytes

if TYPE_CHECKING:
    from tensorloom.client.session.session import Session
    from tensorloom.framework.graph.graph import Operation

# So many are put in memory within some ten milliseconds, while steps wait.
_FEW_ROWS: Final = 10_000
_RESTORE_TABLE: Final = "DynamicEmbeddingRestore"
_READ: Final = "RestoreV2"


@dataclass(frozen=True, slots=True)
class _Rows:
    """An embedding table, and where a checkpoint has its rows."""

    table: EmbeddingTable
    name: str
    shard: int
    num_shards: int

    def read(self, prefix: str, is_increment: bool) -> Callable[[], None]:
        """Reads the rows; what it returns puts them in place.

        Who serves needs no slots of optimizers.
        """
        table = self.table
        rows, counted, gone = read_contents(
            prefix, self.name, self.shard, self.num_shards, (), slots_required=False
        )
        for block in rows.blocks.values():
            check_rows(table, f"saved rows of {self.name}", table.dtype, block)
        if not is_increment:
            changed = EmbeddingTable(
                table.container, table.name, table.dtype, table.options
            )
            gone = None
        elif len(rows.keys) + len(counted.keys) + len(gone) <= _FEW_ROWS or (
            not _fits_twice(table)
        ):
            return lambda: table.load(rows, counted, gone)
        else:
            changed = table.copied()
        changed.load(rows, counted, gone)
        return lambda: table.take_rows_of(changed)


def _fits_twice(table: EmbeddingTable) -> bool:
    available = available_bytes()
    return available is None or table.nbytes < available // 2


class FollowedState:
    """The variables and tables of a session that its saver restores."""

    def __init__(self, session: Session, saver_def: Any) -> None:
        """Finds them.

        Args:
          session: in which a SavedModel is loaded.
          saver_def: the model's.
        """
        graph = session.graph
        self._session = session
        self._filename = graph.as_graph_element(saver_def.filename_tensor_name)
        restore = graph.get_operation_by_name(saver_def.restore_op_name)
        changes = _behind(restore, lambda op: op.control_inputs, _is_no_group)
        self._tables = [
            _Rows(
                session.run(op.inputs[0]),
                op.get_attr("name_in_checkpoint").decode(),
                op.get_attr("shard"),
                op.get_attr("num_shards"),
            )
            for op in changes
            if op.type == _RESTORE_TABLE
        ]
        self._changes = [op for op in changes if op.type != _RESTORE_TABLE]
        reads = _behind(
            self._changes,
            lambda op: [tensor.op for tensor in op.inputs],
            lambda op: op.type == _READ,
        )
        self._saved = [tensor for op in reads for tensor in op.outputs]

    def read(self, prefix: str, is_increment: bool) -> Callable[[], None]:
        """Reads what a checkpoint has, or an increment, which has changed rows alone.

        Returns:
          Puts it in place; it reads no file, and raises nothing that is foreseen.

        Raises:
          errors.OpError: the checkpoint is damaged, or of another model.
        """
        values = self._session.run(self._saved, {self._filename: prefix})
        for tensor, value in zip(self._saved, values, strict=True):
            _check_shape(tensor, value)
        of_tables = [rows.read(prefix, is_increment) for rows in self._tables]
        feeds = dict(zip(self._saved, values, strict=True))
        feeds[self._filename] = prefix

        def switch() -> None:
            self._session.run(self._changes, feeds)
            for put in of_tables:
                put()

        return switch


def _is_no_group(op: Operation) -> bool:
    return op.type != "NoOp"


def _behind(
    start: Operation | Sequence[Operation],
    before: Callable[[Operation], Iterable[Operation]],
    is_wanted: Callable[[Operation], bool],
) -> list[Operation]:
    """The nearest operations before others that are wanted."""
    waiting = list(start) if isinstance(start, Sequence) else [start]
    found, seen = [], set(waiting)
    while waiting:
        op = waiting.pop()
        if is_wanted(op):
            found.append(op)
            continue
        more = [one for one in before(op) if one not in seen]
        seen.update(more)
        waiting += more
    return found


def _check_shape(saved: Any, value: Any) -> None:
    """Checks a value that a variable gets, before any variable has changed."""
    for op in saved.consumers():
        if op.type == "Assign" and op.get_attr("validate_shape"):
            shape = op.inputs[0].shape
        elif op.type == "AssignVariableOp" and op.inputs[0].op.type == "VarHandleOp":
            shape = op.inputs[0].op.get_attr("shape")
        else:
            continue
        if not TensorShape(shape).is_compatible_with(value.shape):
            raise errors.InvalidArgumentError(
                None,
                op,
                f"The checkpoint has shape {list(value.shape)} for "
                f"{op.inputs[0].op.name}, which is {shape}",
            )
