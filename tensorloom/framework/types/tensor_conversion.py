"""Turning Python values into tensors: a registry of conversions by type."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from tensorloom.framework.export import export
from tensorloom.framework.graph.default_graph import get_default_graph
from tensorloom.framework.graph.tensor import Tensor
from tensorloom.framework.registry import late_modules
from tensorloom.framework.types import dtypes

if TYPE_CHECKING:
    from tensorloom.framework.types.dtypes import DType

# (value, dtype, name, as_ref) -> Tensor, or NotImplemented to pass on.
ConversionFunction = Callable[..., Any]

_functions: dict[int, list[tuple[tuple[type, ...], ConversionFunction]]] = {}
_by_type: dict[type, list[tuple[type | tuple[type, ...], ConversionFunction]]] = {}


def check_conversion(variable: Any, dtype: DType | None) -> None:
    """Raises ValueError if a variable is asked for as a tensor of another dtype."""
    if dtype is not None and not dtype.is_compatible_with(variable.dtype):
        raise ValueError(
            f"Incompatible type conversion requested to type '{dtype.name}' for "
            f"variable of type '{variable.dtype.name}'"
        )


@export("register_tensor_conversion_function")
def register_tensor_conversion_function(
    base_type: type | tuple[type, ...],
    conversion_func: ConversionFunction,
    priority: int = 100,
) -> None:
    """Registers how objects of `base_type` become tensors.

    Args:
      conversion_func: `f(value, dtype=None, name=None, as_ref=False)`, returns a
        Tensor, or NotImplemented.
      priority: smaller is tried first.

    Raises:
      TypeError: the arguments are not of these kinds.
    """
    types = base_type if isinstance(base_type, tuple) else (base_type,)
    if not all(isinstance(t, type) for t in types):
        raise TypeError("base_type must be a type or a tuple of types.")
    if not callable(conversion_func):
        raise TypeError("conversion_func must be callable.")
    _functions.setdefault(priority, []).append((types, conversion_func))
    _by_type.clear()


def _functions_for(kind: type) -> list[tuple[Any, ConversionFunction]]:
    found: list[tuple[Any, ConversionFunction]] | None = _by_type.get(kind)
    if found is None:
        late_modules.load_kind("conversion")
        found = [
            (types, function)
            for _, group in sorted(_functions.items())
            for types, function in group
            if issubclass(kind, types)
        ]
        _by_type[kind] = found
    return found


@export("convert_to_tensor")
def convert_to_tensor(
    value: Any,
    dtype: Any = None,
    name: str | None = None,
    preferred_dtype: Any = None,
    dtype_hint: Any = None,
) -> Tensor:
    """Converts a value to a Tensor of the default graph.

    Args:
      dtype: the dtype of the result; inferred from the value when None.
      name: of a new operation, if one is made.
      preferred_dtype, dtype_hint: tried first when `dtype` is None.

    Raises:
      TypeError: there is no conversion to `dtype`.
      ValueError: `value` is a tensor of another dtype, or of another graph.
    """
    return internal_convert_to_tensor(
        value, dtype, name, preferred_dtype=preferred_dtype or dtype_hint
    )


def internal_convert_to_tensor(
    value: Any,
    dtype: Any = None,
    name: str | None = None,
    as_ref: bool = False,
    preferred_dtype: Any = None,
) -> Tensor:
    """`convert_to_tensor` that may give a reference edge (`as_ref`).

    Raises:
      TypeError, ValueError: as `convert_to_tensor`.
    """
    if isinstance(value, Tensor):
        if dtype is not None and not (
            dtype is value._dtype
            or dtypes.as_dtype(dtype).is_compatible_with(value._dtype)
        ):
            raise ValueError(
                f"Tensor conversion requested dtype {dtypes.as_dtype(dtype).name} for "
                f"Tensor with dtype {value._dtype.name}: '{value}'"
            )
        graph = get_default_graph()
        if graph is value._op._graph or not graph.building_function:
            return value
        if graph.frame is not None:
            return value  # comes in with the first operation that uses it
        captured: Tensor = graph.capture(value)  # type: ignore[attr-defined]
        return captured
    wanted = None if dtype is None else dtypes.as_dtype(dtype)
    preferred = None if preferred_dtype is None else dtypes.as_dtype(preferred_dtype)
    for types, function in _functions_for(type(value)):
        result: Any = NotImplemented
        if wanted is None and preferred is not None:
            result = _try_preferred(function, value, preferred, name, as_ref)
        if result is NotImplemented:
            result = function(value, dtype=wanted, name=name, as_ref=as_ref)
        if result is NotImplemented:
            continue
        return _checked(result, wanted, types, function, name)
    raise TypeError(
        f"{_prefix(name)}Cannot convert {value!r} with type {type(value)} to Tensor: "
        "no conversion function registered."
    )


def _try_preferred(
    function: ConversionFunction,
    value: Any,
    preferred: DType,
    name: str | None,
    as_ref: bool,
) -> Any:
    try:
        result = function(value, dtype=preferred, name=name, as_ref=as_ref)
    except (TypeError, ValueError):
        return NotImplemented
    if result is not NotImplemented and result.dtype.base_dtype != preferred.base_dtype:
        raise TypeError(
            f"convert_to_tensor did not convert to the preferred dtype: "
            f"{result.dtype.base_dtype} vs {preferred.base_dtype} "
        )
    return result


def _checked(
    result: Any,
    wanted: DType | None,
    types: Any,
    function: ConversionFunction,
    name: str | None,
) -> Tensor:
    if not isinstance(result, Tensor):
        raise RuntimeError(
            f"{_prefix(name)}Conversion function {function!r} for type {types} "
            f"returned non-Tensor: {result!r}"
        )
    if wanted is not None and not wanted.is_compatible_with(result.dtype):
        raise RuntimeError(
            f"{_prefix(name)}Conversion function {function!r} for type {types} "
            f"returned incompatible dtype: requested = {wanted.name}, "
            f"actual = {result.dtype.name}"
        )
    return result


def _prefix(name: str | None) -> str:
    return "" if name is None else f"{name}: "


def internal_convert_n_to_tensor(
    values: Any,
    dtype: Any = None,
    name: str | None = None,
    as_ref: bool = False,
    preferred_dtype: Any = None,
) -> list[Tensor]:
    """Converts each of `values`; constants are named `NAME_0`, `NAME_1`, ...

    Raises:
      TypeError: `values` is not iterable, or an element has no conversion.
    """
    if not isinstance(values, Iterable):
        raise TypeError("values must be iterable.")
    return [
        internal_convert_to_tensor(
            value,
            dtype,
            None if name is None else f"{name}_{index}",
            as_ref,
            preferred_dtype,
        )
        for index, value in enumerate(values)
    ]


def convert_n_to_tensor(
    values: Any, dtype: Any = None, name: str | None = None, preferred_dtype: Any = None
) -> list[Tensor]:
    """Converts each of `values` to a Tensor."""
    return internal_convert_n_to_tensor(
        values, dtype, name, preferred_dtype=preferred_dtype
    )


def _operation_conversion_error(
    op: Any, dtype: Any = None, name: str | None = None, as_ref: bool = False
) -> Tensor:
    raise TypeError(
        f"Can't convert Operation '{op.name}' to Tensor (target dtype={dtype!r}, "
        f"name={name!r}, as_ref={as_ref!r})"
    )


def _register_operations() -> None:
    from tensorloom.framework.graph.operation import Operation

    register_tensor_conversion_function(Operation, _operation_conversion_error, 0)


_register_operations()
