"""`data_flow_ops.RecordInput`: batches of records of TFRecord files in random order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from tensorloom.framework.graph.graph import name_scope
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.ops.array.concat import split
from tensorloom.ops.array.reshape import reshape

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph import Tensor

# As the op calls what TFRecordCompressionType numbers.
_COMPRESSIONS: Final = {0: "", 1: "ZLIB", 2: "GZIP"}


class RecordInput:
    """Reads files again and again, and yields their records from a shuffled buffer.

    Args:
      file_pattern: the files, with wildcards.
      batch_size: how many records a batch has.
      buffer_size: how many records are kept to choose from.
      parallelism: how many files are read at a time.
      shift_ratio: by which part of the files an epoch begins later than the one before.
      seed: of the order.
      name: of the operation.
      batches: None for one batch, or how many each step yields.
      compression_type: a TFRecordCompressionType; None for no compression.
    """

    def __init__(
        self,
        file_pattern: str,
        batch_size: int = 1,
        buffer_size: int = 1,
        parallelism: int = 1,
        shift_ratio: float = 0,
        seed: int = 0,
        name: str | None = None,
        batches: int | None = None,
        compression_type: Any = None,
    ) -> None:
        self._batches = batches
        self._batch_size = batch_size * (1 if batches is None else batches)
        self._name = name
        self._options = {
            "file_pattern": file_pattern,
            "file_buffer_size": buffer_size,
            "file_parallelism": parallelism,
            "file_shuffle_shift_ratio": shift_ratio,
            "file_random_seed": seed,
            "compression_type": _COMPRESSIONS[compression_type or 0],
        }

    def get_yield_op(self) -> Any:
        """A node that yields records each time it runs.

        Returns:
          Strings of shape [batch_size]; with `batches`, that many lists of scalar
          strings, to which the records are dealt out in turn.
        """
        records: Tensor = apply_op(
            "RecordInput", batch_size=self._batch_size, name=self._name, **self._options
        )
        if self._batches is None:
            return records
        with name_scope(self._name):
            dealt: list[list[Tensor]] = [[] for _ in range(self._batches)]
            for index, record in enumerate(split(records, self._batch_size, 0)):
                dealt[index % self._batches].append(reshape(record, []))
        return dealt
