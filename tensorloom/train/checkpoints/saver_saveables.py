"""Variables as what a saver saves: by name, slice by slice."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from tensorloom.client.variables.base_resource_variable import BaseResourceVariable
from tensorloom.client.variables.partitioned_variable import PartitionedVariable
from tensorloom.client.variables.variables import Variable
from tensorloom.framework.devices.device_spec import DeviceSpec
from tensorloom.framework.graph.graph import Tensor, device
from tensorloom.framework.types.tensor_conversion import (
    convert_to_tensor,
    internal_convert_to_tensor,
)
from tensorloom.ops.array import identity as identity_ops
from tensorloom.ops.array import reshape as reshape_ops
from tensorloom.ops.io.saveable_object import SaveableObject, SaveSpec
from tensorloom.ops.state import reference_variable as state_ops
from tensorloom.ops.state import resource_variable as resource_variable_ops

_REFERENCE_OPS = frozenset(["Variable", "VariableV2", "AutoReloadVariable"])
_VARIABLE_OPS = _REFERENCE_OPS | {"VarHandleOp", "ReadVariableOp"}


def set_cpu0(name: str) -> str:
    """A device of the same task: its CPU, where strings and files are."""
    spec = DeviceSpec.from_string(name)
    return spec.replace(device_type="CPU", device_index=0).to_string()


class ReferenceVariableSaveable(SaveableObject):
    """A reference variable, saved under a name."""

    def __init__(self, var: Any, slice_spec: str, name: str) -> None:
        super().__init__(var, [SaveSpec(var, slice_spec, name, dtype=var.dtype)], name)

    def restore(self, restored_tensors: Any, restored_shapes: Any) -> Any:
        """Assigns the restored value."""
        value = restored_tensors[0]
        if restored_shapes is not None:
            value = reshape_ops.reshape(value, restored_shapes[0])
        return state_ops.assign(
            self.op,
            value,
            validate_shape=restored_shapes is None
            and self.op.get_shape().is_fully_defined(),
        )


class ResourceVariableSaveable(SaveableObject):
    """A resource variable, or a tensor that was read from one."""

    def __init__(self, var: Any, slice_spec: str, name: str) -> None:
        self._var_device = var.device
        self._var_shape = var.shape
        if isinstance(var, Tensor):
            self.handle_op: Any = var.op.inputs[0]
            tensor: Any = var
        elif isinstance(var, BaseResourceVariable):
            self.handle_op = var.handle
            tensor = _reader(var)
        else:
            raise ValueError(
                "Saveable is neither a resource variable nor a read operation. "
                f"Got: {var!r}"
            )
        spec = SaveSpec(tensor, slice_spec, name, dtype=var.dtype, device=var.device)
        super().__init__(var, [spec], name)

    def restore(self, restored_tensors: Any, restored_shapes: Any) -> Any:
        """Assigns the restored value on the variable's device."""
        value = restored_tensors[0]
        if restored_shapes is not None:
            value = reshape_ops.reshape(value, restored_shapes[0])
        with device(self._var_device):
            value = convert_to_tensor(identity_ops.identity(value))
            self._var_shape.assert_is_compatible_with(value.shape)
            return resource_variable_ops.assign_variable_op(self.handle_op, value)


def _reader(variable: Any) -> Callable[[], Any]:
    """Reads a variable where it is, for a CPU of the same task."""

    def read() -> Any:
        with device(variable.device):
            value = variable.read_value()
            with device("/device:CPU:0"):
                return identity_ops.identity(value)

    return read


def saveable_objects_for_op(op: Any, name: str) -> Iterator[SaveableObject]:
    """What is saved of a variable, of slices, or of an object with saveables.

    Raises:
      TypeError: the name is not a string, or `op` is not a variable.
      ValueError: slices are of different variables.
    """
    if not isinstance(name, str):
        raise TypeError(
            "names_to_saveables must be a dict mapping string names to trackable "
            f"operations. Name is not a string: {name}"
        )
    if isinstance(op, SaveableObject):
        yield op
    elif isinstance(op, list | tuple | PartitionedVariable):
        yield from _slices(list(op), name)
    elif _is_asked(op):
        for attr, factory in op._gather_saveables_for_checkpoint().items():
            full_name = f"{name}_{attr}"
            one = factory(full_name) if callable(factory) else factory
            yield from saveable_objects_for_op(one, one.name)
    elif isinstance(op, BaseResourceVariable):
        yield ResourceVariableSaveable(op._graph_element, "", name)
    else:
        variable = internal_convert_to_tensor(op, as_ref=True)
        if not _is_of_variable(variable):
            raise TypeError(
                "names_to_saveables must be a dict mapping string names to "
                f"Tensors/Variables. Not a variable: {variable}"
            )
        yield _saveable(variable, "", name)


def _is_asked(value: Any) -> bool:
    """Whether a value says itself what is saved of it: an object, or several parts."""
    if isinstance(value, Variable):
        return value._has_parts
    return hasattr(value, "_gather_saveables_for_checkpoint")


def _slices(variables: list[Any], name: str) -> Iterator[SaveableObject]:
    slice_name = None
    for variable in variables:
        if not isinstance(variable, Variable):
            raise ValueError(f"Slices must all be Variables: {variable}")
        info = variable._save_slice_info
        if not info:
            raise ValueError(f"Slices must all be slices: {variable}")
        if slice_name is None:
            slice_name = info.full_name
        elif slice_name != info.full_name:
            raise ValueError(
                "Slices must all be from the same tensor: "
                f"{slice_name} != {info.full_name}"
            )
        yield _saveable(variable, info.spec, name)


def _saveable(variable: Any, spec: str, name: str) -> SaveableObject:
    if variable.op.type in _REFERENCE_OPS:
        return ReferenceVariableSaveable(variable, spec, name)
    return ResourceVariableSaveable(variable, spec, name)


def _is_of_variable(value: Any) -> bool:
    return isinstance(value, Tensor) and value.op.type in _VARIABLE_OPS


def op_list_to_dict(
    op_list: Any, convert_variable_to_tensor: bool = True
) -> dict[str, Any]:
    """Variables by the name under which they are saved; slices as a list.

    Raises:
      TypeError: an item is not a variable.
      ValueError: two variables have the same name.
    """
    if not isinstance(op_list, list | tuple | set):
        raise TypeError(
            f"Variables to save should be passed in a dict or a list: {op_list}"
        )
    result: dict[str, Any] = {}
    # Sorted, since reads may be added to the graph: it must not depend on the order.
    for var in sorted(op_list, key=lambda x: x.name):
        if isinstance(var, SaveableObject):
            result[var.name] = var
        elif isinstance(var, PartitionedVariable):
            _add_unique(result, var.name, var)
        elif isinstance(var, Variable) and var._save_slice_info:
            _add_slice(result, var)
        elif _is_asked(var):
            saveables = var._gather_saveables_for_checkpoint().values()
            made = [one() if callable(one) else one for one in saveables]
            result.update(op_list_to_dict(made))
        else:
            _add_variable(result, var, convert_variable_to_tensor)
    return result


def _add_unique(result: dict[str, Any], name: str, value: Any) -> None:
    if name in result:
        raise ValueError(f"At least two variables have the same name: {name}")
    result[name] = value


def _add_slice(result: dict[str, Any], var: Any) -> None:
    name = var._save_slice_info.full_name
    earlier = result.setdefault(name, [])
    if not isinstance(earlier, list):
        raise ValueError(f"Mixing slices and non-slices with the same name: {name}")
    earlier.append(var)


def _add_variable(result: dict[str, Any], var: Any, convert: bool) -> None:
    if convert:
        if isinstance(var, BaseResourceVariable):
            var = var._graph_element
        else:
            var = internal_convert_to_tensor(var, as_ref=True)
        if not _is_of_variable(var):
            raise TypeError(f"Variable to save is not a Variable: {var}")
    op = var.op.inputs[0].op if var.op.type == "ReadVariableOp" else var.op
    _add_unique(result, op.name, var)


def validate_and_slice_inputs(
    names_to_saveables: Mapping[str, Any] | Any,
) -> list[SaveableObject]:
    """The saveables of a list or dict, sorted by name.

    Raises:
      ValueError: one is given under two names.
    """
    if not isinstance(names_to_saveables, dict):
        names_to_saveables = op_list_to_dict(names_to_saveables)
    saveables: list[SaveableObject] = []
    seen: set[int] = set()
    for name, op in sorted(names_to_saveables.items(), key=lambda item: item[0]):
        for saveable in saveable_objects_for_op(op, name):
            if id(saveable.op) in seen:
                raise ValueError(
                    "The same saveable will be restored with two names: "
                    f"{saveable.name}"
                )
            saveables.append(saveable)
            seen.add(id(saveable.op))
    return saveables


__all__ = [
    "ReferenceVariableSaveable",
    "ResourceVariableSaveable",
    "SaveSpec",
    "SaveableObject",
    "op_list_to_dict",
    "saveable_objects_for_op",
    "set_cpu0",
    "validate_and_slice_inputs",
]
