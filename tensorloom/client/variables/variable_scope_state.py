"""What a variable scope is: the defaults of `get_variable`, kept for each graph."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from tensorloom.client.variables.variable_policy import (
    VariableAggregation,
    VariableSynchronization,
)
from tensorloom.client.variables.variable_store import VariableStore
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import (
    GraphKeys,
    add_to_collection,
    get_collection,
    get_collection_ref,
    name_scope,
)
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_conversion import convert_to_tensor


@export("VariableScope")
class VariableScope:
    """The defaults of `get_variable` inside a scope.

    Attributes:
      name: the prefix of the variables' names.
      initializer, regularizer, caching_device, partitioner, custom_getter, dtype,
        use_resource, constraint: defaults for `get_variable`.
      reuse: False or None (new variables), True, or `tf.AUTO_REUSE`.
    """

    def __init__(
        self,
        reuse: Any,
        name: str = "",
        initializer: Any = None,
        regularizer: Any = None,
        caching_device: Any = None,
        partitioner: Any = None,
        custom_getter: Any = None,
        name_scope: Any = "",
        dtype: Any = dtypes.float32,
        use_resource: bool | None = None,
        constraint: Any = None,
    ) -> None:
        self._name = name
        self._initializer = initializer
        self._regularizer = regularizer
        self._reuse = reuse
        self._caching_device = caching_device
        self._partitioner = partitioner
        self._custom_getter = custom_getter
        self._name_scope = name_scope
        self._dtype = dtype
        self._use_resource = use_resource
        self._constraint = constraint

    @property
    def name(self) -> str:
        """The prefix of the variables' names."""
        return self._name

    @property
    def original_name_scope(self) -> Any:
        """The name scope that was entered with the scope."""
        return self._name_scope

    @property
    def reuse(self) -> Any:
        """None, True or AUTO_REUSE."""
        return self._reuse

    @property
    def initializer(self) -> Any:
        """The default initializer."""
        return self._initializer

    @property
    def dtype(self) -> Any:
        """The default dtype."""
        return self._dtype

    @property
    def use_resource(self) -> bool | None:
        """The default kind of variable."""
        return self._use_resource

    @property
    def regularizer(self) -> Any:
        """The default regularizer."""
        return self._regularizer

    @property
    def caching_device(self) -> Any:
        """The default caching device."""
        return self._caching_device

    @property
    def partitioner(self) -> Any:
        """The default partitioner."""
        return self._partitioner

    @property
    def custom_getter(self) -> Any:
        """The default custom getter."""
        return self._custom_getter

    @property
    def constraint(self) -> Any:
        """The default constraint."""
        return self._constraint

    def reuse_variables(self) -> None:
        """From now on, `get_variable` only finds variables that exist."""
        self._reuse = True

    def set_initializer(self, initializer: Any) -> None:
        """Sets the default initializer."""
        self._initializer = initializer

    def set_dtype(self, dtype: Any) -> None:
        """Sets the default dtype."""
        self._dtype = dtype

    def set_use_resource(self, use_resource: bool | None) -> None:
        """Sets the default kind of variable."""
        self._use_resource = use_resource

    def set_regularizer(self, regularizer: Any) -> None:
        """Sets the default regularizer."""
        self._regularizer = regularizer

    def set_caching_device(self, caching_device: Any) -> None:
        """Sets the default caching device."""
        self._caching_device = caching_device

    def set_partitioner(self, partitioner: Any) -> None:
        """Sets the default partitioner."""
        self._partitioner = partitioner

    def set_custom_getter(self, custom_getter: Any) -> None:
        """Sets the default custom getter."""
        self._custom_getter = custom_getter

    def get_collection(self, name: Any) -> list[Any]:
        """The items of a collection that are inside this scope."""
        return get_collection(name, f"{self._name}/" if self._name else "")

    def trainable_variables(self) -> list[Any]:
        """The trainable variables of this scope."""
        return self.get_collection(GraphKeys.TRAINABLE_VARIABLES)

    def global_variables(self) -> list[Any]:
        """The global variables of this scope."""
        return self.get_collection(GraphKeys.GLOBAL_VARIABLES)

    def local_variables(self) -> list[Any]:
        """The local variables of this scope."""
        return self.get_collection(GraphKeys.LOCAL_VARIABLES)

    def get_variable(
        self,
        var_store: VariableStore,
        name: str,
        shape: Any = None,
        dtype: Any = None,
        initializer: Any = None,
        regularizer: Any = None,
        reuse: Any = None,
        trainable: bool | None = None,
        collections: Any = None,
        caching_device: Any = None,
        partitioner: Any = None,
        validate_shape: bool = True,
        use_resource: bool | None = None,
        custom_getter: Any = None,
        constraint: Any = None,
        synchronization: Any = VariableSynchronization.AUTO,
        aggregation: Any = VariableAggregation.NONE,
    ) -> Any:
        """`tf.get_variable` with this scope's defaults, from a store."""
        full_name = f"{self._name}/{name}" if self._name else name
        with name_scope(None):
            if dtype is not None and initializer is not None:
                _check_initializer_dtype(initializer, dtype)
            return var_store.get_variable(
                full_name,
                shape=shape,
                dtype=_either(dtype, self._dtype),
                initializer=_either(initializer, self._initializer),
                regularizer=_either(regularizer, self._regularizer),
                reuse=_either(reuse, self._reuse),
                trainable=trainable,
                collections=collections,
                caching_device=_either(caching_device, self._caching_device),
                partitioner=_either(partitioner, self._partitioner),
                validate_shape=validate_shape,
                use_resource=_either(use_resource, self._use_resource),
                custom_getter=_either(custom_getter, self._custom_getter),
                constraint=_either(constraint, self._constraint),
                synchronization=synchronization,
                aggregation=aggregation,
            )

    def _get_partitioned_variable(
        self,
        var_store: VariableStore,
        name: str | None,
        shape: Any,
        dtype: Any,
        initializer: Any,
        trainable: bool,
        collections: Any,
        partitioner: Any,
    ) -> Any:
        """A partitioned variable with this scope's defaults, from a store.

        Raises:
          ValueError: the scope has a custom getter.
        """
        if self._custom_getter is not None:
            raise ValueError(
                "Private access to _get_partitioned_variable is not allowed when a "
                f"custom getter is set.  Current custom getter: {self._custom_getter}."
            )
        full_name = "/".join(part for part in (self._name, name) if part)
        with name_scope(None):
            return var_store.get_partitioned_variable(
                full_name,
                partitioner=partitioner,
                shape=shape,
                dtype=self._dtype if dtype is None else dtype,
                initializer=self._initializer if initializer is None else initializer,
                reuse=self._reuse,
                regularizer=self._regularizer,
                trainable=trainable,
                collections=collections,
                caching_device=self._caching_device,
                validate_shape=True,
                use_resource=self._use_resource,
                constraint=self._constraint,
                synchronization=VariableSynchronization.AUTO,
                aggregation=VariableAggregation.NONE,
            )


def _either(given: Any, default: Any) -> Any:
    return default if given is None else given


def _check_initializer_dtype(initializer: Any, dtype: Any) -> None:
    if callable(initializer):
        return
    found = convert_to_tensor(initializer).dtype.base_dtype
    if found != dtype:
        raise ValueError(
            f"Initializer type '{found}' and explicit dtype '{dtype}' don't match."
        )


# --- the state of a graph ------------------------------------------------------------


class _ScopeStore(threading.local):
    """The current variable scope of each thread."""

    def __init__(self) -> None:
        self.current_scope = VariableScope(False)
        # How often a scope was opened, for the names of default scopes.
        self.counts: dict[str, int] = {}

    def open_scope(self, name: str) -> None:
        self.counts[name] = self.counts.get(name, 0) + 1

    def close_subscopes(self, name: str) -> None:
        for key in self.counts:
            if name is None or key.startswith(f"{name}/"):
                self.counts[key] = 0


_STORE_KEY = ("__variable_store",)
_SCOPE_STORE_KEY = ("__varscope",)


def scope_store() -> _ScopeStore:
    """The default graph's open variable scope and how often scopes were opened."""
    return _of_graph(_SCOPE_STORE_KEY, _ScopeStore)  # type: ignore[no-any-return]


def default_store() -> VariableStore:
    """The variables that `get_variable` has made in the default graph."""
    return _of_graph(_STORE_KEY, VariableStore)  # type: ignore[no-any-return]


def _of_graph(key: Any, make: Callable[[], Any]) -> Any:
    found = get_collection(key)
    if found:
        return found[0]
    made = make()
    add_to_collection(key, made)
    return made


@contextmanager
def with_variable_store(store: VariableStore) -> Iterator[None]:
    """Uses another store for `get_variable`, such as a template's."""
    collection = get_collection_ref(_STORE_KEY)
    old = list(collection)
    collection[:] = [store]
    try:
        yield
    finally:
        collection[:] = old


@export("get_variable_scope")
def get_variable_scope() -> VariableScope:
    """The current variable scope."""
    return scope_store().current_scope
