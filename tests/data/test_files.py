"""Datasets of files: lines, records, CSV, Examples, caches, file names."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tensorloom as tf

D, X = tf.data.Dataset, tf.data.experimental


def _all(dataset: Any, limit: int = 100) -> list[Any]:
    """The elements; errors as their class names."""
    iterator = dataset.make_initializable_iterator()
    element = iterator.get_next()
    found: list[Any] = []
    with tf.Session() as session:
        session.run(iterator.initializer)
        for _ in range(limit):
            try:
                found.append(session.run(element))
            except tf.errors.OutOfRangeError:
                return found
            except tf.errors.OpError as error:
                found.append(f"{type(error).__name__}: {error.message.splitlines()[0]}")
    return found


def _records(path: Path, records: list[bytes], options: str = "") -> str:
    with tf.python_io.TFRecordWriter(str(path), options) as writer:
        for record in records:
            writer.write(record)
    return str(path)


# --- lines and records ------------------------------------------------------------


def test_lines(tmp_path: Path) -> None:
    (tmp_path / "t").write_bytes(b"one\r\ntwo\n\nthr\ree\nlast")
    (tmp_path / "z").write_bytes(gzip.compress(b"a\nb\n"))
    lines = [b"one", b"two", b"", b"three", b"last"]
    name = str(tmp_path / "t")
    assert _all(tf.data.TextLineDataset([name, name])) == lines * 2
    assert _all(tf.data.TextLineDataset(str(tmp_path / "z"), "GZIP")) == [b"a", b"b"]


@pytest.mark.parametrize("buffer_size", [-2, -1, 0, 1])
def test_buffer_sizes(tmp_path: Path, buffer_size: int) -> None:
    """TensorFlow 2 writes -1 where nothing is asked for."""
    name = _records(tmp_path / "r", [b"one", b"two"])
    found = _all(tf.data.TFRecordDataset(name, buffer_size=buffer_size))
    if buffer_size < -1:
        assert found == [
            "InvalidArgumentError: `buffer_size` must be >= 0 (0 == no buffering)"
        ]
    else:
        assert found == [b"one", b"two"]


def test_long_lines_cross_blocks(tmp_path: Path) -> None:
    lines = [b"x" * n for n in (0, 1, 300_000, 5, 600_000, 262_144)]
    (tmp_path / "t").write_bytes(b"\n".join(lines))
    assert _all(tf.data.TextLineDataset(str(tmp_path / "t"))) == lines


def test_fixed_length(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"HHaaabbbcccF")
    name = str(tmp_path / "f")
    found = _all(tf.data.FixedLengthRecordDataset(name, 3, 2, 1))
    assert found == [b"aaa", b"bbb", b"ccc"]
    (wrong,) = _all(tf.data.FixedLengthRecordDataset(name, 4, 2, 1))
    assert "not an exact multiple of the record length (4 bytes)" in wrong


@pytest.mark.parametrize("options", ["", "GZIP", "ZLIB"])
@pytest.mark.parametrize("batch", [None, 1, 7, 100])
def test_tf_records(options: str, batch: int | None, tmp_path: Path) -> None:
    first = _records(tmp_path / "a", [b"%d" % i for i in range(10)], options)
    second = _records(tmp_path / "b", [b"%d" % i for i in range(10, 25)], options)
    dataset: Any = tf.data.TFRecordDataset([first, second], options)
    if batch is not None:
        dataset = dataset.batch(batch)
    flat = np.concatenate([np.atleast_1d(x) for x in _all(dataset)]).tolist()
    assert flat == [b"%d" % i for i in range(25)]


def test_a_damaged_file_does_not_hide_the_next(tmp_path: Path) -> None:
    first = _records(tmp_path / "a", [b"1", b"2"])
    second = _records(tmp_path / "b", [b"3"])
    data = bytearray(Path(first).read_bytes())
    data[-6] ^= 1
    Path(first).write_bytes(bytes(data))
    found = _all(tf.data.TFRecordDataset([first, second]))
    assert found[0] == b"1"
    assert found[1].startswith("DataLossError: corrupted record at 17")
    assert first in found[1]
    assert found[2:] == [b"3"]
    kept = tf.data.TFRecordDataset([first, second]).apply(X.ignore_errors())
    assert _all(kept) == [b"1", b"3"]


def test_missing_file() -> None:
    (found,) = _all(tf.data.TFRecordDataset("/no/such/file"))
    assert found == "NotFoundError: /no/such/file; No such file or directory"


def test_parallel_reads_mix_files(tmp_path: Path) -> None:
    names = [_records(tmp_path / str(i), [b"%d" % i] * 3) for i in range(2)]
    found = _all(tf.data.TFRecordDataset(names, num_parallel_reads=2))
    assert found == [b"0", b"1"] * 3


def test_python_iterator(tmp_path: Path) -> None:
    name = _records(tmp_path / "a", [b"x", b"y"])
    assert list(tf.python_io.tf_record_iterator(name)) == [b"x", b"y"]


def test_writing_a_dataset(tmp_path: Path) -> None:
    strings = D.from_tensor_slices([b"a", b"b"])
    write = X.TFRecordWriter(str(tmp_path / "w")).write(strings)
    with tf.Session() as session:
        session.run(write)
    assert _all(tf.data.TFRecordDataset(str(tmp_path / "w"))) == [b"a", b"b"]


# --- CSV --------------------------------------------------------------------------


def test_csv(tmp_path: Path) -> None:
    (tmp_path / "c").write_text(
        'a,b,c\n1,"x,1",2.5\n,y,\n3,"q""q\nz",4\n5,6\nx,y,1\n7,8,9,10\n'
    )
    dataset = X.CsvDataset(
        str(tmp_path / "c"), [tf.int32, tf.string, [1.5]], header=True
    )
    prefix = "InvalidArgumentError: "
    assert _all(dataset) == [
        (1, b"x,1", 2.5),
        prefix + "Field 0 is required but missing in record!",
        (3, b'q"q\nz', 4.0),
        prefix + "Expect 3 fields but have 2 in record",
        prefix + "Field 0 in record is not a valid int32: x",
        prefix + "Expect 3 fields but have more in record",
    ]


def test_csv_buffer_of_no_bytes(tmp_path: Path) -> None:
    (tmp_path / "c").write_text("1\n")
    with pytest.raises(tf.errors.InvalidArgumentError, match="should be positive"):
        _all(X.CsvDataset(str(tmp_path / "c"), [[0]], buffer_size=0))


def test_csv_columns(tmp_path: Path) -> None:
    (tmp_path / "c").write_text("1|a|2\n3|b|4\n")
    dataset = X.CsvDataset(
        str(tmp_path / "c"), [[0], [0.0]], field_delim="|", select_cols=[0, 2]
    )
    assert _all(dataset) == [(1, 2.0), (3, 4.0)]


def test_make_csv_dataset_infers_names_and_types(tmp_path: Path) -> None:
    (tmp_path / "m.csv").write_text("a,b,c\n1,x,2.5\n2,y,3.5\n3,z,4.5\n")
    dataset = X.make_csv_dataset(
        str(tmp_path / "*.csv"), 2, label_name="c", num_epochs=1, shuffle=False
    )
    (features, label), (rest, _) = _all(dataset)
    assert features["a"].tolist() == [1, 2]
    assert features["a"].dtype == np.int32
    assert features["b"].tolist() == [b"x", b"y"]
    assert label.tolist() == [2.5, 3.5]
    assert rest["a"].tolist() == [3]


# --- Examples, file names, caches -----------------------------------------------------


def test_features(tmp_path: Path) -> None:
    def example(i: int) -> bytes:
        number = tf.train.Feature(int64_list=tf.train.Int64List(value=[i]))
        text = tf.train.Feature(bytes_list=tf.train.BytesList(value=[b"x"] * (i % 3)))
        features = tf.train.Features(feature={"a": number, "s": text})
        data: bytes = tf.train.Example(features=features).SerializeToString()
        return data

    name = _records(tmp_path / "e", [example(i) for i in range(3)])
    spec = {"a": tf.FixedLenFeature([], tf.int64), "s": tf.VarLenFeature(tf.string)}
    dataset = X.make_batched_features_dataset(
        name, 2, spec, num_epochs=1, shuffle=False
    )
    first, second = _all(dataset)
    assert first["a"].tolist() == [0, 1]
    assert first["s"].indices.tolist() == [[1, 0]]
    assert second["s"].values.tolist() == [b"x", b"x"]


def test_list_files(tmp_path: Path) -> None:
    for name in "cab":
        (tmp_path / f"{name}.txt").touch()
    pattern = str(tmp_path / "*.txt")
    names = [f"{tmp_path}/{n}.txt".encode() for n in "abc"]
    assert _all(D.list_files(pattern, shuffle=False)) == names
    assert sorted(_all(D.list_files(pattern, seed=3))) == names


def test_cache_in_files(tmp_path: Path) -> None:
    calls: list[int] = []

    def count(value: Any) -> Any:
        calls.append(int(value))
        return value

    def made() -> Any:
        mapped = D.range(4).map(lambda x: tf.py_func(count, [x], tf.int64))
        named = mapped.map(lambda x: (x, tf.as_string(tf.reshape(x, [1]))))
        return named.cache(str(tmp_path / "cache"))

    wanted = [(i, [b"%d" % i]) for i in range(4)]
    for _ in range(2):
        assert [(int(a), b.tolist()) for a, b in _all(made())] == wanted
    assert calls == [0, 1, 2, 3]
    assert not list(tmp_path.glob("*.lockfile"))


def test_two_caches_of_one_name_exclude_each_other(tmp_path: Path) -> None:
    (tmp_path / "cache_0.lockfile").touch()
    (found,) = _all(D.range(3).cache(str(tmp_path / "cache")), limit=1)
    assert found.startswith("AlreadyExistsError")


@pytest.mark.parametrize("options", ["", "GZIP"])
def test_records_from_byte_offsets(tmp_path: Path, options: str) -> None:
    # A record takes 16 bytes beside its own.
    files = [_records(tmp_path / n, [b"a", b"bc", b"def"], options) for n in "xy"]

    def read(offsets: Any) -> Any:
        dataset = tf.raw_ops.TFRecordDatasetV2(
            filenames=files,
            compression_type=options,
            buffer_size=0,
            byte_offsets=np.array(offsets, np.int64),
        )
        iterator = tf.data.Iterator.from_structure(tf.string, [])
        make = tf.raw_ops.MakeIterator(
            dataset=dataset, iterator=iterator._iterator_resource
        )
        element = iterator.get_next()
        found = []
        with tf.Session() as session:
            session.run(make)
            while True:
                try:
                    found.append(session.run(element))
                except tf.errors.OutOfRangeError:
                    return found

    assert read([]) == [b"a", b"bc", b"def"] * 2
    assert read([17, 35]) == [b"bc", b"def", b"def"]
    assert read([0, 54]) == [b"a", b"bc", b"def"]
    with pytest.raises(tf.errors.DataLossError, match="corrupted record at 5"):
        read([5, 0])
    for wrong in ([0], [0, -1]):
        with pytest.raises(tf.errors.InvalidArgumentError, match="byte_offsets"):
            read(wrong)
