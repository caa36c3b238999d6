"""`tf.make_template`: a function whose variables are made once and then shared."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tensorloom.client.program import program_log
from tensorloom.client.variables.variable_scope import (
    PureVariableScope,
    unique_default_name,
    variable_creator_scope,
    variable_scope,
)
from tensorloom.framework.export import export
from tensorloom.framework.graph import source
from tensorloom.framework.graph.graph import (
    GraphKeys,
    get_collection,
    get_collection_ref,
)
from tensorloom.framework.types.trackable import Trackable

if TYPE_CHECKING:
    from tensorloom.client.variables.variable_scope_state import VariableScope


@export("make_template")
def make_template(
    name_: str,
    func_: Callable[..., Any],
    create_scope_now_: bool = False,
    unique_name_: str | None = None,
    custom_getter_: Callable[..., Any] | None = None,
    **kwargs: Any,
) -> Template:
    """A callable that runs `func_` in a variable scope of its own.

    The first call makes the variables, the later ones reuse them.

    Args:
      name_: of the scope; made unique.
      func_: what to call; it makes its variables with `tf.get_variable`.
      create_scope_now_: whether the scope is made here, not by the first call.
      unique_name_: of the scope, taken as it is.
      custom_getter_: see `tf.get_variable`.
      **kwargs: handed to `func_` in each call.

    Raises:
      ValueError: `name_` is None.
    """
    if kwargs:
        func_ = functools.partial(func_, **kwargs)
    return Template(name_, func_, create_scope_now_, unique_name_, custom_getter_)


class _Making(threading.local):
    """The innermost template that a variable is being made in, with its scope."""

    parent: tuple[Template, str] | None = None


_making = _Making()


class Template(Trackable):
    """What `make_template` returns."""

    def __init__(
        self,
        name: str,
        func: Callable[..., Any],
        create_scope_now: bool = False,
        unique_name: str | None = None,
        custom_getter: Callable[..., Any] | None = None,
    ) -> None:
        if name is None:
            raise ValueError("name cannot be None.")
        self._func = func
        self._name = name
        self._unique_name = unique_name
        self._custom_getter = custom_getter
        self._made_at = source.capture(2)
        self._variable_scope: VariableScope | None = None
        self._variables_created = False
        self._first_call = True
        if create_scope_now:
            scope_name = unique_name or unique_default_name(name)
            pure = PureVariableScope(scope_name, None, None, custom_getter, None, {})
            with pure as scope:
                self._variable_scope = scope

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Calls the function in the template's scope.

        Raises:
          ValueError: a call after the first makes a trainable variable.
        """
        known = self._variable_scope
        if known is not None:
            with variable_scope(known, reuse=not self._first_call):
                return self._call(args, kwargs)
        with variable_scope(
            self._unique_name, self._name, custom_getter=self._custom_getter
        ) as scope:
            self._variable_scope = scope
            return self._call(args, kwargs)

    def _call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        try:
            if self._variables_created:
                return self._call_again(args, kwargs)
            first, self._first_call = self._first_call, False
            try:
                with variable_creator_scope(self._track_made):
                    result = self._func(*args, **kwargs)
            except BaseException:
                self._first_call = first
                raise
            self._variables_created = True
            return result
        except Exception as error:
            made_at = source.describe(self._made_at)
            text = error.args[0] if error.args else ""
            told = f"{text}\n\noriginally defined at:\n{made_at}"
            error.args = (told, *error.args[1:])
            raise

    def _track_made(self, next_creator: Callable[..., Any], **kwargs: Any) -> Any:
        """Makes a variable, and the template depend on it, or on the one inside it."""
        assert self._variable_scope is not None
        scope = self._variable_scope.name
        name = kwargs.get("name") or ""
        inner = _making.parent
        if inner is None:
            _making.parent = self, scope
        try:
            if inner is not None and name.startswith(scope):
                child, child_scope = inner
                local_name = child_scope[len(scope) + 1 :]
                self._track_trackable(child, name=local_name, overwrite=True)
                _making.parent = self, scope
            variable = next_creator(**kwargs)
        finally:
            _making.parent = inner
        if inner is None and name.startswith(scope) and isinstance(variable, Trackable):
            local_name = name[len(scope) + 1 :]
            self._track_trackable(variable, name=local_name, overwrite=True)
        return variable

    def _call_again(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        trainable = get_collection_ref(GraphKeys.TRAINABLE_VARIABLES)
        variables = get_collection_ref(GraphKeys.GLOBAL_VARIABLES)
        before, before_all = len(trainable), len(variables)
        result = self._func(*args, **kwargs)
        if len(trainable) != before:
            raise ValueError(
                "Trainable variable created when calling a template after the first "
                "time, perhaps you used tf.Variable when you meant tf.get_variable: "
                f"{trainable[before:]}"
            )
        if len(variables) != before_all:
            program_log.info(
                "New variables created when calling a template after the first time, "
                "perhaps you used tf.Variable when you meant tf.get_variable: %s",
                variables[before_all:],
            )
        return result

    @property
    def name(self) -> str:
        """The name that was asked for."""
        return self._name

    @property
    def func(self) -> Callable[..., Any]:
        """The function."""
        return self._func

    @property
    def variable_scope(self) -> VariableScope | None:
        """The scope; None before it is made."""
        return self._variable_scope

    @property
    def var_scope(self) -> VariableScope | None:
        """Old name of `variable_scope`."""
        return self._variable_scope

    @property
    def variable_scope_name(self) -> str | None:
        """The prefix of the variables' names, with a `/`."""
        if self._variable_scope is None:
            return None
        name = self._variable_scope.name
        return name if not name or name.endswith("/") else name + "/"

    def _collection(self, key: str) -> list[Any]:
        if not self._variables_created:
            return []
        return get_collection(key, self.variable_scope_name)

    @property
    def variables(self) -> list[Any]:
        """The global and local variables."""
        return self.global_variables + self.local_variables

    @property
    def trainable_variables(self) -> list[Any]:
        """The trainable variables."""
        return self._collection(GraphKeys.TRAINABLE_VARIABLES)

    @property
    def non_trainable_variables(self) -> list[Any]:
        """The global variables that are not trainable."""
        trainable = set(self.trainable_variables)
        return [v for v in self.global_variables if v not in trainable]

    @property
    def global_variables(self) -> list[Any]:
        """The global variables."""
        return self._collection(GraphKeys.GLOBAL_VARIABLES)

    @property
    def local_variables(self) -> list[Any]:
        """The local variables."""
        return self._collection(GraphKeys.LOCAL_VARIABLES)

    weights = variables
    trainable_weights = trainable_variables
    non_trainable_weights = non_trainable_variables
