"""`tf.train.NewCheckpointReader`: what is in a checkpoint, without a graph."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from tensorloom.framework import errors
from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.export import export
from tensorloom.framework.types import dtypes
from tensorloom.storage.checkpoints import checkpoints
from tensorloom.storage.checkpoints.bundle_reader import BundleReader
from tensorloom.storage.checkpoints.bundle_strings import key_text
from tensorloom.storage.checkpoints.later_dtypes import LaterDType
from tensorloom.storage.checkpoints.slices import shape_text
from tensorloom.storage.files import filesystem, mirror


class CheckpointReader:
    """Reads a checkpoint of either version. Made by `NewCheckpointReader`."""

    def __init__(self, filepattern: Any) -> None:
        self._path = filesystem.path_text(filepattern)
        self._reader = checkpoints.open_anywhere(self._path)

    def has_tensor(self, tensor_str: str) -> bool:
        """Whether a tensor of that name is in it."""
        return tensor_str.encode() in self._reader

    def get_tensor(self, tensor_str: Any) -> Any:
        """The value of a tensor, put together from its slices.

        Raises:
          NotFoundError: none has that name.
          DataLossError: a checksum or size is wrong.
        """
        name = tensor_str if isinstance(tensor_str, bytes) else tensor_str.encode()
        if name not in self._reader:
            raise errors.NotFoundError(
                None, None, f"Key {key_text(name)} not found in checkpoint"
            )
        if self._reader.dtype(name) == dtypes.variant:
            raise errors.InternalError(
                None, None, "Tensorflow type 21 not convertible to numpy dtype."
            )
        value = self._reader.read(name)
        return value[()] if not value.shape else value

    def get_variable_to_shape_map(self) -> dict[str, list[int]]:
        """The shape of every tensor, by name."""
        return dict(_names_and_shapes(self._reader))

    def get_variable_to_dtype_map(self) -> dict[str, Any]:
        """The dtype of every tensor, by name; a `LaterDType` where it has none here."""
        dtypes = self._reader.dtypes()
        return dict(zip(self._reader.texts(), dtypes.values(), strict=True))

    def debug_string(self) -> bytes:
        """A line for each entry: name, dtype, shape."""
        reader = self._reader
        names: Sequence[bytes] = reader.names

        def parts(name: bytes) -> int:
            return getattr(reader, "part_count", lambda _: 0)(name)

        dtype: Callable[[bytes], Any] = reader.dtype
        if isinstance(reader, BundleReader):
            dtype = reader.stored_dtype
            # Slices stand for the tensors that they are of.
            names = [key for key in reader.keys if not reader.entry(key).slices]
        lines = [
            name
            + f" ({_enum_name(dtype(name))}) ".encode()
            + shape_text(reader.shape(name)).encode()
            + (f", {count} slices".encode() if (count := parts(name)) > 1 else b"")
            for name in names
        ]
        return b"".join(line + b"\n" for line in lines)


def _enum_name(dtype: dtypes.DType | LaterDType) -> str:
    if isinstance(dtype, LaterDType):
        return f"DT_{dtype.name.upper()}"
    from tensorloom.protos import types_pb2

    names: Any = types_pb2.DataType
    return str(names.Name(dtype.as_datatype_enum))


def _names_and_shapes(reader: checkpoints.Reader) -> list[tuple[str, list[int]]]:
    """In the order of the names, as UTF-8 keeps that of the tables' keys."""
    return list(zip(reader.texts(), reader.shape_lists(), strict=True))


def sorted_shapes(filepattern: Any) -> list[tuple[str, list[int]]]:
    """Name and shape of every tensor of a checkpoint, sorted by name.

    Raises:
      As `NewCheckpointReader`.
    """
    path = filesystem.path_text(filepattern)
    with _checked(path):
        return checkpoints.with_checkpoint(path, _names_and_shapes)


@contextlib.contextmanager
def _checked(path: str) -> Iterator[None]:
    """Raises what TensorFlow does where not even the directory is there."""
    try:
        yield
    except errors.NotFoundError:
        directory = filesystem.parent(path) or "."
        if filesystem.is_directory(directory) or mirror.copies_of(path):
            raise
        raise invalid_argument(
            "Unsuccessful TensorSliceReader constructor: Failed to get matching files "
            f"on {path}: Not found: {directory}; No such file or directory"
        ) from None


@export("train.NewCheckpointReader")
def NewCheckpointReader(filepattern: Any) -> CheckpointReader:
    """The reader of a checkpoint, given its prefix.

    Raises:
      NotFoundError: there is none.
      InvalidArgumentError: its directory is not there.
      DataLossError: its index is damaged.
    """
    path = filesystem.path_text(filepattern)
    with _checked(path):
        return CheckpointReader(path)
