"""The store behind `get_variable`: a graph's variables by full name."""

from __future__ import annotations

import enum
import inspect
import traceback
from collections.abc import Callable, Sequence
from typing import Any

from tensorloom.client.variables.partitioned_variable import PartitionedVariable
from tensorloom.client.variables.resource_variable import ResourceVariable
from tensorloom.client.variables.variable_def import SaveSliceInfo
from tensorloom.client.variables.variable_partitions import (
    PartitionInfo,
    call_partitioner,
    check_existing_partitions,
    partition_slices,
)
from tensorloom.client.variables.variable_policy import validate_variable_policy
from tensorloom.client.variables.variables import Variable
from tensorloom.framework.export import export, export_value
from tensorloom.framework.graph.graph import (
    GraphKeys,
    Tensor,
    add_to_collection,
    colocate_with,
    init_scope,
    name_scope,
)
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.dtypes import DType
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.framework.types.tensor_shape import TensorShape, as_shape
from tensorloom.ops.indexing import slice as slice_ops
from tensorloom.ops.state import initializers as init_ops


class _ReuseMode(enum.Enum):
    """The third value of `reuse`, beside True and False."""

    AUTO_REUSE = 1  # get the variable, or make it


AUTO_REUSE = _ReuseMode.AUTO_REUSE
export_value(AUTO_REUSE, "AUTO_REUSE")

# What `use_resource=None` means where no scope says otherwise.
_default_use_resource = False


@export("enable_resource_variables")
def enable_resource_variables() -> None:
    """New variables are resource variables where nothing else is said."""
    global _default_use_resource
    _default_use_resource = True


@export("disable_resource_variables")
def disable_resource_variables() -> None:
    """New variables are reference variables where nothing else is said."""
    global _default_use_resource
    _default_use_resource = False


@export("resource_variables_enabled")
def resource_variables_enabled() -> bool:
    """Whether `enable_resource_variables` is in force."""
    return _default_use_resource


class VariableStore:
    """Variables by full name, and the checks of `get_variable`."""

    def __init__(self) -> None:
        self._vars: dict[str, Variable] = {}
        self._partitioned_vars: dict[str, PartitionedVariable] = {}

    def get_variable(
        self,
        name: str,
        *,
        dtype: Any,
        custom_getter: Callable[..., Any] | None,
        constraint: Any,
        trainable: bool | None,
        synchronization: Any,
        aggregation: Any,
        **options: Any,
    ) -> Any:
        """The variable of that full name, or a new one; through the custom getter.

        Raises:
          ValueError: reuse forbids it, or shape, dtype and initializer do not agree.
        """
        if custom_getter is not None and not callable(custom_getter):
            raise ValueError(
                f"Passed a custom_getter which is not callable: {custom_getter}"
            )
        if isinstance(dtype, DType):
            dtype = dtype.base_dtype
        synchronization, aggregation, trainable = validate_variable_policy(
            synchronization, aggregation, trainable, name
        )
        options.update(
            dtype=dtype,
            trainable=trainable,
            synchronization=synchronization,
            aggregation=aggregation,
        )
        if custom_getter is None:
            return self._true_getter(name, constraint=constraint, **options)
        if _takes_argument(custom_getter, "constraint"):
            options["constraint"] = constraint
        return custom_getter(getter=self._true_getter, name=name, **options)

    def _true_getter(
        self,
        name: str,
        shape: Any = None,
        dtype: Any = dtypes.float32,
        initializer: Any = None,
        regularizer: Any = None,
        reuse: Any = None,
        trainable: bool | None = None,
        collections: Any = None,
        caching_device: Any = None,
        partitioner: Any = None,
        validate_shape: bool = True,
        use_resource: bool | None = None,
        constraint: Any = None,
        synchronization: Any = None,
        aggregation: Any = None,
    ) -> Any:
        options = {
            "shape": shape,
            "dtype": dtype,
            "initializer": initializer,
            "regularizer": regularizer,
            "reuse": reuse,
            "trainable": trainable,
            "collections": collections,
            "caching_device": caching_device,
            "validate_shape": validate_shape,
            "use_resource": use_resource,
            "constraint": constraint,
            "synchronization": synchronization,
            "aggregation": aggregation,
        }
        is_scalar = isinstance(shape, Sequence) and not shape
        if partitioner is not None and not is_scalar:
            if not callable(partitioner):
                raise ValueError(
                    f"Partitioner must be callable, but received: {partitioner}"
                )
            with name_scope(None):
                return self.get_partitioned_variable(
                    name, partitioner=partitioner, **options
                )
        if reuse is True and partitioner is None and name in self._partitioned_vars:
            return self.get_partitioned_variable(name, partitioner=None, **options)
        if f"{name}/part_0" in self._vars:
            raise ValueError(
                "No partitioner was provided, but a partitioned version of the "
                f"variable was found: {name}/part_0. Perhaps a variable of the same "
                "name was already created with partitioning?"
            )
        return self._get_single_variable(name, **options)

    # --- one variable ------------------------------------------------------------

    def _get_single_variable(
        self,
        name: str,
        *,
        shape: Any,
        dtype: Any,
        initializer: Any,
        regularizer: Any,
        reuse: Any,
        partition_info: PartitionInfo | None = None,
        use_resource: bool | None,
        **options: Any,
    ) -> Variable:
        from_value = initializer is not None and not callable(initializer)
        if shape is not None and from_value:
            raise ValueError("If initializer is a constant, do not specify shape.")
        dtype = dtypes.as_dtype(dtype)
        shape = as_shape(shape)
        if name in self._vars:
            return self._existing(name, shape, dtype, reuse)
        if reuse is True:
            raise ValueError(
                f"Variable {name} does not exist, or was not created with "
                "tf.get_variable(). Did you mean to set reuse=tf.AUTO_REUSE in "
                "VarScope?"
            )
        if initializer is None:
            initializer = default_initializer(name, dtype)
        with init_scope():
            initial_value, value_dtype = _initial_value(
                initializer, from_value, shape, dtype, partition_info
            )
        variable: Variable = Variable(
            initial_value=initial_value,
            name=name,
            dtype=value_dtype,
            use_resource=_default_use_resource
            if use_resource is None
            else use_resource,
            **options,
        )
        self._vars[name] = variable
        if regularizer:
            _add_regularization(name, variable, regularizer)
        return variable

    def _existing(
        self, name: str, shape: TensorShape, dtype: DType, reuse: Any
    ) -> Variable:
        found = self._vars[name]
        if reuse is False:
            raise ValueError(_already_exists(name, found))
        if not shape.is_compatible_with(found.get_shape()):
            raise ValueError(
                f"Trying to share variable {name}, but specified shape {shape} and "
                f"found shape {found.get_shape()}."
            )
        if not dtype.is_compatible_with(found.dtype):
            raise ValueError(
                f"Trying to share variable {name}, but specified dtype {dtype.name} "
                f"and found dtype {found.dtype.name}."
            )
        return found

    # --- partitioned variables -----------------------------------------------------

    def get_partitioned_variable(
        self,
        name: str,
        *,
        partitioner: Any,
        shape: Any,
        dtype: Any,
        initializer: Any,
        reuse: Any,
        **options: Any,
    ) -> PartitionedVariable:
        """The partitioned variable of that full name, or a new one.

        Raises:
          ValueError: reuse forbids it, or the partitioning does not fit.
        """
        if name in self._vars:
            raise ValueError(
                "A partitioner was provided, but an unpartitioned version of the "
                f"variable was found: {name}.  Perhaps a variable of the same name was "
                "already created without partitioning?"
            )
        dtype = dtypes.as_dtype(dtype)
        shape = as_shape(shape)
        if isinstance(initializer, Tensor):
            shape = shape.merge_with(initializer.get_shape())
        partitions: Any = None
        if not reuse or partitioner:
            partitions = call_partitioner(partitioner, shape, dtype)
        if name in self._partitioned_vars:
            found = self._partitioned_vars[name]
            check_existing_partitions(name, found, shape, dtype, partitions, reuse)
            return found
        if reuse is True:
            raise ValueError(
                f"PartitionedVariable {name} does not exist, or was not created with "
                "tf.get_variable(). Did you mean to set reuse=False or "
                "reuse=tf.AUTO_REUSE in VarScope?"
            )
        axis = next((i for i, p in enumerate(partitions) if p > 1), 0)
        count = partitions[axis]
        self._check_existing_parts(name, count)
        parts = [
            self._part(name, i, shape, offset, size, dtype, initializer, reuse, options)
            for i, (offset, size) in enumerate(
                partition_slices(shape.as_list(), count, axis)
            )
        ]
        whole = PartitionedVariable(name, shape, dtype, parts, partitions)
        self._partitioned_vars[name] = whole
        return whole

    def _check_existing_parts(self, name: str, count: int) -> None:
        if f"{name}/part_0" not in self._vars:
            return
        prefix = (
            "Partitioner returned a different partitioning than what was already "
            f"found.  Partitioner returned {count} shards, and shard {name}/part_0 "
            "was found, but "
        )
        if f"{name}/part_{count - 1}" not in self._vars:
            raise ValueError(f"{prefix}{name}/part_{count - 1} was not.")
        if f"{name}/part_{count}" in self._vars:
            raise ValueError(f"{prefix}so was the extra shard {name}/part_{count}.")

    def _part(
        self,
        name: str,
        index: int,
        shape: TensorShape,
        offset: list[int],
        size: list[int],
        dtype: DType,
        initializer: Any,
        reuse: Any,
        options: dict[str, Any],
    ) -> Variable:
        full_name = f"{name}/part_{index}"
        part_shape: Any = None
        with name_scope(f"{full_name}/PartitionedInitializer"):
            if initializer is None:
                initializer = default_initializer(name, dtype)
            if callable(initializer):
                value, part_shape = initializer, size
            else:
                if not isinstance(initializer, Tensor):
                    initializer = convert_to_tensor(initializer, dtype=dtype)
                value = slice_ops.slice(initializer, offset, size)
                dtype = value.dtype.base_dtype
        with name_scope(None):
            variable = self._get_single_variable(
                full_name,
                shape=part_shape,
                dtype=dtype,
                initializer=value,
                partition_info=PartitionInfo(shape.as_list(), offset),
                reuse=reuse,
                **options,
            )
        variable._set_save_slice_info(
            SaveSliceInfo(name, shape.as_list(), offset, size)  # type: ignore[arg-type]
        )
        return variable


def _takes_argument(function: Callable[..., Any], name: str) -> bool:
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):
        return False
    return name in parameters or any(
        p.kind is inspect.Parameter.VAR_KEYWORD for p in parameters.values()
    )


def _already_exists(name: str, found: Variable) -> str:
    message = (
        f"Variable {name} already exists, disallowed. Did you mean to set reuse=True "
        "or reuse=tf.AUTO_REUSE in VarScope?"
    )
    if isinstance(found, ResourceVariable):
        return message
    frames = list(found.op.traceback)[::-1][:5]
    lines = traceback.format_list(
        [traceback.FrameSummary(f[0], f[1], f[2], line=f[3]) for f in frames]
    )
    return f"{message} Originally defined at:\n\n{''.join(lines)}"


def default_initializer(name: str, dtype: DType) -> Any:
    """Glorot uniform for floating point, zeros for integers, bools and strings.

    Raises:
      ValueError: the dtype has no default initializer.
    """
    if dtype.is_floating:
        return init_ops.GlorotUniform()
    if dtype.is_integer or dtype.is_unsigned or dtype.is_bool or dtype == dtypes.string:
        return init_ops.Zeros()
    raise ValueError(
        f"An initializer for variable {name} of {dtype.base_dtype} is required"
    )


def _initial_value(
    initializer: Any,
    from_value: bool,
    shape: TensorShape,
    dtype: DType,
    partition_info: PartitionInfo | None,
) -> tuple[Any, DType | None]:
    """What `Variable` takes as its initial value, and the dtype to convert it to."""
    if from_value:
        return initializer, None
    if inspect.isclass(initializer):
        initializer = initializer()
    if shape.is_fully_defined():
        return (
            lambda: initializer(
                shape.as_list(), dtype=dtype, partition_info=partition_info
            ),
            dtype.base_dtype,
        )
    if _needs_no_arguments(initializer):
        return initializer, None
    raise ValueError(
        "The initializer passed is not valid. It should be a callable with no "
        "arguments and the shape should not be provided or an instance of "
        "`tf.keras.initializers.*' and `shape` should be fully defined."
    )


def _needs_no_arguments(function: Callable[..., Any]) -> bool:
    required = (
        p
        for p in inspect.signature(function).parameters.values()
        if p.default is inspect.Parameter.empty
        and p.kind
        in (
            inspect.Parameter.POSITIONAL_ONLY,
            inspect.Parameter.POSITIONAL_OR_KEYWORD,
        )
    )
    return next(required, None) is None


def _add_regularization(
    name: str, variable: Variable, regularizer: Callable[[Any], Any]
) -> None:
    with colocate_with(variable), name_scope(f"{name}/Regularizer/"):
        with init_scope():
            loss = regularizer(variable)
        if loss is not None:
            add_to_collection(GraphKeys.REGULARIZATION_LOSSES, loss)
