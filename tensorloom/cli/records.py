"""`tensorloom records`: looks into TFRecord files."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from typing import Any

from tensorloom.cli.actions import FINE, PROBLEMS, Action, group, progress, show

_KINDS = ("auto", "none", "gzip", "zlib")


def _add_paths(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("paths", nargs="+", metavar="PATH", help="TFRecord files")
    parser.add_argument(
        "--compression", choices=_KINDS, default="auto", help="(default: auto)"
    )


def _add_head(parser: argparse.ArgumentParser) -> None:
    _add_paths(parser)
    parser.add_argument(
        "-n", type=int, default=5, help="how many records of each file (default: 5)"
    )
    parser.add_argument(
        "--as",
        dest="form",
        choices=("auto", "example", "sequence", "event", "bytes"),
        default="auto",
        help="what the records are (default: auto)",
    )


def _compression(path: str, choice: str) -> bytes:
    if choice != "auto":
        return b"" if choice == "none" else choice.upper().encode()
    from tensorloom.storage.files import filesystem

    with filesystem.open_file(path) as file:
        start = file.read(12)
    if start[:2] == b"\x1f\x8b":
        return b"GZIP"
    from tensorloom.storage.tables.crc32c import masked_crc32c

    plain = (
        len(start) < 12 or masked_crc32c(start[:8]).to_bytes(4, "little") == (start[8:])
    )
    # A zlib stream: method 8, and a header that is a multiple of 31.
    is_zlib = start[:1] == b"\x78" and int.from_bytes(start[:2], "big") % 31 == 0
    return b"ZLIB" if is_zlib and not plain else b""


def _records(path: str, choice: str) -> Iterator[bytes]:
    from tensorloom.storage.records.tfrecord import RecordReader

    return iter(RecordReader(path, _compression(path, choice)))


def _scan(
    path: str, choice: str, step: Callable[[str, int], None]
) -> tuple[int, int, str]:
    """How many records and bytes a file has, and what is wrong with it."""
    from tensorloom.framework import errors

    count = size = reported = 0
    try:
        for record in _records(path, choice):
            count += 1
            size += len(record)
            if size - reported > 1 << 22:
                step(path, size - reported)
                reported = size
    except errors.DataLossError as error:
        return count, size, error.message
    return count, size, ""


def _scan_all(options: argparse.Namespace) -> list[dict[str, Any]]:
    from tensorloom.storage.files import filesystem

    total = filesystem.total_size(options.paths)
    results = []
    with progress("records", total) as step:
        for path in options.paths:
            count, size, problem = _scan(path, options.compression, step)
            results.append(
                {"path": path, "records": count, "bytes": size, "problem": problem}
            )
    return results


def _count(options: argparse.Namespace) -> int:
    results = _scan_all(options)
    show(options, results, (f"{r['records']}\t{r['path']}" for r in results))
    return _status(results)


def _verify(options: argparse.Namespace) -> int:
    results = _scan_all(options)
    show(
        options,
        results,
        (
            f"{r['path']}: "
            + (r["problem"] or f"fine, {r['records']} records, {r['bytes']} bytes")
            for r in results
        ),
    )
    return _status(results)


def _status(results: list[dict[str, Any]]) -> int:
    import sys

    for result in results:
        if result["problem"]:
            print(f"{result['path']}: {result['problem']}", file=sys.stderr)
    return PROBLEMS if any(result["problem"] for result in results) else FINE


def _head(options: argparse.Namespace) -> int:
    shown = []
    for path in options.paths:
        records = _records(path, options.compression)
        for index, record in zip(range(options.n), records, strict=False):
            form, text = _described(record, options.form)
            shown.append(
                {
                    "path": path,
                    "index": index,
                    "bytes": len(record),
                    "kind": form,
                    "text": text,
                }
            )
    show(
        options,
        shown,
        (
            f"{one['path']} record {one['index']}: {one['bytes']} bytes, "
            f"{one['kind']}\n{one['text']}"
            for one in shown
        ),
    )
    return FINE


def _described(record: bytes, form: str) -> tuple[str, str]:
    """What a record is, and it as text."""
    from google.protobuf import text_format
    from google.protobuf.message import DecodeError

    from tensorloom.protos import event_pb2, example_pb2

    forms: dict[str, Any] = {
        "example": example_pb2.Example,
        "sequence": example_pb2.SequenceExample,
        "event": event_pb2.Event,
    }
    for name, kind in forms.items():
        if form not in (name, "auto"):
            continue
        message = kind()
        try:
            message.ParseFromString(record)
        except DecodeError:
            continue
        if form == name or _is_meant(message, name, record):
            return name, text_format.MessageToString(message, indent=2).rstrip()
    return "bytes", "  " + repr(record[:200]) + ("..." if len(record) > 200 else "")


def _is_meant(message: Any, name: str, record: bytes) -> bool:
    """Whether bytes that parse as a message are one: all of its fields are known."""
    if message.SerializeToString(deterministic=True) == b"" or not record:
        return False
    copy = type(message)()
    copy.CopyFrom(message)
    copy.DiscardUnknownFields()
    if copy.ByteSize() != message.ByteSize():
        return False
    if name == "event":
        return bool(message.wall_time > 1e8)
    if name == "sequence":
        return bool(message.feature_lists.feature_list)
    return bool(message.features.feature)


COMMAND = group(
    "records",
    "look into TFRecord files",
    (
        Action("head", "show the first records", _add_head, _head),
        Action("count", "count the records", _add_paths, _count),
        Action("verify", "compare every checksum", _add_paths, _verify),
    ),
)
