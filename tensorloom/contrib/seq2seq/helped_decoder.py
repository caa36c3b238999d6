"""`BasicDecoder`: a cell whose inputs a helper chooses."""

from __future__ import annotations

from typing import Any, NamedTuple

from tensorloom.contrib.seq2seq.decoding_loop import BaseDecoder, Decoder
from tensorloom.contrib.seq2seq.helpers import Helper
from tensorloom.contrib.seq2seq.samplers import Sampler
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import name_scope
from tensorloom.framework.types import nest
from tensorloom.framework.types.tensor_shape import TensorShape
from tensorloom.keras.engine import base_layer
from tensorloom.layers.base import Layer
from tensorloom.nn.rnn_cell import check_is_cell


@export("contrib.seq2seq.BasicDecoderOutput")
class BasicDecoderOutput(NamedTuple):
    """What a `BasicDecoder` gives for a step, or for all of them."""

    rnn_output: Any
    """Outputs of the cell or of the output layer."""
    sample_id: Any
    """What the helper sampled of them."""


def size_after(layer: Any, size: Any) -> Any:
    """The size of a cell's outputs after an output layer (None for none)."""
    if layer is None:
        return size
    shapes = nest.map_structure(lambda s: TensorShape([None]).concatenate(s), size)
    return nest.map_structure(lambda s: s[1:], layer.compute_output_shape(shapes))


@export("contrib.seq2seq.BasicDecoder")
class BasicDecoder(Decoder):
    """A decoder that runs a cell on what a helper gives.

    Args:
      cell: an RNNCell.
      helper: a `Helper`.
      initial_state: of the cell.
      output_layer: a `tf.layers.Layer` on the cell's outputs.

    Raises:
      TypeError: not a cell, helper or layer.
    """

    def __init__(
        self, cell: Any, helper: Any, initial_state: Any, output_layer: Any = None
    ) -> None:
        check_is_cell("cell", cell)
        if not isinstance(helper, Helper):
            raise TypeError(f"helper must be a Helper, received: {type(helper)}")
        if output_layer is not None and not isinstance(output_layer, Layer):
            raise TypeError(
                f"output_layer must be a Layer, received: {type(output_layer)}"
            )
        self._cell = cell
        self._helper = helper
        self._initial_state = initial_state
        self._output_layer = output_layer

    @property
    def batch_size(self) -> Any:
        """That of the helper."""
        return self._helper.batch_size

    def _rnn_output_size(self) -> Any:
        return size_after(self._output_layer, self._cell.output_size)

    @property
    def output_size(self) -> Any:
        """Sizes of outputs and samples."""
        return BasicDecoderOutput(
            rnn_output=self._rnn_output_size(), sample_id=self._helper.sample_ids_shape
        )

    @property
    def output_dtype(self) -> Any:
        """The dtype of the first state, and that of samples."""
        dtype = nest.flatten(self._initial_state)[0].dtype
        return BasicDecoderOutput(
            nest.map_structure(lambda _: dtype, self._rnn_output_size()),
            self._helper.sample_ids_dtype,
        )

    def initialize(self, name: str | None = None) -> Any:
        """(finished, first inputs, first state)."""
        return (*self._helper.initialize(), self._initial_state)

    def step(self, time: Any, inputs: Any, state: Any, name: str | None = None) -> Any:
        """(BasicDecoderOutput, next state, next inputs, finished)."""
        values = nest.flatten((time, inputs, state))
        with name_scope(name, "BasicDecoderStep", values):
            outputs, cell_state = self._cell(inputs, state)
            if self._output_layer is not None:
                outputs = self._output_layer(outputs)
            sample_ids = self._helper.sample(
                time=time, outputs=outputs, state=cell_state
            )
            finished, next_inputs, next_state = self._helper.next_inputs(
                time=time, outputs=outputs, state=cell_state, sample_ids=sample_ids
            )
        output = BasicDecoderOutput(outputs, sample_ids)
        return output, next_state, next_inputs, finished


class BasicDecoderV2(BaseDecoder):
    """A `BasicDecoder` that is a Keras layer, with a sampler for its inputs.

        decoder = BasicDecoderV2(cell, TrainingSampler())
        outputs, state, lengths = decoder(
            inputs, initial_state=state, sequence_length=lengths
        )

    Args:
      cell: an RNNCell.
      sampler: a `Sampler`.
      output_layer: a layer on the cell's outputs.
      **kwargs: see `BaseDecoder`.

    Raises:
      TypeError: not a cell, sampler or layer.
    """

    def __init__(
        self, cell: Any, sampler: Any, output_layer: Any = None, **kwargs: Any
    ) -> None:
        check_is_cell("cell", cell)
        if not isinstance(sampler, Sampler):
            raise TypeError(f"sampler must be a Sampler, received: {sampler}")
        if output_layer is not None and not isinstance(output_layer, base_layer.Layer):
            raise TypeError(f"output_layer must be a Layer, received: {output_layer}")
        super().__init__(**kwargs)
        self.cell = cell
        self.sampler = sampler
        self.output_layer = output_layer
        self._cell_dtype: Any = None

    def initialize(self, inputs: Any, initial_state: Any = None, **kwargs: Any) -> Any:
        """(finished, first inputs, first state).

        Args:
          inputs, **kwargs: of the sampler.
          initial_state: of the cell.
        """
        self._cell_dtype = nest.flatten(initial_state)[0].dtype
        return (*self.sampler.initialize(inputs, **kwargs), initial_state)

    @property
    def batch_size(self) -> Any:
        """That of the sampler."""
        return self.sampler.batch_size

    def _rnn_output_size(self) -> Any:
        return size_after(self.output_layer, TensorShape(self.cell.output_size))

    @property
    def output_size(self) -> Any:
        """Sizes of outputs and samples."""
        return BasicDecoderOutput(
            rnn_output=self._rnn_output_size(), sample_id=self.sampler.sample_ids_shape
        )

    @property
    def output_dtype(self) -> Any:
        """The dtype of the first state, and that of samples."""
        return BasicDecoderOutput(
            nest.map_structure(lambda _: self._cell_dtype, self._rnn_output_size()),
            self.sampler.sample_ids_dtype,
        )

    def step(self, time: Any, inputs: Any, state: Any) -> Any:
        """(BasicDecoderOutput, next state, next inputs, finished)."""
        outputs, cell_state = self.cell(inputs, state)
        if self.output_layer is not None:
            outputs = self.output_layer(outputs)
        sample_ids = self.sampler.sample(time=time, outputs=outputs, state=cell_state)
        finished, next_inputs, next_state = self.sampler.next_inputs(
            time=time, outputs=outputs, state=cell_state, sample_ids=sample_ids
        )
        output = BasicDecoderOutput(outputs, sample_ids)
        return output, next_state, next_inputs, finished
