"""The words of specifications: layers, pooling, shapes, shared variables."""

from __future__ import annotations

from typing import Any, ClassVar, Final

from tensorloom.client.variables import variable_scope
from tensorloom.contrib.specs.composition import Callable, Composable, Function
from tensorloom.framework.export import export, export_value, find
from tensorloom.ops.array import concat as concat_op


@export("contrib.specs.Idx")
class Idx(Composable):
    """What it is applied to."""

    def funcall(self, x: Any) -> Any:
        """`x`."""
        return x


@export("contrib.specs.Conc")
class Conc(Composable):
    """The results of several functions, one after the other along a dimension."""

    def __init__(self, dim: int, *args: Any) -> None:
        """Takes the dimension and the functions."""
        self.dim = dim
        self.funs = args

    def funcall(self, x: Any) -> Any:
        """The results for `x`, concatenated."""
        return concat_op.concat([f.funcall(x) for f in self.funs], self.dim)


# Word -> (public name of the function, activation where it is given).
_WORDS: Final[dict[str, str]] = {
    "Print": "Print",
    "Id": "identity",
    "Cx": "contrib.layers.conv2d",
    "Fx": "contrib.layers.fully_connected",
    "Mp": "contrib.layers.max_pool2d",
    "Ap": "contrib.layers.avg_pool2d",
    "Do": "contrib.layers.dropout",
    "Bn": "contrib.layers.batch_norm",
    "Lrn": "nn.local_response_normalization",
    "Unit": "contrib.layers.unit_norm",
    "Flat": "contrib.layers.flatten",
    "Reshape": "reshape",
    "Transpose": "transpose",
    "Squeeze": "squeeze",
    "Expand": "expand_dims",
    "Relu": "nn.relu",
    "Sig": "sigmoid",
    "Tanh": "tanh",
    "Smax": "nn.softmax",
}
_ACTIVATIONS: Final[dict[str, str]] = {
    "s": "sigmoid",
    "t": "tanh",
    "r": "nn.relu",
    "m": "nn.softmax",
    "l": "",
}


def _words() -> dict[str, Any]:
    words: dict[str, Any] = {
        word: Function(find(name)) for word, name in _WORDS.items()
    }
    for letter, name in _ACTIVATIONS.items():
        activation = find(name) if name else None
        for kind in "CF":
            layer = words[f"{kind}x"].f
            words[f"{kind}{letter}"] = Function(layer, activation_fn=activation)
    return words


WORDS: Final = _words()
for _word, _function in WORDS.items():
    export_value(_function, f"contrib.specs.{_word}")
export_value(Function, "contrib.specs.Fun")


@export("contrib.specs.Dws")
def Dws(n: int) -> Any:
    """A convolution of single pixels to `n` channels, with the sigmoid."""
    return WORDS["Cs"](n, [1, 1])


@export("contrib.specs.Dwm")
def Dwm(n: int) -> Any:
    """A convolution of single pixels to `n` channels, with the softmax."""
    return WORDS["Cm"](n, [1, 1])


@export("contrib.specs.Var")
def Var(name: str, *args: Any, **kw: Any) -> Callable:
    """A variable, whatever it is applied to.

    Args:
      name: of the variable.
      *args, **kw: of `get_variable`.
    """
    return Callable(lambda _: variable_scope.get_variable(name, *args, **kw))


@export("contrib.specs.Shared")
class Shared(Composable):
    """A network whose variables are the same wherever it is applied."""

    shared_number: ClassVar[int] = 1

    def __init__(self, subnet: Any, name: str | None = None, scope: Any = None) -> None:
        """Wraps a network.

        Args:
          subnet: the network.
          name: of the variables' scope; "Shared_1" and so on by default.
          scope: a VariableScope that has them already.

        Raises:
          ValueError: the scope is none, or there is a name as well.
        """
        if scope is not None and not isinstance(scope, variable_scope.VariableScope):
            raise ValueError("scope must be None or a VariableScope")
        if name is not None and not isinstance(name, str):
            raise ValueError("name must be None or a string")
        if scope is not None and name is not None:
            raise ValueError("cannot provide both a name and a scope")
        if name is None:
            name = f"Shared_{Shared.shared_number}"
            Shared.shared_number += 1
        self.subnet = subnet
        self.name = name
        self.scope = scope

    def funcall(self, x: Any) -> Any:
        """The network of `x`: the first call makes the variables."""
        if self.scope is None:
            with variable_scope.variable_scope(self.name, values=[x]) as self.scope:
                return self.subnet.funcall(x)
        with variable_scope.variable_scope(self.scope, values=[x], reuse=True):
            return self.subnet.funcall(x)
