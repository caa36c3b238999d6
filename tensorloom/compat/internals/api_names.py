"""Public names that a program gives its own functions (`tf_export`).

TensorFlow's own are in `tensorloom/framework/export.py`; these are kept on the objects
alone, as programs that extend TensorFlow's sources expect it.
"""

from __future__ import annotations

import functools
from typing import Any

_V1, _V2 = "_tf_api_names_v1", "_tf_api_names"
_CONSTANTS_V1, _CONSTANTS_V2 = "_tf_api_constants_v1", "_tf_api_constants"


class SymbolAlreadyExposedError(Exception):
    """An object was given public names twice."""


class InvalidSymbolNameError(Exception):
    """A public name begins as those of another package do."""


class api_export:
    """Gives a function, class or constant its public names.

    Args:
      args: the names of TensorFlow 2, and of 1 unless `v1` says others.
      kwargs: `v1`, a list of names; `allow_multiple_exports`; `overrides`;
        `api_name`.
    """

    def __init__(self, *args: str, **kwargs: Any) -> None:
        self._names = args
        self._names_v1 = tuple(kwargs.get("v1", args))
        self._may_repeat = kwargs.get("allow_multiple_exports", False)
        self._package = kwargs.get("api_name", "tensorflow")
        for name in (*self._names, *self._names_v1):
            other = name.startswith(("keras.", "estimator."))
            if other and self._package == "tensorflow":
                raise InvalidSymbolNameError(
                    f"{name!r} belongs to {name.partition('.')[0]}_export"
                )

    def __call__(self, value: Any) -> Any:
        target = getattr(value, "__wrapped__", value)
        for mark, names in ((_V2, self._names), (_V1, self._names_v1)):
            if mark in vars(target) and not self._may_repeat:
                raise SymbolAlreadyExposedError(
                    f"Symbol {target.__name__} is already exposed as "
                    f"{vars(target)[mark]}."
                )
            setattr(target, mark, names)
        return value

    def export_constant(self, module_name: str, name: str) -> None:
        """Gives a constant of a module its public names."""
        import sys

        module = sys.modules[module_name]
        marks = ((_CONSTANTS_V2, self._names), (_CONSTANTS_V1, self._names_v1))
        for mark, names in marks:
            if not hasattr(module, mark):
                setattr(module, mark, [])
            getattr(module, mark).append((names, name))


tf_export = functools.partial(api_export, api_name="tensorflow")
keras_export = functools.partial(api_export, api_name="keras")
estimator_export = functools.partial(api_export, api_name="estimator")


def _names(value: Any, mark: str) -> tuple[str, ...]:
    target = getattr(value, "__wrapped__", value)
    return tuple(getattr(target, "__dict__", {}).get(mark, ()))


def _ours(value: Any) -> tuple[str, ...]:
    from tensorloom.framework.export import exports

    return tuple(name for name, known in exports().items() if known is value)


def get_v1_names(symbol: Any) -> list[str]:
    """The public names of an object in TensorFlow 1."""
    return list(_names(symbol, _V1) or _ours(symbol))


def get_v2_names(symbol: Any) -> list[str]:
    """The public names of an object in TensorFlow 2, as far as a program gave them."""
    return list(_names(symbol, _V2))


def get_v1_constants(module: Any) -> list[Any]:
    """`(public names, name)` of the constants of a module in TensorFlow 1."""
    return list(getattr(module, _CONSTANTS_V1, []))


def get_v2_constants(module: Any) -> list[Any]:
    """`(public names, name)` of the constants of a module in TensorFlow 2."""
    return list(getattr(module, _CONSTANTS_V2, []))


def get_canonical_name_for_symbol(
    symbol: Any, api_name: str = "tensorflow", add_prefix_to_v1_names: bool = False
) -> str | None:
    """The first public name of an object; None if it has none."""
    names = get_v2_names(symbol)
    if names:
        return names[0]
    names = get_v1_names(symbol)
    prefix = "compat.v1." if add_prefix_to_v1_names else ""
    return prefix + names[0] if names else None


def kwarg_only(f: Any) -> Any:
    """A function that takes arguments by keyword only."""
    from tensorloom.framework.decorators import keyword_args_only

    return keyword_args_only(f)
