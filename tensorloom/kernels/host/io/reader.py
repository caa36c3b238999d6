"""The kernels of readers, for resource handles and for references."""

from __future__ import annotations

import glob
import math
import random
import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from tensorloom.framework import errors
from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.registry.op_kernel import host_kernel
from tensorloom.framework.types import dtypes
from tensorloom.kernels.host.array.allocation import check_memory
from tensorloom.kernels.host.control_flow.waiting import node_resource
from tensorloom.kernels.host.io.reader_resource import (
    FixedLengthRecordReader,
    IdentityReader,
    LMDBReader,
    Reader,
    TextLineReader,
    TFRecordReader,
    WholeFileReader,
)
from tensorloom.kernels.host.strings.arrays import to_strings
from tensorloom.storage.records.tfrecord import RecordReader

if TYPE_CHECKING:
    from tensorloom.framework.registry.op_kernel import (
        Compute,
        OpKernelConstruction,
        OpKernelContext,
    )
    from tensorloom.kernels.host.queues.queue_resource import Queue


def _both(op: str) -> list[str]:
    return [op, f"{op}V2"]


@host_kernel(_both("TextLineReader"), large=True)
def text_line_reader(c: OpKernelConstruction) -> Compute:
    """The reader of this node, or of its shared name."""
    skip = c["skip_header_lines"]
    if skip < 0:
        raise invalid_argument(f"skip_header_lines must be >= 0 not {skip}")
    return node_resource(
        c, TextLineReader, lambda place, name: TextLineReader(place, name, skip)
    )


@host_kernel("LMDBReader", large=True)
def lmdb_reader(c: OpKernelConstruction) -> Compute:
    """The reader of this node, or of its shared name."""
    return node_resource(c, LMDBReader, LMDBReader)


@host_kernel(_both("TFRecordReader"), large=True)
def tf_record_reader(c: OpKernelConstruction) -> Compute:
    """The reader of this node, or of its shared name."""
    compression = c["compression_type"].decode()
    return node_resource(
        c, TFRecordReader, lambda place, name: TFRecordReader(place, name, compression)
    )


@host_kernel(_both("FixedLengthRecordReader"), large=True)
def fixed_length_record_reader(c: OpKernelConstruction) -> Compute:
    """The reader of this node, or of its shared name."""
    names = ("header_bytes", "record_bytes", "footer_bytes", "hop_bytes")
    for name in names:
        if c[name] < 0:
            raise invalid_argument(f"{name} must be >= 0 not {c[name]}")
    lengths = tuple(c[name] for name in names)
    encoding = (c.get("encoding") or b"").decode()
    return node_resource(
        c,
        FixedLengthRecordReader,
        lambda place, name: FixedLengthRecordReader(place, name, lengths, encoding),
    )


@host_kernel(_both("WholeFileReader"), large=True)
def whole_file_reader(c: OpKernelConstruction) -> Compute:
    """The reader of this node, or of its shared name."""
    return node_resource(c, WholeFileReader, WholeFileReader)


@host_kernel(_both("IdentityReader"), large=True)
def identity_reader(c: OpKernelConstruction) -> Compute:
    """The reader of this node, or of its shared name."""
    return node_resource(c, IdentityReader, IdentityReader)


@host_kernel(_both("ReaderRead"), context=True, blocking=True, large=True)
def reader_read(c: OpKernelConstruction) -> Compute:
    """The next record."""

    def compute(context: OpKernelContext, reader: Reader, queue: Queue) -> Any:
        ((key, value),) = reader.read(queue, 1, context)
        return to_strings([key], ()), to_strings([value], ())

    return compute


@host_kernel(_both("ReaderReadUpTo"), context=True, blocking=True, large=True)
def reader_read_up_to(c: OpKernelConstruction) -> Compute:
    """Some records of one file."""

    def compute(
        context: OpKernelContext, reader: Reader, queue: Queue, count: Any
    ) -> Any:
        records = reader.read(queue, int(count), context)
        shape = (len(records),)
        keys = to_strings([key for key, _ in records], shape)
        return keys, to_strings([value for _, value in records], shape)

    return compute


@host_kernel(_both("ReaderNumRecordsProduced"), large=True)
def num_records_produced(c: OpKernelConstruction) -> Compute:
    """How many records the reader has given."""
    return lambda reader: np.int64(reader.produced)


@host_kernel(_both("ReaderNumWorkUnitsCompleted"), large=True)
def num_work_units_completed(c: OpKernelConstruction) -> Compute:
    """How many files the reader has finished."""
    return lambda reader: np.int64(reader.finished)


@host_kernel(_both("ReaderSerializeState"), large=True)
def serialize_state(c: OpKernelConstruction) -> Compute:
    """The reader's state."""
    return lambda reader: to_strings([reader.serialize()], ())


@host_kernel(_both("ReaderRestoreState"), large=True)
def restore_state(c: OpKernelConstruction) -> Compute:
    """Brings a state back."""

    def compute(reader: Reader, state: Any) -> None:
        if state.ndim:
            raise invalid_argument(
                f"Reader state must be scalar, but had shape: {list(state.shape)}"
            )
        reader.restore(state.item())

    return compute


@host_kernel(_both("ReaderReset"), context=True, blocking=True, large=True)
def reset(c: OpKernelConstruction) -> Compute:
    """Brings the reader back to its start."""

    def compute(context: OpKernelContext, reader: Reader) -> None:
        reader.reset(context)

    return compute


@host_kernel("RecordInput", large=True)
def record_input(c: OpKernelConstruction) -> Compute:
    """Batches of records without end."""
    batch, lock = c["batch_size"], threading.Lock()
    if batch > 0:
        check_memory((batch,), dtypes.string, c.device)
    compression = c["compression_type"].decode()
    if compression not in ("", "GZIP", "ZLIB"):
        raise invalid_argument(f"Unsupported compression_type: {compression}")
    records = _shuffled_records(
        c["file_pattern"].decode(),
        compression,
        random.Random(c["file_random_seed"]),
        c["file_shuffle_shift_ratio"],
        max(1, c["file_buffer_size"]),
    )

    def compute() -> Any:
        with lock:
            return to_strings([next(records) for _ in range(batch)], (batch,))

    return compute


def _shuffled_records(
    pattern: str,
    compression: str,
    rng: random.Random,
    shift: float,
    capacity: int,
) -> Iterator[bytes]:
    """Records in random order: files are shuffled, then a buffer of records.

    Each pass over the files begins `shift` of them later, when all records of the
    last one were given.
    """
    buffer: list[bytes] = []
    for records in _passes(pattern, compression, rng, shift):
        for record in records:
            buffer.append(record)
            if len(buffer) >= capacity:
                i = rng.randrange(len(buffer))
                buffer[i], buffer[-1] = buffer[-1], buffer[i]
                yield buffer.pop()
        rng.shuffle(buffer)
        while buffer:
            yield buffer.pop()


def _passes(
    pattern: str, compression: str, rng: random.Random, shift: float
) -> Iterator[Iterator[bytes]]:
    """The records of each pass over the files."""
    epoch = 0
    while True:
        names = sorted(name for one in pattern.split(",") for name in glob.glob(one))
        if not names:
            raise errors.NotFoundError(None, None, f"Found no files at {pattern}")
        rng.shuffle(names)
        first = math.floor(epoch * shift * len(names)) % len(names)
        yield _records(names[first:] + names[:first], compression, pattern)
        epoch += 1


def _records(names: list[str], compression: str, pattern: str) -> Iterator[bytes]:
    found = False
    for name in names:
        for record in RecordReader(name, compression.encode()):
            found = True
            yield record
    if not found:
        raise errors.NotFoundError(None, None, f"Found no records at {pattern}")
