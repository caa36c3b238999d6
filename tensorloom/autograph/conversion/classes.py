"""Classes whose methods are converted."""

from __future__ import annotations

import inspect
import textwrap
from dataclasses import dataclass
from types import CellType, FunctionType
from typing import TYPE_CHECKING, Any

from tensorloom.autograph.conversion.allowed import defining_class, is_allowed
from tensorloom.autograph.conversion.compiled import convert_entity

if TYPE_CHECKING:
    from tensorloom.autograph.options import ConversionOptions


@dataclass(frozen=True)
class _CompiledClass:
    source: str


def convert_class(entity: type, options: ConversionOptions) -> type:
    """A class like another, with converted methods.

    Raises:
      ValueError: it has no methods.
      NotImplementedError: it extends another class of the program.
    """
    for base in entity.__bases__:
        if base is not object and not is_allowed(base):
            raise NotImplementedError(
                "Conversion of classes that do not directly extend classes from "
                "whitelisted modules is temporarily suspended: "
                f"{entity} extends {base}."
            )
    methods = {
        name: method
        for name, method in inspect.getmembers(entity, inspect.isfunction)
        if defining_class(method, entity) is entity
    }
    if not methods:
        raise ValueError(f"cannot convert {entity}: no member methods")
    made_class = CellType()
    converted = {
        name: convert_entity(_of_class(method, made_class), options)
        for name, method in methods.items()
    }
    others = {
        name: value
        for name, value in vars(entity).items()
        if name not in ("__dict__", "__weakref__")
    }
    made: Any = type(f"Tf{entity.__name__}", entity.__bases__, {**others, **converted})
    made_class.cell_contents = made
    bases = ", ".join(base.__name__ for base in entity.__bases__)
    bodies = "\n".join(c.ag_compiled.source for c in converted.values())  # type: ignore[attr-defined]
    source = f"class {made.__name__}({bases}):\n\n{textwrap.indent(bodies, '    ')}"
    made.ag_compiled = _CompiledClass(source)
    made.ag_source_map = {
        place: origin
        for c in converted.values()
        for place, origin in c.ag_source_map.items()  # type: ignore[attr-defined]
    }
    made.autograph_info__ = {}
    return made  # type: ignore[no-any-return]


def _of_class(method: FunctionType, made_class: CellType) -> FunctionType:
    """The method with another class for `super()`."""
    code = method.__code__
    cells = zip(code.co_freevars, method.__closure__ or (), strict=True)
    closure = tuple(made_class if n == "__class__" else cell for n, cell in cells)
    made = FunctionType(code, method.__globals__, method.__name__, None, closure)
    made.__defaults__ = method.__defaults__
    made.__kwdefaults__ = method.__kwdefaults__
    return made
