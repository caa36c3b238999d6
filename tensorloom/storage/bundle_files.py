"""The files of a tensor bundle: their names, and how they are put in place.

A bundle is replaced in one step, the renaming of its index. Where an earlier bundle of
the same prefix has the same names of shards, they are kept under names that hold the
checksum of the index that they belong to until the new index is there; a reader that
comes in between, or after a crash, finds them by that checksum.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from tensorloom.framework import errors
from tensorloom.storage import filesystem
from tensorloom.storage.crc32c import crc32c
from tensorloom.storage.local_filesystem import (
    LocalFileSystem,
    local_path,
    remove_name,
)
from tensorloom.storage.table_writer import TableWriter

if TYPE_CHECKING:
    from tensorloom.storage.filesystem import StagedFile


def index_name(prefix: str) -> str:
    """The file of the index."""
    return prefix + ".index"


def data_name(prefix: str, shard: int, shards: int) -> str:
    """The file of a shard."""
    return f"{prefix}.data-{shard:05d}-of-{shards:05d}"


def kept_name(data: str, index: bytes) -> str:
    """Where a shard is kept while its name is taken by the next bundle."""
    return f"{data}.of-index-{crc32c(index):08x}"


def bundle_files(prefix: str) -> list[str]:
    """All files of a bundle that exist, kept ones too; the index is the last."""
    result: list[str] = []
    with contextlib.suppress(errors.NotFoundError):
        result = filesystem.glob(escape(prefix) + ".data-?????-of-?????*")
    index = index_name(prefix)
    return [*result, index] if filesystem.exists(index) else result


def escape(path: str) -> str:
    """A pattern that matches the path alone."""
    return "".join("\\" + c if c in "*?[\\" else c for c in path)


def stage_index(prefix: str, rows: Mapping[bytes, bytes]) -> StagedFile:
    """The index of a bundle, written but not in place."""
    staged = filesystem.stage_file(index_name(prefix))
    try:
        table = TableWriter(staged.file)
        for key in sorted(rows):
            table.add(key, rows[key])
        table.finish()
        staged.seal()
    except OSError as error:
        staged.discard()
        from tensorloom.storage.file_errors import file_error

        raise file_error(index_name(prefix), error) from None
    except BaseException:
        staged.discard()
        raise
    return staged


@contextlib.contextmanager
def _directory_lock(path: str) -> Iterator[None]:
    """Holds off other processes that put a bundle into the same directory."""
    import fcntl

    try:
        descriptor = os.open(os.path.dirname(path) or ".", os.O_RDONLY)
    except OSError:
        yield
        return
    try:
        # Some network file systems have no locks; renaming is still in order there.
        with contextlib.suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def publish(
    prefix: str, shards: Sequence[tuple[str, Callable[[], None]]], index: StagedFile
) -> None:
    """Puts a bundle in place: data first, index last.

    Args:
      shards: the final name of each shard, and what gives it that name.
    """
    if not isinstance(filesystem.filesystem_of(prefix), LocalFileSystem):
        # No links there: the checkpoint is whole or absent, never mixed.
        filesystem.remove_if_exists(index_name(prefix))
        for _, put in shards:
            put()
        index.publish()
        return
    local = local_path(prefix)
    with _directory_lock(local):
        kept = _keep_shards(local, [local_path(name) for name, _ in shards])
        for _, put in shards:
            put()
        index.publish()
        for name in kept:
            with contextlib.suppress(OSError):
                remove_name(name)


def _keep_shards(prefix: str, names: Sequence[str]) -> list[str]:
    try:
        with open(index_name(prefix), "rb") as file:
            index = file.read()
    except OSError:
        return []
    kept = []
    for name in names:
        other = kept_name(name, index)
        # One that is there already, left by a crash, is the right one.
        with contextlib.suppress(OSError):
            os.link(name, other)
        kept.append(other)
    return kept
