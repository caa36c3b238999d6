"""Checkpoints of both versions: TensorFlow's own, and damaged and hostile ones."""

from __future__ import annotations

import io
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tensorloom.framework import errors
from tensorloom.framework.types import dtypes
from tensorloom.protos import saved_tensor_slice_pb2, tensor_bundle_pb2
from tensorloom.storage.checkpoints import checkpoints, slices
from tensorloom.storage.checkpoints.bundle_reader import BundleReader
from tensorloom.storage.checkpoints.bundle_writer import BundleWriter, merge_bundles
from tensorloom.storage.checkpoints.checkpoint_v1 import (
    CheckpointReaderV1,
    CheckpointWriterV1,
)
from tensorloom.storage.checkpoints.later_dtypes import LaterDType
from tensorloom.storage.tables.table_reader import TableReader
from tensorloom.storage.tables.table_writer import TableWriter

DATA = Path(__file__).parents[1] / "data"
VALUES: dict[bytes, Any] = {
    b"b": np.array([True, False]),
    b"c": np.array([1, 2j], np.complex64),
    b"d": np.float64(3.5),
    b"f": np.full((40, 8), 2.5, np.float32),
    b"i16": np.array([-1, 5], np.int16),
    b"i32": np.array([-7, 5], np.int32),
    b"i64": np.array([1, 2**40], np.int64),
    b"p": np.ones((4, 2), np.float32),
    b"s": np.array([b"a", b"bcd" * 50], object),
    b"u8": np.array([1, 255], np.uint8),
}


@pytest.mark.parametrize("name", ["v1_1_15", "v2_1_15"])
def test_tensorflows(name: str) -> None:
    with checkpoints.open_checkpoint(str(DATA / name)) as reader:
        expected = dict(VALUES)
        if name.startswith("v2"):
            expected[b"bf"] = np.array([1.5, 2.5], ml_dtypes.bfloat16)
        assert reader.names == sorted(expected)
        assert reader.shapes() == {k: np.shape(v) for k, v in expected.items()}
        for key, value in expected.items():
            found = reader.read(key)
            np.testing.assert_array_equal(found, value)
            assert found.dtype == np.asarray(value).dtype
            assert reader.dtypes()[key] == reader.dtype(key)
        part = reader.read(b"p", ((1, 2), (1, 1)))
        np.testing.assert_array_equal(part, np.ones((2, 1), np.float32))


def test_quantized() -> None:
    with BundleReader(str(DATA / "quantized_1_15")) as reader:
        assert reader.dtypes() == {b"q": dtypes.quint8, b"q2": dtypes.qint32}
        np.testing.assert_array_equal(reader.read(b"q").astype(int), [0, 128, 255])
        np.testing.assert_array_equal(reader.read(b"q2").astype(int), [1, -2])


def test_v1_round_trip(tmp_path: Path) -> None:
    path = str(tmp_path / "v1")
    writer = CheckpointWriterV1(path)
    half = np.array([0.5, -3], np.float16)
    wide = np.array([1 + 2j], np.complex128)
    rows = {**VALUES, b"h": half, b"w": wide, b"e": np.zeros((0, 2), np.int8)}
    for key, value in rows.items():
        if key == b"p":
            for start in (0, 2):
                part = ((start, 2), (0, -1))
                writer.add(key, dtypes.float32, value[start : start + 2], (4, 2), part)
        else:
            array = np.asarray(value)
            dtype = dtypes.string if array.dtype == object else array.dtype
            writer.add(key, dtypes.as_dtype(dtype), value)
    with pytest.raises(errors.InvalidArgumentError, match="duplicate"):
        writer.add(b"h", dtypes.float16, half)
    with pytest.raises(errors.InvalidArgumentError, match="different dtypes"):
        writer.add(b"p", dtypes.float32, half, (9, 2), ((8, 1), (0, 2)))
    with pytest.raises(errors.UnimplementedError, match="bfloat16"):
        writer.add(b"bf", dtypes.bfloat16, half.astype(ml_dtypes.bfloat16))
    writer.finish()
    with CheckpointReaderV1(path) as reader:
        for key, value in rows.items():
            np.testing.assert_array_equal(reader.read(key), value)
        with pytest.raises(errors.NotFoundError, match="not found in checkpoint"):
            reader.read(b"zz")


def test_missing(tmp_path: Path) -> None:
    with pytest.raises(errors.NotFoundError, match="Failed to find any matching"):
        checkpoints.open_checkpoint(str(tmp_path / "m"))


# --- damage --------------------------------------------------------------------------


def copy(name: str, to: Path) -> list[Path]:
    files = sorted(DATA.glob(name + "*"))
    for file in files:
        shutil.copy(file, to)
    return [to / file.name for file in files]


def read_all(prefix: Path) -> dict[bytes, Any]:
    with checkpoints.open_checkpoint(str(prefix)) as reader:
        reader.shapes()
        reader.dtypes()
        return {name: reader.read(name) for name in reader.names}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("damaged")


SEEN = (
    errors.DataLossError,
    errors.NotFoundError,
    errors.InvalidArgumentError,
    errors.UnimplementedError,
)


@given(
    name=st.sampled_from(["v1_1_15", "v2_1_15", "objects_2_21"]),
    which=st.integers(0, 1),
    at=st.floats(0, 1, exclude_max=True),
    change=st.one_of(st.binary(max_size=6), st.none()),
)
@settings(max_examples=200, deadline=None)
def test_damage_is_seen(
    folder: Path, name: str, which: int, at: float, change: bytes | None
) -> None:
    files = copy(name, folder)
    file = files[which % len(files)]
    data = bytearray(file.read_bytes())
    place = int(at * len(data))
    if change is None:
        del data[place:]
    else:
        data[place : place + len(change)] = change
    file.write_bytes(data)
    before = read_all(DATA / name)
    try:
        found = read_all(folder / name)
    except SEEN:
        return
    assert found.keys() == before.keys()
    for key in found:
        np.testing.assert_array_equal(found[key], before[key])


# --- hostile files -------------------------------------------------------------------


def write_table(path: Path, rows: dict[bytes, bytes]) -> None:
    file = io.BytesIO()
    writer = TableWriter(file)
    for key in sorted(rows):
        writer.add(key, rows[key])
    writer.finish()
    path.write_bytes(file.getvalue())


Change = Callable[[dict[bytes, Any]], None]


def rewrite(prefix: Path, change: Change) -> None:
    """Changes the entries of a bundle; the checksums of the index are right again."""
    index = Path(f"{prefix}.index")
    rows = dict(TableReader(str(index)).items())
    entries: dict[bytes, Any] = {
        b"": tensor_bundle_pb2.BundleHeaderProto.FromString(rows.pop(b""))
    }
    for key, row in rows.items():
        entries[key] = tensor_bundle_pb2.BundleEntryProto.FromString(row)
    change(entries)
    write_table(
        index,
        {
            key: entry if isinstance(entry, bytes) else entry.SerializeToString()
            for key, entry in entries.items()
        },
    )


def setting(key: bytes, **fields: Any) -> Change:
    def change(entries: dict[bytes, Any]) -> None:
        for name, value in fields.items():
            setattr(entries[key], name, value)

    return change


def shape(key: bytes, *sizes: int) -> Change:
    def change(entries: dict[bytes, Any]) -> None:
        del entries[key].shape.dim[:]
        for size in sizes:
            entries[key].shape.dim.add(size=size)

    return change


def slices_of(key: bytes, *parts: tuple[tuple[int, int], ...]) -> Change:
    def change(entries: dict[bytes, Any]) -> None:
        del entries[key].slices[:]
        for part in parts:
            slices.to_proto(part, entries[key].slices.add())

    return change


HUGE = 2**62
HOSTILE: dict[str, tuple[bytes, Change, type[errors.OpError]]] = {
    "offset past the end": (b"f", setting(b"f", offset=HUGE), errors.DataLossError),
    "offset below 0": (b"f", setting(b"f", offset=-5), errors.DataLossError),
    "size of 2**62": (b"f", setting(b"f", size=HUGE), errors.DataLossError),
    "size below 0": (b"f", setting(b"f", size=-1), errors.DataLossError),
    "shape of 2**124": (b"f", shape(b"f", HUGE, HUGE), errors.DataLossError),
    "shape and size of 2**62": (
        b"u8",
        lambda e: (shape(b"u8", HUGE)(e), setting(b"u8", size=HUGE)(e))[0],
        errors.DataLossError,
    ),
    "shape times size overflows": (
        b"f",
        shape(b"f", 2**32, 2**32, 320),
        errors.DataLossError,
    ),
    "negative shape": (b"f", shape(b"f", -40, -8), errors.DataLossError),
    "rank of 300": (b"f", shape(b"f", *[1] * 300), errors.DataLossError),
    "strings of 2**62": (
        b"s",
        lambda e: (shape(b"s", HUGE)(e), setting(b"s", size=HUGE)(e))[0],
        errors.DataLossError,
    ),
    "more strings": (b"s", shape(b"s", 100), errors.DataLossError),
    "fewer strings": (b"s", shape(b"s", 1), errors.DataLossError),
    "unknown dtype": (b"f", setting(b"f", dtype=77), errors.DataLossError),
    "shard number": (b"f", setting(b"f", shard_id=3), errors.DataLossError),
    "shard below 0": (b"f", setting(b"f", shard_id=-1), errors.DataLossError),
    "number of shards": (b"f", setting(b"", num_shards=-1), errors.DataLossError),
    "shards that are not there": (
        b"f",
        setting(b"", num_shards=2**31 - 1),
        errors.NotFoundError,
    ),
    "big endian": (b"f", setting(b"", endianness=1), errors.UnimplementedError),
    "newer": (
        b"f",
        lambda e: setattr(e[b""].version, "min_consumer", 9),
        errors.InvalidArgumentError,
    ),
    "no header": (b"f", lambda e: e.pop(b""), errors.DataLossError),
    "not a proto": (b"f", lambda e: e.update({b"f": b"\xff"}), errors.DataLossError),
    "resource": (b"f", setting(b"f", dtype=20), errors.UnimplementedError),
    "slices missing": (
        b"p",
        slices_of(b"p", ((0, 2), (0, 2))),
        errors.InvalidArgumentError,
    ),
    "slice twice": (
        b"p",
        slices_of(b"p", ((0, 2), (0, 2)), ((0, 2), (0, 2))),
        errors.DataLossError,
    ),
    "slice out of bounds": (
        b"p",
        slices_of(b"p", ((0, 9), (0, 2))),
        errors.DataLossError,
    ),
    "slice of 2**62": (
        b"p",
        slices_of(b"p", ((HUGE, HUGE), (0, 2))),
        errors.DataLossError,
    ),
    "slice of another rank": (b"p", slices_of(b"p", ((0, 4),)), errors.DataLossError),
    "slice without an entry": (
        b"p",
        slices_of(b"p", ((0, 1), (0, 2)), ((1, 3), (0, 2))),
        errors.NotFoundError,
    ),
    "huge whole of slices": (
        b"p",
        lambda e: (
            shape(b"p", HUGE, 2)(e),
            slices_of(b"p", ((0, HUGE), (0, 2)))(e),
        )[0],
        errors.NotFoundError,
    ),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_bundle(tmp_path: Path, name: str) -> None:
    key, change, error = HOSTILE[name]
    copy("v2_1_15", tmp_path)
    rewrite(tmp_path / "v2_1_15", change)
    with (
        pytest.raises(error) as caught,
        BundleReader(str(tmp_path / "v2_1_15")) as reader,
    ):
        reader.read(key)
    text = caught.value.message
    assert str(tmp_path) in text or "not found" in text or name == "resource", text


@pytest.mark.parametrize(
    "change", [{"size": -1}, {"size": 2**62}, {"offset": -1}, {"crc32c": 5}], ids=str
)
def test_hostile_bytes_of_another_dtype(tmp_path: Path, change: dict[str, int]) -> None:
    with BundleWriter(str(tmp_path / "m")) as writer:
        writer.add_stored(b"f8", LaterDType(24), (3,), b"abc")
        writer.add_stored(b"none", LaterDType(24), (0,), b"")
        writer.finish()
    with BundleReader(str(tmp_path / "m")) as reader:
        assert reader.read_stored(b"f8") == ((3,), b"abc")
        assert reader.read_stored(b"none") == ((0,), b"")
    rewrite(tmp_path / "m", setting(b"f8", **change))
    with (
        BundleReader(str(tmp_path / "m")) as reader,
        pytest.raises(errors.DataLossError, match="f8"),
    ):
        reader.read_stored(b"f8")


def test_many_overlapping_slices(tmp_path: Path) -> None:
    """As many elements as there are, but one twice and one not."""
    prefix = tmp_path / "m"
    with BundleWriter(str(prefix)) as writer:
        for at in range(100):
            writer.add_slice(
                b"p", dtypes.int32, np.full(1, at, np.int32), (100,), ((at, 1),)
            )
        writer.finish()
    with BundleReader(str(prefix)) as reader:
        np.testing.assert_array_equal(reader.read(b"p"), np.arange(100))
    parts = [((at, 1),) for at in range(99)]
    rewrite(prefix, slices_of(b"p", *parts, ((5, 1),)))
    reader = BundleReader(str(prefix))
    with pytest.raises(errors.DataLossError, match="overlap"):
        reader.read(b"p")


V1_HOSTILE: dict[str, Change] = {
    "no metadata": lambda e: e.pop(b""),
    "negative shape": lambda e: setattr(e[b""].meta.tensor[3].shape.dim[0], "size", -1),
    "huge shape": lambda e: setattr(e[b""].meta.tensor[3].shape.dim[0], "size", HUGE),
    "bad dtype": lambda e: setattr(e[b""].meta.tensor[3], "type", 99),
    "bad slice": lambda e: setattr(
        e[b""].meta.tensor[3].slice[0].extent[0], "length", HUGE
    ),
    "no data": lambda e: e.pop(slices.slice_key(b"f", ((0, -1), (0, -1)))),
    "fewer values": lambda e: e[
        slices.slice_key(b"f", ((0, -1), (0, -1)))
    ].data.data.float_val.pop(),
    "other field": lambda e: e[
        slices.slice_key(b"f", ((0, -1), (0, -1)))
    ].data.data.ClearField("float_val"),
}


@pytest.mark.parametrize("name", V1_HOSTILE)
def test_hostile_v1(tmp_path: Path, name: str) -> None:
    (path,) = copy("v1_1_15", tmp_path)
    rows: dict[bytes, Any] = {
        key: saved_tensor_slice_pb2.SavedTensorSlices.FromString(row)
        for key, row in TableReader(str(path)).items()
    }
    V1_HOSTILE[name](rows)
    write_table(path, {key: row.SerializeToString() for key, row in rows.items()})
    with pytest.raises(errors.DataLossError, match=str(path)):
        CheckpointReaderV1(str(path)).read(b"f")


def test_a_directory_is_no_checkpoint(tmp_path: Path) -> None:
    (tmp_path / "m").mkdir()
    with pytest.raises(errors.DataLossError, match="Unable to open table file"):
        checkpoints.open_checkpoint(str(tmp_path / "m"))


# --- writing -------------------------------------------------------------------------


def test_merge_of_conflicting_shards(tmp_path: Path) -> None:
    prefixes = [str(tmp_path / name) for name in "ab"]
    for at, prefix in enumerate(prefixes):
        with BundleWriter(prefix) as writer:
            writer.add_slice(
                b"p", dtypes.int32, np.zeros(2, np.int32), (4 + at,), ((2 * at, 2),)
            )
            writer.finish()
    with pytest.raises(errors.InvalidArgumentError, match="different dtypes or shapes"):
        merge_bundles(prefixes, str(tmp_path / "m"))


def test_writer_without_finish_leaves_nothing(tmp_path: Path) -> None:
    with BundleWriter(str(tmp_path / "m")) as writer:
        writer.add(b"a", dtypes.int32, np.zeros(2, np.int32))
        with pytest.raises(errors.UnimplementedError):
            writer.add(b"r", dtypes.resource, object())
    assert list(tmp_path.iterdir()) == []


def test_large_tensors_are_read_in_parts(tmp_path: Path) -> None:
    value = np.arange(5_000_000, dtype=np.float32)
    with BundleWriter(str(tmp_path / "m")) as writer:
        writer.add(b"a", dtypes.float32, value)
        writer.add(b"b", dtypes.float32, value[::-2])
        writer.finish()
    with BundleReader(str(tmp_path / "m")) as reader:
        np.testing.assert_array_equal(reader.read(b"a"), value)
        np.testing.assert_array_equal(reader.read(b"b"), value[::-2])
    with open(tmp_path / "m.data-00000-of-00001", "r+b") as file:
        file.truncate(21_000_000)
    reader = BundleReader(str(tmp_path / "m"))
    with pytest.raises(errors.DataLossError, match="past the end"):
        reader.read(b"b")


def test_remote_store() -> None:
    """Without local paths: written, overwritten, merged and read in memory."""
    for number in range(2):
        for part in range(2):
            with BundleWriter(f"memory://ck/t/p{part}") as writer:
                writer.add(b"x%d" % part, dtypes.int64, np.full(3, number))
                writer.add(b"s%d" % part, dtypes.string, np.array([b"text"], object))
                writer.finish()
        merge_bundles([f"memory://ck/t/p{part}" for part in range(2)], "memory://ck/m")
        with checkpoints.open_checkpoint("memory://ck/m") as reader:
            assert reader.names == [b"s0", b"s1", b"x0", b"x1"]
            np.testing.assert_array_equal(reader.read(b"x1"), [number] * 3)
            assert reader.read(b"s0").tolist() == [b"text"]
