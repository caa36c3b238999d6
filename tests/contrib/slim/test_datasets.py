"""`slim`'s data sets: records are read, decoded and read ahead."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tensorloom as tf
from tensorloom.contrib import slim

decoder = slim.tfexample_decoder
_PIXELS = np.arange(24, dtype=np.uint8).reshape(2, 4, 3)


def _feature(value: Any) -> Any:
    if isinstance(value, bytes):
        return tf.train.Feature(bytes_list=tf.train.BytesList(value=[value]))
    if isinstance(value[0], float):
        return tf.train.Feature(float_list=tf.train.FloatList(value=value))
    return tf.train.Feature(int64_list=tf.train.Int64List(value=value))


def _example(**features: Any) -> bytes:
    made = {key: _feature(value) for key, value in features.items()}
    example = tf.train.Example(features=tf.train.Features(feature=made))
    return bytes(example.SerializeToString())


def _numbers(folder: Path) -> Any:
    """A data set of the numbers from 0 to 3, in two files."""
    for file in range(2):
        with tf.python_io.TFRecordWriter(str(folder / f"part-{file}")) as writer:
            for row in range(2):
                writer.write(_example(number=[2 * file + row]))
    keys = {"number": tf.FixedLenFeature([1], tf.int64)}
    handlers = {"number": decoder.Tensor("number", shape=[])}
    return slim.dataset.Dataset(
        str(folder / "part-*"),
        tf.TFRecordReader,
        decoder.TFExampleDecoder(keys, handlers),
        4,
        {"number": "A number."},
        classes=4,
    )


@pytest.mark.parametrize("shuffle", [True, False])
def test_a_provider_gives_every_record_as_often_as_told(
    tmp_path: Path, shuffle: bool
) -> None:
    dataset = _numbers(tmp_path)
    assert (dataset.num_samples, dataset.classes) == (4, 4)
    with tf.Graph().as_default():
        provider = slim.dataset_data_provider.DatasetDataProvider(
            dataset, num_readers=2, shuffle=shuffle, num_epochs=2
        )
        assert sorted(provider.list_items()) == ["number", "record_key"]
        assert provider.num_samples() == 4
        with pytest.raises(ValueError, match=r"Item \[size\] is invalid"):
            provider.get(["size"])
        (number,) = provider.get(["number"])
        queue = slim.prefetch_queue.prefetch_queue({"number": number})
        taken = queue.dequeue()["number"]
        with tf.Session() as session:
            session.run(tf.local_variables_initializer())
            with slim.queues.QueueRunners(session):
                found = [int(session.run(taken)) for _ in range(8)]
                with (
                    pytest.raises(slim.queues.NestedQueueRunnerError),
                    slim.queues.QueueRunners(session),
                ):
                    pass
                with pytest.raises(tf.errors.OutOfRangeError):
                    session.run(taken)
    assert sorted(found) == [0, 0, 1, 1, 2, 2, 3, 3]


def test_an_item_may_not_be_called_as_the_key(tmp_path: Path) -> None:
    with tf.Graph().as_default(), pytest.raises(ValueError, match="record_key"):
        slim.dataset_data_provider.DatasetDataProvider(
            _numbers(tmp_path), record_key="number"
        )


def test_items_of_an_example() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        png = session.run(tf.image.encode_png(_PIXELS))
        jpeg = session.run(tf.image.encode_jpeg(_PIXELS))
        record = _example(
            png=png,
            jpeg=jpeg,
            raw=_PIXELS.tobytes(),
            kind=b"any",
            raw_kind=b"raw",
            grid=[1.0, 2.0, 3.0, 4.0],
            rows=[2],
            ymin=[0.1, 0.2],
            xmin=[0.3, 0.4],
            ymax=[0.5, 0.6],
            xmax=[0.7, 0.8],
            places=[0, 3],
            words=b"b",
        )
        texts = ("png", "jpeg", "raw", "kind", "raw_kind")
        keys: dict[str, Any] = {key: tf.FixedLenFeature([], tf.string) for key in texts}
        for key in ("grid", "ymin", "xmin", "ymax", "xmax", "nothing"):
            keys[key] = tf.VarLenFeature(tf.float32)
        for key in ("rows", "places"):
            keys[key] = tf.VarLenFeature(tf.int64)
        keys["words"] = tf.VarLenFeature(tf.string)
        words = tf.lookup.StaticHashTable(
            tf.lookup.KeyValueTensorInitializer(["a", "b"], [5, 7]), -1
        )
        handlers = {
            "png": decoder.Image("png", "kind", shape=[2, 4, 3]),
            "jpeg": decoder.Image("jpeg", "kind"),
            "raw": decoder.Image("raw", "raw_kind", shape=[2, 4, 3]),
            "grid": decoder.Tensor("grid", shape=[2, 2]),
            "by keys": decoder.Tensor("grid", shape_keys=["rows", "rows"]),
            "boxes": decoder.BoundingBox(),
            "sparse": decoder.SparseTensor("places", "ymin", shape=[4], densify=True),
            "backup": decoder.BackupHandler(
                decoder.Tensor("nothing"), decoder.Tensor("ymax")
            ),
            "words": decoder.LookupTensor("words", words),
            "called": decoder.ItemHandlerCallback(
                "grid", lambda given: tf.reduce_sum(given["grid"].values)
            ),
        }
        items = decoder.TFExampleDecoder(keys, handlers)
        session.run(tf.tables_initializer())
        names = items.list_items()
        found = dict(zip(names, session.run(items.decode(record, names)), strict=True))
    assert (found["png"] == _PIXELS).all()
    assert (found["raw"] == _PIXELS).all()
    assert found["jpeg"].shape == (2, 4, 3)
    assert found["grid"].tolist() == [[1, 2], [3, 4]]
    assert found["by keys"].tolist() == [[1, 2], [3, 4]]
    assert np.allclose(found["boxes"], [[0.1, 0.3, 0.5, 0.7], [0.2, 0.4, 0.6, 0.8]])
    assert np.allclose(found["sparse"], [0.1, 0, 0, 0.2])
    assert np.allclose(found["backup"], [0.5, 0.6])
    assert found["words"].tolist() == [7]
    assert found["called"] == 10


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: slim.parallel_reader.get_data_files([]), "No data files found"),
        (lambda: decoder.Tensor("a", shape_keys="b", shape=[1]), "both shape_keys"),
        (lambda: decoder.BoundingBox(["a"]), "expects 4 keys but got 1"),
        (lambda: decoder.BackupHandler(1, 2), "Primary handler is of type"),
    ],
)
def test_refusals(make: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()
