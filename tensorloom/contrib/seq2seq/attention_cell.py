"""`AttentionWrapper`: a cell that attends to a memory at each step."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from tensorloom.contrib.framework.shape_checks import with_same_shape
from tensorloom.contrib.seq2seq.layer_mechanisms import LayerMechanism
from tensorloom.contrib.seq2seq.mechanisms import AttentionMechanism
from tensorloom.contrib.seq2seq.scores import size_of
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import (
    Operation,
    Tensor,
    control_dependencies,
    name_scope,
)
from tensorloom.framework.types import dtypes, nest
from tensorloom.framework.types.tensor_shape import TensorShape, dimension_value
from tensorloom.layers.core import Dense
from tensorloom.nn.rnn_cell import RNNCell, check_is_cell, zero_states
from tensorloom.ops.array import array_ops
from tensorloom.ops.debugging.check import assert_equal
from tensorloom.ops.lists.tensor_array import TensorArray
from tensorloom.ops.math import math_ops

_USE_TILE_BATCH = (
    "Are you using the BeamSearchDecoder?  You may need to tile your {what} via the "
    "tf.contrib.seq2seq.tile_batch function with argument multiple=beam_width."
)


@export("contrib.seq2seq.AttentionWrapperState")
class AttentionWrapperState(NamedTuple):
    """State of an `AttentionWrapper`; tuples where it has several mechanisms."""

    cell_state: Any
    """State of the wrapped cell."""
    attention: Any
    """What the last step's attention gave, [batch, size]."""
    time: Any
    """Number of the step, an int32 scalar."""
    alignments: Any
    """Alignments of the last step, [batch, time of the memory]."""
    alignment_history: Any
    """TensorArray of the alignments of all steps, or ()."""
    attention_state: Any
    """State of the mechanism."""

    def clone(self, **kwargs: Any) -> AttentionWrapperState:
        """The state with other parts, of the same shapes as those that they replace.

        Raises:
          ValueError: a static shape differs. (When run: InvalidArgumentError.)
        """

        def checked(old: Any, new: Any) -> Any:
            if isinstance(old, Tensor) and isinstance(new, Tensor):
                return with_same_shape(old, new)
            return new

        state: AttentionWrapperState = nest.map_structure(
            checked, self, self._replace(**kwargs)
        )
        return state


def compute_attention(
    attention_mechanism: Any,
    cell_output: Tensor,
    attention_state: Any,
    attention_layer: Any,
) -> tuple[Any, Any, Any]:
    """One mechanism's (attention, alignments, next state).

    Args:
      attention_mechanism: with values [batch, time, depth].
      cell_output: [batch, units], its query.
      attention_state: its last state.
      attention_layer: of the output and the context; None for the context itself.
    """
    if isinstance(attention_mechanism, LayerMechanism):
        alignments, next_state = attention_mechanism([cell_output, attention_state])
    else:
        alignments, next_state = attention_mechanism(cell_output, state=attention_state)
    context = math_ops.matmul(
        array_ops.expand_dims(alignments, 1), attention_mechanism.values
    )
    attention = array_ops.squeeze(context, [1])
    if attention_layer is not None:
        attention = attention_layer(array_ops.concat([cell_output, attention], 1))
    return attention, alignments, next_state


@export("contrib.seq2seq.AttentionWrapper")
class AttentionWrapper(RNNCell):
    """A cell whose inputs and outputs attention extends.

    With a `BeamSearchDecoder` the memory, its lengths and the encoder's state go
    through `tile_batch` first, and `zero_state` takes batch size * beam width.

    Args:
      cell: the wrapped cell.
      attention_mechanism: one, or a list of them.
      attention_layer_size: units of a layer on the cell's output and the context, for
        each mechanism; None for the context itself.
      alignment_history: whether the state keeps the alignments of all steps.
      cell_input_fn: (inputs, attention) -> inputs of the cell; both together by
        default.
      output_attention: whether outputs are the attention, else those of the cell.
      initial_cell_state: what `zero_state` gives as the state of the cell.
      name: of the cell.
      attention_layer: layers in place of `attention_layer_size`.
      attention_fn: in place of matmul and layer: (mechanism, cell output, state, layer)
        -> (attention, alignments, next state).
      dtype: of the cell.

    Raises:
      TypeError: not a cell, a mechanism or a function.
      ValueError: not one layer for each mechanism, or both layers and their sizes.
    """

    def __init__(
        self,
        cell: Any,
        attention_mechanism: Any,
        attention_layer_size: Any = None,
        alignment_history: bool = False,
        cell_input_fn: Callable[[Any, Any], Any] | None = None,
        output_attention: bool = True,
        initial_cell_state: Any = None,
        name: str | None = None,
        attention_layer: Any = None,
        attention_fn: Callable[..., Any] | None = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(name=name, dtype=dtype)
        check_is_cell("cell", cell)
        self._is_multi = isinstance(attention_mechanism, list | tuple)
        self._attention_mechanisms = _mechanisms(attention_mechanism)
        if cell_input_fn is None:
            cell_input_fn = _inputs_and_attention
        elif not callable(cell_input_fn):
            raise TypeError(
                f"cell_input_fn must be callable, saw type: "
                f"{type(cell_input_fn).__name__}"
            )
        self._cell = cell
        self._set_layers(attention_layer_size, attention_layer)
        self._attention_fn = attention_fn or compute_attention
        self._cell_input_fn = cell_input_fn
        self._output_attention = output_attention
        self._alignment_history = alignment_history
        self._initial_cell_state: Any = None
        with name_scope(name, "AttentionWrapperInit"):
            if initial_cell_state is not None:
                self._initial_cell_state = self._checked_start(initial_cell_state)

    def _set_layers(self, sizes: Any, layers: Any) -> None:
        if sizes is not None and layers is not None:
            raise ValueError(
                "Only one of attention_layer_size and attention_layer should be set"
            )
        mechanisms = self._attention_mechanisms
        self._attention_layers: tuple[Any, ...] | None = None
        if sizes is not None:
            sizes = _one_each("attention_layer_size", "integer", sizes, mechanisms)
            self._attention_layers = tuple(
                Dense(
                    size, name="attention_layer", use_bias=False, dtype=mechanism.dtype
                )
                for size, mechanism in zip(sizes, mechanisms, strict=True)
            )
        elif layers is not None:
            layers = _one_each("attention_layer", "layer", layers, mechanisms)
            self._attention_layers = layers
            sizes = [
                self._layer_size(*pair) for pair in zip(layers, mechanisms, strict=True)
            ]
        else:
            sizes = [dimension_value(m.values.shape[-1]) for m in mechanisms]
        self._attention_layer_size = sum(sizes)

    def _layer_size(self, layer: Any, mechanism: Any) -> Any:
        context = dimension_value(mechanism.values.shape[-1])
        shape = layer.compute_output_shape([None, self._cell.output_size + context])
        return dimension_value(shape[-1])

    def _checked_start(self, state: Any) -> Any:
        message = (
            f"When constructing AttentionWrapper {self._base_name}: Non-matching batch "
            "sizes between the memory (encoder output) and initial_cell_state.  "
            + _USE_TILE_BATCH.format(what="initial state")
        )
        size = size_of(nest.flatten(state)[-1], 0)
        with control_dependencies(self._batch_size_checks(size, message)):
            return nest.map_structure(
                lambda s: array_ops.identity(s, name="check_initial_cell_state"), state
            )

    def _batch_size_checks(
        self, batch_size: Any, error_message: str
    ) -> list[Operation | None]:
        return [
            assert_equal(batch_size, mechanism.batch_size, message=error_message)
            for mechanism in self._attention_mechanisms
        ]

    def _item_or_tuple(self, seq: Iterable[Any]) -> Any:
        """A tuple where the mechanisms were given as a list, else the one item."""
        items = tuple(seq)
        return items if self._is_multi else items[0]

    @property
    def output_size(self) -> Any:
        """Units of the attention, or of the cell."""
        if self._output_attention:
            return self._attention_layer_size
        return self._cell.output_size

    @property
    def state_size(self) -> Any:
        """An `AttentionWrapperState` of sizes."""
        mechanisms = self._attention_mechanisms
        return AttentionWrapperState(
            cell_state=self._cell.state_size,
            time=TensorShape([]),
            attention=self._attention_layer_size,
            alignments=self._item_or_tuple(a.alignments_size for a in mechanisms),
            attention_state=self._item_or_tuple(a.state_size for a in mechanisms),
            alignment_history=self._item_or_tuple(
                a.alignments_size if self._alignment_history else () for a in mechanisms
            ),
        )

    def zero_state(self, batch_size: Any, dtype: Any) -> Any:
        """The state before the first step.

        Args:
          batch_size: that of the memory, a number or a tensor.
          dtype: of the state.

        Raises:
          ValueError: the memory has another. (When run: InvalidArgumentError.)
        """
        message = (
            f"When calling zero_state of AttentionWrapper {self._base_name}: "
            "Non-matching batch sizes between the memory (encoder output) and the "
            "requested batch size.  Are you using the BeamSearchDecoder?  If so, make "
            "sure your encoder output has been tiled to beam_width via "
            "tf.contrib.seq2seq.tile_batch, and the batch_size= argument passed to "
            "zero_state is batch_size * beam_width."
        )
        mechanisms = self._attention_mechanisms
        with name_scope(f"{type(self).__name__}ZeroState", values=[batch_size]):
            cell_state = self._initial_cell_state
            if cell_state is None:
                cell_state = self._cell.get_initial_state(
                    batch_size=batch_size, dtype=dtype
                )
            with control_dependencies(self._batch_size_checks(batch_size, message)):
                cell_state = nest.map_structure(
                    lambda s: array_ops.identity(s, name="checked_cell_state"),
                    cell_state,
                )
            alignments = [m.initial_alignments(batch_size, dtype) for m in mechanisms]
            return AttentionWrapperState(
                cell_state=cell_state,
                time=array_ops.zeros([], dtype=dtypes.int32),
                attention=zero_states(self._attention_layer_size, batch_size, dtype),
                alignments=self._item_or_tuple(alignments),
                attention_state=self._item_or_tuple(
                    m.initial_state(batch_size, dtype) for m in mechanisms
                ),
                alignment_history=self._item_or_tuple(
                    self._empty_history(part, dtype) for part in alignments
                ),
            )

    def _empty_history(self, alignments: Tensor, dtype: Any) -> Any:
        if not self._alignment_history:
            return ()
        return TensorArray(
            dtype, size=0, dynamic_size=True, element_shape=alignments.shape
        )

    def call(self, inputs: Any, state: Any) -> Any:  # type: ignore[override]
        """A step: the cell on inputs and the last attention, then the mechanisms.

        Returns:
          (attention or output of the cell, next state).

        Raises:
          TypeError: `state` is no AttentionWrapperState.
        """
        if not isinstance(state, AttentionWrapperState):
            raise TypeError(
                "Expected state to be instance of AttentionWrapperState. Received type "
                f"{type(state)} instead."
            )
        cell_inputs = self._cell_input_fn(inputs, state.attention)
        cell_output, next_cell_state = self._cell(cell_inputs, state.cell_state)
        cell_output = self._checked_output(cell_output)
        states, histories = state.attention_state, state.alignment_history
        if not self._is_multi:
            states, histories = [states], [histories]
        steps = [
            self._attend(number, cell_output, states[number], histories[number], state)
            for number in range(len(self._attention_mechanisms))
        ]
        attentions, alignments, next_states, next_histories = zip(*steps, strict=True)
        attention = array_ops.concat(list(attentions), 1)
        next_state = AttentionWrapperState(
            time=state.time + 1,
            cell_state=next_cell_state,
            attention=attention,
            attention_state=self._item_or_tuple(next_states),
            alignments=self._item_or_tuple(alignments),
            alignment_history=self._item_or_tuple(next_histories),
        )
        return (attention if self._output_attention else cell_output), next_state

    def _checked_output(self, output: Tensor) -> Tensor:
        message = (
            f"When applying AttentionWrapper {self.name}: Non-matching batch sizes "
            "between the memory (encoder output) and the query (decoder output).  "
            + _USE_TILE_BATCH.format(what="memory input")
        )
        checks = self._batch_size_checks(size_of(output, 0), message)
        with control_dependencies(checks):
            return array_ops.identity(output, name="checked_cell_output")

    def _attend(
        self,
        number: int,
        cell_output: Tensor,
        attention_state: Any,
        history: Any,
        state: AttentionWrapperState,
    ) -> tuple[Any, Any, Any, Any]:
        """One mechanism's (attention, alignments, next state, history)."""
        layers = self._attention_layers
        attention, alignments, next_state = self._attention_fn(
            self._attention_mechanisms[number],
            cell_output,
            attention_state,
            layers[number] if layers else None,
        )
        if self._alignment_history:
            history = history.write(state.time, alignments)
        else:
            history = ()
        return attention, alignments, next_state, history


def _inputs_and_attention(inputs: Any, attention: Tensor) -> Tensor:
    return array_ops.concat([inputs, attention], -1)


def _mechanisms(given: Any) -> Sequence[Any]:
    """The mechanisms as a sequence. Raises TypeError."""
    if isinstance(given, list | tuple):
        for mechanism in given:
            if not isinstance(mechanism, AttentionMechanism):
                raise TypeError(
                    "attention_mechanism must contain only instances of "
                    f"AttentionMechanism, saw type: {type(mechanism).__name__}"
                )
        return given
    if not isinstance(given, AttentionMechanism):
        raise TypeError(
            "attention_mechanism must be an AttentionMechanism or list of multiple "
            f"AttentionMechanism instances, saw type: {type(given).__name__}"
        )
    return (given,)


def _one_each(
    argument: str, kind: str, given: Any, mechanisms: Sequence[Any]
) -> tuple[Any, ...]:
    """As many as there are mechanisms. Raises ValueError."""
    items = tuple(given) if isinstance(given, list | tuple) else (given,)
    if len(items) != len(mechanisms):
        raise ValueError(
            f"If provided, {argument} must contain exactly one {kind} per "
            f"attention_mechanism, saw: {len(items)} vs {len(mechanisms)}"
        )
    return items
