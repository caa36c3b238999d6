"""How the parameters of a recurrent network are laid out in one vector.

First the weights of each layer and direction: a matrix for each gate on the input, one
for each gate on the state, and the projection if there is one. Then the biases, two
vectors for each gate. That is cuDNN's layout without its padding, and torch's order of
gates.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch

from tensorloom.framework.errors import invalid_argument

if TYPE_CHECKING:
    from tensorloom.framework.registry.op_kernel import OpKernelConstruction

GATES = {"lstm": 4, "gru": 3, "rnn_tanh": 1, "rnn_relu": 1}


@dataclass(frozen=True)
class Network:
    """The sizes of a network."""

    mode: str  # a key of GATES
    layers: int
    units: int
    inputs: int  # the depth of the input
    directions: int
    projection: int  # of the state of an LSTM; 0 for none
    skips: bool  # the first layer takes the input as it is, without weights

    @property
    def state(self) -> int:
        """The depth of a layer's output in one direction."""
        return self.projection or self.units

    def input_depth(self, layer: int) -> int:
        """The columns of a layer's weights on its input; 0 without any."""
        if layer:
            return self.state * self.directions
        return 0 if self.skips else self.inputs

    def weight_shapes(self) -> list[tuple[int, int]]:
        """The shapes of the matrices, in order."""
        gates = GATES[self.mode]
        shapes: list[tuple[int, int]] = []
        for layer in range(self.layers):
            one = [(self.units, self.input_depth(layer))] * gates
            one += [(self.units, self.state)] * gates
            if self.projection:
                one.append((self.projection, self.units))
            shapes += one * self.directions
        return shapes

    def bias_count(self) -> int:
        """How many vectors of biases there are."""
        return 2 * GATES[self.mode] * self.layers * self.directions

    def size(self) -> int:
        """The length of the vector."""
        weights = sum(math.prod(shape) for shape in self.weight_shapes())
        return weights + self.bias_count() * self.units

    def layer_weights(self, params: torch.Tensor) -> list[list[torch.Tensor]]:
        """For each layer and direction what torch's functions take.

        Raises:
          errors.InvalidArgumentError: the vector is of another length.
        """
        if params.numel() != self.size():
            raise invalid_argument(
                f"params must have {self.size()} elements for {self.layers} layers of "
                f"{self.units} units, got {params.numel()}"
            )
        gates, count = GATES[self.mode], self.layers * self.directions
        biases = params[params.numel() - self.bias_count() * self.units :]
        at, found = 0, []
        for k, both in enumerate(biases.view(count, 2, gates * self.units)):
            depth = self.input_depth(k // self.directions)
            shapes = [(gates * self.units, depth), (gates * self.units, self.state)]
            if self.projection:
                shapes.append((self.projection, self.units))
            matrices = []
            for rows, columns in shapes:
                part = params[at : at + rows * columns]
                matrices.append(part.view(rows, columns))
                at += rows * columns
            if not depth:
                identity = torch.eye(
                    self.units, dtype=params.dtype, device=params.device
                )
                matrices[0] = identity.repeat(gates, 1)
            found.append([*matrices[:2], both[0], both[1], *matrices[2:]])
        return found


def network(
    c: OpKernelConstruction, layers: int, units: int, inputs: int, projection: int
) -> Network:
    """The network of a node.

    Raises:
      errors.InvalidArgumentError: the input is skipped, but of another depth.
    """
    mode, skip = _text(c["rnn_mode"]), _text(c["input_mode"])
    skips = skip == "skip_input" or (skip == "auto_select" and inputs == units)
    if skips and inputs != units:
        raise invalid_argument(
            f"input_size must equal num_units for skip_input, got {inputs} and {units}"
        )
    directions = 2 if _text(c["direction"]) == "bidirectional" else 1
    return Network(mode, layers, units, inputs, directions, projection, skips)


def _text(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)
