"""`tf.variable_scope` and `tf.get_variable`: sharing variables by name."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from types import TracebackType
from typing import Any

from tensorloom.client.variables.ref_variable import RefVariable
from tensorloom.client.variables.resource_variable import ResourceVariable
from tensorloom.client.variables.variable_makers import register_variable_maker
from tensorloom.client.variables.variable_policy import (
    VariableAggregation,
    VariableSynchronization,
)
from tensorloom.client.variables.variable_scope_state import (
    VariableScope,
    default_store,
    get_variable_scope,
    scope_store,
    with_variable_store,
)
from tensorloom.client.variables.variable_store import (
    AUTO_REUSE,
    resource_variables_enabled,
)
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import (
    GraphKeys,
    get_default_graph,
    get_name_scope,
    graph_from_inputs,
    name_scope,
)

__all__ = [
    "VariableScope",
    "default_variable_creator",
    "get_local_variable",
    "get_partitioned_variable",
    "get_variable",
    "get_variable_scope",
    "no_regularizer",
    "variable_creator_scope",
    "variable_op_scope",
    "variable_scope",
    "with_variable_store",
]


@export("get_variable")
def get_variable(
    name: str,
    shape: Any = None,
    dtype: Any = None,
    initializer: Any = None,
    regularizer: Any = None,
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
    """The variable of that name in the current scope, made if the scope allows it.

    Args:
      name: under the scope's name.
      shape: of the variable; None when the initializer is a value.
      dtype: float32 when neither argument nor scope says otherwise.
      initializer: a function `(shape, dtype, partition_info) -> tensor`, a value, or
        None for the scope's (Glorot uniform, or zeros).
      regularizer: tensor -> tensor or None; goes to `REGULARIZATION_LOSSES`.
      trainable, collections, caching_device, validate_shape, use_resource, constraint,
        synchronization, aggregation: see `Variable`.
      partitioner: makes it a PartitionedVariable.
      custom_getter: called in place of the true getter, which it gets first.

    Raises:
      ValueError: it exists and the scope does not reuse, it does not exist and the
        scope only reuses, or shape, dtype and initializer do not agree.
    """
    return get_variable_scope().get_variable(
        default_store(),
        name,
        shape=shape,
        dtype=dtype,
        initializer=initializer,
        regularizer=regularizer,
        trainable=trainable,
        collections=collections,
        caching_device=caching_device,
        partitioner=partitioner,
        validate_shape=validate_shape,
        use_resource=use_resource,
        custom_getter=custom_getter,
        constraint=constraint,
        synchronization=synchronization,
        aggregation=aggregation,
    )


@export("get_local_variable")
def get_local_variable(
    name: str,
    shape: Any = None,
    dtype: Any = None,
    initializer: Any = None,
    regularizer: Any = None,
    trainable: bool = False,
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
    """`get_variable` for `LOCAL_VARIABLES`: not trained, not saved."""
    return get_variable(
        name,
        shape=shape,
        dtype=dtype,
        initializer=initializer,
        regularizer=regularizer,
        trainable=False,
        collections=[*(collections or ()), GraphKeys.LOCAL_VARIABLES],
        caching_device=caching_device,
        partitioner=partitioner,
        validate_shape=validate_shape,
        use_resource=use_resource,
        custom_getter=custom_getter,
        constraint=constraint,
        synchronization=synchronization,
        aggregation=aggregation,
    )


def get_partitioned_variable(name: str | None, **options: Any) -> Any:
    """A partitioned variable of the current scope, as a PartitionedVariable."""
    return get_variable_scope()._get_partitioned_variable(
        default_store(), name, **options
    )


@export("no_regularizer")
def no_regularizer(_: Any) -> None:
    """Stands for "no regularization" where a scope has a default regularizer."""


# --- entering a scope ----------------------------------------------------------------


class PureVariableScope:
    """Enters a variable scope without a name scope."""

    def __init__(
        self,
        name_or_scope: Any,
        old_name_scope: Any,
        reuse: Any,
        custom_getter: Any,
        constraint: Any,
        defaults: dict[str, Any],
    ) -> None:
        self._name_or_scope = name_or_scope
        self._old_name_scope = old_name_scope
        self._reuse = reuse
        self._custom_getter = custom_getter
        self._constraint = constraint
        self._defaults = defaults
        self._store = scope_store()
        self._cached: VariableScope | None = None

    def _scope_from(
        self, base: VariableScope, name: str, scope: Any, reuse: Any
    ) -> VariableScope:
        made = VariableScope(
            reuse,
            name=name,
            initializer=base.initializer,
            regularizer=base.regularizer,
            caching_device=base.caching_device,
            partitioner=base.partitioner,
            dtype=base.dtype,
            custom_getter=base.custom_getter,
            name_scope=scope,
            use_resource=base.use_resource,
            constraint=self._constraint,
        )
        for key, value in self._defaults.items():
            if value is not None:
                setattr(made, f"_{key}", value)
        if self._custom_getter is not None:
            made.set_custom_getter(
                _chained_getter(self._custom_getter, base.custom_getter)
            )
        return made

    def __enter__(self) -> VariableScope:
        store, given = self._store, self._name_or_scope
        old = self._old = store.current_scope
        if isinstance(given, VariableScope):
            self._new_name = given.name
            if self._cached is None:
                self._cached = self._scope_from(
                    given, given.name, given._name_scope, self._reuse or given.reuse
                )
            store.open_scope(self._new_name)
            self._old_counts = dict(store.counts)
            entered = self._cached
        else:
            self._new_name = f"{old.name}/{given}" if old.name else given
            self._reuse = self._reuse or old.reuse
            scope = given if self._old_name_scope is None else self._old_name_scope
            entered = self._scope_from(old, self._new_name, scope, self._reuse)
            store.open_scope(self._new_name)
        store.current_scope = self._entered = entered
        return entered

    def __exit__(self, *exc_info: object) -> None:
        store = self._store
        if store.current_scope is not self._entered:
            raise RuntimeError("Improper nesting of variable_scope.")
        if isinstance(self._name_or_scope, VariableScope):
            store.counts = self._old_counts
        else:
            store.close_subscopes(self._new_name)
        store.current_scope = self._old


def _chained_getter(custom_getter: Callable[..., Any], outer: Any) -> Any:
    """A getter whose true getter is the getter of the scope around it."""
    if outer is None:
        return custom_getter

    def chained(getter: Any, *args: Any, **kwargs: Any) -> Any:
        return custom_getter(functools.partial(outer, getter), *args, **kwargs)

    return chained


def unique_default_name(prefix: str) -> str:
    """`prefix`, with a number if the open scope has such a scope already."""
    store, current = scope_store(), get_variable_scope()
    name = f"{current.name}/{prefix}" if current.name else prefix
    if not store.counts.get(name, 0):
        return prefix
    index = 1
    while store.counts.get(f"{name}_{index}", 0):
        index += 1
    return f"{prefix}_{index}"


@export("variable_scope")
class variable_scope:
    """Context manager: a scope for variable names, with defaults for `get_variable`.

    Args:
      name_or_scope: a name, or a VariableScope to enter again.
      default_name: used, made unique, when `name_or_scope` is None.
      values: tensors whose graph becomes the default.
      initializer, regularizer, caching_device, partitioner, custom_getter, dtype,
        use_resource, constraint: defaults for `get_variable`.
      reuse: True, None (inherit), or `tf.AUTO_REUSE`.
      auxiliary_name_scope: False enters no name scope.

    Raises:
      TypeError, ValueError: an argument is of a wrong kind.
    """

    def __init__(
        self,
        name_or_scope: Any,
        default_name: str | None = None,
        values: Any = None,
        initializer: Any = None,
        regularizer: Any = None,
        caching_device: Any = None,
        partitioner: Any = None,
        custom_getter: Any = None,
        reuse: Any = None,
        dtype: Any = None,
        use_resource: bool | None = None,
        constraint: Any = None,
        auxiliary_name_scope: bool = True,
    ) -> None:
        if default_name is None and name_or_scope is None:
            raise TypeError("If default_name is None then name_or_scope is required")
        if reuse is False:  # not reusing is inherited as nothing
            reuse = None
        if not (reuse is True or reuse is None or reuse is AUTO_REUSE):
            raise ValueError("The reuse parameter must be True or False or None.")
        if not isinstance(auxiliary_name_scope, bool):
            raise TypeError(
                "The auxiliary_name_scope must be `True` or `False`, while get "
                f"{auxiliary_name_scope}"
            )
        self._name_or_scope = name_or_scope
        self._default_name = default_name
        self._reuse = reuse
        self._custom_getter = custom_getter
        self._constraint = constraint
        self._defaults = {
            "initializer": initializer,
            "regularizer": regularizer,
            "caching_device": caching_device,
            "partitioner": partitioner,
            "dtype": dtype,
            "use_resource": use_resource,
        }
        self._auxiliary_name_scope = auxiliary_name_scope
        self._graph = graph_from_inputs(values or [])
        self._name_scope: Any = None
        self._pure: PureVariableScope | None = None

    def __enter__(self) -> VariableScope:
        with ExitStack() as stack:
            if not get_default_graph().building_function:
                stack.enter_context(self._graph.as_default())
            if self._pure is None:
                entered = self._enter_first(stack)
            else:
                if self._name_scope is not None:
                    stack.enter_context(self._name_scope)
                entered = stack.enter_context(self._pure)
            self._stack = stack.pop_all()
        return entered

    def _enter_first(self, stack: ExitStack) -> VariableScope:
        given = self._name_or_scope
        if given is not None and not isinstance(given, VariableScope | str):
            raise TypeError(
                "VariableScope: name_or_scope must be a string or VariableScope."
            )
        if given is None and self._reuse:
            raise ValueError("reuse=True cannot be used without a name_or_scope")
        scope_name = self._name_scope_to_enter()
        if scope_name is not None:
            self._name_scope = name_scope(scope_name)
            scope_name = stack.enter_context(self._name_scope)
        if given is None:
            given = unique_default_name(self._default_name or "")
            old_name_scope = scope_name
        elif isinstance(given, VariableScope):
            old_name_scope = given.original_name_scope
        else:
            old_name_scope = scope_name
        self._pure = PureVariableScope(
            given,
            old_name_scope,
            self._reuse,
            self._custom_getter,
            self._constraint,
            self._defaults,
        )
        return stack.enter_context(self._pure)

    def _name_scope_to_enter(self) -> str | None:
        """The name scope to open; None for none."""
        if not self._auxiliary_name_scope:
            current = get_name_scope()
            return f"{current}/" if current else ""
        given = self._name_or_scope
        if given is None:
            return self._default_name
        name: str = given if isinstance(given, str) else given.name.split("/")[-1]
        return name or None

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._stack.__exit__(exc_type, exc, traceback)


@export("variable_op_scope")
@contextmanager
def variable_op_scope(
    values: Any,
    name_or_scope: Any,
    default_name: str | None = None,
    initializer: Any = None,
    regularizer: Any = None,
    caching_device: Any = None,
    partitioner: Any = None,
    custom_getter: Any = None,
    reuse: Any = None,
    dtype: Any = None,
    use_resource: bool | None = None,
    constraint: Any = None,
) -> Iterator[VariableScope]:
    """Old spelling of `variable_scope(name_or_scope, default_name, values)`."""
    with variable_scope(
        name_or_scope,
        default_name=default_name,
        values=values,
        initializer=initializer,
        regularizer=regularizer,
        caching_device=caching_device,
        partitioner=partitioner,
        custom_getter=custom_getter,
        reuse=reuse,
        dtype=dtype,
        use_resource=use_resource,
        constraint=constraint,
    ) as scope:
        yield scope


# --- variable creators ---------------------------------------------------------------


def default_variable_creator(next_creator: Any = None, **options: Any) -> Any:
    """Makes a variable of the kind that argument, scope and default ask for."""
    use_resource = options.pop("use_resource", None)
    if use_resource is None:
        use_resource = get_variable_scope().use_resource
    if use_resource is None:
        use_resource = resource_variables_enabled()
    if use_resource:
        options.pop("expected_shape", None)
        return ResourceVariable(**options)
    options.pop("distribute_strategy", None)
    return RefVariable(**options)


register_variable_maker("default", default_variable_creator)
register_variable_maker("reference", RefVariable)
register_variable_maker("resource", ResourceVariable)


@export("variable_creator_scope")
@contextmanager
def variable_creator_scope(variable_creator: Callable[..., Any]) -> Iterator[None]:
    """Calls `variable_creator(next_creator, **options)` for variables made inside."""
    stack = get_default_graph()._variable_creators
    entry = (100, variable_creator)
    stack.append(entry)
    try:
        yield
    finally:
        stack.remove(entry)
