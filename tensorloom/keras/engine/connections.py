"""What layers of another library know of their neighbours: here, nothing.

TensorFlow's layers answer these questions for tensors of Keras models alone; for the
tensors of a graph they raise the same errors.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NoReturn

from tensorloom.framework.graph.graph import name_scope
from tensorloom.framework.types import nest

if TYPE_CHECKING:
    from tensorloom.framework.types.tensor_shape import TensorShape


class Connections:
    """Inputs and outputs of a layer that was called on tensors of a graph."""

    @property
    def name(self) -> str:
        """The layer's name."""
        raise NotImplementedError

    @property
    def dtype(self) -> Any:
        """The dtype of its variables."""
        raise NotImplementedError

    def _not_connected(self, what: str) -> NoReturn:
        raise AttributeError(
            f"Layer {self.name} is not connected, no {what} to return."
        )

    def _never_called(self, what: str) -> NoReturn:
        raise RuntimeError(
            f"The layer has never been called and thus has no defined {what}."
        )

    @property
    def inbound_nodes(self) -> list[Any]:
        """Layers before this one: none."""
        return []

    @property
    def outbound_nodes(self) -> list[Any]:
        """Layers behind this one: none."""
        return []

    @property
    def input(self) -> Any:
        """Raises AttributeError: the layer is not part of a model."""
        self._not_connected("input")

    @property
    def output(self) -> Any:
        """Raises AttributeError: the layer is not part of a model."""
        self._not_connected("output")

    @property
    def input_mask(self) -> Any:
        """Raises AttributeError: the layer is not part of a model."""
        self._not_connected("input mask")

    @property
    def output_mask(self) -> Any:
        """Raises AttributeError: the layer is not part of a model."""
        self._not_connected("output mask")

    @property
    def input_shape(self) -> Any:
        """Raises AttributeError: the layer is not part of a model."""
        self._not_connected("input shape")

    @property
    def output_shape(self) -> Any:
        """Raises AttributeError: the layer is not part of a model."""
        self._not_connected("output shape")

    def get_input_at(self, node_index: int) -> Any:
        """Raises RuntimeError: the layer is not part of a model."""
        self._never_called("input")

    def get_output_at(self, node_index: int) -> Any:
        """Raises RuntimeError: the layer is not part of a model."""
        self._never_called("output")

    def get_input_shape_at(self, node_index: int) -> Any:
        """Raises RuntimeError: the layer is not part of a model."""
        self._never_called("input shape")

    def get_output_shape_at(self, node_index: int) -> Any:
        """Raises RuntimeError: the layer is not part of a model."""
        self._never_called("output shape")

    def get_input_mask_at(self, node_index: int) -> Any:
        """Raises RuntimeError: the layer is not part of a model."""
        self._never_called("input mask")

    def get_output_mask_at(self, node_index: int) -> Any:
        """Raises RuntimeError: the layer is not part of a model."""
        self._never_called("output mask")

    def compute_output_signature(self, input_signature: Any) -> Any:
        """Shape and dtype of the output for those of the input (a TensorSpec)."""
        spec = nest.flatten(input_signature)[0]
        layer: Any = self
        shape: TensorShape = layer.compute_output_shape(spec.shape)
        return type(spec)(shape=shape, dtype=self.dtype or spec.dtype)

    @classmethod
    def with_name_scope(cls, method: Callable[..., Any]) -> Callable[..., Any]:
        """Decorates a method: its operations go under the layer's name."""

        @functools.wraps(method)
        def scoped(self: Any, *args: Any, **kwargs: Any) -> Any:
            with name_scope(self.name):
                return method(self, *args, **kwargs)

        return scoped
