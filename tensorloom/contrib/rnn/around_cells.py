"""Cells around cells: embeddings, projections, highways and compilation."""

from __future__ import annotations

import math
from typing import Any

from tensorloom.client.variables.variable_scope import (
    get_variable,
    get_variable_scope,
)
from tensorloom.contrib.rnn.linear import Linear
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import device, name_scope
from tensorloom.framework.types import nest
from tensorloom.nn.rnn_cell import RNNCell, check_is_cell
from tensorloom.ops.array import array_ops
from tensorloom.ops.math import math_ops
from tensorloom.ops.nn import nn_ops
from tensorloom.ops.state import initializers as init_ops


class AroundCell(RNNCell):
    """A cell that does something before and after another, with the other's state."""

    def __init__(self, cell: Any, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        check_is_cell("cell", cell)
        self._cell = cell

    @property
    def state_size(self) -> Any:
        """That of the wrapped cell."""
        return self._cell.state_size

    @property
    def output_size(self) -> Any:
        """That of the wrapped cell."""
        return self._cell.output_size

    def zero_state(self, batch_size: Any, dtype: Any) -> Any:
        """A state of zeros of the wrapped cell."""
        with name_scope(f"{type(self).__name__}ZeroState", values=[batch_size]):
            return self._cell.zero_state(batch_size, dtype)


@export("contrib.rnn.EmbeddingWrapper")
class EmbeddingWrapper(AroundCell):
    """A cell whose inputs are ids: it gets their embeddings.

    Args:
      cell: an RNNCell.
      embedding_classes: how many ids there are.
      embedding_size: width of an embedding.
      initializer: of `embedding`; by default the scope's, or uniform of variance 1.
      reuse: whether existing variables are reused.

    Raises:
      TypeError: `cell` is not an RNNCell.
      ValueError: a size is not positive.
    """

    def __init__(
        self,
        cell: Any,
        embedding_classes: int,
        embedding_size: int,
        initializer: Any = None,
        reuse: Any = None,
    ) -> None:
        super().__init__(cell, _reuse=reuse)
        if embedding_classes <= 0 or embedding_size <= 0:
            raise ValueError(
                "Both embedding_classes and embedding_size must be > 0: "
                f"{embedding_classes}, {embedding_size}."
            )
        self._embedding_classes = embedding_classes
        self._embedding_size = embedding_size
        self._initializer = initializer

    def call(self, inputs: Any, state: Any) -> Any:  # type: ignore[override]
        """One step for ids [batch]: what the wrapped cell gives."""
        with device("/cpu:0"):
            initializer = self._initializer or get_variable_scope().initializer
            if not initializer:
                bound = math.sqrt(3)
                initializer = init_ops.RandomUniform(-bound, bound)
            first = state[0] if isinstance(state, tuple) else state
            embedding = get_variable(
                "embedding",
                [self._embedding_classes, self._embedding_size],
                initializer=initializer,
                dtype=first.dtype,
            )
            ids = array_ops.reshape(inputs, [-1])
            return self._cell(nn_ops.embedding_lookup(embedding, ids), state)


@export("contrib.rnn.InputProjectionWrapper")
class InputProjectionWrapper(AroundCell):
    """A cell that gets its inputs through a linear map.

    Args:
      cell: an RNNCell.
      num_proj: width that the inputs are mapped to.
      activation: of the mapped inputs, none by default.
      input_size: not used.
      reuse: whether existing variables are reused.

    Raises:
      TypeError: `cell` is not an RNNCell.
    """

    def __init__(
        self,
        cell: Any,
        num_proj: int,
        activation: Any = None,
        input_size: Any = None,
        reuse: Any = None,
    ) -> None:
        super().__init__(cell, _reuse=reuse)
        self._num_proj = num_proj
        self._activation = activation
        self._linear: Any = None

    def call(self, inputs: Any, state: Any) -> Any:  # type: ignore[override]
        """One step: what the wrapped cell gives for the mapped inputs."""
        if self._linear is None:
            self._linear = Linear(inputs, self._num_proj, True)
        projected = self._linear(inputs)
        if self._activation:
            projected = self._activation(projected)
        return self._cell(projected, state)


@export("contrib.rnn.OutputProjectionWrapper")
class OutputProjectionWrapper(AroundCell):
    """A cell whose output goes through a linear map.

    Args:
      cell: an RNNCell.
      output_size: width of the mapped output.
      activation: of the mapped output, none by default.
      reuse: whether existing variables are reused.

    Raises:
      TypeError: `cell` is not an RNNCell.
      ValueError: the size is not positive.
    """

    def __init__(
        self, cell: Any, output_size: int, activation: Any = None, reuse: Any = None
    ) -> None:
        super().__init__(cell, _reuse=reuse)
        if output_size < 1:
            raise ValueError(f"Parameter output_size must be > 0: {output_size}.")
        self._output_size = output_size
        self._activation = activation
        self._linear: Any = None

    @property
    def output_size(self) -> Any:
        """Width of the mapped output."""
        return self._output_size

    def call(self, inputs: Any, state: Any) -> Any:  # type: ignore[override]
        """One step: (mapped output [batch, output_size], state of the wrapped cell)."""
        output, new_state = self._cell(inputs, state)
        if self._linear is None:
            self._linear = Linear(output, self._output_size, True)
        projected = self._linear(output)
        if self._activation:
            projected = self._activation(projected)
        return projected, new_state


@export("contrib.rnn.HighwayWrapper")
class HighwayWrapper(AroundCell):
    """A cell whose output is mixed with its input (Srivastava et al. 2015).

    Args:
      cell: an RNNCell whose inputs and outputs have one shape.
      couple_carry_transform_gates: the transform gate is 1 - the carry gate.
      carry_bias_init: start of the carry gate's bias.
    """

    def __init__(
        self,
        cell: Any,
        couple_carry_transform_gates: bool = True,
        carry_bias_init: float = 1.0,
    ) -> None:
        super().__init__(cell)
        self._couple_carry_transform_gates = couple_carry_transform_gates
        self._carry_bias_init = carry_bias_init

    def _gate(self, name: str, inputs: Any, bias: float) -> Any:
        size = inputs.shape.with_rank(2).as_list()[1]
        weight = get_variable(f"{name}_w", [size, size])
        start = init_ops.Constant(bias)
        shift = get_variable(f"{name}_b", [size], initializer=start)
        return math_ops.sigmoid(nn_ops.xw_plus_b(inputs, weight, shift))

    def _highway(self, inputs: Any, output: Any) -> Any:
        carry = self._gate("carry", inputs, self._carry_bias_init)
        if self._couple_carry_transform_gates:
            transform = 1 - carry
        else:
            transform = self._gate("transform", inputs, -self._carry_bias_init)
        return inputs * carry + output * transform

    def __call__(self, inputs: Any, state: Any, scope: Any = None) -> Any:
        """One step: (mixed output, state of the wrapped cell).

        Raises:
          TypeError: inputs and outputs have different structures.
          ValueError: inputs and outputs have different shapes.
        """
        outputs, new_state = self._cell(inputs, state, scope=scope)
        nest.assert_same_structure(inputs, outputs)
        for own, made in zip(nest.flatten(inputs), nest.flatten(outputs), strict=True):
            own.shape.assert_is_compatible_with(made.shape)
        return nest.map_structure(self._highway, inputs, outputs), new_state
