"""Checkpoints of either version behind one door, and from a mirror if need be."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any, TypeVar

from tensorloom.framework import errors
from tensorloom.storage.checkpoints.bundle_files import index_name
from tensorloom.storage.checkpoints.bundle_reader import BundleReader
from tensorloom.storage.checkpoints.checkpoint_v1 import CheckpointReaderV1
from tensorloom.storage.files import filesystem, mirror
from tensorloom.storage.files.local_filesystem import LocalFileSystem

T = TypeVar("T")
Reader = BundleReader | CheckpointReaderV1

# How often a checkpoint may be replaced while it is opened.
_REPLACED_TRIES = 20
# The shards that a reader holds open; more could be all that a process may open.
_MOST_HELD = 128
# Errors of the first site that the mirror may not have.
_LOST = (
    errors.NotFoundError,
    errors.DataLossError,
    errors.UnavailableError,
    errors.PermissionDeniedError,
    errors.DeadlineExceededError,
    errors.UnknownError,
)


def not_found(prefix: str) -> errors.NotFoundError:
    """There is no checkpoint of a prefix."""
    return errors.NotFoundError(
        None,
        None,
        "Unsuccessful TensorSliceReader constructor: "
        f"Failed to find any matching files for {prefix}",
    )


def open_checkpoint(prefix: str) -> Reader:
    """The reader of a checkpoint of version 2, or else of version 1.

    Raises:
      NotFoundError: there is none.
    """
    if filesystem.exists(index_name(prefix)):
        return BundleReader(prefix)
    try:
        return CheckpointReaderV1(prefix)
    except errors.NotFoundError:
        raise not_found(prefix) from None


class _HeldBundle(BundleReader):
    """A bundle that stays as it was when it was opened, whatever gets its name later.

    Files that are open outlive their names on a local disk. In a store, and where
    there are very many shards, a read after the replacement fails.
    """

    def hold(self) -> bool:
        """Opens the shards. False when they may be those of another bundle by now."""
        local = isinstance(filesystem.filesystem_of(self.prefix), LocalFileSystem)
        if not local or self.shards > _MOST_HELD:
            return True
        for number in range(self.shards):
            # What is missing is told when it is read; the others can be.
            with contextlib.suppress(errors.OpError):
                self._shard(number)
        return not self.is_replaced()

    def read(self, key: bytes, part: Any = None) -> Any:
        """As a bundle's."""
        try:
            return super().read(key, part)
        except (errors.DataLossError, errors.NotFoundError) as error:
            if key not in self or not self.is_replaced():
                raise
            raise type(error)(
                None,
                None,
                f"{error.message}; the checkpoint was replaced or removed after it "
                "was opened: open it again",
            ) from None


def _open_held(prefix: str) -> Reader:
    """As `open_checkpoint`, and it stays readable when it is replaced."""
    if not filesystem.exists(index_name(prefix)):
        return open_checkpoint(prefix)
    for _ in range(_REPLACED_TRIES):
        reader = _HeldBundle(prefix)
        if reader.hold():
            break
        reader.close()
    return reader


def open_anywhere(prefix: str) -> Reader:
    """The reader of a checkpoint; a copy's if it is lost and has a mirror.

    It gives what the checkpoint held when it was opened, though it be replaced.
    """
    try:
        return _open_held(prefix)
    except _LOST:
        for other in mirror.copies_of(prefix):
            try:
                return _open_held(other)
            except _LOST:
                continue
        raise


def with_checkpoint(prefix: str, use: Callable[[Reader], T]) -> T:
    """Calls `use` with the reader of a checkpoint.

    When the checkpoint is lost or damaged and has a mirror, the mirror's is used.
    """
    try:
        return _use(prefix, use)
    except _LOST:
        for other in mirror.copies_of(prefix):
            try:
                with open_checkpoint(other) as reader:
                    return use(reader)
            except _LOST:
                continue
        raise


def _use(prefix: str, use: Callable[[Reader], T]) -> T:
    """Calls `use`, again if the checkpoint was replaced meanwhile."""
    for _ in range(_REPLACED_TRIES):
        with open_checkpoint(prefix) as reader:
            try:
                return use(reader)
            except (errors.DataLossError, errors.NotFoundError):
                if not isinstance(reader, BundleReader) or not reader.is_replaced():
                    raise
    with open_checkpoint(prefix) as reader:
        return use(reader)


def read_tensor(prefix: str, key: bytes) -> Any:
    """One tensor of a checkpoint."""
    return with_checkpoint(prefix, lambda reader: reader.read(key))
