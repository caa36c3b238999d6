"""`tf.TextLineReader` and its kin: records of the files whose names a queue gives."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Tensor
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.types import dtypes

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph import Operation


@export("ReaderBase")
class ReaderBase:
    """What all readers share.

    Args:
      reader_ref: the handle.
      supports_serialize: whether the reader can write its state.
    """

    def __init__(self, reader_ref: Tensor, supports_serialize: bool = False) -> None:
        self._reader_ref = reader_ref
        self._supports_serialize = supports_serialize

    @property
    def reader_ref(self) -> Tensor:
        """The handle."""
        return self._reader_ref

    @property
    def supports_serialize(self) -> bool:
        """Whether the reader can write its state."""
        return self._supports_serialize

    def _apply(self, op: str, name: str | None, **arguments: Any) -> Any:
        if self._reader_ref.dtype == dtypes.resource:
            op = f"{op}V2"
        return apply_op(op, reader_handle=self._reader_ref, name=name, **arguments)

    def _queue(self, queue: Any) -> Tensor:
        """The handle of a queue, of the kind that the reader's ops take."""
        handle: Tensor = queue if isinstance(queue, Tensor) else queue.queue_ref
        if self._reader_ref.dtype == dtypes.resource:
            return handle
        by_reference: Tensor = apply_op("FakeQueue", resource=handle)
        return by_reference

    def read(self, queue: Any, name: str | None = None) -> Any:
        """(key, value) of the next record, both scalar strings.

        Running it takes a name from the queue when the last file is at its end.

        Args:
          queue: a queue, or its handle, of file names.
        """
        return self._apply("ReaderRead", name, queue_handle=self._queue(queue))

    def read_up_to(self, queue: Any, num_records: Any, name: str | None = None) -> Any:
        """(keys, values) of up to `num_records` records of one file, as vectors."""
        return self._apply(
            "ReaderReadUpTo",
            name,
            queue_handle=self._queue(queue),
            num_records=num_records,
        )

    def num_records_produced(self, name: str | None = None) -> Tensor:
        """A scalar int64: how many records the reader has given."""
        result: Tensor = self._apply("ReaderNumRecordsProduced", name)
        return result

    def num_work_units_completed(self, name: str | None = None) -> Tensor:
        """A scalar int64: how many files the reader has finished."""
        result: Tensor = self._apply("ReaderNumWorkUnitsCompleted", name)
        return result

    def serialize_state(self, name: str | None = None) -> Tensor:
        """A scalar string: the reader's state.

        Running it raises UnimplementedError if the reader cannot.
        """
        result: Tensor = self._apply("ReaderSerializeState", name)
        return result

    def restore_state(self, state: Any, name: str | None = None) -> Operation:
        """An operation that brings back a state."""
        op: Operation = self._apply("ReaderRestoreState", name, state=state)
        return op

    def reset(self, name: str | None = None) -> Operation:
        """An operation that brings the reader back to its start."""
        op: Operation = self._apply("ReaderReset", name)
        return op


@export("WholeFileReader")
class WholeFileReader(ReaderBase):
    """Reads whole files; keys are their names."""

    def __init__(self, name: str | None = None) -> None:
        super().__init__(apply_op("WholeFileReaderV2", name=name))


@export("TextLineReader")
class TextLineReader(ReaderBase):
    """Reads lines, without what ends them; keys are `file:line`.

    Args:
      skip_header_lines: lines to leave out at the start of each file.
    """

    def __init__(
        self, skip_header_lines: int | None = None, name: str | None = None
    ) -> None:
        super().__init__(
            apply_op(
                "TextLineReaderV2", skip_header_lines=skip_header_lines or 0, name=name
            )
        )


@export("FixedLengthRecordReader")
class FixedLengthRecordReader(ReaderBase):
    """Reads records of equal length; keys are `file:number`.

    Args:
      record_bytes: of each record.
      header_bytes, footer_bytes: to leave out at both ends of a file.
      hop_bytes: from one record to the next; `record_bytes` when None or 0.
      encoding: "ZLIB", "GZIP" or None.
    """

    def __init__(
        self,
        record_bytes: int,
        header_bytes: int | None = None,
        footer_bytes: int | None = None,
        hop_bytes: int | None = None,
        name: str | None = None,
        encoding: str | None = None,
    ) -> None:
        handle = apply_op(
            "FixedLengthRecordReaderV2",
            record_bytes=record_bytes,
            header_bytes=header_bytes or 0,
            footer_bytes=footer_bytes or 0,
            hop_bytes=hop_bytes or 0,
            encoding=encoding or "",
            name=name,
        )
        super().__init__(handle)


@export("TFRecordReader")
class TFRecordReader(ReaderBase):
    """Reads record files; keys are `file:offset`.

    Args:
      options: a `tf.python_io.TFRecordOptions` that names the compression.
    """

    def __init__(self, name: str | None = None, options: Any = None) -> None:
        handle = apply_op(
            "TFRecordReaderV2", compression_type=_compression(options), name=name
        )
        super().__init__(handle)


def _compression(options: Any) -> str:
    if options is None:
        return ""
    if isinstance(options, str):
        return options
    found = getattr(options, "compression_type", None)
    # Programs give the type by its number, or by its name.
    names = {None: "", 0: "", 1: "ZLIB", 2: "GZIP"}
    return found if isinstance(found, str) else names[found]


@export("IdentityReader")
class IdentityReader(ReaderBase):
    """Gives the queue's items as keys and values."""

    def __init__(self, name: str | None = None) -> None:
        super().__init__(apply_op("IdentityReaderV2", name=name), True)


@export("LMDBReader")
class LMDBReader(ReaderBase):
    """Reads LMDB databases; keys and values are theirs.

    Reading needs the package `lmdb`; without it a read raises UnimplementedError.

    Args:
      options: not read, as in TensorFlow.
    """

    def __init__(self, name: str | None = None, options: Any = None) -> None:
        super().__init__(apply_op("LMDBReader", name=name))
