"""The base of `tf.layers`: a Keras layer whose variables live in a variable scope."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from tensorloom.client.variables.partitioned_variable import PartitionedVariable
from tensorloom.client.variables.variable_policy import (
    VariableAggregation,
    VariableSynchronization,
)
from tensorloom.client.variables.variable_scope import get_variable, variable_scope
from tensorloom.client.variables.variable_scope_state import VariableScope
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import (
    GraphKeys,
    Tensor,
    get_collection_ref,
    init_scope,
    name_scope,
)
from tensorloom.framework.types import dtypes
from tensorloom.keras.engine import base_layer
from tensorloom.keras.engine.base_layer import call_arguments
from tensorloom.keras.engine.layer_names import snake_case, unique_layer_name
from tensorloom.keras.engine.layer_weights import is_trainable

_SHALLOW = frozenset(["_scope", "_always_reuse_scope"])
_keras_style = False


@export("layers.experimental.keras_style_scope")
@contextmanager
def keras_style_scope() -> Iterator[None]:
    """Layers and cells made inside keep their variables as Keras layers do.

    They take no scope and reuse no variables of others; each has its own.
    """
    global _keras_style
    before = _keras_style
    _keras_style = True
    try:
        yield
    finally:
        _keras_style = before


@export("layers.experimental.set_keras_style")
def set_keras_style() -> None:
    """From now on all layers and cells keep their variables as Keras layers do."""
    global _keras_style
    _keras_style = True


@export("layers.Layer")
class Layer(base_layer.Layer):
    """Base of layers that share variables by variable scopes.

    Subclasses make variables in `build` and compute in `call`.

    Args:
      trainable: whether its variables are.
      name: of its variable scope; made of the class name when None.
      dtype: of its variables; that of its first input when None.

    Raises:
      TypeError: an unknown option.
      ValueError: a scope or reuse inside `keras_style_scope`.
    """

    # What is assigned is an attribute and nothing more.
    _self_setattr_tracking = False
    __setattr__ = object.__setattr__  # type: ignore[assignment]

    def __init__(
        self,
        trainable: bool = True,
        name: Any = None,
        dtype: Any = None,
        **kwargs: Any,
    ) -> None:
        scope = kwargs.pop("_scope", None)
        self._reuse = kwargs.pop("_reuse", None)
        self._use_resource_variables = False
        super().__init__(trainable=trainable, name=name, dtype=dtype, **kwargs)
        self._keras_style = _keras_style
        if _keras_style:
            _check_keras_style("scope", scope)
            _check_keras_style("reuse", self._reuse)
        self._current_scope: VariableScope | None = None
        self._always_reuse_scope: Any = None
        self._scope: VariableScope | None = None
        if scope:
            with variable_scope(scope) as captured:
                self._scope = captured

    def _init_set_name(self, name: Any) -> None:
        base = snake_case(type(self).__name__)
        if isinstance(name, VariableScope):
            self._name, self._base_name = unique_layer_name(base), name.name
        elif not name:
            self._name, self._base_name = unique_layer_name(base), base
        else:
            self._name = self._base_name = name

    @property
    def graph(self) -> None:
        """Layers no longer have a graph."""
        return None

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

    def add_loss(self, losses: Any, inputs: Any = None) -> None:
        """Adds losses of this layer, and to `REGULARIZATION_LOSSES`.

        Args:
          losses: a tensor, a function without arguments that gives one, or several.
          inputs: what the losses depend on; None for losses of the weights.
        """
        known, known_callables = len(self._losses), len(self._callable_losses)
        super().add_loss(losses, inputs=inputs)
        added = self._losses[known:]
        made = [loss() for loss in self._callable_losses[known_callables:]]
        added += [loss for loss in made if loss is not None]
        _add_new(added, GraphKeys.REGULARIZATION_LOSSES)

    def _name_scope(self) -> str:
        if self._keras_style:
            return super()._name_scope()
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

    def add_weight(  # type: ignore[override]
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
          ValueError: it should be trained although it is synchronized on reading, or
            the scope does not allow it.
          TypeError: an unknown option.
        """
        for option in kwargs:
            if option != "experimental_autocast":
                raise TypeError("Unknown keyword argument:", option)
        if self._keras_style:
            return super().add_weight(
                name,
                shape,
                dtype=dtype,
                initializer=initializer,
                regularizer=regularizer,
                trainable=trainable and self.trainable,
                constraint=constraint,
                partitioner=partitioner,
                use_resource=use_resource,
                **kwargs,
            )
        trainable = is_trainable(trainable, synchronization) and self.trainable
        known = _global_variables() if regularizer else frozenset()
        self._set_scope(None)
        with variable_scope(
            self._scope, reuse=self.built or self._reuse, auxiliary_name_scope=False
        ) as scope:
            self._current_scope = scope
            with name_scope(self._name_scope()):
                variable = super().add_weight(
                    name,
                    shape,
                    dtype=dtypes.as_dtype(dtype or self.dtype or dtypes.float32),
                    initializer=(
                        scope.initializer if initializer is None else initializer
                    ),
                    trainable=trainable,
                    constraint=constraint,
                    partitioner=partitioner,
                    use_resource=bool(
                        use_resource
                        or self._use_resource_variables
                        or scope.use_resource
                    )
                    or None,
                    synchronization=synchronization,
                    aggregation=aggregation,
                    getter=get_variable,
                    **kwargs,
                )
                if regularizer and not _is_among(variable, known):
                    self._handle_weight_regularization(name, variable, regularizer)
        if trainable and not _is_trained(variable):
            # A custom getter, or the scope, decided otherwise.
            self._trainable_weights.pop()
            self._non_trainable_weights.append(variable)
        return variable

    def __call__(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        """Builds the layer if need be and computes its outputs.

        Args:
          inputs: tensors, or a structure of them; numbers and arrays are converted.
          args, kwargs: go to `call`; `scope` is the variable scope to use.

        Raises:
          ValueError: the inputs do not fit, or `call` returns None.
        """
        scope = kwargs.pop("scope", None)
        if self._keras_style:
            _check_keras_style("scope", scope)
            return super().__call__(inputs, *args, **kwargs)
        self._set_scope(scope)
        with self._scope_to_enter() as entered:
            self._current_scope = entered
            if call_arguments(getattr(self.call, "__func__", self.call)).scope:
                kwargs["scope"] = entered
            outputs = super().__call__(inputs, *args, **kwargs)
        if self._updates:
            _add_new(self.updates, GraphKeys.UPDATE_OPS)
        return outputs

    def _scope_to_enter(self) -> Any:
        if not self.built:
            return variable_scope(
                self._scope, reuse=self._reuse, auxiliary_name_scope=False
            )
        # From now on it only finds what it made.
        if self.__dict__.get("_always_reuse_scope") is None:
            self._always_reuse_scope = variable_scope(
                self._scope, reuse=True, auxiliary_name_scope=False
            )
        return self._always_reuse_scope

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        made = type(self).__new__(type(self))
        memo[id(self)] = made
        for key, value in self.__dict__.items():
            if key in _SHALLOW:
                made.__dict__[key] = copy.copy(value)
            elif _holds_tensors(value):
                made.__dict__[key] = value
            else:
                made.__dict__[key] = copy.deepcopy(value, memo)
        return made


def _check_keras_style(what: str, value: Any) -> None:
    if value is not None:
        raise ValueError(
            f"{what} argument not allowed when keras style layers are enabled, but "
            f"saw: {value}"
        )


def _holds_tensors(value: Any) -> bool:
    first = value[0] if isinstance(value, (list, tuple)) and value else value
    return isinstance(first, Tensor)


def _global_variables() -> frozenset[int]:
    with init_scope():
        return frozenset(map(id, get_collection_ref(GraphKeys.GLOBAL_VARIABLES)))


def _is_among(variable: Any, ids: frozenset[int]) -> bool:
    parts = list(variable) if isinstance(variable, PartitionedVariable) else [variable]
    return any(id(part) in ids for part in parts)


def _is_trained(variable: Any) -> bool:
    with init_scope():
        trained = get_collection_ref(GraphKeys.TRAINABLE_VARIABLES)
    if trained and trained[-1] is variable:
        return True
    return any(known is variable for known in trained)


def _add_new(elements: Iterable[Any], key: str) -> None:
    """Adds to a collection of the graph those that are not in it yet."""
    collection = get_collection_ref(key)
    present = set(map(id, collection))
    for element in elements:
        if id(element) not in present:
            present.add(id(element))
            collection.append(element)
