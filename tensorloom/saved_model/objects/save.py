"""`tf.saved_model.save`: an object, its functions and its values as a SavedModel."""

from __future__ import annotations

from typing import Any

from tensorloom.client.functions.concrete_function import ConcreteFunction
from tensorloom.client.functions.def_function import Function
from tensorloom.client.session.session import Session
from tensorloom.client.variables.base_resource_variable import BaseResourceVariable
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import get_default_graph, get_default_session
from tensorloom.framework.types.trackable import Trackable
from tensorloom.ops.lookup.trackable_resources import TrackableAsset
from tensorloom.saved_model import assets, constants
from tensorloom.saved_model.export_directory import files_of, variables_path
from tensorloom.saved_model.objects import revived_types
from tensorloom.saved_model.objects.export_graph import ExportGraph
from tensorloom.saved_model.objects.function_messages import (
    bare_message,
    concrete_message,
    function_message,
)
from tensorloom.saved_model.objects.object_view import (
    CapturedConstant,
    NumberedNodes,
    SavedObjectView,
    is_resource,
)
from tensorloom.saved_model.objects.signatures import (
    SIGNATURE_ATTRIBUTE_NAME,
    canonicalize_signatures,
    find_function_to_export,
    validate_signature_name,
)
from tensorloom.storage.files import filesystem, mirror
from tensorloom.train.checkpoints.object_checkpoint import ObjectSaver


@export("saved_model.save", "saved_model.experimental.save")
def save(obj: Any, export_dir: Any, signatures: Any = None) -> None:
    """Writes an object (a `tf.Module`, a `tf.train.Checkpoint`) as a SavedModel.

    Its `tf.function`s are kept with the traces that they have in the default graph, and
    one of the input signature where there is one. Variables get the values that they
    have in the default session. `tf.saved_model.load_v2` (in TensorFlow 2
    `tf.saved_model.load`) makes the objects again; sessions and servers use the
    signatures.

    Args:
      obj: a trackable object; what it leads to by its attributes is saved.
      export_dir: the directory. A model that is there is replaced.
      signatures: a `tf.function` with an input signature, a concrete function, or a
        dict of these by keys. By default the only function of `obj` that can be one,
        under `serving_default`.

    Raises:
      ValueError: `obj` is not trackable, a function is no signature, a variable is no
        resource variable, or a function captures a tensor that is no constant.
      AssertionError: a signature uses something that `obj` does not lead to, or a
        function is being traced.
      KeyError: another function does.
    """
    if get_default_graph().building_function:
        raise AssertionError(
            "tf.saved_model.save is not supported inside a traced @tf.function. Move "
            "the call to the outer eagerly-executed context."
        )
    if not isinstance(obj, Trackable):
        raise ValueError(f"Expected a Trackable object for export, got {obj}.")
    view = SavedObjectView(obj)
    if signatures is None:
        signatures = find_function_to_export(view)
    signature_map = canonicalize_signatures(signatures)
    validate_signature_name(view)
    view.add_object(view.root, SIGNATURE_ATTRIBUTE_NAME, signature_map)
    NumberedNodes(view)  # functions that are traced now may make variables
    nodes = NumberedNodes(view)
    exported = ExportGraph(nodes)
    meta_graph_def = exported.meta_graph(signature_map)
    _fill_objects(meta_graph_def.object_graph_def, exported)
    _write(filesystem.path_text(export_dir), view, exported, meta_graph_def)


def _write(
    export_dir: str, view: SavedObjectView, exported: ExportGraph, meta_graph_def: Any
) -> None:
    from tensorloom.protos import saved_model_pb2

    saved_model = saved_model_pb2.SavedModel(
        saved_model_schema_version=constants.SAVED_MODEL_SCHEMA_VERSION,
        meta_graphs=[meta_graph_def],
    )
    prefix = variables_path(export_dir)
    saver = ObjectSaver(view.root, view)
    if get_default_session() is not None:
        saver.save(prefix, None)
    else:
        with Session() as session:
            saver.save(prefix, session)
    assets.write(exported.assets, export_dir)
    # The directory is a SavedModel once the message is there.
    path = filesystem.join(export_dir, constants.SAVED_MODEL_FILENAME_PB)
    filesystem.write_file(path, saved_model.SerializeToString(deterministic=True))
    if mirror.copies_of(export_dir):
        mirror.published(sorted(files_of(export_dir), key=lambda one: one == path))


def _fill_objects(proto: Any, exported: ExportGraph) -> None:
    """Writes the `SavedObjectGraph`."""
    nodes = exported.nodes
    nodes.fill(proto)
    for name, concrete in nodes.concrete_functions.items():
        message = concrete_message(concrete, exported.captured)
        proto.concrete_functions[name.decode()].CopyFrom(message)
    for node, message in zip(nodes.nodes, proto.nodes, strict=True):
        _fill_object(node, message, exported)


def _fill_object(node: Any, message: Any, exported: ExportGraph) -> None:
    if isinstance(node, TrackableAsset):
        message.asset.asset_file_def_index = exported.asset_numbers[id(node)]
        message.asset.SetInParent()
    elif isinstance(node, BaseResourceVariable):
        _fill_variable(node, message.variable)
    elif isinstance(node, Function):
        traces = exported.nodes.traces[id(node)]
        message.function.CopyFrom(function_message(node, traces))
    elif isinstance(node, ConcreteFunction):
        message.bare_concrete_function.CopyFrom(bare_message(node))
    elif isinstance(node, CapturedConstant):
        message.constant.operation = node.graph_tensor.op.name
    elif is_resource(node):
        message.resource.device = node._resource_device
        message.resource.SetInParent()
    else:
        message.user_object.CopyFrom(_user_object(node))


def _fill_variable(variable: Any, message: Any) -> None:
    message.name = variable.name.rpartition(":")[0]
    message.trainable = variable.trainable
    message.dtype = variable.dtype.as_datatype_enum
    message.synchronization = variable.synchronization.value
    message.aggregation = variable.aggregation.value
    message.shape.CopyFrom(variable.shape.as_proto())


def _user_object(node: Any) -> Any:
    registered = revived_types.serialize(node)
    if registered is not None:
        return registered
    from tensorloom.protos import saved_object_graph_pb2

    message = saved_object_graph_pb2.SavedUserObject(identifier=node._object_identifier)
    message.version.producer = message.version.min_consumer = 1
    return message
