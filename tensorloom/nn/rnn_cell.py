"""The base of recurrent cells, and states of zeros."""

from __future__ import annotations

from typing import Any

from tensorloom.client.variables.partitioned_variable import PartitionedVariable
from tensorloom.client.variables.variable_lists import trainable_variables
from tensorloom.client.variables.variable_scope import (
    get_variable_scope,
    variable_scope,
)
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Tensor, name_scope
from tensorloom.framework.types import dtypes, nest
from tensorloom.framework.types.constant_value import constant_value
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.framework.types.tensor_shape import as_shape
from tensorloom.layers.base import Layer
from tensorloom.ops.array import array_ops
from tensorloom.ops.array.constant import constant


def check_is_cell(argument: str, cell: Any) -> None:
    """Raises TypeError unless `cell` looks like a recurrent cell."""
    missing = [
        f"'{name}' property is missing"
        for name in ("output_size", "state_size")
        if not hasattr(cell, name)
    ]
    if not (hasattr(cell, "zero_state") or hasattr(cell, "get_initial_state")):
        missing.append("either 'zero_state' or 'get_initial_state' method is required")
    if not callable(cell):
        missing.append("is not callable")
    if missing:
        raise TypeError(
            f"The argument {argument!r} ({cell}) is not an RNNCell: "
            f"{', '.join(missing)}."
        )


def check_cell_dtype(dtype: Any) -> None:
    """Raises ValueError unless cells can compute in the dtype (None is open)."""
    if dtype is None:
        return
    dtype = dtypes.as_dtype(dtype)
    if not (dtype.is_floating or dtype.is_complex):
        raise ValueError(
            f"RNN cell only supports floating point inputs, but saw dtype: {dtype!s}"
        )


def _vector(part: Any, name: str) -> tuple[Any, Any]:
    """A part of a shape as (int32 vector or None, static value or None)."""
    if isinstance(part, Tensor):
        static = constant_value(part)
        if part.shape.rank == 0:
            return array_ops.expand_dims(part, 0), static
        if part.shape.rank != 1:
            raise ValueError(
                f"{name} tensor must be either a scalar or vector, but saw tensor: "
                f"{part}"
            )
        return part, static
    shape = as_shape(part)
    static = None if shape.rank is None else shape.as_list()
    if not shape.is_fully_defined():
        return None, static
    return constant(shape.as_list(), dtype=dtypes.int32), static


def concat_shapes(prefix: Any, suffix: Any, static: bool = False) -> Any:
    """`prefix` and `suffix`, each a size or a shape, as one shape.

    Returns an int32 vector; or with `static` a list (None for an unknown rank).

    Raises:
      ValueError: an unknown shape cannot become a tensor.
    """
    first, first_static = _vector(prefix, "prefix")
    second, second_static = _vector(suffix, "suffix")
    if static:
        whole = as_shape(first_static).concatenate(as_shape(second_static))
        return None if whole.rank is None else whole.as_list()
    if first is None or second is None:
        raise ValueError(f"Provided a prefix or suffix of None: {prefix} and {suffix}")
    return array_ops.concat((first, second), 0)


def zero_states(state_size: Any, batch_size: Any, dtype: Any) -> Any:
    """Zeros [batch_size, size] for each size of a structure."""

    def zeros(size: Any) -> Tensor:
        state = array_ops.zeros(concat_shapes(batch_size, size), dtype=dtype)
        state.set_shape(concat_shapes(batch_size, size, static=True))
        return state

    return nest.map_structure(zeros, state_size)


@export("nn.rnn_cell.RNNCell", "contrib.rnn.RNNCell")
class RNNCell(Layer):
    """Base of cells: `output, new_state = cell(inputs, state)`.

    Subclasses define `state_size`, `output_size`, and `call` (or `__call__`).
    """

    def __init__(
        self,
        trainable: bool = True,
        name: Any = None,
        dtype: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(trainable=trainable, name=name, dtype=dtype, **kwargs)
        self._rnn_cell_scope: Any = None

    def __call__(self, inputs: Any, state: Any, scope: Any = None) -> Any:
        """Runs the cell on inputs [batch, depth] and a state of its `state_size`.

        Returns (output, new state). Variables go under `scope`, or the current one.
        """
        if scope is not None:
            with variable_scope(scope, custom_getter=self._rnn_get_variable) as scope:
                return super().__call__(inputs, state, scope=scope)
        if self._rnn_cell_scope is None:
            self._rnn_cell_scope = variable_scope(
                get_variable_scope(), custom_getter=self._rnn_get_variable
            )
        with self._rnn_cell_scope:
            return super().__call__(inputs, state)

    def _rnn_get_variable(self, getter: Any, *args: Any, **kwargs: Any) -> Any:
        """Lists what `call` gets with `tf.get_variable` among the cell's variables."""
        variable = getter(*args, **kwargs)
        first = variable
        if isinstance(variable, PartitionedVariable):
            first = next(iter(variable))
        trained = any(first is v for v in trainable_variables())
        kept = self._trainable_weights if trained else self._non_trainable_weights
        if all(variable is not v for v in kept):
            kept.append(variable)
        return variable

    @property
    def state_size(self) -> Any:
        """Size (an int or shape) of each state, in the structure of the state."""
        raise NotImplementedError("Abstract method")

    @property
    def output_size(self) -> Any:
        """Size (an int or shape) of the output."""
        raise NotImplementedError("Abstract method")

    def build(self, _: Any) -> None:
        """Variables are made by `call`; the cell stays open for more."""

    def get_initial_state(
        self, inputs: Any = None, batch_size: Any = None, dtype: Any = None
    ) -> Any:
        """A state of zeros for inputs, or for a batch size and a dtype.

        Raises:
          ValueError: neither is given, or they contradict each other.
        """
        if inputs is not None:
            inputs = convert_to_tensor(inputs, name="inputs")
            _check_agrees(inputs, batch_size, dtype)
            batch_size = inputs.shape.as_list()[0] or array_ops.shape(inputs)[0]
            dtype = inputs.dtype
        if batch_size is None or dtype is None:
            raise ValueError(
                "batch_size and dtype cannot be None while constructing initial state: "
                f"batch_size={batch_size}, dtype={dtype}"
            )
        return self.zero_state(batch_size, dtype)

    def get_config(self) -> dict[str, Any]:
        """The arguments that make an equal cell, as far as the base knows them.

        Cells of programs need not override it.
        """
        return self._base_config()

    def zero_state(self, batch_size: Any, dtype: Any) -> Any:
        """A state of zeros, [batch_size, size] for each size of `state_size`."""
        with name_scope(f"{type(self).__name__}ZeroState", values=[batch_size]):
            return zero_states(self.state_size, batch_size, dtype)


def _check_agrees(inputs: Tensor, batch_size: Any, dtype: Any) -> None:
    if batch_size is not None:
        static = batch_size
        if isinstance(batch_size, Tensor):
            static = constant_value(batch_size, partial=True)
        if inputs.shape.as_list()[0] != static:
            raise ValueError(
                "batch size from input tensor is different from the input param. "
                f"Input tensor batch: {inputs.shape.as_list()[0]}, batch_size: "
                f"{batch_size}"
            )
    if dtype is not None and inputs.dtype != dtype:
        raise ValueError(
            "dtype from input tensor is different from the input param. Input tensor "
            f"dtype: {inputs.dtype}, dtype: {dtype}"
        )


@export("contrib.rnn.LayerRNNCell")
class LayerRNNCell(RNNCell):
    """Base of cells that make their variables in `build`, as other layers do."""

    def __call__(
        self, inputs: Any, state: Any, scope: Any = None, *args: Any, **kwargs: Any
    ) -> Any:
        """Runs the cell on inputs [batch, depth] and a state of its `state_size`."""
        return Layer.__call__(self, inputs, state, *args, scope=scope, **kwargs)
