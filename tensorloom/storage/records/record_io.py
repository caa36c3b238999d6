"""`tf.python_io`: TFRecord files from Python."""

from __future__ import annotations

import os
from collections.abc import Iterator
from types import TracebackType
from typing import Any, ClassVar, Final

from tensorloom.framework.export import export
from tensorloom.storage.records.tfrecord import Deflation, RecordReader, RecordWriter


@export("python_io.TFRecordCompressionType", "io.TFRecordCompressionType")
class TFRecordCompressionType:
    """How a file of records is compressed."""

    NONE = 0
    ZLIB = 1
    GZIP = 2


@export("python_io.TFRecordOptions", "io.TFRecordOptions")
class TFRecordOptions:
    """Options of record files.

    Args:
      compression_type: "GZIP", "ZLIB", "" or None, a `TFRecordCompressionType`, or
        other options, whose compression is taken.
      flush_mode: of zlib, for `flush`; Z_SYNC_FLUSH when None.
      input_buffer_size, output_buffer_size: accepted; ours are large.
      window_bits, compression_level, compression_method, mem_level,
        compression_strategy: of zlib; TensorFlow's defaults when None.

    Raises:
      ValueError: the compression is not known.
    """

    compression_type_map: ClassVar[dict[Any, str]] = {
        TFRecordCompressionType.ZLIB: "ZLIB",
        TFRecordCompressionType.GZIP: "GZIP",
        TFRecordCompressionType.NONE: "",
    }

    def __init__(
        self,
        compression_type: Any = None,
        flush_mode: Any = None,
        input_buffer_size: Any = None,
        output_buffer_size: Any = None,
        window_bits: Any = None,
        compression_level: Any = None,
        compression_method: Any = None,
        mem_level: Any = None,
        compression_strategy: Any = None,
    ) -> None:
        self.get_compression_type_string(compression_type)
        self.compression_type = compression_type
        self.flush_mode = flush_mode
        self.input_buffer_size = input_buffer_size
        self.output_buffer_size = output_buffer_size
        self.window_bits = window_bits
        self.compression_level = compression_level
        self.compression_method = compression_method
        self.mem_level = mem_level
        self.compression_strategy = compression_strategy

    @classmethod
    def get_compression_type_string(cls, options: Any) -> str:
        """ "GZIP", "ZLIB" or "".

        Raises:
          ValueError: it is another.
        """
        if not options:
            return ""
        if isinstance(options, TFRecordOptions):
            return cls.get_compression_type_string(options.compression_type)
        if isinstance(options, TFRecordCompressionType):
            return cls.compression_type_map[options]
        if options in cls.compression_type_map:
            return cls.compression_type_map[options]
        if options in cls.compression_type_map.values():
            return options  # type: ignore[no-any-return]
        raise ValueError(f'Not a valid compression_type: "{options}"')


# `Deflation`'s names of the options.
_DEFLATION: Final = {
    "level": "compression_level",
    "method": "compression_method",
    "window_bits": "window_bits",
    "memory_level": "mem_level",
    "strategy": "compression_strategy",
    "flush_mode": "flush_mode",
}


def _deflation(options: Any) -> Deflation:
    given = {ours: getattr(options, name, None) for ours, name in _DEFLATION.items()}
    return Deflation(**{k: v for k, v in given.items() if v is not None})


@export("python_io.TFRecordWriter", "io.TFRecordWriter")
class TFRecordWriter:
    """Writes records to a file.

    Args:
      path: the file; it is replaced.
      options: `TFRecordOptions`, a compression's name, or None.

    Raises:
      OpError: the file cannot be opened.
      ValueError: the compression is not known.
    """

    def __init__(self, path: Any, options: Any = None) -> None:
        kind = TFRecordOptions.get_compression_type_string(options)
        self._writer = RecordWriter(os.fsdecode(path), kind, _deflation(options))

    def write(self, record: Any) -> None:
        """Adds a record: bytes, or what has a buffer. Raises TypeError for text."""
        self._writer.write(record)

    def flush(self) -> None:
        """Hands what was written to the file system."""
        self._writer.flush()

    def close(self) -> None:
        """Finishes the file."""
        self._writer.close()

    def __enter__(self) -> TFRecordWriter:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()


@export("python_io.tf_record_iterator", "io.tf_record_iterator")
def tf_record_iterator(path: Any, options: Any = None) -> Iterator[bytes]:
    """The records of a file.

    Raises:
      NotFoundError: there is no file.
      DataLossError: a record is damaged; those before it have been given.
    """
    kind = TFRecordOptions.get_compression_type_string(options)
    return iter(RecordReader(os.fsdecode(path), kind.encode()))
