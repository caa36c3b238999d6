"""The files of a tensor bundle: their names, and how they are put in place.

A bundle is replaced in one step, the renaming of its index. Where an earlier bundle of
the same prefix has the same names of shards, they are kept under names that hold the
checksum of the index that they belong to until the new index is there; a reader that
comes in between, or after a crash, finds them by that checksum.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from tensorloom.framework import errors
from tensorloom.storage.checkpoints import write_tokens
from tensorloom.storage.checkpoints.write_tokens import directory_lock
from tensorloom.storage.files import filesystem, spare_files
from tensorloom.storage.files.file_errors import file_error
from tensorloom.storage.files.leftovers import remove_leftovers
from tensorloom.storage.files.local_filesystem import LocalFileSystem, local_path
from tensorloom.storage.tables.crc32c import crc32c
from tensorloom.storage.tables.table_writer import TableWriter

if TYPE_CHECKING:
    from tensorloom.storage.files.filesystem_interface import StagedFile


def index_name(prefix: str) -> str:
    """The file of the index."""
    return prefix + ".index"


def data_name(prefix: str, shard: int, shards: int) -> str:
    """The file of a shard."""
    return f"{prefix}.data-{shard:05d}-of-{shards:05d}"


def kept_name(data: str, index: bytes) -> str:
    """Where a shard is kept while its name is taken by the next bundle."""
    return f"{data}.of-index-{crc32c(index):08x}"


# A shard or a kept one, but not what another process writes beside it.
_SHARD = re.compile(r"\.data-\d{5}-of-\d{5}(\.of-index-[0-9a-f]{8})?\Z")


def bundle_files(prefix: str) -> list[str]:
    """All files of a bundle that exist, kept ones too; the index is the last."""
    result: list[str] = []
    with contextlib.suppress(errors.NotFoundError):
        found = filesystem.glob(escape(prefix) + ".data-?????-of-?????*")
        result = [path for path in found if _SHARD.search(path)]
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
        raise file_error(index_name(prefix), error) from None
    except BaseException:
        staged.discard()
        raise
    return staged


def publish(
    prefix: str, shards: Sequence[tuple[str, Callable[[], None]]], index: StagedFile
) -> None:
    """Puts a bundle in place: data first, index last.

    Args:
      shards: the final name of each shard, and what gives it that name.

    Raises:
      errors.AbortedError: another process has become the writer of the directory.
    """
    if not isinstance(filesystem.filesystem_of(prefix), LocalFileSystem):
        _publish_in_store(prefix, shards, index)
        return
    local = local_path(prefix)
    with directory_lock(os.path.dirname(local)):
        write_tokens.check(filesystem.parent(prefix))
        _keep_shards(local, [local_path(name) for name, _ in shards])
        for _, put in shards:
            put()
        index.publish()
        _remove_kept(local)
    remove_leftovers(os.path.dirname(local))


def remove(prefix: str) -> list[str]:
    """Removes a bundle; gives its files.

    The index goes first: what a crash leaves is then no checkpoint. Another process
    that puts a bundle of this name in place does so before or afterwards.
    """
    local = isinstance(filesystem.filesystem_of(prefix), LocalFileSystem)
    directory = os.path.dirname(local_path(prefix)) if local else ""
    with directory_lock(directory) if local else contextlib.nullcontext():
        doomed = [*reversed(bundle_files(prefix))]
        for path in doomed:
            filesystem.retire_if_exists(path)
    return doomed


def _publish_in_store(
    prefix: str, shards: Sequence[tuple[str, Callable[[], None]]], index: StagedFile
) -> None:
    """As on a disk, with copies, since a store has no second names."""
    write_tokens.check(filesystem.parent(prefix))
    kept = []
    for name, other in _kept_names(prefix, [name for name, _ in shards]):
        if not filesystem.exists(other):
            with contextlib.suppress(errors.NotFoundError):
                filesystem.copy(name, other)
        kept.append(other)
    for _, put in shards:
        put()
    write_tokens.check(filesystem.parent(prefix))
    index.publish()
    for other in kept:
        with contextlib.suppress(errors.OpError):
            filesystem.remove(other)


def _kept_names(prefix: str, names: Sequence[str]) -> list[tuple[str, str]]:
    """Where the shards of the present bundle, if there is one, are to be kept."""
    try:
        index = filesystem.read_file(index_name(prefix))
    except errors.NotFoundError:
        return []
    return [(name, kept_name(name, index)) for name in names]


def _keep_shards(prefix: str, names: Sequence[str]) -> None:
    for name, other in _kept_names(prefix, names):
        # One that is there already, left by a crash, is the right one.
        with contextlib.suppress(OSError):
            os.link(name, other)


def _remove_kept(prefix: str) -> None:
    """Removes the shards of earlier bundles, those too that a crash has left."""
    directory, name = os.path.split(prefix)
    kept = re.compile(re.escape(name) + r"\.data-\d{5}-of-\d{5}\.of-index-[0-9a-f]{8}")
    with contextlib.suppress(OSError):
        for other in os.listdir(directory or "."):
            if kept.fullmatch(other):
                with contextlib.suppress(OSError):
                    spare_files.retire(os.path.join(directory, other))
