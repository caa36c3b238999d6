"""`tf.saved_model.load_v2`: the objects of a SavedModel, with functions and values."""

from __future__ import annotations

from typing import Any

from tensorloom.client.variables.base_resource_variable import BaseResourceVariable
from tensorloom.client.variables.uninitialized_variable import UninitializedVariable
from tensorloom.client.variables.variable_policy import (
    VariableAggregation,
    VariableSynchronization,
)
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import (
    GraphKeys,
    add_to_collection,
    device,
    init_scope,
)
from tensorloom.framework.types import nest
from tensorloom.framework.types.tensor_proto import decode_tensor
from tensorloom.framework.types.tensor_shape import TensorShape
from tensorloom.ops.array import constant as constant_op
from tensorloom.ops.lookup.trackable_resources import (
    CapturableResource,
    TrackableAsset,
)
from tensorloom.saved_model import constants
from tensorloom.saved_model.assets import checked_name
from tensorloom.saved_model.export_directory import parse_saved_model, variables_path
from tensorloom.saved_model.objects import load_graph_model
from tensorloom.saved_model.objects.function_library import (
    RestoredConcreteFunction,
    load_functions,
)
from tensorloom.saved_model.objects.restored_function import RestoredFunction
from tensorloom.saved_model.objects.restored_objects import (
    RestoredOptimizer,
    RestoredResource,
    set_attribute,
    user_object,
)
from tensorloom.storage.files import filesystem
from tensorloom.train.checkpoints.checkpoint_reader import NewCheckpointReader
from tensorloom.train.checkpoints.object_checkpoint import ObjectSaver
from tensorloom.train.checkpoints.saver_object_graph import object_graph


@export("saved_model.load_v2")
def load(export_dir: Any, tags: Any = None) -> Any:
    """Loads the objects of a SavedModel into the default graph.

    Of a model that `tf.saved_model.save` wrote, in TensorFlow 1.15 or 2 or here: the
    root, with the attributes that it had. Variables take their values from the model
    when their initializers run, tables are filled by `tf.tables_initializer()`.
    Functions can be called with arguments that they were called with before. Of a model
    that sessions wrote: an object with `variables`, `graph` and `prune` for parts of
    the graph.

    Both have `signatures`, functions by their keys.

    Args:
      export_dir: the directory.
      tags: those of the MetaGraph, one or several; needed where there are several.

    Raises:
      OSError: there is no SavedModel, or it is damaged.
      ValueError: no MetaGraph has the tags, or an object is of an unknown kind.
    """
    path = filesystem.path_text(export_dir)
    saved_model = parse_saved_model(path)
    wanted = None
    if tags is not None:
        wanted = set(tags) if isinstance(tags, set) else set(nest.flatten(tags))
    first = saved_model.meta_graphs[0] if len(saved_model.meta_graphs) == 1 else None
    if first is None or not first.HasField("object_graph_def"):
        with init_scope():
            return load_graph_model.load(path, wanted)
    if wanted is not None and wanted != set(first.meta_info_def.tags):
        raise ValueError(
            f"The SavedModel at {path} has one MetaGraph with tags "
            f"{list(first.meta_info_def.tags)}, but got an incompatible argument "
            f"tags={tags} to tf.saved_model.load. You may omit it, pass 'None', or "
            "pass matching tags."
        )
    with init_scope():
        root = _Loader(first, path).load()
    root.tensorflow_version = first.meta_info_def.tensorflow_version
    root.tensorflow_git_version = first.meta_info_def.tensorflow_git_version
    return root


class _Loader:
    """One loading."""

    def __init__(self, meta_graph_def: Any, export_dir: str) -> None:
        self._meta_graph = meta_graph_def
        self._objects = meta_graph_def.object_graph_def
        self._export_dir = export_dir
        self._constants = {
            node.name: node
            for node in meta_graph_def.graph_def.node
            if node.op == "Const"
        }
        functions = load_functions(meta_graph_def.graph_def.library)
        self._traces = {
            name: RestoredConcreteFunction(functions[name], functions, message)
            for name, message in self._objects.concrete_functions.items()
            if name in functions
        }
        self._nodes: list[Any] = []

    def load(self) -> Any:
        """The root."""
        self._make_nodes()
        for name, trace in self._traces.items():
            numbers = self._objects.concrete_functions[name].bound_inputs
            trace.bind([self._tensor_of(number) for number in numbers])
        root = self._nodes[0]
        self._restore(root)
        for node in self._nodes:
            if isinstance(node, CapturableResource):
                filled = node._initialize()
                if filled is not None:
                    add_to_collection(GraphKeys.TABLE_INITIALIZERS, filled)
        return root

    # --- objects ----------------------------------------------------------------------

    def _make_nodes(self) -> None:
        messages = self._objects.nodes
        slots = {
            slot.slot_variable_node_id: (number, slot)
            for number, message in enumerate(messages)
            for slot in message.slot_variables
        }
        optimizers = {number for number, _ in slots.values()}
        made: dict[int, tuple[Any, Any]] = {}
        for number, message in enumerate(messages):
            if number in optimizers:
                made[number] = RestoredOptimizer(), setattr
            elif number not in slots:
                made[number] = self._made(message)
        for number, (optimizer, slot) in slots.items():
            variable = made[slot.original_variable_node_id][0]
            slot_variable = made[optimizer][0].add_slot(variable, slot.slot_name)
            made[number] = slot_variable, setattr
        self._nodes = [made[number][0] for number in range(len(messages))]
        for number, message in enumerate(messages):
            node, setter = made[number]
            for child in message.children:
                setter(node, child.local_name, self._nodes[child.node_id])

    def _made(self, message: Any) -> tuple[Any, Any]:
        """The object of a message, and what sets attributes of it."""
        kind = message.WhichOneof("kind")
        if kind == "user_object":
            return user_object(message.user_object)
        makers: dict[str, Any] = {
            "asset": self._asset,
            "function": self._function,
            "bare_concrete_function": self._bare_function,
            "variable": _variable,
            "constant": self._constant,
            "resource": lambda one: RestoredResource(one.device),
        }
        if kind not in makers:
            raise ValueError(f"Unknown SavedObject type: {kind!r}")
        return makers[kind](getattr(message, kind)), set_attribute

    def _asset(self, message: Any) -> TrackableAsset:
        name = self._meta_graph.asset_file_def[message.asset_file_def_index].filename
        folder = filesystem.join(self._export_dir, constants.ASSETS_DIRECTORY)
        return TrackableAsset(filesystem.join(folder, checked_name(name)))

    def _function(self, message: Any) -> RestoredFunction:
        names = message.concrete_functions
        return RestoredFunction(message, [self._traces[name] for name in names])

    def _bare_function(self, message: Any) -> RestoredConcreteFunction:
        trace = self._traces[message.concrete_function_name]
        trace.name_arguments(
            list(message.argument_keywords), message.allowed_positional_arguments
        )
        trace.add_to_graph()
        return trace

    def _constant(self, message: Any) -> Any:
        proto = self._constants[message.operation].attr["value"].tensor
        with device("CPU" if proto.dtype == _STRING else None):
            return constant_op.constant(decode_tensor(proto), dtype=proto.dtype)

    def _tensor_of(self, number: int) -> Any:
        """What functions capture of an object."""
        node = self._nodes[number]
        if isinstance(node, BaseResourceVariable):
            return node.handle
        if isinstance(node, TrackableAsset):
            return node.asset_path
        if isinstance(node, CapturableResource):
            return node.resource_handle
        if hasattr(node, "op"):
            return node
        raise ValueError(f"Can't convert node {type(node)} to tensor")

    # --- values -----------------------------------------------------------------------

    def _restore(self, root: Any) -> None:
        """Makes what restores a variable its initializer."""
        prefix = variables_path(self._export_dir)
        self._find_tables(prefix)
        saver = ObjectSaver(root)
        with device("CPU"):
            saver.restore_from_constant(prefix)
        status = saver.restore(prefix)
        status.expect_partial().assert_existing_objects_matched()
        for value, operation in saver.restored_values(status):
            if isinstance(value, BaseResourceVariable):
                value._initializer_op = operation
            else:
                add_to_collection(GraphKeys.TABLE_INITIALIZERS, operation)

    def _find_tables(self, prefix: str) -> None:
        """Tells the tables whose contents the checkpoint has."""
        resources = any(isinstance(one, RestoredResource) for one in self._nodes)
        if not resources:
            return
        dtypes = NewCheckpointReader(prefix).get_variable_to_dtype_map()
        for number, node in enumerate(object_graph(prefix).nodes[: len(self._nodes)]):
            table = self._nodes[number]
            for attribute in node.attributes:
                key = attribute.checkpoint_key
                if isinstance(table, RestoredResource) and f"{key}-keys" in dtypes:
                    table.keep_contents(dtypes[f"{key}-keys"], dtypes[f"{key}-values"])


def _variable(message: Any) -> UninitializedVariable:
    return UninitializedVariable(
        trainable=message.trainable,
        name=message.name or None,
        dtype=message.dtype,
        shape=TensorShape(message.shape),
        synchronization=VariableSynchronization(message.synchronization),
        aggregation=VariableAggregation(message.aggregation),
    )


_STRING = 7  # DataType.DT_STRING
