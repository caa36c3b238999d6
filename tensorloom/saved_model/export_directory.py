"""The directory of a SavedModel: its layout, reading its message, publishing it.

    DIR/saved_model.pb      the SavedModel message (or saved_model.pbtxt)
    DIR/variables/          a checkpoint, `variables`
    DIR/assets/             files that the graph reads
    DIR/assets.extra/       files for others; nothing here looks at them

A directory is a SavedModel once its message is there. On the local disk a new one is
made under another name and renamed when it is whole, so that a server which watches the
place never sees half of one; elsewhere the message is written last.
"""

from __future__ import annotations

import contextlib
import secrets
import weakref
from typing import Any

from tensorloom.framework import errors
from tensorloom.saved_model import constants
from tensorloom.storage.files import filesystem, mirror
from tensorloom.train.checkpoints.message_text import parse_text


def variables_path(export_dir: Any) -> str:
    """The prefix of the checkpoint."""
    return filesystem.join(
        filesystem.path_text(export_dir),
        constants.VARIABLES_DIRECTORY,
        constants.VARIABLES_FILENAME,
    )


def message_paths(export_dir: str) -> tuple[str, str]:
    """Where the message is, in binary or text format."""
    return (
        filesystem.join(export_dir, constants.SAVED_MODEL_FILENAME_PB),
        filesystem.join(export_dir, constants.SAVED_MODEL_FILENAME_PBTXT),
    )


def find_message(export_dir: str) -> str | None:
    """The file of the message; None when there is none."""
    for path in message_paths(export_dir):
        if filesystem.exists(path):
            return path
    return None


def parse_saved_model(export_dir: Any) -> Any:
    """The `SavedModel` message of a directory.

    Raises:
      OSError: there is none, or it is damaged.
    """
    from google.protobuf import text_format
    from google.protobuf.message import DecodeError

    from tensorloom.protos import saved_model_pb2

    export_dir = filesystem.path_text(export_dir)
    path = find_message(export_dir)
    if path is None:
        raise OSError(
            f"SavedModel file does not exist at: {export_dir}/"
            f"{{{constants.SAVED_MODEL_FILENAME_PBTXT}|"
            f"{constants.SAVED_MODEL_FILENAME_PB}}}"
        )
    data = filesystem.read_file(path)
    result = saved_model_pb2.SavedModel()
    try:
        if path.endswith(constants.SAVED_MODEL_FILENAME_PB):
            result.ParseFromString(data)
        else:
            parse_text(data, result)
    except (DecodeError, text_format.ParseError, UnicodeDecodeError) as error:
        raise OSError(f"Cannot parse file {path}: {error}.") from None
    if result.saved_model_schema_version > constants.SAVED_MODEL_SCHEMA_VERSION:
        raise OSError(
            f"Cannot parse file {path}: its schema has version "
            f"{result.saved_model_schema_version}, known here is "
            f"{constants.SAVED_MODEL_SCHEMA_VERSION}."
        )
    return result


class ExportDirectory:
    """A directory on its way to be a SavedModel.

    Args:
      export_dir: its name; nothing, or an empty directory, may be there.

    Raises:
      AssertionError: there is something in it.
    """

    def __init__(self, export_dir: Any) -> None:
        self.final = filesystem.path_text(export_dir).rstrip("/") or "/"
        if filesystem.exists(self.final) and filesystem.list_directory(self.final):
            raise AssertionError(
                "Export directory already exists, and isn't empty. Please choose a "
                "different export directory, or delete all the contents of the "
                f"specified directory: {self.final}"
            )
        # What is mirrored is copied as it is written: it has its name from the start.
        self._is_staged = filesystem.scheme_of(self.final) in (
            "",
            "file",
        ) and not mirror.copies_of(self.final)
        self._work = self.final
        self._discard: Any = None

    def path(self) -> str:
        """Where its files are written, which is made if it is not there."""
        if self._work == self.final and self._is_staged and not self._is_whole():
            # Not a number: servers take directories with numbers for versions.
            self._work = f"{self.final}.temp-{secrets.token_hex(6)}"
            self._discard = weakref.finalize(self, _discard, self._work)
        filesystem.make_directories(self._work)
        return self._work

    def _is_whole(self) -> bool:
        return find_message(self.final) is not None

    def publish(self, filename: str, data: bytes) -> str:
        """Writes the message and gives the directory its name; returns its path."""
        filesystem.write_file(filesystem.join(self.path(), filename), data)
        if self._work != self.final:
            self._rename()
        files = files_of(self.final)
        result = filesystem.join(self.final, filename)
        # The message last: the copy is a SavedModel when it has that.
        files.sort(key=lambda path: path in message_paths(self.final))
        mirror.published(files)
        return result

    def _rename(self) -> None:
        """Puts the working directory in the place of the final one."""
        work, self._work = self._work, self.final
        self._discard.detach()
        # Programs put files such as assets.extra there before they save.
        entries = (
            filesystem.list_directory(self.final)
            if filesystem.exists(self.final)
            else []
        )
        for name in entries:
            target = filesystem.join(work, name)
            if not filesystem.exists(target):
                filesystem.rename(filesystem.join(self.final, name), target)
        filesystem.rename(work, self.final)


def files_of(directory: str) -> list[str]:
    """All files under a directory."""
    return [
        filesystem.join(folder, name)
        for folder, _, names in filesystem.walk(directory)
        for name in names
    ]


def _discard(work: str) -> None:
    with contextlib.suppress(errors.OpError):
        filesystem.remove_tree(work)
