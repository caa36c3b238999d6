"""Cells around cells: dropout, residual connections, devices, and stacks."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from typing import Any

from tensorloom.client.variables.variable_scope import variable_scope
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import device as device_scope
from tensorloom.framework.graph.graph import name_scope
from tensorloom.framework.types import nest
from tensorloom.framework.types.constant_value import constant_value
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.framework.types.tensor_shape import as_shape
from tensorloom.framework.types.trackable import Trackable
from tensorloom.keras.function_code import described_function, function_of
from tensorloom.layers.base import Layer
from tensorloom.nn.rnn_cell import RNNCell, check_is_cell
from tensorloom.nn.rnn_cells import LSTMStateTuple
from tensorloom.ops.array import array_ops
from tensorloom.ops.lists.tensor_array import TensorArray
from tensorloom.ops.math import math_ops
from tensorloom.ops.nn.dropout import dropout
from tensorloom.ops.random import random_ops


class _Wrapper(RNNCell):
    """A cell that does something before and after another."""

    def __init__(self, cell: Any, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        check_is_cell("cell", cell)
        self.cell = cell
        if isinstance(cell, Trackable):
            self._track_trackable(cell, name="cell")

    @property
    def state_size(self) -> Any:
        """That of the wrapped cell."""
        return self.cell.state_size

    @property
    def output_size(self) -> Any:
        """That of the wrapped cell."""
        return self.cell.output_size

    def zero_state(self, batch_size: Any, dtype: Any) -> Any:
        """A state of zeros of the wrapped cell."""
        with name_scope(f"{type(self).__name__}ZeroState", values=[batch_size]):
            return self.cell.zero_state(batch_size, dtype)

    def get_config(self) -> dict[str, Any]:
        """The arguments that make an equal cell, the wrapped one by its own."""
        inner = {
            "class_name": type(self.cell).__name__,
            "config": self.cell.get_config(),
        }
        return {**super().get_config(), "cell": inner}

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: Any = None) -> Any:
        """The reverse of `get_config`, with the cell itself as `config["cell"]`.

        Raises:
          ValueError: the cell is given by its configuration.
        """
        options = dict(config)
        cell = options.pop("cell")
        try:
            check_is_cell("cell", cell)
        except TypeError:
            raise ValueError(
                "RNNCellWrapper cannot reconstruct the wrapped cell. Please overwrite "
                "the cell in the config with a RNNCell instance."
            ) from None
        return cls(cell, **options)


def _without_memory(state: Any) -> Any:
    """Which states are dropped: not the memory of an LSTM, nor TensorArrays."""
    if isinstance(state, LSTMStateTuple):
        return LSTMStateTuple(c=False, h=True)
    return not isinstance(state, TensorArray)


def _chosen(choose: Callable[[Any], Any], structure: Any) -> Any:
    """The choices for a structure, True or False where they go no deeper."""
    choice = choose(structure)
    if not nest.is_nested(structure):
        if not isinstance(choice, bool):
            raise TypeError(f"a dropout filter must return a bool, not {choice!r}")
        return choice
    children = nest.children_of(structure)
    if isinstance(choice, bool):
        if not choice:
            return False
        return nest.like(structure, [_chosen(choose, child) for child in children])
    nest.assert_same_structure(choice, _shallow(structure))
    pairs = zip(nest.children_of(choice), children, strict=True)
    return nest.like(
        structure, [_chosen(choose, child) if take else False for take, child in pairs]
    )


def _shallow(structure: Any) -> Any:
    children = nest.children_of(structure)
    return nest.like(structure, [True] * len(children))


def _map_up_to(shallow: Any, function: Callable[..., Any], *others: Any) -> Any:
    """Maps (index, leaf, parts of the others) over the leaves of `shallow`."""
    count = iter(range(1 << 30))

    def walk(tree: Any, *parts: Any) -> Any:
        if not nest.is_nested(tree):
            return function(next(count), tree, *parts)
        groups = [nest.children_of(tree), *(nest.children_of(p) for p in parts)]
        return nest.like(
            parts[0], [walk(*group) for group in zip(*groups, strict=True)]
        )

    return walk(shallow, *others)


@export("nn.rnn_cell.DropoutWrapper", "contrib.rnn.DropoutWrapper")
class DropoutWrapper(_Wrapper):
    """Dropout on a cell's inputs, states and outputs.

    Args:
      cell: the wrapped cell.
      input_keep_prob, output_keep_prob, state_keep_prob: in [0, 1], floats or tensors.
      variational_recurrent: one mask for all steps (arXiv:1512.05287).
      input_size: of the inputs, needed for one mask of them.
      dtype: of inputs, states and outputs, needed for one mask.
      seed: of the masks.
      dropout_state_filter_visitor: state -> whether it is dropped.

    Raises:
      ValueError: a probability is out of range, or something needed is not given.
      TypeError: not a cell, or the filter cannot be called.
    """

    def __init__(
        self,
        cell: Any,
        input_keep_prob: Any = 1.0,
        output_keep_prob: Any = 1.0,
        state_keep_prob: Any = 1.0,
        variational_recurrent: bool = False,
        input_size: Any = None,
        dtype: Any = None,
        seed: Any = None,
        dropout_state_filter_visitor: Callable[[Any], Any] | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(cell, dtype=dtype, **kwargs)
        if dropout_state_filter_visitor is not None and not callable(
            dropout_state_filter_visitor
        ):
            raise TypeError("dropout_state_filter_visitor must be callable")
        self._dropout_state_filter = dropout_state_filter_visitor or _without_memory
        with name_scope("DropoutWrapperInit"):
            self._input_keep_prob = _probability("input_keep_prob", input_keep_prob)
            self._state_keep_prob = _probability("state_keep_prob", state_keep_prob)
            self._output_keep_prob = _probability("output_keep_prob", output_keep_prob)
        self._variational_recurrent = variational_recurrent
        self._input_size = input_size
        self._seed = seed
        self._noise: dict[str, Any] = {}
        if variational_recurrent:
            self._draw_noise(cell, input_size, dtype)

    def _draw_noise(self, cell: Any, input_size: Any, dtype: Any) -> None:
        if dtype is None:
            raise ValueError("When variational_recurrent=True, dtype must be provided")
        if _drops(self._input_keep_prob):
            if input_size is None:
                raise ValueError(
                    "When variational_recurrent=True and input_keep_prob < 1.0 or is "
                    "unknown, input_size must be provided"
                )
            self._noise["input"] = self._noise_for("input", input_size, dtype)
        self._noise["state"] = self._noise_for("state", cell.state_size, dtype)
        self._noise["output"] = self._noise_for("output", cell.output_size, dtype)

    def _noise_for(self, part: str, sizes: Any, dtype: Any) -> Any:
        def draw(index: int, size: Any, _: Any) -> Any:
            shape = array_ops.concat(([1], as_shape(size).as_list()), 0)
            seed = self._seed_for(part, index)
            return random_ops.random_uniform(shape, seed=seed, dtype=dtype)

        return _map_up_to(sizes, draw, sizes)

    def _seed_for(self, part: str, index: int) -> int | None:
        """A seed of its own for each dropped tensor."""
        if self._seed is None:
            return None
        text = f"{self._seed}{part}_{index}".encode()
        return int(hashlib.md5(text).hexdigest()[:8], 16) & 0x7FFFFFFF

    @property
    def wrapped_cell(self) -> Any:
        """The wrapped cell."""
        return self.cell

    def _dropout(self, values: Any, part: str, keep: Any, choices: Any = None) -> Any:
        if choices is None:
            choices = nest.map_structure(lambda _: True, values)

        def drop(index: int, chosen: bool, value: Any, *noise: Any) -> Any:
            if not chosen:
                return value
            if noise:
                return _with_mask(value, noise[0], keep)
            seed = self._seed_for(part, index)
            return dropout(value, rate=1.0 - keep, seed=seed)

        noise = [self._noise[part]] if self._variational_recurrent else []
        return _map_up_to(choices, drop, values, *noise)

    def __call__(self, inputs: Any, state: Any, scope: Any = None) -> Any:
        """Runs the wrapped cell between the dropouts."""
        if _drops(self._input_keep_prob):
            inputs = self._dropout(inputs, "input", self._input_keep_prob)
        output, new_state = self.cell(inputs, state, scope=scope)
        if _drops(self._state_keep_prob):
            choices = _chosen(self._dropout_state_filter, new_state)
            new_state = self._dropout(
                new_state, "state", self._state_keep_prob, choices
            )
        if _drops(self._output_keep_prob):
            output = self._dropout(output, "output", self._output_keep_prob)
        return output, new_state

    def get_config(self) -> dict[str, Any]:
        """The arguments that make an equal cell."""
        names = (
            "input_keep_prob",
            "output_keep_prob",
            "state_keep_prob",
            "variational_recurrent",
            "input_size",
            "seed",
        )
        config = {n: getattr(self, f"_{n}") for n in names}
        if self._dropout_state_filter is not _without_memory:
            function, kind, module = described_function(self._dropout_state_filter)
            config["dropout_fn"] = function
            config["dropout_fn_type"] = kind
            config["dropout_fn_module"] = module
        return {**super().get_config(), **config}

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: Any = None) -> Any:
        """The reverse of `get_config`, with the cell itself as `config["cell"]`.

        Raises:
          ValueError: the cell is given by its configuration.
        """
        options = dict(config)
        if "dropout_fn" in options:
            options["dropout_state_filter_visitor"] = function_of(
                options.pop("dropout_fn"),
                options.pop("dropout_fn_type"),
                options.pop("dropout_fn_module", None),
                custom_objects,
            )
        return super().from_config(options, custom_objects)


def _probability(name: str, value: Any) -> Any:
    """A float where it is known, else the tensor."""
    tensor = convert_to_tensor(value)
    known = constant_value(tensor)
    if known is None:
        return tensor
    if known < 0 or known > 1:
        raise ValueError(f"Parameter {name} must be between 0 and 1: {int(known)}")
    return float(known)


def _drops(keep: Any) -> bool:
    return not isinstance(keep, float) or keep < 1


def _with_mask(value: Any, noise: Any, keep: Any) -> Any:
    mask = math_ops.floor(keep + noise)
    result = math_ops.div(value, keep) * mask
    result.set_shape(value.shape)
    return result


@export("nn.rnn_cell.ResidualWrapper", "contrib.rnn.ResidualWrapper")
class ResidualWrapper(_Wrapper):
    """Adds a cell's inputs to its outputs.

    Args:
      cell: the wrapped cell.
      residual_fn: (inputs, outputs) -> outputs, in place of the sum.
    """

    def __init__(
        self,
        cell: Any,
        residual_fn: Callable[[Any, Any], Any] | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(cell, **kwargs)
        self._residual_fn = residual_fn

    def __call__(self, inputs: Any, state: Any, scope: Any = None) -> Any:
        """Runs the cell.

        Raises:
          TypeError, ValueError: inputs and outputs differ in structure or shape.
        """
        outputs, new_state = self.cell(inputs, state, scope=scope)
        return (self._residual_fn or _sums)(inputs, outputs), new_state

    def get_config(self) -> dict[str, Any]:
        """The arguments that make an equal cell."""
        if self._residual_fn is None:
            return super().get_config()
        function, kind, module = described_function(self._residual_fn)
        # The last key is spelled as TensorFlow spells it.
        return {
            **super().get_config(),
            "residual_fn": function,
            "residual_fn_type": kind,
            "residule_fn_module": module,
        }

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: Any = None) -> Any:
        """The reverse of `get_config`, with the cell itself as `config["cell"]`.

        Raises:
          ValueError: the cell is given by its configuration.
        """
        options = dict(config)
        if "residual_fn" in options:
            options["residual_fn"] = function_of(
                options["residual_fn"],
                options.pop("residual_fn_type"),
                options.pop("residule_fn_module", None),
                custom_objects,
            )
        return super().from_config(options, custom_objects)


def _sums(inputs: Any, outputs: Any) -> Any:
    nest.assert_same_structure(inputs, outputs)

    def check(value: Any, output: Any) -> None:
        value.shape.assert_is_compatible_with(output.shape)

    nest.map_structure(check, inputs, outputs)
    return nest.map_structure(lambda value, output: value + output, inputs, outputs)


@export("nn.rnn_cell.DeviceWrapper", "contrib.rnn.DeviceWrapper")
class DeviceWrapper(_Wrapper):
    """Runs a cell on a certain device.

    Args:
      cell: the wrapped cell.
      device: its name, or a function as in `tf.device`.
    """

    def __init__(self, cell: Any, device: Any, **kwargs: Any) -> None:
        super().__init__(cell, **kwargs)
        self._device = device

    def zero_state(self, batch_size: Any, dtype: Any) -> Any:
        """A state of zeros on that device."""
        with (
            name_scope(f"{type(self).__name__}ZeroState", values=[batch_size]),
            device_scope(self._device),
        ):
            return self.cell.zero_state(batch_size, dtype)

    def __call__(self, inputs: Any, state: Any, scope: Any = None) -> Any:
        """Runs the cell there."""
        with device_scope(self._device):
            return self.cell(inputs, state, scope=scope)

    def get_config(self) -> dict[str, Any]:
        """The arguments that make an equal cell."""
        return {**super().get_config(), "device": self._device}


@export("nn.rnn_cell.MultiRNNCell", "contrib.rnn.MultiRNNCell")
class MultiRNNCell(RNNCell):
    """Cells on top of each other: each one's output is the next one's input.

    Args:
      cells: from the bottom to the top.
      state_is_tuple: the state is a tuple of theirs, else one matrix.

    Raises:
      ValueError: there are none, or their states cannot be joined.
      TypeError: not a list or tuple.
    """

    def __init__(self, cells: Sequence[Any], state_is_tuple: bool = True) -> None:
        super().__init__()
        if not cells:
            raise ValueError("Must specify at least one cell for MultiRNNCell.")
        if not nest.is_nested(cells):
            raise TypeError(f"cells must be a list or tuple, but saw: {cells}.")
        self._cells = cells
        for number, cell in enumerate(cells):
            if isinstance(cell, Trackable):
                self._track_trackable(cell, name=f"cell-{number}")
        self._state_is_tuple = state_is_tuple
        if not state_is_tuple and any(nest.is_nested(c.state_size) for c in cells):
            raise ValueError(
                "Some cells return tuples of states, but state_is_tuple is not "
                f"set.  State sizes are: {[c.state_size for c in cells]}"
            )

    @property
    def state_size(self) -> Any:
        """Sizes of the cells' states, or their sum."""
        if self._state_is_tuple:
            return tuple(cell.state_size for cell in self._cells)
        return sum(cell.state_size for cell in self._cells)

    @property
    def output_size(self) -> Any:
        """That of the top cell."""
        return self._cells[-1].output_size

    def zero_state(self, batch_size: Any, dtype: Any) -> Any:
        """A state of zeros for each cell."""
        with name_scope(f"{type(self).__name__}ZeroState", values=[batch_size]):
            if self._state_is_tuple:
                return tuple(cell.zero_state(batch_size, dtype) for cell in self._cells)
            return super().zero_state(batch_size, dtype)

    def _cells_with_weights(self) -> list[Layer]:
        return [cell for cell in self._cells if isinstance(cell, Layer)]

    @property
    def trainable_weights(self) -> list[Any]:
        """Trained variables of the cells."""
        if not self.trainable:
            return []
        return [
            w for cell in self._cells_with_weights() for w in cell.trainable_weights
        ]

    @property
    def non_trainable_weights(self) -> list[Any]:
        """Other variables of the cells."""
        fixed = [
            w for cell in self._cells_with_weights() for w in cell.non_trainable_weights
        ]
        if self.trainable:
            return fixed
        return [
            w for cell in self._cells_with_weights() for w in cell.trainable_weights
        ] + fixed

    def call(self, inputs: Any, state: Any) -> Any:  # type: ignore[override]
        """One step through all cells: (output of the top cell, new state)."""
        states, position = [], 0
        for index, cell in enumerate(self._cells):
            with variable_scope(f"cell_{index}"):
                if self._state_is_tuple:
                    if not nest.is_nested(state):
                        raise ValueError(
                            f"Expected state to be a tuple of length "
                            f"{len(self.state_size)}, but received: {state}"
                        )
                    own = state[index]
                else:
                    own = array_ops.slice(state, [0, position], [-1, cell.state_size])
                    position += cell.state_size
                inputs, new_state = cell(inputs, own)
                states.append(new_state)
        if self._state_is_tuple:
            return inputs, tuple(states)
        return inputs, array_ops.concat(states, 1)
