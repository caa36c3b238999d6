"""Loads a session bundle: its graph, variables, assets and initialization."""

from __future__ import annotations

import os
from typing import Any

from tensorloom.client.program.compat import as_str_any
from tensorloom.client.session.session import Session
from tensorloom.contrib.learn.utils import session_bundle as names
from tensorloom.framework.graph.graph import get_collection, reset_default_graph
from tensorloom.protos import graph_pb2, session_bundle_pb2
from tensorloom.storage.files import gfile
from tensorloom.train.meta_graph.meta_graph_import import (
    import_meta_graph,
    read_meta_graph_file,
)


def maybe_session_bundle_dir(export_dir: Any) -> bool:
    """Whether a directory has the graph of a session bundle in it; it is not read."""
    path = os.path.join(as_str_any(export_dir), names.META_GRAPH_DEF_FILENAME)
    return bool(gfile.exists(path))


def load_session_bundle_from_path(
    export_dir: Any, target: str = "", config: Any = None, meta_graph_def: Any = None
) -> tuple[Session, Any]:
    """Loads a session bundle into a default graph and session of its own.

    The default graph that there was is dropped.

    Args:
      export_dir: the directory with the version, such as "exports/00000123".
      target, config: of the session.
      meta_graph_def: stands in for the one in the directory.

    Returns:
      The session and the MetaGraphDef.

    Raises:
      RuntimeError: there is no bundle, or its graph or init op is not there once.
    """
    directory = as_str_any(export_dir)
    if not meta_graph_def:
        meta_graph_def = _read(os.path.join(directory, names.META_GRAPH_DEF_FILENAME))
    collections = meta_graph_def.collection_def
    if names.GRAPH_KEY in collections:
        served = _unpacked(collections, names.GRAPH_KEY, graph_pb2.GraphDef)
        if len(served) != 1:
            raise RuntimeError(
                f"Expected exactly one serving GraphDef in : {meta_graph_def}"
            )
        meta_graph_def.graph_def.CopyFrom(served[0])
    reset_default_graph()
    session = Session(target, graph=None, config=config)
    saver = import_meta_graph(meta_graph_def)
    variables = _variables_of(directory)
    if variables:
        saver.restore(session, os.path.join(directory, variables))
    _initialize(session, meta_graph_def, os.path.join(directory, "assets"))
    return session, meta_graph_def


def _read(path: str) -> Any:
    if not gfile.exists(path):
        raise RuntimeError(f"Expected meta graph file missing {path}")
    return read_meta_graph_file(path)


def _variables_of(directory: str) -> str | None:
    """The name of the checkpoint in a directory; None if it has no variables."""
    has_index = gfile.exists(os.path.join(directory, names.VARIABLES_INDEX_FILENAME_V2))
    if has_index or gfile.exists(os.path.join(directory, names.VARIABLES_FILENAME)):
        return names.VARIABLES_FILENAME
    shards = os.path.join(directory, names.VARIABLES_FILENAME_PATTERN)
    return names.VARIABLES_FILENAME_PATTERN if gfile.glob(shards) else None


def _initialize(session: Session, meta_graph_def: Any, assets_dir: str) -> None:
    """Runs the init op of the bundle, if it has one, with the paths of its assets.

    Raises:
      RuntimeError: it has several.
    """
    collections = meta_graph_def.collection_def
    if names.INIT_OP_KEY not in collections:
        return
    if len(collections[names.INIT_OP_KEY].node_list.value) != 1:
        raise RuntimeError(
            f"Expected exactly one serving init op in : {meta_graph_def}"
        )
    assets = {}
    if names.ASSETS_KEY in collections:
        for asset in _unpacked(
            collections, names.ASSETS_KEY, session_bundle_pb2.AssetFile
        ):
            path = os.path.join(assets_dir, asset.filename)
            assets[asset.tensor_binding.tensor_name] = path
    session.run(get_collection(names.INIT_OP_KEY)[:1], feed_dict=assets)


def _unpacked(collections: Any, key: str, message: Any) -> list[Any]:
    return [message.FromString(m.value) for m in collections[key].any_list.value]
