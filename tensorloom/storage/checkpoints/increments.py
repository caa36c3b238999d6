"""Increments of a checkpoint: bundles with what changed since the one before.

Beside the checkpoint `model-100` the file `model-100.increments` lists, in order, the
increments that follow it, which are bundles: `model-100.increment-1` and so on. The
list has the checksum of the index of each, and that of the checkpoint's own. So an
increment is either the one that was written when the list was, or it is not of the
list, nor is what follows it. A list is replaced whole, after the bundle that it names
is in place.
"""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Final

from tensorloom.framework import errors
from tensorloom.storage.checkpoints import bundle_files, write_tokens
from tensorloom.storage.checkpoints.bundle_reader import BundleReader
from tensorloom.storage.files import filesystem
from tensorloom.storage.tables.crc32c import crc32c

# What is behind the number of an increment, but not what somebody writes beside it.
_OF_A_BUNDLE: Final = r"\d+\.(index|data-\d{5}-of-\d{5}(\.of-index-[0-9a-f]{8})?)"


@dataclass(frozen=True)
class Increment:
    """One increment of a list."""

    number: int  # from 1, without gaps
    step: int  # the global step, -1 where none was told
    index: int  # the checksum of its index


@dataclass(frozen=True)
class Found:
    """The increments of a checkpoint that can be restored, in order."""

    increments: Sequence[Increment]
    problem: str = ""  # why others that are listed cannot


def list_name(prefix: str) -> str:
    """The file that lists the increments of a checkpoint."""
    return prefix + ".increments"


def increment_name(prefix: str, number: int) -> str:
    """The prefix of an increment of a checkpoint."""
    return f"{prefix}.increment-{number}"


def checksum(prefix: str) -> int:
    """The checksum of the index of a bundle.

    Raises:
      NotFoundError: there is none.
    """
    return crc32c(filesystem.read_file(bundle_files.index_name(prefix)))


def write(prefix: str, base: int, increments: Sequence[Increment]) -> None:
    """Lists the increments of a checkpoint.

    Args:
      prefix: of the checkpoint.
      base: its checksum.
      increments: all that follow it, in order.

    Raises:
      errors.AbortedError: another process has become the writer of the directory.
    """
    content = {"checkpoint": base, "increments": [asdict(i) for i in increments]}
    data = json.dumps(content, indent=1).encode() + b"\n"
    with write_tokens.writing(filesystem.parent(prefix)):
        filesystem.write_file(list_name(prefix), data)


def find(prefix: str, after: Sequence[Increment] = ()) -> Found:
    """The whole increments that follow a checkpoint, or those that are known.

    Args:
      prefix: of the checkpoint.
      after: those that were found before: they are not read again.
    """
    listed, problem = _read_list(prefix)
    if listed is None:
        return Found(after, problem)
    base, increments = listed
    try:
        if checksum(prefix) != base:
            return Found((), f"{list_name(prefix)} is of another {prefix}")
    except errors.OpError as error:
        return Found(after, error.message)
    if list(after) != increments[: len(after)]:
        return Found((), f"{list_name(prefix)} lists others than before")
    for at in range(len(after), len(increments)):
        problem = _problem_of(prefix, increments[at])
        if problem:
            return Found(increments[:at], problem)
    return Found(increments)


def _read_list(prefix: str) -> tuple[tuple[int, list[Increment]] | None, str]:
    try:
        content = json.loads(filesystem.read_file(list_name(prefix)))
        increments = [Increment(**entry) for entry in content["increments"]]
        base = int(content["checkpoint"])
    except errors.NotFoundError:
        return None, ""
    except errors.OpError as error:
        return None, error.message
    except (ValueError, KeyError, TypeError) as error:
        return None, f"{list_name(prefix)} cannot be read: {error}"
    if [i.number for i in increments] != list(range(1, len(increments) + 1)):
        return None, f"{list_name(prefix)} has gaps"
    return (base, increments), ""


def _problem_of(prefix: str, increment: Increment) -> str:
    """Why an increment cannot be restored; "" if it can.

    All of it is read: what showed its damage later would leave half of it applied.
    """
    name = increment_name(prefix, increment.number)
    try:
        if checksum(name) != increment.index:
            return f"{name} is another one than {list_name(prefix)} lists"
        with BundleReader(name) as reader:
            for name_of_tensor in reader.names:
                reader.read(name_of_tensor)
    except errors.OpError as error:
        return f"{name}: {error.message}"
    return ""


def remove(prefix: str) -> list[str]:
    """Removes the increments of a checkpoint; gives their files.

    The list goes first: what a crash leaves is then of no list.
    """
    doomed = [list_name(prefix)] if filesystem.exists(list_name(prefix)) else []
    own = re.compile(re.escape(increment_name(prefix, 0)[:-1]) + _OF_A_BUNDLE)
    pattern = bundle_files.escape(increment_name(prefix, 0)[:-1]) + "*"
    with contextlib.suppress(errors.NotFoundError):
        found = [path for path in filesystem.glob(pattern) if own.fullmatch(path)]
        # Indices before data.
        doomed += sorted(found, key=lambda path: not path.endswith(".index"))
    for path in doomed:
        filesystem.retire_if_exists(path)
    return doomed
