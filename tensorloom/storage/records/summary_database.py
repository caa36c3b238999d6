"""Summaries in an SQLite database, with the tables of TensorFlow 1.15.

TensorFlow: `core/summary/schema.cc`, `core/summary/summary_db_writer.cc`. TensorBoard
reads these databases no more; SQL does. Users have experiments, those have runs, those
have tags; a row of `Tensors` is the value of a tag at a step. What a `Summary` has in
fields of its own becomes the tensor that TensorBoard's plugins of that name read.
"""

from __future__ import annotations

import contextlib
import random
import struct
import sys
import time
from collections.abc import Iterator
from typing import Any, Final

from tensorloom.framework import errors
from tensorloom.framework.types import dtypes, tensor_proto

_COLUMNS: Final = {
    "Ids": "id INTEGER PRIMARY KEY",
    "Descriptions": "id INTEGER PRIMARY KEY, description TEXT",
    "Tensors": "rowid INTEGER PRIMARY KEY, series INTEGER, step INTEGER, "
    "dtype INTEGER, computed_time REAL, shape TEXT, data BLOB",
    "TensorStrings": "rowid INTEGER PRIMARY KEY, tensor_rowid INTEGER NOT NULL, "
    "idx INTEGER NOT NULL, data BLOB",
    "Tags": "rowid INTEGER PRIMARY KEY, run_id INTEGER, tag_id INTEGER NOT NULL, "
    "inserted_time DOUBLE, tag_name TEXT, display_name TEXT, plugin_name TEXT, "
    "plugin_data BLOB",
    "Runs": "rowid INTEGER PRIMARY KEY, experiment_id INTEGER, "
    "run_id INTEGER NOT NULL, inserted_time REAL, started_time REAL, "
    "finished_time REAL, run_name TEXT",
    "Experiments": "rowid INTEGER PRIMARY KEY, user_id INTEGER, "
    "experiment_id INTEGER NOT NULL, inserted_time REAL, started_time REAL, "
    "is_watching INTEGER, experiment_name TEXT",
    "Users": "rowid INTEGER PRIMARY KEY, user_id INTEGER NOT NULL, "
    "inserted_time REAL, user_name TEXT, email TEXT",
    "Graphs": "rowid INTEGER PRIMARY KEY, run_id INTEGER, graph_id INTEGER NOT NULL, "
    "inserted_time REAL, graph_def BLOB",
    "Nodes": "rowid INTEGER PRIMARY KEY, graph_id INTEGER NOT NULL, "
    "node_id INTEGER NOT NULL, node_name TEXT, op TEXT, device TEXT, node_def BLOB",
    "NodeInputs": "rowid INTEGER PRIMARY KEY, graph_id INTEGER NOT NULL, "
    "node_id INTEGER NOT NULL, idx INTEGER NOT NULL, input_node_id INTEGER NOT NULL, "
    "input_node_idx INTEGER, is_control INTEGER",
}
_INDEXES: Final = {
    "TensorSeriesStepIndex": "Tensors (series, step) "
    "WHERE series IS NOT NULL AND step IS NOT NULL",
    "TensorStringIndex": "TensorStrings (tensor_rowid, idx)",
    "TagIdIndex": "Tags (tag_id)",
    "TagRunNameIndex": "Tags (run_id, tag_name) "
    "WHERE run_id IS NOT NULL AND tag_name IS NOT NULL",
    "RunIdIndex": "Runs (run_id)",
    "RunNameIndex": "Runs (experiment_id, run_name) WHERE run_name IS NOT NULL",
    "ExperimentIdIndex": "Experiments (experiment_id)",
    "ExperimentNameIndex": "Experiments (user_id, experiment_name) "
    "WHERE experiment_name IS NOT NULL",
    "UserIdIndex": "Users (user_id)",
    "UserNameIndex": "Users (user_name) WHERE user_name IS NOT NULL",
    "UserEmailIndex": "Users (email) WHERE email IS NOT NULL",
    "GraphIdIndex": "Graphs (graph_id)",
    "GraphRunIndex": "Graphs (run_id) WHERE run_id IS NOT NULL",
    "NodeIdIndex": "Nodes (graph_id, node_id)",
    "NodeNameIndex": "Nodes (graph_id, node_name) WHERE node_name IS NOT NULL",
    "NodeInputsIndex": "NodeInputs (graph_id, node_id, idx)",
}
_LARGEST_ID: Final = 2**31 - 1


class SummaryDatabase:
    """One run in a database, to which events are written.

    Args:
      path: of the file, on the local disk, or its URI (`file:...`); made if it is not
        there.
      experiment, run, user: their names; "" for none.

    Raises:
      errors.InvalidArgumentError: the file is no such database, or cannot be written.
    """

    def __init__(self, path: str, experiment: str, run: str, user: str) -> None:
        self._path = path
        self._names = experiment, run, user
        self._run: int | None = None
        self._tags: dict[str, int] = {}
        import sqlite3  # few programs need it

        with self._errors():
            self._db = sqlite3.connect(
                path, timeout=60, check_same_thread=False, uri=path.startswith("file:")
            )
            for table, columns in _COLUMNS.items():
                self._db.execute(f"CREATE TABLE IF NOT EXISTS {table} ({columns})")
            for index, on in _INDEXES.items():
                self._db.execute(f"CREATE UNIQUE INDEX IF NOT EXISTS {index} ON {on}")
            self._db.commit()

    @contextlib.contextmanager
    def _errors(self) -> Iterator[None]:
        import sqlite3

        try:
            yield
        except sqlite3.Error as error:
            raise errors.InvalidArgumentError(
                None, None, f"Database of summaries {self._path}: {error}"
            ) from None

    def write(self, event: Any) -> None:
        """Adds what an `Event` has: the values of a summary, or a graph."""
        when = event.wall_time
        with self._errors():
            for value in event.summary.value:
                self._write_value(value, event.step, when)
            if event.graph_def:
                self._write_graph(event.graph_def, when)

    def flush(self) -> None:
        """Lets other connections see it."""
        with self._errors():
            self._db.commit()

    def close(self) -> None:
        """Notes when the run ended, and closes the file."""
        with self._errors():
            if self._run is not None:
                self._db.execute(
                    "UPDATE Runs SET finished_time = ? WHERE run_id = ?",
                    (time.time(), self._run),
                )
            self._db.commit()
            self._db.close()

    # --- rows ------------------------------------------------------------------------

    def _new_id(self) -> int:
        import sqlite3

        # Small numbers first: they take fewer bytes.
        largest = 2**23
        while True:
            number = random.randint(1, largest)
            try:
                self._db.execute("INSERT INTO Ids (id) VALUES (?)", (number,))
            except sqlite3.IntegrityError:
                largest = min(largest * 2, _LARGEST_ID)
            else:
                return number

    def _found_or_made(self, table: str, kind: str, keys: Any, more: Any) -> int:
        """The id of the row with these keys; it is added if there is none."""
        where = " AND ".join(f"{name} IS ?" for name in keys)
        row = self._db.execute(
            f"SELECT {kind}_id FROM {table} WHERE {where}", tuple(keys.values())
        ).fetchone()
        if row is not None:
            return int(row[0])
        number = self._new_id()
        values = {f"{kind}_id": number, "inserted_time": time.time(), **keys, **more}
        marks = ", ".join("?" * len(values))
        self._db.execute(
            f"INSERT INTO {table} ({', '.join(values)}) VALUES ({marks})",
            tuple(values.values()),
        )
        return number

    def _run_id(self, when: float) -> int | None:
        experiment_name, run_name, user_name = self._names
        if self._run is not None or not run_name:
            return self._run
        user = experiment = None
        if user_name:
            user = self._found_or_made("Users", "user", {"user_name": user_name}, {})
        if experiment_name:
            keys: dict[str, Any] = {"user_id": user, "experiment_name": experiment_name}
            more = {"started_time": when, "is_watching": 0}
            experiment = self._found_or_made("Experiments", "experiment", keys, more)
        keys = {"experiment_id": experiment, "run_name": run_name}
        self._run = self._found_or_made("Runs", "run", keys, {"started_time": when})
        return self._run

    def _tag_id(self, value: Any, plugin: str, when: float) -> int:
        number = self._tags.get(value.tag)
        if number is None:
            metadata = value.metadata
            keys = {"run_id": self._run_id(when), "tag_name": value.tag}
            more = {
                "display_name": metadata.display_name,
                "plugin_name": metadata.plugin_data.plugin_name or plugin,
                "plugin_data": metadata.plugin_data.content,
            }
            number = self._found_or_made("Tags", "tag", keys, more)
            self._db.execute(
                "INSERT OR REPLACE INTO Descriptions (id, description) VALUES (?, ?)",
                (number, metadata.summary_description),
            )
            self._tags[value.tag] = number
        return number

    def _write_value(self, value: Any, step: int, when: float) -> None:
        plugin, dtype, shape, data = _as_tensor(value)
        tag = self._tag_id(value, plugin, when)
        row = self._db.execute(
            "INSERT OR REPLACE INTO Tensors "
            "(series, step, dtype, computed_time, shape, data) "
            "VALUES (?, ?, ?, ?, ?, ?)",
            (
                *(tag, step, dtype, when, ",".join(map(str, shape))),
                None if isinstance(data, list) else data,
            ),
        ).lastrowid
        if isinstance(data, list):
            self._db.executemany(
                "INSERT INTO TensorStrings (tensor_rowid, idx, data) VALUES (?, ?, ?)",
                [(row, index, text) for index, text in enumerate(data)],
            )

    def _write_graph(self, serialized: bytes, when: float) -> None:
        from tensorloom.protos.graph_pb2 import GraphDef

        graph = GraphDef.FromString(serialized)
        number = self._new_id()
        numbers = {node.name: index for index, node in enumerate(graph.node)}
        for index, node in enumerate(graph.node):
            for at, name in enumerate(node.input):
                source, _, output = name.removeprefix("^").partition(":")
                self._db.execute(
                    "INSERT INTO NodeInputs (graph_id, node_id, idx, input_node_id, "
                    "input_node_idx, is_control) VALUES (?, ?, ?, ?, ?, ?)",
                    (
                        *(number, index, at, numbers.get(source, -1)),
                        *(int(output or 0), int(name.startswith("^"))),
                    ),
                )
            names = node.name, node.op, node.device
            for field in ("name", "op", "device", "input"):
                node.ClearField(field)
            self._db.execute(
                "INSERT INTO Nodes (graph_id, node_id, node_name, op, device, "
                "node_def) VALUES (?, ?, ?, ?, ?, ?)",
                (number, index, *names, node.SerializeToString()),
            )
        graph.ClearField("node")
        self._db.execute(
            "INSERT OR REPLACE INTO Graphs (run_id, graph_id, inserted_time, "
            "graph_def) VALUES (?, ?, ?, ?)",
            (self._run_id(when), number, time.time(), graph.SerializeToString()),
        )


def _as_tensor(value: Any) -> tuple[str, int, Any, Any]:
    """(plugin, dtype, shape, content: bytes, or a list of strings) of a value."""
    kind = value.WhichOneof("value")
    if kind == "simple_value":
        data = struct.pack("<f", value.simple_value)
        return "scalars", dtypes.float32.as_datatype_enum, (), data
    if kind == "histo":
        limits, counts = list(value.histo.bucket_limit), value.histo.bucket
        left = [sys.float_info.min, *limits[:-1]]
        right = [*limits[:-1], sys.float_info.max]
        rows = [x for row in zip(left, right, counts, strict=True) for x in row]
        data = struct.pack(f"<{len(rows)}d", *rows)
        shape = (len(limits), 3)
        return "histograms", dtypes.float64.as_datatype_enum, shape, data
    text = dtypes.string.as_datatype_enum
    if kind == "image":
        image = value.image
        sizes = [b"%d" % image.width, b"%d" % image.height]
        return "images", text, (3,), [*sizes, image.encoded_image_string]
    if kind == "audio":
        return "audio", text, (1, 2), [value.audio.encoded_audio_string, b""]
    array: Any = tensor_proto.decode_tensor(value.tensor)
    if value.tensor.dtype == text:
        flat = [array] if isinstance(array, bytes) else array.reshape(-1).tolist()
        return "", text, getattr(array, "shape", ()), flat
    return "", value.tensor.dtype, array.shape, array.tobytes()
