"""`tf.Module`: an object that knows the variables and modules in its attributes."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from tensorloom.framework.export import export
from tensorloom.framework.runtime.scopes import name_scope
from tensorloom.framework.types import nest
from tensorloom.framework.types.trackable_structures import AutoTrackable

_VALID_NAME = re.compile(r"^[A-Za-z_]\w*$")
_HUMP = re.compile(r"((?<=[a-z0-9])[A-Z]|(?!^)[A-Z](?=[a-z]))")


@export("Module")
class Module(AutoTrackable):
    """The base of objects that have variables.

    What is assigned to its attributes is saved by a `tf.train.Checkpoint` that leads
    to it; lists and dicts of them are, too.

    Args:
      name: a Python identifier; the class's name in snake case by default.

    Raises:
      ValueError: the name is not an identifier.
    """

    # Attributes that are not searched for variables and modules.
    _TF_MODULE_IGNORED_PROPERTIES = frozenset(
        ["_obj_reference_counts_dict", "_name_scope", "_tracked", "_awaited"]
    )

    def __init__(self, name: str | None = None) -> None:
        if name is None:
            name = _HUMP.sub(r"_\1", type(self).__name__).lower()
        if not _VALID_NAME.match(name):
            raise ValueError(
                f"{name!r} is not a valid module name. Module names must be valid "
                "Python identifiers (e.g. a valid class name)."
            )
        self._name = name
        with name_scope(name) as scope:
            self._scope_name = scope

    @property
    def name(self) -> str:
        """The name it was given."""
        return self._name

    @property
    def name_scope(self) -> Any:
        """A `with` block for the operations of the module."""
        return name_scope(self._scope_name)

    @property
    def variables(self) -> Sequence[Any]:
        """The variables of the module and its submodules, by attribute name."""
        return tuple(self._flatten(_is_variable))

    @property
    def trainable_variables(self) -> Sequence[Any]:
        """The trainable ones of `variables`."""
        return tuple(v for v in self.variables if v.trainable)

    @property
    def submodules(self) -> tuple[Any, ...]:
        """The modules in attributes, in theirs, and so on."""
        return tuple(self._flatten(lambda value: isinstance(value, Module)))

    def _flatten(
        self,
        predicate: Callable[[Any], bool],
        recursive: bool = True,
    ) -> Iterator[Any]:
        """What is in attributes; then what each module there has, depth first."""
        seen: set[int] = {id(self)}

        def walk(module: Module) -> Iterator[Any]:
            below = []
            for value in module._attribute_values():
                if id(value) in seen:
                    continue
                seen.add(id(value))
                if predicate(value):
                    yield value
                if recursive and isinstance(value, Module):
                    below.append(value)
            for part in below:
                yield from walk(part)

        yield from walk(self)

    def _attribute_values(self) -> Iterator[Any]:
        attributes = vars(self)
        for key in sorted(attributes):
            if key in self._TF_MODULE_IGNORED_PROPERTIES:
                continue
            yield from _leaves(attributes[key])

    @classmethod
    def with_name_scope(cls, method: Callable[..., Any]) -> Callable[..., Any]:
        """A method whose operations are made in the module's name scope."""

        @functools.wraps(method)
        def scoped(self: Module, *args: Any, **kwargs: Any) -> Any:
            with self.name_scope:
                return method(self, *args, **kwargs)

        return scoped


def _leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, Mapping):
        for key in sorted(value, key=repr):
            yield from _leaves(value[key])
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _leaves(item)
    elif not nest.is_sequence(value):
        yield value


def _is_variable(value: Any) -> bool:
    return hasattr(value, "trainable") and hasattr(value, "initializer")
