"""LSTM cells whose weights have masks."""

from __future__ import annotations

from typing import Any

from tensorloom.contrib.model_pruning.masks import (
    add_layer_mask,
    collect,
    is_known,
    mask_layer_weights,
)
from tensorloom.framework.export import export
from tensorloom.nn.rnn_cells import BasicLSTMCell, UnitsCell
from tensorloom.nn.rnn_lstm_cell import LSTMCell


class _MaskedCell(UnitsCell):
    """A cell that computes with its kernel times a mask."""

    def build(self, inputs_shape: Any) -> None:
        """Makes the cell's variables, then `mask` and `threshold`."""
        super().build(inputs_shape)
        self.built = False
        self._mask = add_layer_mask(self, self._kernel.get_shape())
        self._threshold, self._masked_kernel = mask_layer_weights(
            self, self._mask, self._kernel
        )
        if not is_known(self._mask):
            collect(self._mask, self._threshold, self._masked_kernel, self._kernel)
        self.built = True

    def _used_kernel(self) -> Any:
        return self._masked_kernel


@export("contrib.model_pruning.MaskedBasicLSTMCell")
class MaskedBasicLSTMCell(_MaskedCell, BasicLSTMCell):
    """`tf.nn.rnn_cell.BasicLSTMCell` with a mask over its kernel.

    Args:
      num_units, forget_bias, state_is_tuple, activation, reuse, name: see there.
    """

    def __init__(
        self,
        num_units: int,
        forget_bias: float = 1.0,
        state_is_tuple: bool = True,
        activation: Any = None,
        reuse: Any = None,
        name: Any = None,
    ) -> None:
        BasicLSTMCell.__init__(
            self, num_units, forget_bias, state_is_tuple, activation, reuse, name
        )


@export("contrib.model_pruning.MaskedLSTMCell")
class MaskedLSTMCell(_MaskedCell, LSTMCell):
    """`tf.nn.rnn_cell.LSTMCell` with a mask over its kernel, not over the projection.

    Args:
      num_units, use_peepholes, cell_clip, initializer, num_proj, proj_clip,
        num_unit_shards, num_proj_shards, forget_bias, state_is_tuple, activation,
        reuse: see there.
    """

    def __init__(
        self,
        num_units: int,
        use_peepholes: bool = False,
        cell_clip: float | None = None,
        initializer: Any = None,
        num_proj: int | None = None,
        proj_clip: float | None = None,
        num_unit_shards: int | None = None,
        num_proj_shards: int | None = None,
        forget_bias: float = 1.0,
        state_is_tuple: bool = True,
        activation: Any = None,
        reuse: Any = None,
    ) -> None:
        LSTMCell.__init__(
            self,
            num_units,
            use_peepholes,
            cell_clip,
            initializer,
            num_proj,
            proj_clip,
            num_unit_shards,
            num_proj_shards,
            forget_bias,
            state_is_tuple,
            activation,
            reuse,
        )
