"""Datasets that TensorFlow has under module paths alone."""

from __future__ import annotations

import gzip
import sqlite3
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tensorloom.python.data.experimental.ops import (
    distribute,
    interleave_ops,
    map_defun,
    matching_files,
    optimization,
    readers,
    sleep,
    snapshot,
    stats_ops,
    threadpool,
)
from tensorloom.python.data.ops import dataset_ops, multi_device_iterator_ops
from tensorloom.python.ops import gen_dataset_ops, variables

import tensorloom as tf


def _elements(dataset: Any) -> list[Any]:
    iterator = tf.data.make_initializable_iterator(dataset)
    following = iterator.get_next()
    found = []
    with tf.Session() as session:
        session.run(iterator.initializer)
        while True:
            try:
                found.append(session.run(following))
            except tf.errors.OutOfRangeError:
                return found


def _numbers(count: int) -> Any:
    return tf.data.Dataset.range(count)


@pytest.mark.parametrize(
    "make",
    [
        lambda ds: optimization._ChooseFastestDataset([ds, ds]),
        lambda ds: optimization._ChooseFastestBranchDataset(
            ds, [lambda d: d.prefetch(1), lambda d: d]
        ),
        lambda ds: ds.apply(sleep.sleep(10)),
        lambda ds: threadpool.override_threadpool(ds, threadpool.PrivateThreadPool(2)),
        lambda ds: dataset_ops._MaxIntraOpParallelismDataset(ds, 1),
        lambda ds: dataset_ops._PrivateThreadPoolDataset(ds, 2),
        lambda ds: dataset_ops._ModelDataset(ds),
        lambda ds: dataset_ops._OptimizeDataset(ds, ["noop_elimination"]),
        lambda ds: dataset_ops.MapDataset(ds, lambda x: x),
        lambda ds: dataset_ops.ParallelMapDataset(ds, lambda x: x, 2),
    ],
)
def test_same_elements(make: Any) -> None:
    assert _elements(make(_numbers(5))) == [0, 1, 2, 3, 4]


def test_branches_of_other_sizes() -> None:
    dataset = optimization._ChooseFastestBranchDataset(
        _numbers(4),
        [lambda d: d.batch(2), lambda d: d.batch(2).map(tf.identity)],
        ratio_numerator=2,
    )
    assert [e.tolist() for e in _elements(dataset)] == [[0, 1], [2, 3]]
    with pytest.raises(ValueError, match="ratio must be positive"):
        optimization._ChooseFastestBranchDataset(
            _numbers(4), [lambda d: d], ratio_denominator=0
        )


@pytest.mark.parametrize(
    ("second", "told"),
    [
        ([[1, 2]], "compatible output shapes"),
        ([1.0], "the same output types"),
        (([1], [2]), "the same output types"),
        ([1, 2], "compatible cardinalities"),
    ],
)
def test_choice_among_unlike_datasets(second: Any, told: str) -> None:
    both = [tf.data.Dataset.from_tensor_slices(values) for values in ([0], second)]
    with pytest.raises(tf.errors.InvalidArgumentError, match=told):
        _elements(optimization._ChooseFastestDataset(both))


def test_classes_of_ones_own() -> None:
    class Skipping(dataset_ops.UnaryUnchangedStructureDataset):  # type: ignore[misc]
        def __init__(self, input_dataset: Any) -> None:
            self._input_dataset = input_dataset
            variant = gen_dataset_ops.skip_dataset(
                input_dataset._variant_tensor,
                count=tf.constant(2, tf.int64),
                **self._flat_structure,
            )
            super().__init__(input_dataset, variant)

    source = _numbers(4)
    dataset = Skipping(source)
    assert dataset.element_spec == source.element_spec
    assert dataset._inputs() == [source]
    assert _elements(dataset.map(lambda x: x * 2)) == [4, 6]


def test_batches_for_replicas() -> None:
    dataset = distribute._RebatchDataset(_numbers(8).batch(4, True), 2)
    assert dataset.output_shapes.as_list() == [2]
    assert [len(e) for e in _elements(dataset)] == [2, 2, 2, 2]
    with pytest.raises(ValueError, match="at least one dimension"):
        distribute._RebatchDataset(_numbers(8), 2)


def test_matching_files(tmp_path: Path) -> None:
    for name in ("a.txt", "b.txt", "c.log"):
        (tmp_path / name).write_text(name)
    dataset = matching_files.MatchingFilesDataset([str(tmp_path / "*.txt")])
    names = sorted(Path(e.decode()).name for e in _elements(dataset))
    assert names == ["a.txt", "b.txt"]
    nothing = matching_files.MatchingFilesDataset(str(tmp_path / "*.png"))
    with pytest.raises(tf.errors.NotFoundError, match="any matched files"):
        _elements(nothing)


def test_snapshot_is_read_again(tmp_path: Path) -> None:
    folder = str(tmp_path / "snapshot")
    first = _elements(_numbers(5).apply(snapshot.snapshot(folder)))
    again = _elements(_numbers(5).apply(snapshot.snapshot(folder)))
    assert first == again == [0, 1, 2, 3, 4]


def _files(folder: Path) -> dict[str, list[str]]:
    """The names of files by run."""
    runs = sorted(run for mark in folder.iterdir() for run in mark.iterdir())
    assert all(len(mark.name) == 16 for mark in folder.iterdir())
    return {
        run.name: sorted(file.name for file in run.iterdir())
        for run in runs
        if run.is_dir()
    }


@pytest.mark.parametrize("compression", ["", "GZIP"])
def test_a_snapshot_has_tensorflows_layout(tmp_path: Path, compression: str) -> None:
    texts = _numbers(2).map(lambda x: (x, tf.as_string(x)))
    take = snapshot.snapshot(str(tmp_path), compression=compression)
    assert _elements(texts.apply(take)) == [(0, b"0"), (1, b"1")]
    (names,) = _files(tmp_path).values()
    assert names == ["00000000.snapshot"]
    (file,) = tmp_path.glob("*/*/00000000.snapshot")
    content = file.read_bytes()
    if compression:
        content = gzip.decompress(content)
    # The length, then a message of two tensors with raw contents.
    first = (
        b"\x1a" + bytes(7) + b"\n\x0e\x08\t\x12\x00\"\x08" + bytes(8)
        + b"\n\x08\x08\x07\x12\x00\"\x02\x010"
    )  # fmt: skip
    assert content[: len(first)] == first
    assert _elements(texts.apply(take)) == [(0, b"0"), (1, b"1")]


def test_pipelines_have_snapshots_of_their_own(tmp_path: Path) -> None:
    take = snapshot.snapshot(str(tmp_path))
    for count in (3, 4, 3):
        assert _elements(_numbers(count).apply(take)) == list(range(count))
    assert len(list(tmp_path.iterdir())) == 2
    assert _elements(_numbers(3).map(lambda x: x + 1).apply(take)) == [1, 2, 3]
    assert _elements(_numbers(3).map(lambda x: x + 2).apply(take)) == [2, 3, 4]
    assert len(list(tmp_path.iterdir())) == 4


def test_a_large_snapshot_has_several_files(tmp_path: Path) -> None:
    blocks = _numbers(3).map(lambda x: tf.fill([1 << 17], x))
    take = snapshot.snapshot(str(tmp_path), shard_size_bytes=1 << 20)
    assert len(_elements(blocks.apply(take).map(tf.reduce_sum))) == 3
    (names,) = _files(tmp_path).values()
    assert names == ["00000000.snapshot", "00000001.snapshot"]
    with pytest.raises(tf.errors.InvalidArgumentError, match="at least 1 MiB"):
        _elements(blocks.apply(snapshot.snapshot(str(tmp_path), shard_size_bytes=1)))
    with pytest.raises(tf.errors.InvalidArgumentError, match="'' or 'GZIP'"):
        _elements(blocks.apply(snapshot.snapshot(str(tmp_path), compression="LZ")))


def test_who_comes_while_a_snapshot_is_written_passes_by(tmp_path: Path) -> None:
    take = snapshot.snapshot(str(tmp_path))
    with tf.Graph().as_default(), tf.Session() as session:
        iterators = [
            tf.data.make_initializable_iterator(tf.data.Dataset.range(5).apply(take))
            for _ in range(2)
        ]
        session.run([iterator.initializer for iterator in iterators])
        elements = [iterator.get_next() for iterator in iterators]
        for number in range(5):
            assert [session.run(e) for e in elements] == [number, number]
    assert len(_files(tmp_path)) == 1


def test_directed_interleave() -> None:
    parts = [_numbers(2).map(lambda x, k=k: x + k) for k in (0, 10)]
    choice = tf.data.Dataset.from_tensor_slices(np.array([1, 0, 1, 0], np.int64))
    dataset = interleave_ops._DirectedInterleaveDataset(choice, parts)
    assert _elements(dataset) == [10, 0, 11, 1]


def test_function_of_slices() -> None:
    offset = tf.constant(10.0)

    @tf.function(input_signature=[tf.TensorSpec([2], tf.float32)])
    def shifted(row: Any) -> Any:
        return row + offset

    (made,) = map_defun.map_defun(shifted, [tf.ones([3, 2])], [tf.float32], [[2]])
    with tf.Session() as session:
        assert session.run(made).tolist() == [[11, 11]] * 3
    for dtype, shape in ((tf.int32, [2]), (tf.float32, [3])):
        (wrong,) = map_defun.map_defun(shifted, [tf.ones([3, 2])], [dtype], [shape])
        with (
            tf.Session() as session,
            pytest.raises(tf.errors.InvalidArgumentError, match="Output 0 of the"),
        ):
            session.run(wrong)
    with pytest.raises(ValueError, match="must be a list of tensors"):
        map_defun.map_defun(shifted, tf.ones([3, 2]), [tf.float32], [[2]])


def test_batches_of_records(tmp_path: Path) -> None:
    name = str(tmp_path / "records")
    with tf.io.TFRecordWriter(name) as writer:
        for number in range(5):
            writer.write(b"%d" % number)
    dataset = readers.make_tf_record_dataset(
        name, 2, parser_fn=tf.strings.to_number, num_epochs=1, shuffle=False
    )
    assert [e.tolist() for e in _elements(dataset)] == [[0, 1], [2, 3], [4]]


def test_rows_of_a_query(tmp_path: Path) -> None:
    name = str(tmp_path / "people.db")
    with sqlite3.connect(name) as database:
        database.execute("CREATE TABLE people (name TEXT, age INTEGER)")
        database.execute("INSERT INTO people VALUES ('Ada', 36), ('Alan', 41)")
    dataset = tf.data.experimental.SqlDataset(
        "sqlite", name, "SELECT name, age FROM people", (tf.string, tf.int32)
    )
    assert _elements(dataset) == [(b"Ada", 36), (b"Alan", 41)]


def test_elements_for_devices() -> None:
    config = tf.ConfigProto(device_count={"CPU": 3})
    iterator = multi_device_iterator_ops.MultiDeviceIterator(
        _numbers(4), ["/cpu:1", "/cpu:2"]
    )
    both = iterator.get_next()
    with tf.Session(config=config) as session:
        for _ in range(2):  # a second pass begins anew
            session.run(iterator.initializer)
            assert session.run(both) == [0, 1]
            assert session.run(both) == [2, 3]
            with pytest.raises(tf.errors.OutOfRangeError):
                session.run(both)


def test_statistics_of_a_pipeline() -> None:
    aggregator = tf.data.experimental.StatsAggregator()
    dataset = _numbers(3).apply(tf.data.experimental.bytes_produced_stats("bytes"))
    options = tf.data.Options()
    options.experimental_stats.aggregator = aggregator
    iterator = tf.data.make_initializable_iterator(dataset.with_options(options))
    following, summary = iterator.get_next(), aggregator.get_summary()
    with tf.Session() as session:
        session.run(iterator.initializer)
        for _ in range(3):
            session.run(following)
        message = tf.Summary.FromString(session.run(summary))
    (histogram,) = [v.histo for v in message.value if v.tag == "bytes"]
    assert (histogram.num, histogram.sum) == (3, 24)


def test_unordered_rows_are_refused() -> None:
    rows = tf.SparseTensorValue([[1, 0], [0, 0]], [1, 2], [2, 1])
    sparse = tf.sparse_placeholder(tf.int32)
    dataset = tf.data.Dataset.from_sparse_tensor_slices(sparse)
    iterator = tf.data.make_initializable_iterator(dataset)
    with tf.Session() as session, pytest.raises(tf.errors.UnimplementedError):
        session.run(iterator.initializer, {sparse: rows})


def test_position_of_an_iterator_as_a_message() -> None:
    iterator = tf.data.make_initializable_iterator(_numbers(5))
    resource = iterator._iterator_resource
    state = tf.io.serialize_tensor(gen_dataset_ops.serialize_iterator(resource))
    given = tf.placeholder(tf.string, [])
    back = gen_dataset_ops.deserialize_iterator(
        resource, tf.io.parse_tensor(given, tf.variant)
    )
    following = iterator.get_next()
    with tf.Session() as session:
        session.run(iterator.initializer)
        session.run(following)
        kept = session.run(state)
        assert session.run(following) == 1
        session.run(back, {given: kept})
        assert session.run(following) == 1


def test_statistics_by_a_transformation() -> None:
    aggregator = tf.data.experimental.StatsAggregator()
    dataset = _numbers(3).apply(tf.data.experimental.latency_stats("latency"))
    dataset = dataset.apply(stats_ops.set_stats_aggregator(aggregator, "train"))
    iterator = tf.data.make_initializable_iterator(dataset)
    following, summary = iterator.get_next(), aggregator.get_summary()
    with tf.Session() as session:
        session.run(iterator.initializer)
        session.run(following)
        message = tf.Summary.FromString(session.run(summary))
    assert [v.tag for v in message.value if "latency" in v.tag] == ["train::latency"]


def test_ragged_values_are_elements() -> None:
    rows = tf.ragged.constant_value([[[1, 2], []], [[3]]])
    whole = tf.data.Dataset.from_tensors(rows)
    slices = tf.data.Dataset.from_tensor_slices({"x": rows, "y": [5, 6]})
    assert _elements(whole)[0].to_list() == [[[1, 2], []], [[3]]]
    assert [e["x"].to_list() for e in _elements(slices)] == [[[1, 2], []], [[3]]]
    mapped = _numbers(1).map(lambda _: tf.ragged.constant_value([[1], []]))
    assert _elements(mapped)[0].to_list() == [[1], []]


def test_variables_are_of_resources() -> None:
    made = variables.Variable(1)
    assert made.op.type == "VarHandleOp"
    assert tf.Variable(1, use_resource=False).op.type == "VariableV2"
    assert isinstance(made, variables.Variable)
    assert isinstance(tf.get_variable("v", []), variables.Variable)
    assert variables.VariableV1 is tf.Variable


def test_copies_on_devices() -> None:
    offset = tf.placeholder_with_default(np.int64(10), [])
    dataset = _numbers(3).map(lambda x: x + offset).batch(2)
    made = distribute.replicate(dataset, ["/cpu:1", "/cpu:2"])
    assert sorted(made) == ["/cpu:1", "/cpu:2"]
    assert {d._variant_tensor.op.type for d in made.values()} == {"ModelDataset"}
    config = tf.ConfigProto(device_count={"CPU": 3})
    for name, copy in made.items():
        assert copy._variant_tensor.device.endswith(name.upper().replace("/", ""))
        with tf.device(name):
            iterator = tf.data.make_initializable_iterator(copy)
            following = iterator.get_next()
        with tf.Session(config=config) as session:
            session.run(iterator.initializer)
            assert session.run(following).tolist() == [10, 11]
            assert session.run(following).tolist() == [12]
    with pytest.raises(TypeError, match="`dataset` must be"):
        distribute.replicate([1, 2], ["/cpu:0"])


def test_map_defun_of_variants() -> None:
    """A batch of sparse tensors as a variant, through a function slice by slice."""
    sparse = tf.SparseTensor([[0, 0], [1, 2]], [1, 2], [3, 4])
    held = tf.serialize_sparse(sparse, out_type=tf.variant)

    @tf.function(input_signature=[tf.TensorSpec([], tf.variant)])
    def same(x: Any) -> Any:
        return x

    (made,) = map_defun.map_defun(same, [tf.stack([held] * 2)], [tf.variant], [None])
    back = tf.raw_ops.DeserializeSparse(serialized_sparse=made, dtype=tf.int32)
    with tf.Session() as session:
        found = tf.SparseTensorValue(*session.run(back))
        assert found.dense_shape.tolist() == [2, 3, 4]
        assert found.values.tolist() == [1, 2, 1, 2]
