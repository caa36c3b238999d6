"""What predicts within `ARModel`: dense layers, or an encoder and a decoder."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tensorloom.contrib.rnn.fused_cells import LSTMBlockFusedCell
from tensorloom.keras.engine.base_layer import Layer
from tensorloom.keras.layers.core import Flatten
from tensorloom.keras.layers.dense import Dense
from tensorloom.ops.array import concat, permute, reshape
from tensorloom.ops.math import elementwise
from tensorloom.ops.nn import activation


class Sequential(Layer):
    """Layers one after the other; variables stand under "sequential"."""

    def __init__(self, layers: Sequence[Any]) -> None:
        """Takes the layers."""
        super().__init__()
        self._layers_in_order = list(layers)

    def call(self, inputs: Any, **kwargs: Any) -> Any:
        """The last layer's result."""
        for layer in self._layers_in_order:
            inputs = layer(inputs)
        return inputs


class FlatPredictionModel(Layer):
    """Both windows flattened, through dense layers."""

    def __init__(
        self,
        num_features: int,
        input_window_size: int,
        output_window_size: int,
        hidden_layer_sizes: Sequence[int] | None = None,
    ) -> None:
        """Makes the layers.

        Args:
          num_features: of each value.
          input_window_size: how many values are looked at.
          output_window_size: how many are predicted.
          hidden_layer_sizes: of layers between, with relu.
        """
        super().__init__()
        self._input_flatten = Flatten()
        self._output_flatten = Flatten()
        self._hidden_layers: Any = None
        if hidden_layer_sizes:
            self._hidden_layers = Sequential(
                [Dense(size, activation=activation.relu) for size in hidden_layer_sizes]
            )
        size = num_features * output_window_size
        self._mean_transform = Dense(size, name="predicted_mean")
        self._covariance_transform = Dense(size, name="log_sigma_square")
        self._prediction_shape = [-1, output_window_size, num_features]

    def call(
        self, inputs: Any, output_window_features: Any = None, **kwargs: Any
    ) -> Any:
        """Predictions from both windows.

        Args:
          inputs: features of the input window, [batch, input window, size].
          output_window_features: of the output window, [batch, output window, size].

        Returns:
          "mean" and "covariance", [batch, output window, features] each.
        """
        if inputs.shape[1].value == 0:
            values = self._output_flatten(output_window_features)
        elif output_window_features.shape[2].value == 0:
            values = self._input_flatten(inputs)
        else:
            flat = [
                self._input_flatten(inputs),
                self._output_flatten(output_window_features),
            ]
            values = concat.concat(flat, axis=1)
        if self._hidden_layers is not None:
            values = self._hidden_layers(values)
        mean = self._mean_transform(values)
        covariance = elementwise.exp(self._covariance_transform(values))
        return {
            "mean": reshape.reshape(mean, self._prediction_shape),
            "covariance": reshape.reshape(covariance, self._prediction_shape),
        }


class LSTMPredictionModel(Layer):
    """An LSTM over the input window, and one over the output window after it."""

    def __init__(
        self,
        num_features: int,
        input_window_size: int,
        output_window_size: int,
        num_units: int = 128,
    ) -> None:
        """Makes cells and layers; arguments as of `FlatPredictionModel`.

        Args:
          num_units: of both cells.
        """
        super().__init__()
        self._encoder = LSTMBlockFusedCell(num_units=num_units, name="encoder")
        self._decoder = LSTMBlockFusedCell(num_units=num_units, name="decoder")
        self._mean_transform = Dense(num_features, name="mean_transform")
        self._covariance_transform = Dense(num_features, name="covariance_transform")

    def call(
        self, inputs: Any, output_window_features: Any = None, **kwargs: Any
    ) -> Any:
        """Predictions from both windows, as of `FlatPredictionModel`."""
        inputs = permute.transpose(inputs, [1, 0, 2])
        outputs = permute.transpose(output_window_features, [1, 0, 2])
        _, state = self._encoder(inputs, dtype=self.dtype)
        decoded, _ = self._decoder(outputs, dtype=self.dtype, initial_state=state)
        decoded = permute.transpose(decoded, [1, 0, 2])
        return {
            "mean": self._mean_transform(decoded),
            "covariance": elementwise.exp(self._covariance_transform(decoded)),
        }
