"""Assets: files beside a graph, such as vocabularies; their paths are in it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import Any

from tensorloom.client.importing.scoped_names import prepend_scope
from tensorloom.framework import errors
from tensorloom.framework.graph.tensor import Tensor
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.constant_value import constant_value
from tensorloom.saved_model import constants
from tensorloom.storage.files import filesystem
from tensorloom.train.checkpoints.message_text import type_url

_COMPARED_CHUNK = 1 << 20


def collect(tensors: Iterable[Any]) -> list[tuple[str, str, Any]]:
    """The name in the SavedModel, the path and the tensor of each asset.

    Files of one name and different contents get a number behind it.

    Raises:
      TypeError: a tensor is no scalar string constant.
      ValueError: its path is empty, or names no file.
    """
    paths: dict[str, str] = {}
    found = []
    for tensor in tensors:
        path = _path_of(tensor)
        if not path:
            raise ValueError(f"Invalid asset filepath tensor {tensor}")
        name = free_name(path, paths)
        paths[name] = path
        found.append((name, path, tensor))
    return found


def _path_of(tensor: Any) -> str:
    if not isinstance(tensor, Tensor):
        raise TypeError("Asset path tensor must be a Tensor.")
    if tensor.op.type != "Const":
        raise TypeError("Asset path tensor must be of type constant.")
    if tensor.dtype != dtypes.string:
        raise TypeError("Asset path tensor must be of dtype string.")
    value = constant_value(tensor)
    if value is None or value.size != 1:
        raise TypeError("Asset path tensor must be a scalar.")
    return os.fsdecode(value.reshape(-1)[0])


def free_name(path: str, paths: dict[str, str]) -> str:
    """The name of a file in the SavedModel, other than those of other files."""
    base = name = path.rstrip("/").rpartition("/")[2]
    if name in ("", ".", ".."):
        raise ValueError(f"Invalid asset filepath {path!r}: it is a directory")
    number = 0
    while name in paths and paths[name] != path and not _same(path, paths[name]):
        number += 1
        name = f"{base}_{number}"
    return name


def _same(a: str, b: str) -> bool:
    """Whether two files have the same contents."""
    if filesystem.stat(a).length != filesystem.stat(b).length:
        return False
    with filesystem.open_file(a) as first, filesystem.open_file(b) as second:
        while True:
            chunk = first.read(_COMPARED_CHUNK)
            if chunk != second.read(_COMPARED_CHUNK):
                return False
            if not chunk:
                return True


def write(found: Iterable[tuple[str, str, Any]], directory: str) -> None:
    """Copies assets; one that an earlier MetaGraph brought stays as it is."""
    folder = filesystem.join(directory, constants.ASSETS_DIRECTORY)
    for name, path, _ in found:
        filesystem.make_directories(folder)
        target = filesystem.join(folder, name)
        if not filesystem.exists(target):
            filesystem.copy(path, target)


def to_message(name: str, tensor: Any) -> Any:
    """The `AssetFileDef` of an asset."""
    from tensorloom.protos import meta_graph_pb2

    proto = meta_graph_pb2.AssetFileDef(filename=name)
    proto.tensor_info.name = tensor.name
    return proto


def to_any(name: str, tensor: Any) -> Any:
    """What the graph's collection of assets holds for one."""
    from google.protobuf.any_pb2 import Any as AnyProto

    proto = to_message(name, tensor)
    return AnyProto(type_url=type_url(type(proto)), value=proto.SerializeToString())


def _asset_defs(meta_graph_def: Any) -> Iterator[Any]:
    from google.protobuf.message import DecodeError

    from tensorloom.protos import meta_graph_pb2

    if meta_graph_def.asset_file_def:
        yield from meta_graph_def.asset_file_def
        return
    if constants.ASSETS_KEY not in meta_graph_def.collection_def:
        return
    for item in meta_graph_def.collection_def[constants.ASSETS_KEY].any_list.value:
        proto = meta_graph_pb2.AssetFileDef()
        try:
            proto.ParseFromString(item.value)
        except DecodeError:
            raise errors.InvalidArgumentError(
                None,
                None,
                f"the collection {constants.ASSETS_KEY!r} holds a malformed "
                "AssetFileDef",
            ) from None
        yield proto


def feeds(
    export_dir: str, meta_graph_def: Any, import_scope: str | None
) -> dict[str, str]:
    """The path of each asset, by the name of the tensor that is to hold it.

    Raises:
      errors.InvalidArgumentError: a name leads out of the directory of assets.
    """
    folder = filesystem.join(export_dir, constants.ASSETS_DIRECTORY)
    return {
        prepend_scope(proto.tensor_info.name, import_scope): filesystem.join(
            folder, checked_name(proto.filename)
        )
        for proto in _asset_defs(meta_graph_def)
    }


def checked_name(name: str) -> str:
    """The name of a file of a SavedModel.

    Raises:
      errors.InvalidArgumentError: it leads out of the directory of assets.
    """
    parts = name.replace("\\", "/").split("/")
    if (
        not name
        or "\0" in name
        or filesystem.is_absolute(name)
        or os.path.splitdrive(name)[0]
        or any(part in ("", ".", "..") for part in parts)
    ):
        raise errors.InvalidArgumentError(
            None, None, f"the asset name {name!r} leads out of the directory of assets"
        )
    return name
