"""The base of layers: variables made under a variable scope when first called."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Sequence
from typing import Any

import numpy as np

from tensorloom.client.variables.module import Module
from tensorloom.client.variables.partitioned_variable import PartitionedVariable
from tensorloom.client.variables.variable_lists import (
    global_variables,
    trainable_variables,
)
from tensorloom.client.variables.variable_scope import get_variable, variable_scope
from tensorloom.client.variables.variable_scope_state import VariableScope
from tensorloom.client.variables.variables import (
    VariableAggregation,
    VariableSynchronization,
)
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Graph, GraphKeys, Tensor, name_scope
from tensorloom.framework.types import dtypes, nest
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.framework.types.tensor_shape import TensorShape, as_shape
from tensorloom.framework.types.trackable import Trackable
from tensorloom.layers.connections import Connections
from tensorloom.layers.input_spec import check_inputs
from tensorloom.layers.layer_names import snake_case, unique_layer_name
from tensorloom.layers.losses import LossesAndUpdates, add_new
from tensorloom.ops.array import array_ops
from tensorloom.ops.math import math_ops
from tensorloom.ops.state import initializers as init_ops

_KNOWN_OPTIONS = {
    "activity_regularizer",
    "autocast",
    "batch_input_shape",
    "batch_size",
    "dynamic",
    "input_shape",
    "weights",
}


@export("layers.Layer")
class Layer(Connections, LossesAndUpdates, Module):
    """Base of layers. Subclasses make variables in `build` and compute in `call`.

    Args:
      trainable: whether its variables are.
      name: of its variable scope; made of the class name when None.
      dtype: of its variables; that of its first input when None.

    Raises:
      TypeError: an unknown option.
    """

    # Of its attributes only its variables are dependencies.
    _self_setattr_tracking = False

    def __init__(
        self,
        trainable: bool = True,
        name: Any = None,
        dtype: Any = None,
        **kwargs: Any,
    ) -> None:
        LossesAndUpdates.__init__(self)
        scope = kwargs.pop("_scope", None)
        self._reuse = kwargs.pop("_reuse", None)
        for option in kwargs:
            if option not in _KNOWN_OPTIONS:
                raise TypeError("Keyword argument not understood:", option)
        self._trainable = trainable
        self._dtype = None if dtype is None else dtypes.as_dtype(dtype).name
        self.built = False
        self.input_spec: Any = None
        self.stateful = False
        self.supports_masking = False
        self.activity_regularizer = kwargs.get("activity_regularizer")
        self._initial_weights = kwargs.get("weights")
        self._trainable_weights: list[Any] = []
        self._non_trainable_weights: list[Any] = []
        self._name, self._base_name = self._names(name)
        self._current_scope: VariableScope | None = None
        self._always_reuse_scope: Any = None
        self._scope: VariableScope | None = None
        if scope:
            with variable_scope(scope) as captured:
                self._scope = captured

    def _names(self, name: Any) -> tuple[str, str]:
        base = snake_case(type(self).__name__)
        if isinstance(name, VariableScope):
            return unique_layer_name(base), name.name
        if not name:
            return unique_layer_name(base), base
        return name, name

    # --- what it is ---------------------------------------------------------------

    @property
    def name(self) -> str:
        """The layer's name, unique in its graph unless it was given."""
        return self._name

    @property
    def dtype(self) -> str | None:
        """Name of the dtype of its variables, None as long as it is open."""
        return self._dtype

    @property
    def graph(self) -> None:
        """Layers no longer have a graph."""
        return None

    @property
    def dynamic(self) -> bool:
        """Whether it can only run eagerly: never."""
        return False

    @property
    def scope_name(self) -> str:
        """Name of its variable scope.

        Raises:
          ValueError: it was not called yet.
        """
        if self._scope is None:
            raise ValueError(
                f'No name available for layer scope because the layer "{self._name}" '
                "has not been used yet. The scope name  is determined the first time "
                "the layer instance is called. You must therefore call the layer "
                "before querying `scope_name`."
            )
        return self._scope.name

    @property
    def name_scope(self) -> Any:
        """A context manager for the name scope of its operations."""
        return name_scope(self._name_scope())

    @property
    def trainable(self) -> bool:
        """Whether its variables are trained."""
        return self._trainable

    @trainable.setter
    def trainable(self, value: bool) -> None:
        self._trainable = value

    @property
    def trainable_weights(self) -> list[Any]:
        """Variables that are trained."""
        return _unique(self._trainable_weights) if self.trainable else []

    @property
    def non_trainable_weights(self) -> list[Any]:
        """Variables that are not trained."""
        if self.trainable:
            return _unique(self._non_trainable_weights)
        return _unique([*self._trainable_weights, *self._non_trainable_weights])

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

    @property
    def submodules(self) -> tuple[Any, ...]:
        """Layers inside this one: none."""
        return ()

    @property
    def metrics(self) -> list[Any]:
        """Metrics of this layer: none."""
        return []

    def count_params(self) -> int:
        """Number of elements of all variables.

        Raises:
          ValueError: it was not built yet.
        """
        if not self.built:
            raise ValueError(
                f"You tried to call `count_params` on {self.name}, but the layer isn't "
                "built. You can build it manually via: "
                f"`{self.name}.build(batch_input_shape)`."
            )
        sizes = (np.prod(w.shape.as_list(), dtype=np.int64) for w in self.weights)
        return int(sum(sizes))

    def get_config(self) -> dict[str, Any]:
        """The arguments that make an equal layer."""
        return {"name": self.name, "trainable": self.trainable, "dtype": self.dtype}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Any:
        """The reverse of `get_config`."""
        return cls(**config)

    # --- variables ----------------------------------------------------------------

    def _name_scope(self) -> str:
        assert self._current_scope is not None
        return self._current_scope.original_name_scope  # type: ignore[no-any-return]

    def _set_scope(self, scope: Any = None) -> None:
        if self._scope is not None:
            return
        if self._reuse:
            with variable_scope(self._base_name if scope is None else scope) as found:
                self._scope = found
        else:
            with variable_scope(scope, default_name=self._base_name) as found:
                self._scope = found

    def add_variable(self, *args: Any, **kwargs: Any) -> Any:
        """Old name of `add_weight`."""
        return self.add_weight(*args, **kwargs)

    def add_weight(
        self,
        name: str,
        shape: Any,
        dtype: Any = None,
        initializer: Any = None,
        regularizer: Any = None,
        trainable: bool | None = None,
        constraint: Any = None,
        use_resource: bool | None = None,
        synchronization: Any = VariableSynchronization.AUTO,
        aggregation: Any = VariableAggregation.NONE,
        partitioner: Any = None,
        **kwargs: Any,
    ) -> Any:
        """A variable under the layer's scope, made or (when it exists) reused.

        Args are those of `tf.get_variable`.

        Raises:
          ValueError: it should be trained although it is synchronized on reading.
          TypeError: an unknown option.
        """
        for option in kwargs:
            if option != "experimental_autocast":
                raise TypeError("Unknown keyword argument:", option)
        trainable = _is_trainable(trainable, synchronization)
        known = {id(v) for v in global_variables()}
        self._set_scope(None)
        with variable_scope(
            self._scope, reuse=self.built or self._reuse, auxiliary_name_scope=False
        ) as scope:
            self._current_scope = scope
            with name_scope(self._name_scope()):
                variable = get_variable(
                    name,
                    shape=shape,
                    dtype=dtypes.as_dtype(dtype or self.dtype or dtypes.float32),
                    initializer=_initializer(initializer, scope, dtype or self.dtype),
                    trainable=trainable and self.trainable,
                    constraint=constraint,
                    partitioner=partitioner,
                    use_resource=bool(use_resource or scope.use_resource) or None,
                    synchronization=synchronization,
                    aggregation=aggregation,
                )
                if isinstance(variable, Trackable):
                    self._track_trackable(variable, name=name, overwrite=True)
                self._keep(variable, trainable and self.trainable)
                if regularizer and not _is_among(variable, known):
                    self._add_regularization(name, variable, regularizer)
        return variable

    def _keep(self, variable: Any, trainable: bool) -> None:
        """Lists the variable; a scope may have made it not trainable."""
        if trainable and _is_among(variable, {id(v) for v in trainable_variables()}):
            self._trainable_weights.append(variable)
        else:
            self._non_trainable_weights.append(variable)

    def _add_regularization(self, name: str, variable: Any, regularizer: Any) -> None:
        def loss(part: Any) -> Any:
            with name_scope(f"{name}/Regularizer"):
                return regularizer(part)

        parts = variable if isinstance(variable, PartitionedVariable) else [variable]
        for part in parts:
            self.add_loss(functools.partial(loss, part))

    def get_weights(self) -> list[Any]:
        """The variables' values in the default session."""
        return [weight.eval() for weight in self.weights]

    def set_weights(self, weights: Sequence[Any]) -> None:
        """Loads values into the variables, in the default session.

        Raises:
          ValueError: their number or shapes differ.
        """
        own = self.weights
        if len(own) != len(weights):
            raise ValueError(
                f'You called `set_weights(weights)` on layer "{self.name}" with a  '
                f"weight list of length {len(weights)}, but the layer was expecting "
                f"{len(own)} weights."
            )
        for variable, value in zip(own, weights, strict=True):
            if variable.shape.as_list() != list(np.shape(value)):
                raise ValueError(
                    f"Layer weight shape {variable.shape} not compatible with provided "
                    f"weight shape {np.shape(value)}"
                )
            variable.load(value)

    # --- calling ------------------------------------------------------------------

    def build(self, input_shape: Any) -> None:
        """Makes the variables. Called once, before the first `call`."""
        self.built = True

    def call(self, inputs: Any, **kwargs: Any) -> Any:
        """Computes the outputs."""
        return inputs

    def apply(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        """The same as calling the layer."""
        return self.__call__(inputs, *args, **kwargs)

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        """The mask of the outputs: that of the inputs."""
        return mask

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        """Static shape of the output for a shape of the input."""
        graph = Graph()
        with graph.as_default():
            dtype = self.dtype or dtypes.float32
            outputs = self(_placeholder(dtype, as_shape(input_shape)))
        return outputs.shape  # type: ignore[no-any-return]

    def __call__(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        """Builds the layer if need be and computes its outputs.

        Raises:
          ValueError: the inputs do not fit, or `call` returns None.
        """
        self._set_scope(kwargs.pop("scope", None))
        with self._scope_to_enter() as scope:
            self._current_scope = scope
            if "scope" in inspect.signature(self.call).parameters:
                kwargs["scope"] = scope
            inputs = nest.map_structure(_as_tensor, inputs)
            with name_scope(self._name_scope()):
                self._build_once(inputs)
                outputs = self.call(inputs, *args, **kwargs)
                if outputs is None:
                    raise ValueError(
                        "A layer's `call` method should return a Tensor or a list of "
                        f"Tensors, not None (layer: {self.name})."
                    )
                self._regularize_activity(outputs)
        add_new(self.updates, GraphKeys.UPDATE_OPS)
        return outputs

    def _scope_to_enter(self) -> Any:
        if not self.built:
            return variable_scope(
                self._scope, reuse=self._reuse, auxiliary_name_scope=False
            )
        if self._always_reuse_scope is None:
            self._always_reuse_scope = variable_scope(
                self._scope, reuse=True, auxiliary_name_scope=False
            )
        return self._always_reuse_scope

    def _build_once(self, inputs: Any) -> None:
        check_inputs(self.input_spec, inputs, self.name)
        if self.built:
            return
        leaves = nest.flatten(inputs)
        if self._dtype is None and leaves:
            self._dtype = leaves[0].dtype.base_dtype.name
        self.build(nest.map_structure(lambda value: value.shape, inputs))
        self.built = True
        if self._initial_weights is not None:
            self.set_weights(self._initial_weights)

    def _regularize_activity(self, outputs: Any) -> None:
        if self.activity_regularizer is None:
            return
        with name_scope("ActivityRegularizer"):
            for output in nest.flatten(outputs):
                loss = self.activity_regularizer(output)
                batch = math_ops.cast(array_ops.shape(output)[0], loss.dtype)
                self.add_loss(loss / batch)


def _placeholder(dtype: Any, shape: TensorShape) -> Tensor:
    from tensorloom.ops.array.placeholder import placeholder

    return placeholder(dtype, shape)


def _as_tensor(value: Any) -> Any:
    if isinstance(value, (np.ndarray, float, int)):
        return convert_to_tensor(value)
    return value


def _is_trainable(trainable: bool | None, synchronization: Any) -> bool:
    if synchronization == VariableSynchronization.ON_READ:
        if trainable:
            raise ValueError(
                "Synchronization value can be set to VariableSynchronization.ON_READ "
                "only for non-trainable variables. You have specified trainable=True "
                "and synchronization=VariableSynchronization.ON_READ."
            )
        return False
    return True if trainable is None else trainable


def _initializer(initializer: Any, scope: VariableScope, dtype: Any) -> Any:
    """The given one, the scope's, or Glorot's (zeros for integers)."""
    if initializer is not None:
        return initializer
    if scope.initializer is not None:
        return scope.initializer
    kind = dtypes.as_dtype(dtype or dtypes.float32)
    if kind.is_floating:
        return init_ops.GlorotUniform()
    if kind.is_integer or kind.is_unsigned or kind.is_bool:
        return init_ops.Zeros()
    raise ValueError(f"An initializer for a variable of type {kind} is required")


def _is_among(variable: Any, ids: set[int]) -> bool:
    parts = list(variable) if isinstance(variable, PartitionedVariable) else [variable]
    return any(id(part) in ids for part in parts)


def _unique(variables: Sequence[Any]) -> list[Any]:
    return list({id(v): v for v in variables}.values())
