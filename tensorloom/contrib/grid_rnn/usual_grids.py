"""Grids of the usual cells; the first dimension has input and output."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tensorloom.contrib.grid_rnn.grid_cell import GridRNNCell
from tensorloom.framework.export import export
from tensorloom.nn.rnn_cells import BasicLSTMCell, BasicRNNCell, GRUCell
from tensorloom.nn.rnn_lstm_cell import LSTMCell


@export("contrib.grid_rnn.Grid1BasicRNNCell")
class Grid1BasicRNNCell(GridRNNCell):
    """A grid of 1 dimension of `BasicRNNCell`.

    Args:
      num_units: size of memory and output.
      state_is_tuple: states are tuples, else one matrix.
      output_is_tuple: outputs are a tuple, else one matrix.
    """

    def __init__(
        self,
        num_units: int,
        state_is_tuple: bool = True,
        output_is_tuple: bool = True,
    ) -> None:
        def cell_fn(units: int) -> BasicRNNCell:
            return BasicRNNCell(num_units=units)

        super().__init__(
            num_units,
            num_dims=1,
            input_dims=0,
            output_dims=0,
            priority_dims=0,
            cell_fn=cell_fn,
            state_is_tuple=state_is_tuple,
            output_is_tuple=output_is_tuple,
        )


@export("contrib.grid_rnn.Grid2BasicRNNCell")
class Grid2BasicRNNCell(GridRNNCell):
    """A grid of 2 dimensions of `BasicRNNCell`.

    Args:
      num_units: size of memory and output.
      tied: whether dimensions share their weights.
      non_recurrent_fn: what the first dimension applies; with it, it has no
        state.
      state_is_tuple: states are tuples, else one matrix.
      output_is_tuple: outputs are a tuple, else one matrix.
    """

    def __init__(
        self,
        num_units: int,
        tied: bool = False,
        non_recurrent_fn: Callable[..., Any] | None = None,
        state_is_tuple: bool = True,
        output_is_tuple: bool = True,
    ) -> None:
        def cell_fn(units: int) -> BasicRNNCell:
            return BasicRNNCell(num_units=units)

        super().__init__(
            num_units,
            num_dims=2,
            input_dims=0,
            output_dims=0,
            priority_dims=0,
            non_recurrent_dims=None if non_recurrent_fn is None else 0,
            tied=tied,
            cell_fn=cell_fn,
            non_recurrent_fn=non_recurrent_fn,
            state_is_tuple=state_is_tuple,
            output_is_tuple=output_is_tuple,
        )


@export("contrib.grid_rnn.Grid1BasicLSTMCell")
class Grid1BasicLSTMCell(GridRNNCell):
    """A grid of 1 dimension of `BasicLSTMCell`.

    Args:
      num_units: size of memory and output.
      forget_bias: added to the forget gates' inputs.
      state_is_tuple: states are tuples, else one matrix.
      output_is_tuple: outputs are a tuple, else one matrix.
    """

    def __init__(
        self,
        num_units: int,
        forget_bias: float = 1,
        state_is_tuple: bool = True,
        output_is_tuple: bool = True,
    ) -> None:
        def cell_fn(units: int) -> BasicLSTMCell:
            return BasicLSTMCell(num_units=units, forget_bias=forget_bias)

        super().__init__(
            num_units,
            num_dims=1,
            input_dims=0,
            output_dims=0,
            priority_dims=0,
            cell_fn=cell_fn,
            state_is_tuple=state_is_tuple,
            output_is_tuple=output_is_tuple,
        )


@export("contrib.grid_rnn.Grid2BasicLSTMCell")
class Grid2BasicLSTMCell(GridRNNCell):
    """A grid of 2 dimensions of `BasicLSTMCell`.

    Args:
      num_units: size of memory and output.
      tied: whether dimensions share their weights.
      non_recurrent_fn: what the first dimension applies; with it, it has no
        state.
      forget_bias: added to the forget gates' inputs.
      state_is_tuple: states are tuples, else one matrix.
      output_is_tuple: outputs are a tuple, else one matrix.
    """

    def __init__(
        self,
        num_units: int,
        tied: bool = False,
        non_recurrent_fn: Callable[..., Any] | None = None,
        forget_bias: float = 1,
        state_is_tuple: bool = True,
        output_is_tuple: bool = True,
    ) -> None:
        def cell_fn(units: int) -> BasicLSTMCell:
            return BasicLSTMCell(num_units=units, forget_bias=forget_bias)

        super().__init__(
            num_units,
            num_dims=2,
            input_dims=0,
            output_dims=0,
            priority_dims=0,
            non_recurrent_dims=None if non_recurrent_fn is None else 0,
            tied=tied,
            cell_fn=cell_fn,
            non_recurrent_fn=non_recurrent_fn,
            state_is_tuple=state_is_tuple,
            output_is_tuple=output_is_tuple,
        )


@export("contrib.grid_rnn.Grid1LSTMCell")
class Grid1LSTMCell(GridRNNCell):
    """A grid of 1 dimension of `LSTMCell`.

    Args:
      num_units: size of memory and output.
      use_peepholes: gates see the memories through diagonal weights.
      forget_bias: added to the forget gates' inputs.
      state_is_tuple: states are tuples, else one matrix.
      output_is_tuple: outputs are a tuple, else one matrix.
    """

    def __init__(
        self,
        num_units: int,
        use_peepholes: bool = False,
        forget_bias: float = 1.0,
        state_is_tuple: bool = True,
        output_is_tuple: bool = True,
    ) -> None:
        def cell_fn(units: int) -> LSTMCell:
            return LSTMCell(
                num_units=units, use_peepholes=use_peepholes, forget_bias=forget_bias
            )

        super().__init__(
            num_units,
            num_dims=1,
            input_dims=0,
            output_dims=0,
            priority_dims=0,
            cell_fn=cell_fn,
            state_is_tuple=state_is_tuple,
            output_is_tuple=output_is_tuple,
        )


@export("contrib.grid_rnn.Grid2LSTMCell")
class Grid2LSTMCell(GridRNNCell):
    """A grid of 2 dimensions of `LSTMCell`.

    Args:
      num_units: size of memory and output.
      tied: whether dimensions share their weights.
      non_recurrent_fn: what the first dimension applies; with it, it has no
        state.
      use_peepholes: gates see the memories through diagonal weights.
      forget_bias: added to the forget gates' inputs.
      state_is_tuple: states are tuples, else one matrix.
      output_is_tuple: outputs are a tuple, else one matrix.
    """

    def __init__(
        self,
        num_units: int,
        tied: bool = False,
        non_recurrent_fn: Callable[..., Any] | None = None,
        use_peepholes: bool = False,
        forget_bias: float = 1.0,
        state_is_tuple: bool = True,
        output_is_tuple: bool = True,
    ) -> None:
        def cell_fn(units: int) -> LSTMCell:
            return LSTMCell(
                num_units=units, use_peepholes=use_peepholes, forget_bias=forget_bias
            )

        super().__init__(
            num_units,
            num_dims=2,
            input_dims=0,
            output_dims=0,
            priority_dims=0,
            non_recurrent_dims=None if non_recurrent_fn is None else 0,
            tied=tied,
            cell_fn=cell_fn,
            non_recurrent_fn=non_recurrent_fn,
            state_is_tuple=state_is_tuple,
            output_is_tuple=output_is_tuple,
        )


@export("contrib.grid_rnn.Grid3LSTMCell")
class Grid3LSTMCell(GridRNNCell):
    """A grid of 3 dimensions of `LSTMCell`.

    Args:
      num_units: size of memory and output.
      tied: whether dimensions share their weights.
      non_recurrent_fn: what the first dimension applies; with it, it has no
        state.
      use_peepholes: gates see the memories through diagonal weights.
      forget_bias: added to the forget gates' inputs.
      state_is_tuple: states are tuples, else one matrix.
      output_is_tuple: outputs are a tuple, else one matrix.
    """

    def __init__(
        self,
        num_units: int,
        tied: bool = False,
        non_recurrent_fn: Callable[..., Any] | None = None,
        use_peepholes: bool = False,
        forget_bias: float = 1.0,
        state_is_tuple: bool = True,
        output_is_tuple: bool = True,
    ) -> None:
        def cell_fn(units: int) -> LSTMCell:
            return LSTMCell(
                num_units=units, use_peepholes=use_peepholes, forget_bias=forget_bias
            )

        super().__init__(
            num_units,
            num_dims=3,
            input_dims=0,
            output_dims=0,
            priority_dims=0,
            non_recurrent_dims=None if non_recurrent_fn is None else 0,
            tied=tied,
            cell_fn=cell_fn,
            non_recurrent_fn=non_recurrent_fn,
            state_is_tuple=state_is_tuple,
            output_is_tuple=output_is_tuple,
        )


@export("contrib.grid_rnn.Grid2GRUCell")
class Grid2GRUCell(GridRNNCell):
    """A grid of 2 dimensions of `GRUCell`.

    Args:
      num_units: size of memory and output.
      tied: whether dimensions share their weights.
      non_recurrent_fn: what the first dimension applies; with it, it has no
        state.
      state_is_tuple: states are tuples, else one matrix.
      output_is_tuple: outputs are a tuple, else one matrix.
    """

    def __init__(
        self,
        num_units: int,
        tied: bool = False,
        non_recurrent_fn: Callable[..., Any] | None = None,
        state_is_tuple: bool = True,
        output_is_tuple: bool = True,
    ) -> None:
        def cell_fn(units: int) -> GRUCell:
            return GRUCell(num_units=units)

        super().__init__(
            num_units,
            num_dims=2,
            input_dims=0,
            output_dims=0,
            priority_dims=0,
            non_recurrent_dims=None if non_recurrent_fn is None else 0,
            tied=tied,
            cell_fn=cell_fn,
            non_recurrent_fn=non_recurrent_fn,
            state_is_tuple=state_is_tuple,
            output_is_tuple=output_is_tuple,
        )
