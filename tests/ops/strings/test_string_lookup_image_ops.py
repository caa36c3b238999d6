"""Strings, parsing, tables, files and images; expectations are TensorFlow 1.15.0's."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tensorloom as tf
from tensorloom.protos import example_pb2, feature_pb2

_LETTERS = "".join(chr(97 + (i * 7) % 26) for i in range(200))


def _run(build: Any) -> Any:
    with tf.Graph().as_default(), tf.Session() as session:
        return session.run(build())


STRINGS: list[tuple[Any, Any]] = [
    (lambda: tf.strings.regex_replace("abxd", "x*", "-"), b"-a-b-d-"),
    (lambda: tf.regex_replace("abxd x1", r"(\w)x", r"<\1>"), b"a<b>d x1"),
    (lambda: tf.strings.regex_full_match("abc\n", "[[:alpha:]]+"), False),
    (lambda: tf.reduce_join([["a", "b"], ["c", "d"]]), b"abcd"),
    (lambda: tf.reduce_join([["a", "b"], ["c", "d"]], [0, 1]), b"acbd"),
    (lambda: tf.strings.substr("hello", 1, 3), b"ell"),
    (lambda: tf.strings.substr("wörld", 1, 2, unit="UTF8_CHAR"), "ör".encode()),
    (lambda: tf.strings.upper("é", "utf-8"), "É".encode()),
    (lambda: tf.strings.strip(["  a\t\n"])[0], b"a"),
    (lambda: tf.encode_base64("ab?>"), b"YWI_Pg"),
    (lambda: tf.decode_base64("YWI_Pg"), b"ab?>"),
    (
        lambda: tf.strings.format("a {}", [np.array([1.5, 2, 3.25, 1e10, 5, 6, 7])]),
        b"a [1.5 2 3.25 ... 5 6 7]",
    ),
    (lambda: tf.strings.format("{}", ["xyz"]), b'"xyz"'),
]


@pytest.mark.parametrize(("build", "expected"), STRINGS)
def test_strings(build: Any, expected: Any) -> None:
    """One string in, one out."""
    assert _run(build) == expected


def test_string_split() -> None:
    """Values and shapes of sparse results."""
    found = _run(lambda: tf.strings.split(["a b  c", " d "], maxsplit=1))
    assert found.values.tolist() == [b"a", b"b  c", b"d", b""]
    assert found.dense_shape.tolist() == [2, 2]


def test_string_operations_refuse() -> None:
    """Bad positions and patterns are InvalidArgument."""
    for build in (
        lambda: tf.strings.substr("ab", 3, 1),
        lambda: tf.strings.regex_replace("ab", "(", ""),
        lambda: tf.strings.regex_replace("ab", r"(a)\1", ""),
        lambda: tf.decode_base64("*"),
        lambda: tf.decode_raw("abc", tf.int16),
    ):
        with pytest.raises(tf.errors.InvalidArgumentError):
            _run(build)


def test_hash_buckets() -> None:
    """Buckets of the three hash functions."""
    words = [_LETTERS[:n] for n in (0, 3, 7, 16, 31, 64, 65, 200)]
    fast = _run(lambda: tf.strings.to_hash_bucket_fast(words, 2**61 - 1))
    strong = _run(lambda: tf.strings.to_hash_bucket_strong(words, 1 << 61, [3, -5]))
    old = _run(lambda: tf.strings.to_hash_bucket(words, 2**61 - 1))
    assert fast.tolist() == HASHES["fast"]
    assert strong.tolist() == HASHES["strong"]
    assert old.tolist() == HASHES["old"]


HASHES: dict[str, list[int]] = {
    "fast": [
        1936946117179621459,
        962376950264880236,
        947592692043365137,
        1483552800335071589,
        626755416451493349,
        8614043689776805,
        462224007231001358,
        1240499323248885306,
    ],
    "strong": [
        352801046335333824,
        313657699431429218,
        2167651840038257021,
        242739549555207973,
        2003254100493368893,
        1793227144421293511,
        1294513371683889904,
        1940719009899192327,
    ],
    "old": [
        105434511174508095,
        265508743387212841,
        62395014748413431,
        793274514798911841,
        1833958451196009722,
        1768591791031217720,
        1276432989407103795,
        1294808300153922648,
    ],
}


def _example() -> bytes:
    feature = feature_pb2.Feature
    features = feature_pb2.Features(
        feature={
            "a": feature(float_list=feature_pb2.FloatList(value=[1, 2])),
            "b": feature(int64_list=feature_pb2.Int64List(value=[5, 6, 7])),
        }
    )
    return bytes(example_pb2.Example(features=features).SerializeToString())


def test_parse_example() -> None:
    """Dense, sparse, default and padded features."""
    found = _run(
        lambda: tf.parse_example(
            [_example(), b""],
            {
                "a": tf.FixedLenFeature([2], tf.float32, [8.0, 9.0]),
                "b": tf.VarLenFeature(tf.int64),
                "c": tf.FixedLenFeature([], tf.string, "x"),
                "b2": tf.FixedLenSequenceFeature([], tf.int64, allow_missing=True),
            },
        )
    )
    assert found["a"].tolist() == [[1, 2], [8, 9]]
    assert found["b"].values.tolist() == [5, 6, 7]
    assert found["b"].dense_shape.tolist() == [2, 3]
    assert found["c"].tolist() == [b"x", b"x"]
    assert found["b2"].shape == (2, 0)


def test_parse_example_refuses() -> None:
    """A missing feature, and one of another dtype."""
    for key, dtype in (("z", tf.int64), ("a", tf.int64)):
        feature = tf.FixedLenFeature([2], dtype)
        with pytest.raises(tf.errors.InvalidArgumentError):
            _run(lambda f=feature, k=key: tf.parse_single_example(_example(), {k: f}))


def test_csv_and_tensors() -> None:
    """CSV columns; a tensor there and back."""
    columns = _run(lambda: tf.decode_csv(['1,"a""b"', ",x"], [[7], [""]]))
    assert [c.tolist() for c in columns] == [[1, 7], [b'a"b', b"x"]]
    back = _run(lambda: tf.parse_tensor(tf.serialize_tensor([[1.5]]), tf.float32))
    assert back.tolist() == [[1.5]]


def test_files(tmp_path: Path) -> None:
    """Written, found and read again."""
    name = str(tmp_path / "deep" / "file.txt")
    with tf.Graph().as_default(), tf.Session() as session:
        session.run(tf.write_file(name, "text"))
        assert session.run(tf.read_file(name)) == b"text"
        found = session.run(tf.matching_files(str(tmp_path / "deep" / "*")))
        assert found.tolist() == [name.encode()]
        with pytest.raises(tf.errors.NotFoundError):
            session.run(tf.read_file(name + "x"))


def test_static_tables(tmp_path: Path) -> None:
    """From tensors and from a file, with buckets."""
    (tmp_path / "words").write_text("a\nb\n")
    with tf.Graph().as_default(), tf.Session() as session:
        lookup = tf.contrib.lookup
        words = tf.constant(["b", "?", "a"])
        ids = lookup.index_table_from_tensor(["a", "b"], default_value=9).lookup(words)
        file = lookup.index_table_from_file(str(tmp_path / "words"), 3)
        back = lookup.index_to_string_table_from_tensor(["a", "b"])
        names = back.lookup(tf.constant([1, 5], tf.int64))
        with pytest.raises(tf.errors.FailedPreconditionError):
            session.run(ids)
        session.run(tf.tables_initializer())
        assert session.run(ids).tolist() == [1, 9, 0]
        found = session.run(file.lookup(words)).tolist()
        assert (found[0], found[2]) == (1, 0)
        assert 2 <= found[1] < 5
        assert session.run(file.size()) == 5
        assert session.run(names).tolist() == [b"b", b"UNK"]


def test_mutable_tables() -> None:
    """Insert, lookup, export, remove."""
    with tf.Graph().as_default(), tf.Session() as session:
        tables = tf.contrib.lookup
        for table in (
            tables.MutableHashTable(tf.int64, tf.float32, [0.0, 0.0]),
            tables.MutableDenseHashTable(tf.int64, tf.float32, [0.0, 0.0], -1, -2),
        ):
            session.run(table.insert([1, 2], [[1.0, 2.0], [3.0, 4.0]]))
            assert session.run(table.lookup([2, 7])).tolist() == [[3, 4], [0, 0]]
            session.run(table.remove(tf.constant([1], tf.int64)))
            keys, values = session.run(table.export())
            (used,) = np.nonzero(keys.reshape(-1) > 0)  # a dense one has free buckets
            assert keys.reshape(-1)[used].tolist() == [2]
            assert values[used].tolist() == [[3, 4]]


RESIZED: list[tuple[str, dict[str, bool], list[float]]] = [
    ("bilinear", {}, [0.0, 50.33333, 68.33334, 38.0, 56.0, 41.66666]),
    ("bilinear", {"align_corners": True}, [0.0, 44.5, 89.0, 22.0, 66.5, 14.0]),
    (
        "bilinear",
        {"half_pixel_centers": True},
        [38.70833, 48.625, 58.54166, 52.45833, 62.375, 52.08333],
    ),
    ("bicubic", {}, [0.0, 54.44331, 67.56175, 38.0, 59.18684, 41.75508]),
    (
        "bicubic",
        {"half_pixel_centers": True},
        [42.17893, 47.98808, 60.53424, 56.36977, 63.52099, 55.70105],
    ),
    ("nearest_neighbor", {"align_corners": True}, [0.0, 27.0, 89.0, 22.0, 49.0, 14.0]),
    ("area", {}, [29.6, 48.9, 53.64999, 42.8, 62.09999, 37.74999]),
]


def test_resize_identity_and_gradient() -> None:
    """The gradient of a bilinear resize is its transpose."""
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.constant(np.arange(12, dtype=np.float32).reshape(1, 3, 4, 1))
        for name in ("bilinear", "bicubic", "nearest_neighbor"):
            y = getattr(tf.image, f"resize_{name}")(x, [5, 7])
            (gradient,) = tf.gradients(y, x)
            total = session.run(gradient).sum()
            np.testing.assert_allclose(total, 35, rtol=1e-5)


@pytest.mark.parametrize(("name", "flags", "expected"), RESIZED)
def test_resize(name: str, flags: dict[str, bool], expected: list[float]) -> None:
    """The numbers of each method."""
    x = (np.arange(20) * 7919 % 97).reshape(1, 5, 4, 1).astype(np.float32)
    build = getattr(tf.image, f"resize_{name}")
    found = _run(lambda: build(x, [2, 3], **flags))
    np.testing.assert_allclose(found.reshape(-1), expected, rtol=1e-5)


def test_image_files() -> None:
    """PNG is exact; JPEG is near."""
    pixels = np.arange(90).reshape(6, 5, 3).astype(np.uint8)
    png = _run(lambda: tf.image.decode_png(tf.image.encode_png(pixels)))
    np.testing.assert_array_equal(png, pixels)
    jpeg = _run(lambda: tf.image.decode_jpeg(tf.image.encode_jpeg(pixels)))
    assert np.abs(jpeg.astype(int) - pixels).max() < 24
    with pytest.raises(tf.errors.InvalidArgumentError):
        _run(lambda: tf.image.decode_png("no image"))


def test_non_max_suppression() -> None:
    """The better of two boxes that overlap stays."""
    boxes = [[0, 0, 1, 1], [0, 0.1, 1, 1.1], [2, 2, 3, 3]]
    found = _run(lambda: tf.image.non_max_suppression(boxes, [0.5, 0.9, 0.7], 3))
    assert found.tolist() == [1, 2]


def test_flips_and_crops() -> None:
    """Single images and batches alike, against NumPy."""
    x = np.arange(60, dtype=np.float32).reshape(4, 5, 3)
    for image in (x, np.stack([x, x + 1])):
        cut = image[..., 1:3, 2:5, :]
        np.testing.assert_array_equal(
            _run(lambda v=image: tf.image.flip_left_right(v)), image[..., ::-1, :]
        )
        np.testing.assert_array_equal(
            _run(lambda v=image: tf.image.flip_up_down(v)), image[..., ::-1, :, :]
        )
        np.testing.assert_array_equal(
            _run(lambda v=image: tf.image.crop_to_bounding_box(v, 1, 2, 2, 3)), cut
        )
        padded = _run(lambda v=cut: tf.image.pad_to_bounding_box(v, 1, 2, 4, 5))
        assert padded.sum() == cut.sum()
        np.testing.assert_array_equal(padded[..., 1:3, 2:5, :], cut)
    with pytest.raises(ValueError, match="target"):
        tf.image.crop_to_bounding_box(x, 3, 0, 2, 2)


@pytest.mark.parametrize("op", ["RGBToHSV", "HSVToRGB"])
@pytest.mark.parametrize(
    ("shape", "error"),
    [
        ((2, 4), tf.errors.FailedPreconditionError),
        ((), tf.errors.InvalidArgumentError),
    ],
)
def test_colours_that_are_not_three_are_refused(
    op: str, shape: tuple[int, ...], error: Any
) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        images = tf.placeholder(tf.float32)
        result = getattr(tf.raw_ops, op)(images=images)
        with pytest.raises(error, match="input must"):
            session.run(result, {images: np.ones(shape)})
