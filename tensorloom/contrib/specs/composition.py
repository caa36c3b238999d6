"""Functions that are composed by operators: `f | g`, `f ** 3`, `f + g`."""

from __future__ import annotations

import builtins
import importlib
import operator
import re
from typing import Any, Final

from tensorloom.framework.export import export

_QUOTED: Final = re.compile(r"""("([^"\\]|\\.)*"|'([^'\\]|\\.)*')""")
_KEYWORDS: Final = re.compile(r"\b(import|while|def|exec)\b")
_debugs = [False]


@export("contrib.specs.check_keywords")
def check_keywords(spec: str) -> None:
    """Refuses statements that a specification should not have.

    Raises:
      ValueError: outside of quotes there is one of import, while, def, exec.
    """
    found = _KEYWORDS.search(_QUOTED.sub("", spec))
    if found:
        raise ValueError(f"keyword '{found.group(1)}' found in spec")


@export("contrib.specs.get_positional")
def get_positional(
    args: Any, kw: dict[str, Any], kw_overrides: bool = False
) -> tuple[Any, dict[str, Any]]:
    """Moves arguments called `_0`, `_1`, ... to their positions.

    Args:
      args: positional arguments; None where one is missing.
      kw: arguments by name.
      kw_overrides: whether they take the place of what is there.

    Returns:
      Both without such names.
    """
    named = {key: value for key, value in kw.items() if not key.startswith("_")}
    if len(named) == len(kw):
        return args, kw
    positional = list(args)
    for key, value in kw.items():
        if key.startswith("_"):
            place = int(key[1:])
            positional += [None] * (place + 1 - len(positional))
            if kw_overrides or positional[place] is None:
                positional[place] = value
    return positional, named


@export("contrib.specs.Composable")
class Composable:
    """A function of one argument, applied by `funcall`, that operators compose."""

    def funcall(self, x: Any) -> Any:
        """The result for `x`; of each kind its own."""
        raise NotImplementedError

    def __or__(self, f: Any) -> Composition:
        """`f` after this."""
        return Composition(self, f)

    def __add__(self, g: Any) -> Operator:
        """The sum of both results."""
        return Operator(operator.add, self, g)

    def __mul__(self, g: Any) -> Operator:
        """The product of both results."""
        return Operator(operator.mul, self, g)

    def __pow__(self, n: int) -> Composable:
        """This, `n` times one after the other."""
        assert n >= 0, f"the power of a function must not be negative, got {n}"
        if n == 0:
            return Function(lambda x: x)
        repeated: Composable = self
        for _ in range(n - 1):
            repeated = Composition(repeated, self)
        return repeated


@export("contrib.specs.Callable")
class Callable(Composable):
    """A plain function."""

    def __init__(self, f: Any) -> None:
        """Wraps a function of one argument."""
        self.f = f

    def funcall(self, x: Any) -> Any:
        """`f(x)`."""
        return self.f(x)


@export("contrib.specs.Operator")
class Operator(Composable):
    """An operator on the results of several functions."""

    def __init__(self, op: Any, *args: Any) -> None:
        """Takes the operator and the functions."""
        self.op = op
        self.funs = args

    def funcall(self, x: Any) -> Any:
        """The operator's result for all functions of `x`."""
        return self.op(*(f.funcall(x) for f in self.funs))


@export("contrib.specs.Function")
class Function(Composable):
    """A function with more arguments; calls of this add some to those that it has."""

    def __init__(self, f: Any, *args: Any, **kw: Any) -> None:
        """Wraps a function with arguments after the first.

        Raises:
          ValueError: it is no function.
        """
        if not builtins.callable(f):
            raise ValueError(f"{f}: is not callable")
        self.f = f
        self.args = list(args)
        self.kw = kw

    def __call__(self, *args: Any, **kw: Any) -> Function:
        """The same function with more arguments; these stand before the others."""
        return Function(self.f, *args, *self.args, **{**self.kw, **kw})

    def funcall(self, x: Any) -> Any:
        """The function of `x` and all arguments."""
        args, kw = get_positional(self.args, self.kw)
        if _debugs[0]:
            print("DEBUG:", self.f, x, args, kw)
        return self.f(x, *args, **kw)


@export("contrib.specs.Composition")
class Composition(Composable):
    """One function after another."""

    def __init__(self, f: Any, g: Any) -> None:
        """Takes the first and the second."""
        self.f = f
        self.g = g

    def funcall(self, x: Any) -> Any:
        """`g(f(x))`."""
        return self.g.funcall(self.f.funcall(x))


@export("contrib.specs.External")
def External(module_name: str, function_name: str) -> Function:
    """A function of a module, by both names. Raises KeyError if there is no such."""
    return Function(vars(importlib.import_module(module_name))[function_name])


@export("contrib.specs.Import")
def Import(statements: str) -> Function:
    """The function `f` that Python statements define.

    Raises:
      ValueError: they define no `f`.
    """
    names: dict[str, Any] = {}
    exec(statements, names)
    if "f" not in names:
        raise ValueError(f'failed to define "f": {statements}')
    return Function(names["f"])


@export("contrib.specs.debug")
def debug(mode: bool = True) -> None:
    """Whether functions print what they are applied to."""
    _debugs[0] = mode
