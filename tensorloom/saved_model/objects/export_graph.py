"""The graph of a SavedModel of objects: what sessions and servers load and run.

Functions are traced in the program's graph, where variables, tables, files and
constants are. The exported graph has such things of its own, which stand for the
program's when its signatures are called.
"""

from __future__ import annotations

import copy
import os
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tensorloom.client.functions.def_function import function
from tensorloom.client.variables.base_resource_variable import BaseResourceVariable
from tensorloom.client.variables.resource_variable import ResourceVariable
from tensorloom.client.variables.uninitialized_variable import UninitializedVariable
from tensorloom.client.variables.variables import Variable
from tensorloom.data.specs import TensorSpec
from tensorloom.framework.graph.graph import Graph, control_dependencies, device
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.constant_value import constant_value
from tensorloom.ops.array import constant as constant_op
from tensorloom.ops.array import identity as identity_ops
from tensorloom.ops.array import placeholder as placeholder_ops
from tensorloom.ops.control_flow import builders as control_flow_ops
from tensorloom.ops.lookup.trackable_resources import TrackableAsset
from tensorloom.saved_model import assets, constants
from tensorloom.saved_model.objects.object_view import CapturedConstant, is_resource
from tensorloom.saved_model.signature_defs import build_signature_def, op_signature_def
from tensorloom.saved_model.tensor_info import build_tensor_info
from tensorloom.train.checkpoints.object_checkpoint import frozen_saveables
from tensorloom.train.checkpoints.object_sharding import (
    restore_by_device,
    save_by_device,
)
from tensorloom.train.meta_graph.meta_graph import create_meta_graph_def

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tensorloom.client.functions.concrete_function import ConcreteFunction
    from tensorloom.framework.graph.graph_ir import FunctionIR
    from tensorloom.saved_model.objects.object_view import NumberedNodes

# Stateful, but nothing that a function has to do for its own sake.
_WITHOUT_EFFECT = frozenset(["Placeholder", "VarHandleOp", "Const", "ReadVariableOp"])


class ExportGraph:
    """The graph, with what stands in it for tensors and objects of the program.

    Args:
      nodes: all objects and functions; constants that functions capture are added.

    Raises:
      ValueError: a variable is no resource, a captured tensor no constant, or a
        function says of itself that it cannot be saved.
    """

    def __init__(self, nodes: NumberedNodes) -> None:
        self.graph = Graph()
        self.nodes = nodes
        # Number of the node that a captured tensor belongs to, by the tensor's `id`.
        self.captured: dict[int, int] = {}
        #: (name in the SavedModel, path, placeholder of the path) of each file.
        self.assets: list[tuple[str, str, Any]] = []
        self.asset_numbers: dict[int, int] = {}
        self._tensors: dict[int, Any] = {}  # `id` of a tensor -> what stands for it
        self._objects: dict[int, Any] = {}  # `id` of an object -> what stands for it
        self._asset_initializers: list[Any] = []
        paths: dict[str, str] = {}
        with self.graph.as_default():
            for number, node in enumerate(list(nodes.nodes)):
                self._map_object(number, node, paths)
            for concrete in nodes.concrete_functions.values():
                _check_saveable(concrete)
                for tensor in concrete.captured_inputs:
                    self._map_constant(concrete, tensor)

    # --- what stands for what ---------------------------------------------------------

    def _map_object(self, number: int, node: Any, paths: dict[str, str]) -> None:
        if is_resource(node):
            handle = node.resource_handle
            with device(node._resource_device):
                made = node._create_resource()
            # A table that changes is saved by its contents.
            self._objects[id(node)] = stand_in = copy.copy(node)
            stand_in._resource_handle = made
            self._map(handle, made, number)
        elif isinstance(node, BaseResourceVariable):
            variable = UninitializedVariable(
                trainable=node.trainable,
                name=node.name.rpartition(":")[0],
                dtype=node.dtype,
                shape=node.shape,
                synchronization=node.synchronization,
                aggregation=node.aggregation,
            )
            self._objects[id(node)] = variable
            self._map(node.handle, variable.handle, number)
        elif isinstance(node, Variable):
            raise ValueError(
                f"Unable to save {node}: tf.saved_model.save keeps resource variables "
                "only. Make it with use_resource=True, or call "
                "tf.enable_resource_variables() before variables are made."
            )
        elif isinstance(node, TrackableAsset):
            self._map_asset(number, node, paths)

    def _map(self, tensor: Any, made: Any, number: int) -> None:
        self._tensors[id(tensor)] = made
        self.captured[id(tensor)] = number

    def _map_asset(self, number: int, node: TrackableAsset, paths: Any) -> None:
        value = constant_value(node.asset_path)
        if value is None:
            raise ValueError(f"The path of a file to save is no constant: {node}")
        path = os.fsdecode(value.reshape(-1)[0])
        name = assets.free_name(path, paths)
        paths[name] = path
        fed = placeholder_ops.placeholder(
            dtypes.string, node.asset_path.shape, name="asset_path_initializer"
        )
        variable = ResourceVariable(fed, trainable=False)
        self.asset_numbers[id(node)] = len(self.assets)
        self.assets.append((name, path, fed))
        self._asset_initializers.append(variable.initializer)
        self._map(node.asset_path, variable, number)

    def _map_constant(self, concrete: ConcreteFunction, tensor: Any) -> None:
        if id(tensor) in self.captured or tensor.dtype in (
            dtypes.resource,
            dtypes.variant,
        ):
            return
        value = constant_value(tensor)
        if value is None:
            raise ValueError(
                f"Attempted to save a function {concrete.name!r} which references a "
                f"symbolic Tensor {tensor!r} that is not a simple constant. This is "
                "not supported."
            )
        copied = constant_op.constant(value, dtype=tensor.dtype)
        self._map(tensor, copied, self.nodes.add(CapturedConstant(copied)))

    def _captures(self, concrete: ConcreteFunction) -> list[Any]:
        """What a call in this graph passes for what a function captures.

        Raises:
          AssertionError: it captures something of no object.
        """
        found = []
        for tensor in concrete.captured_inputs:
            made = self._tensors.get(id(tensor))
            if made is None:
                raise AssertionError(
                    f"Tried to export a function which references untracked object "
                    f"{tensor!r}. TensorFlow objects (e.g. tf.Variable) captured by "
                    "functions must be tracked by assigning them to an attribute of a "
                    "tracked object or assigned to an attribute of the main object "
                    "directly."
                )
            found.append(made.read_value() if isinstance(made, Variable) else made)
        return found

    # --- what runs --------------------------------------------------------------------

    def meta_graph(self, signatures: Mapping[str, ConcreteFunction]) -> Any:
        """The MetaGraphDef, without its objects."""
        with self.graph.as_default():
            init_op = self._init_op()
            saveables = frozen_saveables(self.nodes.view, self._objects)
            signature_defs = {
                key: self._signature_def(key, signatures[key])
                for key in sorted(signatures)
            }
            for concrete in self.nodes.concrete_functions.values():
                concrete.add_to_graph()
            saver_def = _saver_def(saveables)
        for name, one in list(self.graph.functions.items()):
            self.graph.functions[name] = _with_effects(one)
        result = create_meta_graph_def(
            saver_def=saver_def,
            collection_list=[],
            graph=self.graph,
            strip_default_attrs=True,
        )
        result.meta_info_def.tags.append(constants.SERVING)
        for name, _, fed in self.assets:
            result.asset_file_def.append(assets.to_message(name, fed))
        for key, definition in signature_defs.items():
            result.signature_def[key].CopyFrom(definition)
        result.collection_def[constants.MAIN_OP_KEY].node_list.value.append(
            init_op.name
        )
        key = constants.INIT_OP_SIGNATURE_KEY
        result.signature_def[key].CopyFrom(op_signature_def(init_op, key))
        return result

    def _init_op(self) -> Any:
        """Sets the paths of files, then fills the tables."""
        initializers = list(self._asset_initializers)
        with control_dependencies(list(self._asset_initializers)):
            for node in self.nodes.nodes:
                if is_resource(node):
                    fill = self.nodes.view.functions(node)["_initialize"]
                    concrete = self.nodes.traces[id(fill)][0]
                    captures = self._captures(concrete)
                    initializers.append(concrete.call_with_captures([], captures))
        with control_dependencies(initializers):
            return control_flow_ops.no_op()

    def _signature_def(self, key: str, concrete: ConcreteFunction) -> Any:
        count = len(concrete.argument_names)
        fed = {
            name: placeholder_ops.placeholder(
                argument.dtype, argument.shape, name=f"{key}_{name}"
            )
            for name, argument in zip(
                concrete.argument_names, concrete.inputs[:count], strict=True
            )
        }
        captures = self._captures(concrete)
        outputs = concrete.call_with_captures(list(fed.values()), captures)
        return build_signature_def(
            {name: build_tensor_info(tensor) for name, tensor in fed.items()},
            {name: build_tensor_info(tensor) for name, tensor in outputs.items()},
            constants.PREDICT_METHOD_NAME,
        )


def _check_saveable(concrete: ConcreteFunction) -> None:
    if concrete.saving_errors:
        reasons = "\n".join(sorted(concrete.saving_errors))
        raise ValueError(
            f"Unable to save function {concrete.name!r} for the following reason(s):\n"
            f"{reasons}"
        )


def _saver_def(saveables: Any) -> Any:
    """The SaverDef, whose operations call functions, as in TensorFlow."""
    from tensorloom.protos import saver_pb2

    prefix = TensorSpec([], dtypes.string, "file_prefix")

    def _traced_save(file_prefix: Any) -> Any:
        saved = save_by_device(saveables, file_prefix)
        with device("cpu:0"), control_dependencies([saved]):
            return identity_ops.identity(file_prefix)

    def _traced_restore(file_prefix: Any) -> Any:
        restored = restore_by_device(saveables, file_prefix)
        with device("cpu:0"), control_dependencies(list(restored.values())):
            return identity_ops.identity(file_prefix)

    filename = placeholder_ops.placeholder(dtypes.string, [], name="saver_filename")
    save = function(_traced_save, [prefix], autograph=False)(filename)
    restore = function(_traced_restore, [prefix], autograph=False)(filename)
    return saver_pb2.SaverDef(
        filename_tensor_name=filename.name,
        save_tensor_name=save.name,
        restore_op_name=restore.op.name,
        version=saver_pb2.SaverDef.V2,
    )


def _with_effects(one: FunctionIR) -> FunctionIR:
    """The function with all that it has to do among what it says that it does.

    TensorFlow leaves the rest out of a function that it inlines.
    """
    from tensorloom.framework.registry import op_registry

    if not one.is_stateful:
        return one
    effects = list(one.control_returns)
    for node in one.nodes.values():
        op_def = op_registry.find(node.op)
        if op_def is not None and op_def.is_stateful and node.op not in _WITHOUT_EFFECT:
            effects.append(node.name)
    return replace(one, control_returns=tuple(dict.fromkeys(effects)))
