"""Entries of bundles: many at once say what they say one by one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorloom.protos.tensor_bundle_pb2 import BundleEntryProto
from tensorloom.storage.checkpoints import bundle_entries
from tensorloom.storage.tables.table_block import Block
from tests.storage.tables.test_table_block import block

Entry = tuple[int, list[int]]  # dtype and shape

DIMS = st.one_of(
    st.integers(1, 5), st.integers(1, (1 << 35) - 1), st.sampled_from([127, 128, 16384])
)
ENTRIES = st.lists(
    st.tuples(st.integers(1, 127), st.lists(DIMS, max_size=6)), max_size=150
)


def proto(entry: Entry) -> BundleEntryProto:
    dtype, shape = entry
    result = BundleEntryProto(dtype=dtype, offset=7 * len(shape), size=3, crc32c=99)
    result.shape.SetInParent()
    for size in shape:
        result.shape.dim.add(size=size)
    return result


def block_of(values: list[bytes]) -> Block:
    """A block with a header before them."""
    rows = {b"v%03d" % index: value for index, value in enumerate(values)}
    return Block(block({b"": b"header", **rows}))


@given(ENTRIES)
def test_dtypes_and_shapes(entries: list[Entry]) -> None:
    found = block_of([proto(entry).SerializeToString() for entry in entries])
    numbers = bundle_entries.dtype_numbers(found, 1)
    shapes = bundle_entries.shape_lists(found, 1)
    assert numbers == [dtype for dtype, _ in entries]
    assert shapes == [shape for _, shape in entries]
    assert shapes is None or len({id(shape) for shape in shapes}) == len(entries)


SIMPLE = proto((1, [3, 200])).SerializeToString()


@pytest.mark.parametrize(
    ("value", "dtype"),
    [
        pytest.param(proto((1, [4, 1 << 35])).SerializeToString(), 1, id="large dim"),
        pytest.param(proto((1, [-1])).SerializeToString(), 1, id="negative dim"),
        pytest.param(proto((1, [0, 2])).SerializeToString(), 1, id="dim without size"),
        pytest.param(b"\x08\1\x12\2\x18\1", 1, id="unknown rank"),
        pytest.param(b"\x08\1\x12\5\x12\3\x0a\1n", 1, id="dim with a name"),
        pytest.param(b"\x08\1\x12\6\x12\4\x08\1\x08\2", 1, id="size twice"),
        pytest.param(b"\x08\1\x12\5\x12\4\x08\x81\1", 1, id="dim past the shape's end"),
        pytest.param(b"\x08\1\x12\4\x12\2\x08\x81", 1, id="size without end"),
        pytest.param(b"\x08\1\x12\x04\x12\x02\x08", 1, id="shape past the value's end"),
        pytest.param(b"\x08\x81\1\x12\2\x12\0", None, id="dtype of two bytes"),
        pytest.param(proto((1, [9] * 32)).SerializeToString(), None, id="long shape"),
        pytest.param(b"\x12\2\x12\0\x08\1", None, id="shape first"),
        pytest.param(b"", None, id="nothing"),
    ],
)
def test_others_are_left_alone(value: bytes, dtype: int | None) -> None:
    values = [SIMPLE] * 100
    values[50] = value
    found = block_of(values)
    numbers = bundle_entries.dtype_numbers(found, 1)
    assert bundle_entries.shape_lists(found, 1) is None
    assert numbers is None if dtype is None else numbers == [1] * 100


def test_a_dim_past_the_end_of_the_block() -> None:
    """A shape of one byte, a dim's tag: what is behind the entries goes on from it."""
    data = block({b"": b"header", b"a": SIMPLE, b"b": b"\x08\1\x12\1\x12"})
    found = Block(data[:-8] + b"\x04\x08\x81\x81" + data[-4:])
    assert bundle_entries.shape_lists(found, 1) is None
