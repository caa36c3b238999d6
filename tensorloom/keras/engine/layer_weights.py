"""The variables of a layer: how they are made, which are trained, their values."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from tensorloom.client.variables.partitioned_variable import PartitionedVariable
from tensorloom.client.variables.variable_policy import (
    VariableAggregation,
    VariableSynchronization,
)
from tensorloom.framework.graph.graph import name_scope
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.trackable import Trackable
from tensorloom.keras import constraints, initializers, regularizers
from tensorloom.keras.engine.default_initializer import default_initializer
from tensorloom.keras.engine.make_variable import make_variable
from tensorloom.keras.session_values import (
    batch_get_value,
    batch_set_value,
    track_variable,
)

_WEIGHT_OPTIONS = ("getter", "collections", "experimental_autocast")


class LayerWeights(Trackable):
    """Variables of a layer and of the layers inside it."""

    built: bool
    trainable: bool
    name: str
    dtype: str | None
    _trainable_weights: list[Any]
    _non_trainable_weights: list[Any]

    def _nested(self, attribute: str) -> list[Any]:
        """An attribute of all layers inside, as one list."""
        raise NotImplementedError

    def add_loss(self, losses: Any, inputs: Any = None) -> None:
        """Adds losses to be minimized beside the model's."""
        raise NotImplementedError

    # --- lists ----------------------------------------------------------------------

    @property
    def trainable_weights(self) -> list[Any]:
        """Variables that are trained."""
        if not self.trainable:
            return []
        return [*self._trainable_weights, *self._nested("trainable_weights")]

    @property
    def non_trainable_weights(self) -> list[Any]:
        """Variables that are not trained."""
        if self.trainable:
            nested = self._nested("non_trainable_weights")
            return [*self._non_trainable_weights, *nested]
        own = [*self._trainable_weights, *self._non_trainable_weights]
        return [*own, *self._nested("weights")]

    @property
    def weights(self) -> list[Any]:
        """All variables, the trainable ones first."""
        return [*self.trainable_weights, *self.non_trainable_weights]

    @property
    def trainable_variables(self) -> list[Any]:
        """Variables that are trained."""
        return self.trainable_weights

    @property
    def non_trainable_variables(self) -> list[Any]:
        """Variables that are not trained."""
        return self.non_trainable_weights

    @property
    def variables(self) -> list[Any]:
        """All variables, the trainable ones first."""
        return self.weights

    def count_params(self) -> int:
        """Number of elements of all variables.

        Raises:
          ValueError: the layer was not built yet.
        """
        if not self.built:
            raise ValueError(
                f"You tried to call `count_params` on {self.name}, but the layer isn't "
                "built. You can build it manually via: "
                f"`{self.name}.build(batch_input_shape)`."
            )
        sizes = (np.prod(w.shape.as_list(), dtype=np.int64) for w in self.weights)
        return int(sum(sizes))

    # --- making ---------------------------------------------------------------------

    def add_weight(
        self,
        name: str | None = None,
        shape: Any = None,
        dtype: Any = None,
        initializer: Any = None,
        regularizer: Any = None,
        trainable: bool | None = None,
        constraint: Any = None,
        partitioner: Any = None,
        use_resource: bool | None = None,
        synchronization: Any = VariableSynchronization.AUTO,
        aggregation: Any = VariableAggregation.NONE,
        **kwargs: Any,
    ) -> Any:
        """Makes a variable of this layer.

        Args:
          name: under the open name scope.
          shape: a scalar's by default.
          dtype: the layer's by default.
          initializer, regularizer, constraint: objects or their names.
          trainable: True by default, unless it is synchronized on reading.
          partitioner, use_resource, synchronization, aggregation: see
            `tf.get_variable`.

        Raises:
          ValueError: it should be trained although it is synchronized on reading, or
            its dtype has no default initializer.
          TypeError: an unknown option.
        """
        for option in kwargs:
            if option not in _WEIGHT_OPTIONS:
                raise TypeError("Unknown keyword argument:", option)
        kind = dtypes.as_dtype(dtype or self.dtype or dtypes.float32)
        if self.dtype is None:  # built by hand: the first variable decides
            self.__dict__["_dtype"] = kind.base_dtype.name
        trainable = is_trainable(trainable, synchronization)
        initializer = initializers.get(initializer)
        if initializer is None:
            initializer = default_initializer(name, kind, self.name)
        regularizer = regularizers.get(regularizer)
        variable = kwargs.get("getter", make_variable)(
            name=name,
            shape=() if shape is None else shape,
            dtype=kind,
            initializer=initializer,
            constraint=constraints.get(constraint),
            trainable=trainable,
            partitioner=partitioner,
            use_resource=use_resource,
            collections=kwargs.get("collections"),
            synchronization=synchronization,
            aggregation=aggregation,
        )
        if name is not None and isinstance(variable, Trackable):
            self._track_trackable(variable, name=name, overwrite=True)
        track_variable(variable)
        if regularizer is not None:
            scope = variable.name.partition(":")[0]
            self._handle_weight_regularization(scope, variable, regularizer)
        kept = self._trainable_weights if trainable else self._non_trainable_weights
        kept.append(variable)
        return variable

    def add_variable(self, *args: Any, **kwargs: Any) -> Any:
        """Old name of `add_weight`."""
        return self.add_weight(*args, **kwargs)

    def _handle_weight_regularization(
        self, name: str, variable: Any, regularizer: Any
    ) -> None:
        def loss(part: Any) -> Any:
            with name_scope(f"{name}/Regularizer"):
                return regularizer(part)

        parts = variable if isinstance(variable, PartitionedVariable) else [variable]
        for part in parts:
            self.add_loss(functools.partial(loss, part))

    # --- values ---------------------------------------------------------------------

    def get_weights(self) -> list[Any]:
        """The variables' values as arrays."""
        return batch_get_value(self.weights)

    def set_weights(self, weights: Sequence[Any]) -> None:
        """Sets the variables' values.

        Raises:
          ValueError: their number or shapes differ.
        """
        own = self.weights
        if len(own) != len(weights):
            raise ValueError(
                f'You called `set_weights(weights)` on layer "{self.name}" with a  '
                f"weight list of length {len(weights)}, but the layer was expecting "
                f"{len(own)} weights. Provided weights: {str(weights)[:50]}..."
            )
        for variable, value in zip(own, weights, strict=True):
            if not variable.shape.is_compatible_with(np.shape(value)):
                raise ValueError(
                    f"Layer weight shape {variable.shape} not compatible with provided "
                    f"weight shape {np.shape(value)}"
                )
        batch_set_value(list(zip(own, weights, strict=True)))


def is_trainable(trainable: bool | None, synchronization: Any) -> bool:
    """Whether a new variable is trained.

    Raises:
      ValueError: it should be although it is synchronized on reading.
    """
    if synchronization == VariableSynchronization.ON_READ:
        if trainable:
            raise ValueError(
                "Synchronization value can be set to VariableSynchronization.ON_READ "
                "only for non-trainable variables. You have specified trainable=True "
                "and synchronization=VariableSynchronization.ON_READ."
            )
        return False
    return True if trainable is None else trainable
