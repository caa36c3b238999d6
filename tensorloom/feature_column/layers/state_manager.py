"""Who keeps the variables and tables of columns, which have no state themselves."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from tensorloom.client.variables.variable_scope import get_variable


class StateManager:
    """What columns make and find variables and tables with."""

    def create_variable(
        self,
        feature_column: Any,
        name: str,
        shape: Any,
        dtype: Any = None,
        trainable: bool = True,
        use_resource: bool = True,
        initializer: Any = None,
    ) -> Any:
        """Makes a variable of a column.

        Args:
          feature_column: whose it is.
          name, shape, trainable, use_resource, initializer: of the variable.
          dtype: float32, or the manager's, by default.
        """
        raise NotImplementedError("StateManager.create_variable")

    def add_variable(self, feature_column: Any, var: Any) -> None:
        """Keeps a variable that exists."""
        raise NotImplementedError("StateManager.add_variable")

    def get_variable(self, feature_column: Any, name: str) -> Any:
        """The variable of a column."""
        raise NotImplementedError("StateManager.get_var")

    def add_resource(self, feature_column: Any, name: str, resource: Any) -> Any:
        """Keeps a resource, such as a table."""
        raise NotImplementedError("StateManager.add_resource")

    def get_resource(self, feature_column: Any, name: str) -> Any:
        """The resource of a column."""
        raise NotImplementedError("StateManager.get_resource")


class _StateManagerImpl(StateManager):
    """Keeps what the columns of a layer make, as variables of the layer.

    Args:
      layer: the layer; None where there are only tables.
      trainable: whether variables are, unless a column says that they are not.
    """

    def __init__(self, layer: Any, trainable: bool) -> None:
        self._trainable = trainable
        self._layer = layer
        if layer is not None and not hasattr(layer, "_resources"):
            layer._resources = []
        self._cols_to_vars_map: dict[Any, dict[str, Any]] = defaultdict(dict)
        self._cols_to_resources_map: dict[Any, dict[str, Any]] = defaultdict(dict)

    def create_variable(
        self,
        feature_column: Any,
        name: str,
        shape: Any,
        dtype: Any = None,
        trainable: bool = True,
        use_resource: bool = True,
        initializer: Any = None,
    ) -> Any:
        """See `StateManager`. Raises ValueError: there is one of this name."""
        known = self._cols_to_vars_map[feature_column]
        if name in known:
            raise ValueError(
                f"Variable already exists. Column {feature_column.name} has {name!r}."
            )
        known[name] = self._layer.add_variable(
            name=name,
            shape=shape,
            dtype=dtype,
            initializer=initializer,
            trainable=self._trainable and trainable,
            use_resource=use_resource,
            **self._options(),
        )
        return known[name]

    def _options(self) -> dict[str, Any]:
        # A scope's partitioner cuts the variables.
        return {"getter": get_variable}

    def get_variable(self, feature_column: Any, name: str) -> Any:
        """See `StateManager`. Raises ValueError: there is none of this name."""
        known = self._cols_to_vars_map[feature_column]
        if name not in known:
            raise ValueError(
                f"Variable does not exist. Column {_name(feature_column)} has no "
                f"{name!r}."
            )
        return known[name]

    def add_resource(self, feature_column: Any, name: str, resource: Any) -> None:
        """See `StateManager`."""
        self._cols_to_resources_map[feature_column][name] = resource
        if self._layer is not None:
            self._layer._resources.append(resource)

    def get_resource(self, feature_column: Any, name: str) -> Any:
        """See `StateManager`. Raises ValueError: there is none of this name."""
        known = self._cols_to_resources_map[feature_column]
        if name not in known:
            raise ValueError(
                f"Resource does not exist. Column {_name(feature_column)} has no "
                f"{name!r}."
            )
        return known[name]


class _StateManagerImplV2(_StateManagerImpl):
    """The same with variables that know no variable scope, as in TensorFlow 2."""

    def _options(self) -> dict[str, Any]:
        return {}


def _name(column: Any) -> str:
    return str(getattr(column, "name", column))
