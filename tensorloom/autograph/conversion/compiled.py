"""A function compiled from its converted tree, with the lines of the program.

The code object has the file and the line numbers of the program, so that tracebacks,
operations and debuggers show the program's own lines.
"""

from __future__ import annotations
import __future__

import ast
import inspect
import itertools
import threading
import weakref
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from types import CodeType, FunctionType
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from tensorloom.autograph import logs
from tensorloom.autograph.conversion.runtime_names import RUNTIME_MODULE
from tensorloom.autograph.errors import CONVERTED_CODE
from tensorloom.autograph.passes.context import Conversion
from tensorloom.autograph.passes.convert_function import convert_definition
from tensorloom.autograph.source.fresh_names import FreshNames
from tensorloom.autograph.source.function_source import find_definition
from tensorloom.autograph.source.templates import RUNTIME, arguments, assign, function

if TYPE_CHECKING:
    from tensorloom.autograph.options import ConversionOptions

_FUTURE_FLAGS: Final = sum(
    getattr(__future__, name).compiler_flag for name in __future__.all_feature_names
)
_counter = itertools.count(1)


class LineLocation(NamedTuple):
    """A line of a file."""

    filename: str
    lineno: int


class OriginInfo(NamedTuple):
    """Where a line of converted code comes from."""

    loc: LineLocation
    function_name: str


@dataclass(frozen=True, eq=False)
class Compiled:
    """The converted code of all functions with one code object.

    Attributes:
      factory: the code of a function of `ag__` that defines the converted function; its
        free variables are those of the function.
      definition: the converted tree.
      module_name: a name for it.
    """

    factory: CodeType
    definition: ast.stmt
    original: CodeType
    module_name: str

    @cached_property
    def source(self) -> str:
        """The converted code as text."""
        return ast.unparse(self.definition) + "\n"

    @cached_property
    def source_map(self) -> dict[LineLocation, OriginInfo]:
        """Of each line of converted code, the line of the program: the same one."""
        codes = [c for c in all_codes(self.factory) if c in CONVERTED_CODE]
        found = {}
        for code in codes:
            for _, _, line in code.co_lines():
                if line is not None:
                    place = LineLocation(code.co_filename, line)
                    found[place] = OriginInfo(place, CONVERTED_CODE[code])
        return found

    def instantiate(self, entity: Any) -> Callable[..., Any]:
        """The converted form of one function, over its own globals and closure."""
        plain = entity.__func__ if inspect.ismethod(entity) else entity
        cells = dict(
            zip(plain.__code__.co_freevars, plain.__closure__ or (), strict=True)
        )
        closure = tuple(cells[name] for name in self.factory.co_freevars)
        factory = FunctionType(
            self.factory, plain.__globals__, "create", closure=closure
        )
        made: Any = factory(RUNTIME_MODULE)
        made.__defaults__ = plain.__defaults__
        made.__kwdefaults__ = plain.__kwdefaults__
        made.__annotations__ = plain.__annotations__
        made.__module__ = plain.__module__
        made.__name__ = made.__qualname__ = f"tf__{_identifier(plain)}"
        made.ag_source_map = self.source_map
        made.ag_module = self.module_name
        made.ag_compiled = self
        made.autograph_info__ = {}
        return made  # type: ignore[no-any-return]


_cache: weakref.WeakKeyDictionary[CodeType, dict[Any, Compiled]] = (
    weakref.WeakKeyDictionary()
)
# Code may run while a function is converted: of modules that are loaded.
_lock = threading.RLock()


def convert_entity(entity: Any, options: ConversionOptions) -> Callable[..., Any]:
    """The converted form of a function or method; compiled once for its code.

    Raises:
      NotImplementedError: there is what AutoGraph does not convert.
      ValueError, OSError: there is no source, or not that of the function.
    """
    code: CodeType = entity.__code__
    with _lock:
        kept = _cache.setdefault(code, {})
        key = options, frozenset(code.co_freevars)
        if key not in kept:
            logs.log(1, "Converting %s", entity)
            kept[key] = _compile(entity, options)
            if logs.has_verbosity(2):
                logs.log(2, "Compiled output of %s:\n\n%s\n", entity, kept[key].source)
        compiled = kept[key]
    return compiled.instantiate(entity)


def _compile(entity: Any, options: ConversionOptions) -> Compiled:
    code: CodeType = entity.__code__
    namespace = _namespace(entity)
    if namespace.get(RUNTIME, RUNTIME_MODULE) is not RUNTIME_MODULE:
        raise ValueError(f"entity {entity} uses the reserved symbol {RUNTIME!r}")
    tree = find_definition(entity)
    names = FreshNames(tree, namespace)
    identifier = names.make(f"tf__{_identifier(entity)}")
    conversion = Conversion(names, options, namespace)
    definition = convert_definition(tree, identifier, conversion)
    factory = _factory_code(definition, identifier, code)
    factory = _renamed(factory, names.made - {identifier}, code.co_name, identifier)
    for part in all_codes(factory):
        if part is not factory:
            CONVERTED_CODE[part] = (
                code.co_name if part.co_name == "<lambda>" else part.co_name
            )
    module_name = f"autograph_{identifier}_{next(_counter)}"
    return Compiled(factory, definition, code, module_name)


def _identifier(entity: Any) -> str:
    name: str = entity.__code__.co_name
    return "lambda" if name == "<lambda>" else name


def _namespace(entity: Any) -> dict[str, Any]:
    """The globals of a function, and what its closure has by now."""
    found = dict(entity.__globals__)
    for name, cell in zip(
        entity.__code__.co_freevars, entity.__closure__ or (), strict=True
    ):
        try:
            found[name] = cell.cell_contents
        except ValueError:  # not assigned yet
            found[name] = None
    return found


def _factory_code(definition: ast.stmt, identifier: str, code: CodeType) -> CodeType:
    """Compiles the definition with the function's free variables around it."""
    result = ast.Return(ast.Name(identifier, ast.Load()))
    create = function("create", arguments([RUNTIME]), [definition, result])
    free = [assign(name, ast.Constant(None)) for name in code.co_freevars]
    outer = function("outer", arguments([]), [*free, create])
    module = ast.fix_missing_locations(ast.Module([outer], []))
    flags = code.co_flags & _FUTURE_FLAGS
    compiled = compile(module, code.co_filename, "exec", flags, dont_inherit=True)
    return _code_named(_code_named(compiled, "outer"), "create")


def _code_named(code: CodeType, name: str) -> CodeType:
    return next(
        c for c in code.co_consts if isinstance(c, CodeType) and c.co_name == name
    )


def all_codes(code: CodeType) -> Iterator[CodeType]:
    """A code object and all in it."""
    yield code
    for part in code.co_consts:
        if isinstance(part, CodeType):
            yield from all_codes(part)


def _renamed(code: CodeType, made: set[str], current: str, top: str) -> CodeType:
    """Blocks that became functions have the name of the function that they are of."""
    parts = []
    for part in code.co_consts:
        if isinstance(part, CodeType):
            if part.co_name in made or part.co_name == top:
                name = current
            else:
                name = part.co_name
            inside = current if name == "<lambda>" else name
            part = _renamed(part, made, inside, top)
            part = part.replace(co_name=name, co_qualname=name)
        parts.append(part)
    return code.replace(co_consts=tuple(parts))
