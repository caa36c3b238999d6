"""`Network` and `Sequential`: layers of layers, before Keras models were there."""

from __future__ import annotations

import weakref
from typing import Any, Final

from tensorloom.client.variables.variable_scope import (
    get_variable_scope,
    variable_scope,
)
from tensorloom.client.variables.variable_scope_state import (
    VariableScope,
    scope_store,
)
from tensorloom.compat.internals.deprecation import deprecated
from tensorloom.estimator.function_arguments import argument_names
from tensorloom.framework.export import export
from tensorloom.keras.engine.layer_names import snake_case, unique_layer_name
from tensorloom.layers.base import Layer

NO_TRACKING: Final = (
    "tfe.Network does not support object-based checkpointing. Inherit from "
    "`tf.keras.Model` instead of tfe.Network."
)
_OLD: Final = (None, "Please inherit from `tf.keras.Model` instead of tfe.Network.")

# What a network without a parent has as its first parent.
_NOBODY: Final = object()


@export("contrib.eager.Network")
class Network(Layer):
    """A layer of layers; the names of variables follow the nesting.

    class Two(tf.contrib.eager.Network):
        def __init__(self, name=None):
            super().__init__(name=name)
            self.one = self.track_layer(tf.layers.Dense(16))
            self.two = self.track_layer(tf.layers.Dense(1))

        def call(self, inputs):
            return self.two(self.one(inputs))
    """

    @deprecated(*_OLD)
    def __init__(self, name: str | None = None) -> None:
        """Makes a network.

        Args:
          name: unique where it is first used; one of the class's name when None, once
            it is added to another network or called.

        Raises:
          ValueError: the name is a scope or has a slash.
        """
        if isinstance(name, VariableScope):
            raise ValueError("VariableScopes are not valid Network names.")
        if name is not None and "/" in name:
            raise ValueError("Forward slashes ('/') are not allowed in Network names.")
        super().__init__(name=name)
        self._layers: list[Any] = []
        self._names_of_layers: dict[Any, int] = {}
        # None, `_NOBODY` for a network that is at the top, or a weak reference.
        self._first_parent: Any = None
        self._scopeless: list[Any] = []
        self._owned_layers: dict[str, Any] = {}
        # The scope to use if there is no parent, and the names that it has: those of
        # scopes that are opened later, too.
        self._outer_scope = get_variable_scope()
        self._taken = scope_store().counts

    def _gather_saveables_for_checkpoint(self) -> Any:
        raise NotImplementedError(NO_TRACKING)

    def _init_set_name(self, name: Any) -> None:
        self._name = name
        self._base_name: Any = None

    def _finalize_name(self, parent: Network | None) -> None:
        """Sets the name for good; None: there is no parent."""
        if not self._name:
            base = snake_case(type(self).__name__)
            if parent is not None:
                names: Any = parent._names_of_layers
                avoid: Any = parent._owned_layers
            else:
                names = None
                prefix = self._outer_scope.name
                prefix = f"{prefix}/" if prefix else ""
                avoid = {
                    name[len(prefix) :]
                    for name in self._taken
                    if name and name.startswith(prefix)
                }
            self._name = unique_layer_name(
                base, True, names, avoid, self._outer_scope.name
            )
            self._base_name = base
        if self._parent_of(self) is None and self._first_parent is not _NOBODY:
            self._first_parent = _NOBODY if parent is None else weakref.ref(parent)

    @staticmethod
    def _parent_of(layer: Any) -> Any:
        found = getattr(layer, "_first_parent", None)
        return None if found is None or found is _NOBODY else found()

    def _set_scope(self, scope: Any = None) -> None:
        if self._scope is not None:
            return
        parent = self._parent_of(self)
        if parent is None and self._first_parent is not _NOBODY:
            # Nobody added it before its first call: it stays at the top.
            self._finalize_name(None)
        if scope is not None:
            raise ValueError("Networks may not be created with explicit scopes.")
        if parent is not None:
            parent._set_scope()
        outer = self._outer_scope if parent is None else parent._scope
        with variable_scope(outer) as outer_scope:
            self._open_scope(parent, outer_scope.name)
        for layer in self._scopeless:
            self._set_scope_of_layer(layer)

    def _open_scope(self, parent: Any, outer_name: str) -> None:
        problem = (
            f"A Network named '{self._name}' already exists (or a variable_scope was "
            "created with this name). Names must be unique."
        )
        if f"{outer_name}/{self._name}" in self._taken:
            raise ValueError(problem)
        with variable_scope(None, use_resource=True, default_name=self._name) as scope:
            self._scope = scope
        prefix, _, last = scope.name.rpartition("/")
        if last != self._name:
            raise ValueError(problem)
        if parent is not None and prefix != parent.scope_name:
            raise ValueError(
                "Network variable names must match a nesting of sub-Network names. "
                f"Expected prefix '{parent.scope_name}' from parent network, but got "
                f"'{prefix}' when attempting to create a variable_scope for Network "
                f"'{self._name}'. Likely an explicit variable_scope was inserted into "
                "the nesting."
            )
        if parent is None and prefix:
            self._name = scope.name

    def _set_scope_of_layer(self, layer: Any) -> None:
        """Gives a layer that is no network the scope of its nesting."""
        if layer._scope is not None:
            return
        parent = self._parent_of(layer)
        if parent is None:
            self._finalize_name(None)
            raise ValueError(
                f"The parent of a Layer added to Network {self.name} was garbage "
                "collected before the Layer was built. If this limitation bothers you "
                "please file a feature request."
            )
        parent._set_scope()
        with (
            variable_scope(parent._scope),
            variable_scope(None, use_resource=True, default_name=layer.name) as scope,
        ):
            layer._scope = scope

    @property
    def name(self) -> str:  # type: ignore[override]
        """The name.

        Raises:
          ValueError: it has none yet.
        """
        if self._name is None:
            raise ValueError(
                "The network does not yet have a final name, but a name was requested "
                "for it. Networks get a name when they are added to another Network "
                "via track_layer, or when they are first called/built."
            )
        return self._name

    def track_layer(self, layer: Any) -> Any:
        """Adds a layer or network, and returns it.

        Raises:
          RuntimeError: `Network.__init__` was not called.
          TypeError: no layer.
          ValueError: there is another layer of this name.
        """
        if not hasattr(self, "_owned_layers"):
            raise RuntimeError("Need to call Network.__init__ before adding layers")
        if not isinstance(layer, Layer):
            raise TypeError(
                f"Network.track_layer() passed type {type(layer)}, not a "
                "tf.layers.Layer"
            )
        layer._use_resource_variables = True
        if isinstance(layer, Network):
            layer._finalize_name(self)
        else:
            self._name_layer(layer)
        if not layer.built and self._parent_of(layer) is self:
            known = self._owned_layers.setdefault(layer.name, layer)
            if known is not layer:
                raise ValueError(
                    f"Attempt to add two Layers with the name '{layer.name}' to the "
                    "same Network."
                )
            if any(found is layer for found in self._layers):
                return layer
        self._layers.append(layer)
        return layer

    def _name_layer(self, layer: Any) -> None:
        """Names a layer as if it were a network: names count within the parent."""
        if not layer.built:
            if self._parent_of(layer) is None:
                if layer._name != layer._base_name:
                    base = snake_case(type(layer).__name__)
                    layer._name = unique_layer_name(
                        base, True, self._names_of_layers, self._owned_layers
                    )
                    layer._base_name = base
                layer._first_parent = weakref.ref(self)
            self._scopeless.append(layer)

    def get_layer(self, name: str | None = None, index: int | None = None) -> Any:
        """A layer by its name, or by its place.

        Raises:
          ValueError: both or none are given, or there is no such layer.
        """
        if index is not None:
            if name is not None:
                raise ValueError("Exactly one of 'index' or 'name' must be provided")
            if len(self._layers) <= index:
                raise ValueError(
                    f"Was asked to retrieve layer at index {index} but model only has "
                    f"{len(self._layers)} layers."
                )
            return self._layers[index]
        if not name:
            raise ValueError("Provide either a layer name or layer index.")
        for layer in self._layers:
            if layer.name == name:
                return layer
        raise ValueError(f"No such layer: {name}")

    @property
    def layers(self) -> list[Any]:
        """The layers, in the order in which they were added."""
        return self._layers

    def _of_layers(self, attribute: str) -> list[Any]:
        return [found for layer in self._layers for found in getattr(layer, attribute)]

    @property
    def weights(self) -> list[Any]:
        """The variables of all layers."""
        return self._of_layers("weights")

    @property
    def trainable_weights(self) -> list[Any]:
        """Those that are trained."""
        return self._of_layers("trainable_weights")

    @property
    def non_trainable_weights(self) -> list[Any]:
        """Those that are not trained."""
        return self._of_layers("non_trainable_weights")

    @property
    def losses(self) -> list[Any]:
        """The losses of all layers."""
        return self._of_layers("losses")

    @property
    def trainable(self) -> bool:
        """True. Which variables are trained is for the optimizer to say.

        Raises:
          AttributeError: when it is set to false.
        """
        return True

    @trainable.setter
    def trainable(self, value: bool) -> None:
        if not value:
            raise AttributeError("cannot mark Network as not trainable")

    def add_variable(self, *args: Any, **kwargs: Any) -> Any:
        """Raises RuntimeError: variables belong to the network's layers."""
        raise RuntimeError(
            "add_variable not supported in Network class yet: add it in a layer of the "
            "network."
        )

    def add_loss(self, losses: Any, inputs: Any = None) -> None:
        """Raises RuntimeError: losses belong to the network's layers."""
        raise RuntimeError(
            "add_loss is not supported in Network class yet: add it in a layer of the "
            "network."
        )


@export("contrib.eager.Sequential")
class Sequential(Network):
    """Layers or functions, each of which takes what the one before it gives."""

    def __init__(self, layers_funcs: Any = None, name: str | None = None) -> None:
        """Makes a network.

        Args:
          layers_funcs: layers and functions, in their order.
          name: see `Network`.
        """
        super().__init__(name=name)
        self._layers_funcs: list[tuple[bool, Any]] = []
        for layer_func in layers_funcs or ():
            self.add(layer_func)

    def add(self, layer_func: Any) -> None:
        """Adds a layer or a function at the end.

        Raises:
          TypeError: neither.
        """
        if isinstance(layer_func, Layer):
            names = argument_names(layer_func.call)
            self.track_layer(layer_func)
        elif callable(layer_func):
            names = argument_names(layer_func)
        else:
            raise TypeError(
                "Sequential.add() takes only tf.layers.Layer objects or callables; "
                f"not '{layer_func}' of type '{type(layer_func)}'."
            )
        self._layers_funcs.append(("training" in names, layer_func))

    def call(  # type: ignore[override]
        self, inputs: Any, training: Any = None
    ) -> Any:
        """What the last layer gives.

        Args:
          inputs: for the first layer.
          training: goes to the layers that take it, if it is not None.
        """
        for takes_training, layer in self._layers_funcs:
            if training is not None and takes_training:
                inputs = layer(inputs, training)
            else:
                inputs = layer(inputs)
        return inputs
