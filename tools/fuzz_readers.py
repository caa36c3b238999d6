"""Feeds readers of files with what coverage-guided fuzzing makes up.

    pip install atheris
    python tools/fuzz_readers.py records --seconds 600

A reader may answer, or raise a `tf.errors.OpError`; anything else, a hang or a large
allocation ends the run, and the input stays in the directory `--corpus`. Inputs that
are kept for good go into `tests/storage/data/`. Not part of the tests: they take
minutes.
"""

from __future__ import annotations

import argparse
import inspect
import io
import struct
import sys
import tempfile
import zlib
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import atheris

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
# Bombs, which the tests read, take too long here.
LARGEST_SEED = 2000
BETWEEN = b"\xfe\xfe"
KINDS = (b"", b"GZIP", b"ZLIB")
DATA = ROOT / "tests" / "storage" / "data"


from tensorloom.framework import errors  # noqa: E402
from tensorloom.framework.types import varint  # noqa: E402
from tensorloom.storage.checkpoints import bundle_reader, checkpoint_v1, slices  # noqa: E402
from tensorloom.storage.files import byte_stream  # noqa: E402
from tensorloom.storage.records import event_files, record_file, tfrecord  # noqa: E402
from tensorloom.storage.tables import crc32c, snappy, table_reader, table_writer  # noqa: E402

# Readers alone are watched: to instrument all of tensorloom would take minutes.
WATCHED = (
    bundle_reader,
    byte_stream,
    checkpoint_v1,
    event_files,
    record_file,
    slices,
    snappy,
    table_reader,
    tfrecord,
    varint,
)


def watch(module: ModuleType) -> None:
    """Instruments the functions and methods that a module defines."""
    for value in list(vars(module).values()):
        held = vars(value).values() if isinstance(value, type) else (value,)
        for function in held:
            if inspect.isfunction(function) and function.__module__ == module.__name__:
                atheris.instrument_func(function)


def records(data: bytes, path: Path) -> None:
    """A record file, read both ways.

    The first byte chooses the compression, and whether it is done here; each part
    becomes a record, a length with its checksum, or stays as it is.
    """
    choice = data[0] if data else 0
    kind = KINDS[choice % 3]
    made = b"".join(_part(part) for part in data[1:].split(BETWEEN))
    if choice & 64 and kind:
        packer = zlib.compressobj(wbits=31 if kind == b"GZIP" else 15)
        made = packer.compress(made) + packer.flush()
    path.write_bytes(made)
    one_by_one = by_number = None
    try:
        one_by_one = list(tfrecord.RecordReader(str(path), kind))
    except errors.DataLossError as error:
        _check_named(error, path)
    try:
        with record_file.RecordFile(str(path), kind) as file:
            by_number = list(file)
    except errors.DataLossError as error:
        _check_named(error, path)
    assert one_by_one == by_number


def _check_named(error: errors.DataLossError, path: Path) -> None:
    if str(path) not in error.message:
        raise AssertionError(error.message)


def _part(data: bytes) -> bytes:
    if data[:1] == b"r":
        size, checksum = struct.pack("<Q", len(data)), crc32c.masked_crc32c(data)
        return _with_checksum(size) + data + struct.pack("<I", checksum)
    return _with_checksum(data[1:9]) if data[:1] == b"l" else data


def _with_checksum(data: bytes) -> bytes:
    return data + struct.pack("<I", crc32c.masked_crc32c(data))


def _table(data: bytes) -> bytes:
    """A table with right checksums, of keys and values; or `data` itself."""
    if data[:1] != b"t":
        return data
    parts = data[1:].split(BETWEEN)
    rows = dict(zip(parts[::2], parts[1::2], strict=False))
    file = io.BytesIO()
    writer = table_writer.TableWriter(file)
    for key in sorted(rows):
        writer.add(key, rows[key])
    writer.finish()
    return file.getvalue()


def events(data: bytes, path: Path) -> None:
    """Event messages, framed correctly so that their bytes are looked at."""
    with tfrecord.RecordWriter(str(path)) as writer:
        for part in data.split(BETWEEN):
            writer.write(part)
    try:
        list(event_files.read_events(str(path)))
    except errors.DataLossError as error:
        _check_named(error, path)


def checkpoints(data: bytes, path: Path) -> None:
    """The index of a checkpoint, with a data file of zeros."""
    path.with_suffix(".index").write_bytes(_table(data))
    path.with_suffix(".data-00000-of-00001").write_bytes(bytes(256))
    try:
        reader = bundle_reader.BundleReader(str(path.with_suffix("")))
        for name in list(reader.names):
            reader.read(name)
    except errors.OpError:
        pass


def old_checkpoints(data: bytes, path: Path) -> None:
    """A checkpoint of version 1."""
    path.write_bytes(_table(data))
    try:
        with checkpoint_v1.CheckpointReaderV1(str(path)) as reader:
            for name in list(reader.names):
                reader.read(name)
    except errors.OpError:
        pass


TARGETS: dict[str, tuple[Callable[[bytes, Path], None], str]] = {
    "records": (records, "damaged_records/*"),
    "events": (events, "damaged_records/event*"),
    "checkpoints": (checkpoints, "*.index"),
    "old_checkpoints": (old_checkpoints, "v1_1_15"),
}


def main() -> None:
    """Runs one target until something is found or the time is over."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("target", choices=TARGETS)
    parser.add_argument("--seconds", type=int, default=600)
    parser.add_argument("--corpus", type=Path, help="directory of inputs")
    options = parser.parse_args()
    for module in WATCHED:
        watch(module)
    read, kept = TARGETS[options.target]
    with tempfile.TemporaryDirectory() as directory:
        corpus = options.corpus or Path(directory) / "corpus"
        corpus.mkdir(parents=True, exist_ok=True)
        for path in DATA.glob(kept):
            if path.stat().st_size <= LARGEST_SEED:
                (corpus / path.name).write_bytes(path.read_bytes())
        file = Path(directory) / "input"
        arguments = [
            sys.argv[0],
            f"-max_total_time={options.seconds}",
            "-rss_limit_mb=1024",
            "-timeout=20",
            f"-artifact_prefix={corpus}/",
            str(corpus),
        ]
        atheris.Setup(arguments, lambda data: read(data, file))
        atheris.Fuzz()


if __name__ == "__main__":
    main()
