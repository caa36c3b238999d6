"""`PartitionedVariable`: slices along one axis that read as one tensor."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from tensorloom.framework.graph.graph import Tensor, control_dependencies, name_scope
from tensorloom.framework.types.tensor_conversion import (
    check_conversion,
    register_tensor_conversion_function,
)
from tensorloom.ops.array import array_ops
from tensorloom.ops.array import identity as identity_ops

if TYPE_CHECKING:
    from tensorloom.client.variables.variables import Variable
    from tensorloom.framework.types.dtypes import DType
    from tensorloom.framework.types.tensor_shape import TensorShape


class PartitionedVariable:
    """A container of partitioned variables.

    Args:
      name: of the whole.
      shape: of the whole.
      dtype: of the elements.
      variable_list: the slices, each with its `SaveSliceInfo`.
      partitions: number of slices for each axis.

    Raises:
      TypeError: `variable_list` or `partitions` is not a list.
      ValueError: the slices do not belong together.
    """

    def __init__(
        self,
        name: str,
        shape: Any,
        dtype: DType,
        variable_list: Sequence[Variable],
        partitions: Sequence[int],
    ) -> None:
        _check_parts(shape, variable_list, partitions)
        self._variable_list = sorted(
            variable_list,
            key=lambda v: v._get_save_slice_info().var_offset,
        )
        self._name = name
        self._shape = shape
        self._dtype = dtype
        self._partitions = partitions

    def __iter__(self) -> Iterator[Variable]:
        return iter(self._variable_list)

    def __len__(self) -> int:
        axes = len(self._partition_axes())
        if axes > 1:
            raise ValueError(f"Cannot get a length for {axes} > 1 partition axes")
        return len(self._variable_list)

    def _partition_axes(self) -> list[int]:
        return [i for i, p in enumerate(self._partitions) if p > 1] or [0]

    def _single_axis(self, action: str) -> int:
        axes = self._partition_axes()
        if len(axes) > 1:
            raise NotImplementedError(
                f"Cannot {action} along more than one dimension: {axes}."
            )
        return axes[0]

    def _concat(self) -> Tensor:
        if len(self._variable_list) == 1:
            with name_scope(None):
                return identity_ops.identity(self._variable_list[0], name=self._name)
        axis = self._single_axis("concatenate")
        with name_scope(f"{self._name}/ConcatPartitions/"):
            whole = array_ops.concat(self._variable_list, axis)
        with name_scope(None):
            return identity_ops.identity(whole, name=self._name)

    def as_tensor(self) -> Tensor:
        """The slices concatenated along their axis."""
        with control_dependencies(None):
            return self._concat()

    @property
    def name(self) -> str:
        """The name of the whole."""
        return self._name

    @property
    def dtype(self) -> DType:
        """The dtype of the elements."""
        return self._dtype

    @property
    def shape(self) -> TensorShape:
        """The shape of the whole."""
        return self.get_shape()

    def get_shape(self) -> TensorShape:
        """The shape of the whole."""
        shape: TensorShape = self._shape
        return shape

    def _get_variable_list(self) -> list[Variable]:
        return self._variable_list

    def _get_partitions(self) -> Sequence[int]:
        return self._partitions

    def _apply_assign(self, assign: Callable[[Any, Any], Any], value: Any) -> list[Any]:
        axis = self._single_axis("assign")
        if isinstance(value, list):
            if len(value) != len(self._variable_list):
                raise ValueError("one value for each partition is needed")
            values: Any = value
        elif isinstance(value, PartitionedVariable):
            values = list(value)
        else:
            sizes = [v.shape.as_list()[axis] for v in self._variable_list]
            values = array_ops.split(value, sizes, axis=axis)
        return [assign(v, values[i]) for i, v in enumerate(self._variable_list)]

    def _assign(
        self, method: str, value: Any, use_locking: bool, name: Any, read_value: bool
    ) -> list[Any]:
        results = self._apply_assign(
            lambda variable, part: getattr(variable, method)(
                part, use_locking=use_locking, name=name, read_value=read_value
            ),
            value,
        )
        return results if read_value else [getattr(r, "op", r) for r in results]

    def assign(
        self,
        value: Any,
        use_locking: bool = False,
        name: str | None = None,
        read_value: bool = True,
    ) -> list[Any]:
        """Assigns each slice its part of `value`."""
        return self._assign("assign", value, use_locking, name, read_value)

    def assign_add(
        self,
        value: Any,
        use_locking: bool = False,
        name: str | None = None,
        read_value: bool = True,
    ) -> list[Any]:
        """Adds its part of `value` to each slice."""
        return self._assign("assign_add", value, use_locking, name, read_value)

    def assign_sub(
        self,
        value: Any,
        use_locking: bool = False,
        name: str | None = None,
        read_value: bool = True,
    ) -> list[Any]:
        """Subtracts its part of `value` from each slice."""
        return self._assign("assign_sub", value, use_locking, name, read_value)


def _check_parts(
    shape: Any, variable_list: Sequence[Variable], partitions: Sequence[int]
) -> None:
    for what, value in (("variable_list", variable_list), ("partitions", partitions)):
        if not isinstance(value, list | tuple):
            raise TypeError(f"{what} is not a list or tuple: {value}")
    if not all(p >= 1 for p in partitions):
        raise ValueError(f"partition values must be positive: {partitions}")
    if not variable_list:
        raise ValueError("variable_list may not be empty")
    for variable in variable_list:
        info = variable._get_save_slice_info()
        if info is None:
            raise ValueError(
                "All variables must have a save_slice_info available: "
                f"{[v.name for v in variable_list]}"
            )
        if len(shape) != len(partitions):
            raise ValueError(f"len(shape) != len(partitions): {shape} vs. {partitions}")
        if info.full_shape != shape:
            raise ValueError(
                f"All variables' full shapes must match shape: {shape}; but full "
                f"shapes were: {[info.full_shape]}"
            )


def _to_tensor(
    variable: PartitionedVariable,
    dtype: Any = None,
    name: Any = None,
    as_ref: bool = False,
) -> Tensor:
    check_conversion(variable, dtype)
    if as_ref:
        raise NotImplementedError(
            "PartitionedVariable doesn't support being used as a reference."
        )
    return variable.as_tensor()


register_tensor_conversion_function(PartitionedVariable, _to_tensor)
