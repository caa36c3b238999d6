"""Variables as `VariableDef` protos, as a MetaGraph keeps them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tensorloom.client.importing.scoped_names import prepend_scope, strip_scope
from tensorloom.client.variables.variable_policy import validate_variable_policy
from tensorloom.framework.graph.graph import get_default_graph

if TYPE_CHECKING:
    from tensorloom.client.variables.variables import Variable


class SaveSliceInfo:
    """Which slice of a larger, partitioned variable a variable is."""

    def __init__(
        self,
        full_name: str | None = None,
        full_shape: list[int] | None = None,
        var_offset: list[int] | None = None,
        var_shape: list[int] | None = None,
        save_slice_info_def: Any = None,
        import_scope: str | None = None,
    ) -> None:
        if save_slice_info_def is not None:
            proto = save_slice_info_def
            self.full_name: Any = prepend_scope(proto.full_name, import_scope)
            self.full_shape: Any = list(proto.full_shape)
            self.var_offset: Any = list(proto.var_offset)
            self.var_shape: Any = list(proto.var_shape)
        else:
            self.full_name = full_name
            self.full_shape = full_shape
            self.var_offset = var_offset
            self.var_shape = var_shape

    @property
    def spec(self) -> str:
        """The slice as checkpoints write it: `"10 4 0,5:0,4"`."""
        shape = "".join(f"{d} " for d in self.full_shape)
        pairs = zip(self.var_offset, self.var_shape, strict=True)
        return shape + ":".join(f"{offset},{size}" for offset, size in pairs)

    def to_proto(self, export_scope: str | None = None) -> Any:
        """A `SaveSliceInfoDef`, or None when the name is outside the scope."""
        from tensorloom.protos import variable_pb2

        if export_scope is not None and not self.full_name.startswith(export_scope):
            return None
        proto = variable_pb2.SaveSliceInfoDef(
            full_name=strip_scope(self.full_name, export_scope)
        )
        proto.full_shape.extend(self.full_shape)
        proto.var_offset.extend(self.var_offset)
        proto.var_shape.extend(self.var_shape)
        return proto


def to_proto(
    variable: Variable, name: str, snapshot: Any, export_scope: str | None
) -> Any:
    """A `VariableDef`, or None when the variable is outside the scope.

    Args:
      name: of the tensor that stands for the variable.
      snapshot: the tensor that is read.
    """
    from tensorloom.protos import variable_pb2

    if export_scope is not None and not name.startswith(export_scope):
        return None
    proto = variable_pb2.VariableDef(
        variable_name=strip_scope(name, export_scope),
        initializer_name=strip_scope(variable.initializer.name, export_scope),
        snapshot_name=strip_scope(snapshot.name, export_scope),
        trainable=variable.trainable,
        synchronization=variable.synchronization.value,  # type: ignore[arg-type]
        aggregation=variable.aggregation.value,  # type: ignore[arg-type]
    )
    if variable.initial_value is not None:
        proto.initial_value_name = strip_scope(
            variable.initial_value.name, export_scope
        )
    if variable._save_slice_info is not None:
        proto.save_slice_info_def.MergeFrom(
            variable._save_slice_info.to_proto(export_scope)
        )
    return proto


def restore(
    variable: Variable, proto: Any, import_scope: str | None
) -> Callable[[str], Any]:
    """Sets what both kinds of variables have in a `VariableDef`.

    Returns:
      The function from a name in the proto to the tensor or operation.
    """
    graph = get_default_graph()

    def element(name: str) -> Any:
        return graph.as_graph_element(prepend_scope(name, import_scope))

    variable._initializer_op = element(proto.initializer_name)
    variable._initial_value = (
        element(proto.initial_value_name) if proto.initial_value_name else None
    )
    variable._synchronization, variable._aggregation, variable._trainable = (
        validate_variable_policy(
            proto.synchronization,
            proto.aggregation,
            proto.trainable,
            proto.variable_name,
        )
    )
    variable._save_slice_info = (
        SaveSliceInfo(
            save_slice_info_def=proto.save_slice_info_def, import_scope=import_scope
        )
        if proto.HasField("save_slice_info_def")
        else None
    )
    variable._constraint = None
    return element
