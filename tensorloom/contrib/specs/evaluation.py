"""Specifications as Python expressions, evaluated with the words of this package."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from typing import Any

from tensorloom.contrib.specs import composition, operations, random_parameters
from tensorloom.framework.export import export, export_value


def parameter_names() -> dict[str, Any]:
    """What parameter strings can use: mathematics and random numbers."""
    return {**vars(math), **vars(random_parameters)}


def operation_names() -> dict[str, Any]:
    """What specifications can use."""
    own = {name: value for name, value in vars(operations).items() if name[0] != "_"}
    shared = ("External", "Import", "debug")
    return {
        **own,
        **operations.WORDS,
        "Fun": composition.Function,
        **{name: getattr(composition, name) for name in shared},
    }


def _evaluated(text: str, names: dict[str, Any], environment: Any) -> dict[str, Any]:
    composition.check_keywords(text)
    bindings = dict(environment or {})
    exec(text, names, bindings)
    return bindings


@export("contrib.specs.eval_params")
def eval_params(
    params: str, environment: dict[str, Any] | None = None
) -> dict[str, Any]:
    """Evaluates assignments of parameters, such as `n = Li(5, 500); d = Ui(1, 5)`.

    Args:
      params: the assignments.
      environment: names that they can use.

    Returns:
      The environment with what they assign.

    Raises:
      ValueError: a keyword is refused. Else whatever the assignments raise.
    """
    return _evaluated(params, parameter_names(), environment)


@export("contrib.specs.eval_spec")
def eval_spec(spec: str, environment: dict[str, Any] | None = None) -> dict[str, Any]:
    """Evaluates assignments of networks, such as `left = Cr(64, [5, 5])`.

    Args:
      spec: the assignments.
      environment: names that they can use.

    Returns:
      The environment with what they assign.

    Raises:
      ValueError: a keyword is refused. Else whatever the assignments raise.
    """
    return _evaluated(spec, operation_names(), environment)


@export("contrib.specs.create_net_fun")
def create_net_fun(
    spec: str, environment: dict[str, Any] | None = None
) -> Callable[[Any], Any]:
    """The function of the network that a specification assigns to `net`.

    Raises:
      ValueError: it assigns none, or a keyword is refused.
    """
    net = eval_spec(spec, environment).get("net")
    if net is None:
        raise ValueError(f"spec failed to create 'net': {spec}")
    function: Callable[[Any], Any] = net.funcall
    return function


@export("contrib.specs.create_net")
def create_net(
    spec: str, inputs: Any, environment: dict[str, Any] | None = None
) -> Any:
    """The network `net` of a specification, applied to inputs.

    Raises:
      ValueError: it assigns none, or a keyword is refused.
    """
    return create_net_fun(spec, environment)(inputs)


@export("contrib.specs.LocalImport")
class LocalImport:
    """Gives the caller's module names for the length of a `with` block."""

    def __init__(self, names: Any) -> None:
        """Takes a module, or a dictionary of names."""
        self.names = dict(names if isinstance(names, dict) else vars(names))

    def __enter__(self) -> None:
        frame = inspect.currentframe()
        assert frame is not None
        assert frame.f_back is not None
        self._globals = frame.f_back.f_globals
        self.old = {k: self._globals[k] for k in self.names if k in self._globals}
        self._globals.update(self.names)

    def __exit__(self, some_type: Any, value: Any, traceback: Any) -> None:
        for name in self.names:
            self._globals.pop(name, None)
        self._globals.update(self.old)


export_value(LocalImport(operation_names()), "contrib.specs.ops")
