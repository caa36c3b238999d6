"""One dumped value: where it is, and what its file's name says."""

from __future__ import annotations

import os
from typing import Any

from tensorloom.debug.dumps import event_files
from tensorloom.storage.files import gfile


def device_name_to_device_path(device_name: Any) -> str:
    """The directory of a device in a dump: `_tfdbg_device_,job_localhost,...`."""
    text = device_name.decode() if isinstance(device_name, bytes) else device_name
    path = text.replace(":", "_").replace("/", ",")
    return event_files.METADATA_FILE_PREFIX + event_files.DEVICE_TAG + path


def device_path_to_device_name(device_dir: str) -> str:
    """The device whose directory this is."""
    prefix = event_files.METADATA_FILE_PREFIX + event_files.DEVICE_TAG
    items = os.path.basename(device_dir).removeprefix(prefix).split(",")
    return "/".join(
        item.replace("device_", "device:").replace("_", ":", 1) for item in items
    )


def tensor_name(node_name: str, output_slot: int) -> str:
    """`node:0`."""
    return f"{node_name}:{output_slot}"


def watch_key(node_name: str, output_slot: int, debug_op: str) -> str:
    """`node:0:DebugIdentity`."""
    return f"{node_name}:{output_slot}:{debug_op}"


class DebugTensorDatum:
    """A value in a dump; the value itself is read when it is asked for."""

    def __init__(self, dump_root: str, debug_dump_rel_path: str) -> None:
        """Reads the name of a file.

        Args:
          dump_root: the directory of the dump.
          debug_dump_rel_path: below it: the device's directory, those of name scopes,
            and `node_slot_op_timestamp`.

        Raises:
          ValueError: the name is not of this form.
        """
        parts = os.path.normpath(debug_dump_rel_path).split(os.sep)
        device, scopes, base = parts[0], parts[1:-1], parts[-1]
        if base.count("_") < 3:
            raise ValueError(
                f"Dump file path does not conform to the naming pattern: {base}"
            )
        node, slot, self._debug_op, self._extended_timestamp = base.rsplit("_", 3)
        self._device_name = device_path_to_device_name(device)
        # A second file of the same microsecond ends in "-1".
        self._timestamp = int(self._extended_timestamp.partition("-")[0])
        self._output_slot = int(slot)
        self._node_name = "/".join([*scopes, node])
        self._file_path = os.path.join(dump_root, debug_dump_rel_path)
        self._dump_size_bytes = (
            gfile.stat(self._file_path).length
            if gfile.exists(self._file_path)
            else None
        )

    def __str__(self) -> str:
        return (
            f"{{DebugTensorDatum ({self.device_name}) {self.tensor_name} @ "
            f"{self.debug_op} @ {self.timestamp}}}"
        )

    __repr__ = __str__

    def get_tensor(self) -> Any:
        """The value, as `load_tensor_from_event_file` gives it."""
        return event_files.load_tensor_from_event_file(self.file_path)

    @property
    def timestamp(self) -> int:
        """When it was dumped, in microseconds."""
        return self._timestamp

    @property
    def extended_timestamp(self) -> str:
        """The same with what tells apart files of one microsecond."""
        return self._extended_timestamp

    @property
    def debug_op(self) -> str:
        """The op that made the dumped value of the tensor's."""
        return self._debug_op

    @property
    def device_name(self) -> str:
        """The device of the node."""
        return self._device_name

    @property
    def node_name(self) -> str:
        """The watched node."""
        return self._node_name

    @property
    def output_slot(self) -> int:
        """Which output of the node it is."""
        return self._output_slot

    @property
    def tensor_name(self) -> str:
        """`node:0`."""
        return tensor_name(self.node_name, self.output_slot)

    @property
    def watch_key(self) -> str:
        """`node:0:DebugIdentity`."""
        return watch_key(self.node_name, self.output_slot, self.debug_op)

    @property
    def file_path(self) -> str:
        """The file."""
        return self._file_path

    @property
    def dump_size_bytes(self) -> int | None:
        """The bytes of the file; None if it is not there."""
        return self._dump_size_bytes
