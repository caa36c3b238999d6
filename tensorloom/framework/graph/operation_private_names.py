"""The underscore names that libraries for TensorFlow 1 use on operations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tensorloom.framework.types.attr_value import NameAttrList
from tensorloom.framework.types.dtypes import DType, as_dtype
from tensorloom.framework.types.tensor_shape import TensorShape

if TYPE_CHECKING:
    from tensorloom.framework.graph.tensor import Tensor


class OperationPrivateNames:
    """Mixin of `Operation`."""

    __slots__ = ()

    @property
    def _node_def(self: Any) -> Any:
        return self.node_def

    @property
    def _traceback(self: Any) -> Any:
        return self.traceback

    @property
    def _input_types(self: Any) -> list[DType]:
        """The dtypes that the op asks for: references where it takes references."""
        found: list[DType] = self._op_def.input_types(self._attrs)
        return list(found)

    @property
    def _input_dtypes(self: Any) -> list[DType]:
        return [tensor.dtype for tensor in self.inputs]

    @property
    def _inputs_val(self: Any) -> Sequence[Tensor]:
        found: Sequence[Tensor] = self.inputs
        return found

    def _set_device_from_string(self: Any, device_str: str) -> None:
        self._set_device(device_str)

    def _set_func_attr(self: Any, attr_name: str, func_name: str) -> None:
        self._set_attr(attr_name, NameAttrList(func_name, {}))

    def _set_func_list_attr(
        self: Any, attr_name: str, func_names: Sequence[str]
    ) -> None:
        self._set_attr(attr_name, [NameAttrList(name, {}) for name in func_names])

    def _set_type_list_attr(self: Any, attr_name: str, types: Sequence[Any]) -> None:
        if types:
            self._set_attr(attr_name, [as_dtype(dtype) for dtype in types])

    def _set_shape_list_attr(self: Any, attr_name: str, shapes: Sequence[Any]) -> None:
        if shapes:
            self._set_attr(attr_name, [TensorShape(shape) for shape in shapes])

    def _get_attr_type(self: Any, name: str) -> DType:
        return as_dtype(self.get_attr(name))

    def _get_attr_bool(self: Any, name: str) -> bool:
        return bool(self.get_attr(name))

    def _get_attr_int(self: Any, name: str) -> int:
        return int(self.get_attr(name))
