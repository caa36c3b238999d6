"""`DebugDumpDir`: the directory that a debugged `Session.run` has written.

Directories of TensorFlow's are read as well, and it reads ours.
"""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Any

from tensorloom.debug.dumps import causality, event_files
from tensorloom.debug.dumps.datum import (
    DebugTensorDatum,
    device_path_to_device_name,
    watch_key,
)
from tensorloom.debug.dumps.debug_graph import DebugGraph
from tensorloom.debug.dumps.graph_queries import GraphQueries
from tensorloom.storage.files import gfile

Predicate = Callable[[DebugTensorDatum, Any], bool]


class WatchKeyDoesNotExistInDebugDumpDirError(ValueError):
    """The dump has no value of that watch."""


class DebugDumpDir(GraphQueries):
    """The values and graphs in a dump."""

    def __init__(
        self, dump_root: str, partition_graphs: Any = None, validate: bool = True
    ) -> None:
        """Reads what there is, but for the values.

        Args:
          dump_root: the directory.
          partition_graphs: the `GraphDef`s of the devices, for those whose graph is not
            in the directory.
          validate: whether values must be of nodes of the graphs, and in an order in
            which these can have run.

        Raises:
          IOError: there is no such directory.
          ValueError: a file has a name of no dump; values are not of the graphs.
        """
        super().__init__()
        if not gfile.isdir(dump_root):
            raise OSError(f"Dump root directory {dump_root} does not exist")
        self._dump_root = dump_root
        self._core_metadata = [
            event_files.extract_core_metadata_from_event_proto(
                event_files.read_event(path)
            )
            for path in self._files(event_files.CORE_METADATA_TAG)
        ]
        self._run_fetches_info = self._messages(event_files.FETCHES_INFO_FILE_TAG)
        self._run_feed_keys_info = self._messages(event_files.FEED_KEYS_INFO_FILE_TAG)
        self._data: dict[str, list[DebugTensorDatum]] = {}
        # By device and watch key.
        self._by_key: dict[str, dict[str, list[DebugTensorDatum]]] = {}
        # By device, node and output: the debug ops.
        self._watches: dict[str, dict[str, dict[int, set[str]]]] = {}
        graph_files: dict[str, str] = {}
        for folder in self._files(event_files.DEVICE_TAG):
            name = device_path_to_device_name(folder.rstrip("/"))
            self._device_names.append(name)
            graph_file = self._load_device(name, folder.rstrip("/"))
            if graph_file is not None:
                graph_files[name] = graph_file
        self._load_graphs(graph_files, partition_graphs or ())
        if validate:
            for name, graph in self._debug_graphs.items():
                if name in self._data:
                    causality.check(self._data[name], graph, self._watches[name])

    # --- reading ---------------------------------------------------------------------

    def _files(self, tag: str) -> list[str]:
        prefix = event_files.METADATA_FILE_PREFIX + tag
        names = sorted(
            n for n in gfile.listdir(self._dump_root) if n.startswith(prefix)
        )
        return [os.path.join(self._dump_root, name) for name in names]

    def _messages(self, tag: str) -> list[str]:
        return [event_files.load_log_message(path) for path in self._files(tag)]

    def _load_device(self, device: str, folder: str) -> str | None:
        """Reads the names of a device's files; the one with its graph, if any."""
        graph_file = None
        data = []
        is_graph = event_files.METADATA_FILE_PREFIX + event_files.GRAPH_FILE_TAG
        for root, _, files in gfile.walk(folder):
            for name in files:
                path = os.path.join(root, name)
                if name.startswith(is_graph):
                    graph_file = max(graph_file or "", path)
                    continue
                relative = os.path.relpath(path, self._dump_root)
                data.append(DebugTensorDatum(self._dump_root, relative))
        data.sort(key=lambda datum: datum.extended_timestamp)
        self._data[device] = data
        by_key: dict[str, list[DebugTensorDatum]] = defaultdict(list)
        watches: dict[str, dict[int, set[str]]] = defaultdict(lambda: defaultdict(set))
        for datum in data:
            by_key[datum.watch_key].append(datum)
            watches[datum.node_name][datum.output_slot].add(datum.debug_op)
        self._by_key[device], self._watches[device] = dict(by_key), watches
        return graph_file

    def _load_graphs(self, files: dict[str, str], given: Iterable[Any]) -> None:
        given = list(given)
        for device in self._device_names:
            if device in files:
                graph_def = event_files.load_graph_def(files[device])
            else:
                found = (g for g in given if any(n.device == device for n in g.node))
                graph_def = next(found, None)
            if graph_def is not None:
                self._debug_graphs[device] = DebugGraph(graph_def, device)

    # --- the run ---------------------------------------------------------------------

    @property
    def core_metadata(self) -> Any:
        """What the master said of the run (`CoreMetadata`); a list for several runs."""
        return _one_or_all(self._core_metadata)

    @property
    def run_fetches_info(self) -> Any:
        """The repr of what the run fetched; a list for several runs, or for none."""
        return _one_or_all(self._run_fetches_info)

    @property
    def run_feed_keys_info(self) -> Any:
        """The repr of what the run fed; a list for several runs, or for none."""
        return _one_or_all(self._run_feed_keys_info)

    @property
    def dumped_tensor_data(self) -> list[DebugTensorDatum]:
        """All values in the order of their times."""
        if len(self._data) == 1:
            return next(iter(self._data.values()))
        everything = [datum for data in self._data.values() for datum in data]
        return sorted(everything, key=lambda datum: datum.extended_timestamp)

    @property
    def t0(self) -> int | None:
        """When the first value was dumped, in microseconds; None if none was."""
        return min((d[0].timestamp for d in self._data.values() if d), default=None)

    @property
    def size(self) -> int:
        """How many values there are."""
        return sum(len(data) for data in self._data.values())

    # --- watches ---------------------------------------------------------------------

    def debug_watch_keys(
        self, node_name: str, device_name: str | None = None
    ) -> list[str]:
        """The watch keys of a node; none if it has none."""
        try:
            device = self._infer_device_name(device_name, node_name)
        except ValueError:
            return []
        return [
            watch_key(node_name, slot, op)
            for slot, ops in self._watches[device].get(node_name, {}).items()
            for op in ops
        ]

    def watch_key_to_data(
        self, debug_watch_key: str, device_name: str | None = None
    ) -> list[DebugTensorDatum]:
        """The values of a watch key; none if there is no such key.

        Raises:
          ValueError: several devices have the key; there is no such device.
        """
        if device_name is None:
            found = [d for d, keys in self._by_key.items() if debug_watch_key in keys]
            if not found:
                return []
            if len(found) > 1:
                raise ValueError(
                    f"The debug watch key '{debug_watch_key}' exists on multiple "
                    f"({len(found)}) devices, but device name is not specified."
                )
            device_name = found[0]
        elif device_name not in self._by_key:
            raise ValueError(
                f"There is no device named '{device_name}' consisting of debug watch "
                "keys."
            )
        return self._by_key[device_name].get(debug_watch_key, [])

    def find(
        self,
        predicate: Predicate,
        first_n: int = 0,
        device_name: str | None = None,
        exclude_node_names: str | None = None,
    ) -> list[DebugTensorDatum]:
        """The values for which a function of (datum, value) is true, by time.

        Args:
          predicate: the function, such as `has_inf_or_nan`.
          first_n: how many at most; all if it is not positive.
          device_name: of which device; of all, one after the other, if it is None.
          exclude_node_names: a regular expression; what begins so is left out.
        """
        left_out = re.compile(exclude_node_names) if exclude_node_names else None
        matched: list[DebugTensorDatum] = []
        for device in self._data if device_name is None else (device_name,):
            for datum in self._data[device]:
                if left_out is not None and left_out.match(datum.node_name):
                    continue
                if predicate(datum, datum.get_tensor()):
                    matched.append(datum)
                    if 0 < first_n <= len(matched):
                        return matched
        return matched

    def _data_of(
        self, node_name: str, output_slot: int, debug_op: str, device_name: str | None
    ) -> list[DebugTensorDatum]:
        device = self._infer_device_name(device_name, node_name)
        key = watch_key(node_name, output_slot, debug_op)
        if key not in self._by_key[device]:
            raise WatchKeyDoesNotExistInDebugDumpDirError(
                f'Watch key "{key}" does not exist in the debug dump of device {device}'
            )
        return self._by_key[device][key]

    def get_tensor_file_paths(
        self,
        node_name: str,
        output_slot: int,
        debug_op: str,
        device_name: str | None = None,
    ) -> list[str]:
        """The files of a watch, one for each time that the node ran.

        Raises:
          WatchKeyDoesNotExistInDebugDumpDirError: there is none.
          ValueError: the device cannot be told.
        """
        data = self._data_of(node_name, output_slot, debug_op, device_name)
        return [datum.file_path for datum in data]

    def get_tensors(
        self,
        node_name: str,
        output_slot: int,
        debug_op: str,
        device_name: str | None = None,
    ) -> list[Any]:
        """The values of a watch, one for each time that the node ran.

        Raises:
          WatchKeyDoesNotExistInDebugDumpDirError: there is none.
        """
        try:
            data = self._data_of(node_name, output_slot, debug_op, device_name)
        except WatchKeyDoesNotExistInDebugDumpDirError:
            raise
        except ValueError:
            key = watch_key(node_name, output_slot, debug_op)
            raise WatchKeyDoesNotExistInDebugDumpDirError(
                f'Watch key "{key}" does not exist in the debug dump of device '
                f"{device_name}"
            ) from None
        return [datum.get_tensor() for datum in data]

    def get_rel_timestamps(
        self,
        node_name: str,
        output_slot: int,
        debug_op: str,
        device_name: str | None = None,
    ) -> list[int]:
        """When the values of a watch were dumped, in microseconds after `t0`.

        Raises:
          WatchKeyDoesNotExistInDebugDumpDirError: there is none.
          ValueError: the device cannot be told.
        """
        data = self._data_of(node_name, output_slot, debug_op, device_name)
        return [datum.timestamp - (self.t0 or 0) for datum in data]

    def get_dump_sizes_bytes(
        self,
        node_name: str,
        output_slot: int,
        debug_op: str,
        device_name: str | None = None,
    ) -> list[int | None]:
        """The bytes of the files of a watch.

        Raises:
          WatchKeyDoesNotExistInDebugDumpDirError: there is none.
          ValueError: the device cannot be told.
        """
        data = self._data_of(node_name, output_slot, debug_op, device_name)
        return [datum.dump_size_bytes for datum in data]


def _one_or_all(values: list[Any]) -> Any:
    return values[0] if len(values) == 1 else values
