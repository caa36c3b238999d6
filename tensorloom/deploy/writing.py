"""Writes a frozen model: a file, or a SavedModel's directory; whole or not at all."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from tensorloom.client.importing.importer import import_graph_def
from tensorloom.client.session.session import Session
from tensorloom.framework import errors
from tensorloom.framework.graph.dataflow_graph import Graph
from tensorloom.saved_model.builder import SavedModelBuilder
from tensorloom.saved_model.signature_defs import build_signature_def
from tensorloom.saved_model.tensor_info import build_tensor_info
from tensorloom.storage.files import filesystem
from tensorloom.train.meta_graph import graph_io

if TYPE_CHECKING:
    from tensorloom.deploy.frozen_model import FrozenModel

_TEXT: Final = (".pbtxt", ".txt")
_GRAPH_FILES: Final = (".pb", *_TEXT)


def write(model: FrozenModel, path: str) -> None:
    """Writes a model.

    Args:
      model: what is written.
      path: a GraphDef if it ends in .pb or .pbtxt, else the directory of a SavedModel.

    Raises:
      errors.AlreadyExistsError: the directory is there.
    """
    if path.endswith(_GRAPH_FILES):
        graph_io.write_graph(model.graph_def, "", path, path.endswith(_TEXT))
        return
    if filesystem.exists(path):
        raise errors.AlreadyExistsError(None, None, f"{path} exists: it stays as it is")
    _write_saved_model(model, path)


def _write_saved_model(model: FrozenModel, path: str) -> None:
    with Graph().as_default() as graph, Session() as session:
        import_graph_def(model.graph_def, name="")
        builder = SavedModelBuilder(path)
        builder.add_meta_graph_and_variables(
            session,
            list(model.tags),
            {
                model.signature: build_signature_def(
                    _infos(graph, model.inputs),
                    _infos(graph, model.outputs),
                    model.method,
                )
            },
            assets_collection=[
                graph.get_tensor_by_name(f"{name}:0") for name in model.assets
            ],
            main_op=graph.get_operation_by_name(model.init) if model.init else None,
        )
        builder.save()


def _infos(graph: Graph, tensors: Any) -> dict[str, Any]:
    return {
        key: build_tensor_info(graph.get_tensor_by_name(name))
        for key, name in tensors.items()
    }
