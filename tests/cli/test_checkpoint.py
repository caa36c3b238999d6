"""`tensorloom checkpoint` on tensors that need care."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tensorloom.cli.main import main
from tensorloom.framework.types import dtypes
from tensorloom.protos import tensor_bundle_pb2
from tensorloom.storage.checkpoints.bundle_reader import BundleReader
from tensorloom.storage.checkpoints.bundle_writer import BundleWriter
from tensorloom.storage.checkpoints.later_dtypes import LaterDType
from tests.storage.checkpoints.test_checkpoints import rewrite

FLOAT8_E4M3FN = 25  # TensorFlow 2's number of the dtype


def write(prefix: Path, values: dict[bytes, Any]) -> str:
    writer = BundleWriter(str(prefix))
    for name, value in values.items():
        writer.add(name, dtypes.as_dtype(value.dtype), value)
    writer.finish()
    return str(prefix)


@pytest.fixture
def newer(tmp_path: Path) -> str:
    """A checkpoint with an 8-bit float of TensorFlow 2."""

    def change(entries: dict[bytes, Any]) -> None:
        assert isinstance(entries[b"f8"], tensor_bundle_pb2.BundleEntryProto)
        entries[b"f8"].dtype = FLOAT8_E4M3FN

    values = {b"f8": np.array([1, 2], np.int8), b"w": np.ones(3, np.float32)}
    path = write(tmp_path / "newer", values)
    rewrite(Path(path), change)
    return path


def test_a_dtype_of_tensorflow_2_hides_no_other_tensor(
    newer: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["checkpoint", "show", newer]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[:2] for line in lines[:2]] == [
        ["f8", "float8_e4m3fn"],
        ["w", "float32"],
    ]
    assert main(["checkpoint", "diff", newer, newer]) == 0
    assert main(["checkpoint", "verify", newer]) == 0
    assert main(["audit", newer]) == 1
    assert "f8: " in capsys.readouterr().out


def test_a_dtype_of_tensorflow_2_is_copied(newer: str, tmp_path: Path) -> None:
    renamed, mean = str(tmp_path / "renamed"), str(tmp_path / "mean")
    assert main(["checkpoint", "rename", newer, renamed, "f8=new", "w=b"]) == 0
    assert main(["checkpoint", "average", mean, newer, newer]) == 0
    for path, name, number in ((renamed, b"new", b"b"), (mean, b"f8", b"w")):
        with BundleReader(path) as reader:
            assert reader.stored_dtype(name) == LaterDType(FLOAT8_E4M3FN)
            assert reader.read_stored(name) == ((2,), b"\1\2")
            assert reader.read(number).tolist() == [1, 1, 1]


def test_other_bytes_of_a_dtype_of_tensorflow_2(
    newer: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = tmp_path / "other"
    with BundleReader(newer) as reader, BundleWriter(str(other)) as writer:
        writer.add_stored(b"f8", LaterDType(FLOAT8_E4M3FN), (2,), b"\1\3")
        writer.add(b"w", dtypes.float32, reader.read(b"w"))
        writer.finish()
    assert main(["checkpoint", "diff", newer, str(other)]) == 1
    out = capsys.readouterr().out
    assert "! f8: other bytes" in out
    assert "! w" not in out
    data = other.with_name("other.data-00000-of-00001")
    data.write_bytes(b"\1\4" + data.read_bytes()[2:])
    assert main(["checkpoint", "verify", str(other)]) == 1
    assert "f8: " in capsys.readouterr().out


@pytest.mark.parametrize(
    ("first", "second", "tolerance", "expected"),
    [
        (np.int64([2**53, 1]), np.int64([2**53 + 1, 1]), "0", "1 of 2 values, by up"),
        (np.int64([2**53, 1]), np.int64([2**53 + 1, 1]), "1", None),
        (np.int8([-128, 3]), np.int8([127, 3]), "254", "by up to 255"),
        (np.uint64([0]), np.uint64([2**64 - 1]), "1e19", "1 of 1 values"),
        (np.int64([-(2**63)]), np.int64([2**63 - 1]), "1e19", "1 of 1 values"),
        (np.float32([np.nan, 1]), np.float32([np.nan, 1]), "0", None),
    ],
    ids=["neighbours", "within", "int8", "uint64", "int64", "nan"],
)
def test_differences(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    first: Any,
    second: Any,
    tolerance: str,
    expected: str | None,
) -> None:
    a, b = (
        write(tmp_path / name, {b"v": value})
        for name, value in (("a", first), ("b", second))
    )
    arguments = ["checkpoint", "diff", a, b, "--tolerance", tolerance]
    assert main(arguments) == (0 if expected is None else 1)
    assert (expected or "0 of them different") in capsys.readouterr().out
