"""Which function makes an op's gradient: `tf.RegisterGradient` and its look-up."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tensorloom.framework.export import declaring_module, export
from tensorloom.framework.registry import late_modules, op_registry
from tensorloom.framework.registry.op_registry import NOT_DIFFERENTIABLE, GradientFn

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph import Operation

_BY_NAME: dict[str, GradientFn | None] = {}
_REGISTERED_BY: dict[str, str] = {}


@export("RegisterGradient")
class RegisterGradient:
    """Decorator: registers a gradient function for an op type.

    The function gets the operation and the gradient of each output, and returns the
    gradient of each input (None where there is none).

    Raises:
      TypeError: `op_type` is not a string.
      KeyError: the op type has a gradient already.
    """

    def __init__(self, op_type: str) -> None:
        if not isinstance(op_type, str):
            raise TypeError("op_type must be a string")
        self._op_type = op_type

    def __call__(self, f: GradientFn) -> GradientFn:
        _register(self._op_type, f)
        return f


@export("NotDifferentiable", "no_gradient", "NoGradient")
def not_differentiable(op_type: str) -> None:
    """States that ops of this type have no gradient: None flows to their inputs.

    Raises:
      TypeError: `op_type` is not a string.
      KeyError: the op type has a gradient already.
    """
    if not isinstance(op_type, str):
        raise TypeError("op_type must be a string")
    _register(op_type, None)


def _register(op_type: str, function: GradientFn | None) -> None:
    module = declaring_module()
    indexed = late_modules.module_of("gradient", op_type)
    if indexed not in (None, module):
        late_modules.load("gradient", op_type)
    # What the index knows was checked when it was made: no need to load the op.
    if op_type in _BY_NAME or (indexed != module and _has_own_gradient(op_type)):
        raise KeyError(f"Registering two gradient with name '{op_type}'!")
    _BY_NAME[op_type] = function
    _REGISTERED_BY[op_type] = module


def _has_own_gradient(op_type: str) -> bool:
    """True when the registration of the op itself says its gradient."""
    op_def = op_registry.find(op_type)
    return op_def is not None and op_def.gradient is not None


def places() -> dict[str, str]:
    """The module that registered each gradient, of those that are loaded."""
    return dict(_REGISTERED_BY)


def find_gradient(op_type: str) -> GradientFn | None:
    """The gradient function of an op type; None when it is not differentiable.

    Raises:
      LookupError: nothing is registered for the type.
    """
    if op_type not in _BY_NAME:
        late_modules.load("gradient", op_type)
    if op_type in _BY_NAME:
        return _BY_NAME[op_type]
    op_def = op_registry.find(op_type)
    if op_def is None or op_def.gradient is None:
        raise LookupError(f"gradient registry has no entry for: {op_type}")
    if op_def.gradient is NOT_DIFFERENTIABLE:
        return None
    return op_def.gradient  # type: ignore[return-value]


GRADIENT_OP_TYPE_ATTR: Final = "_gradient_op_type"


@export("get_gradient_function")
def get_gradient_function(op: Operation) -> GradientFn | None:
    """The function that makes `op`'s gradient, overrides of the graph included.

    Raises:
      LookupError: nothing is registered for the op's type.
    """
    if not op.inputs:
        return None
    override = op.attrs.get(GRADIENT_OP_TYPE_ATTR)
    return find_gradient(override.decode() if override is not None else op.type)
