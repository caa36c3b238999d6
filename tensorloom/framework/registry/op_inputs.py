"""From Python arguments to an op's input tensors, and the attrs inferred from them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from tensorloom.framework.graph.tensor import Tensor
from tensorloom.framework.types.attr_conversion import check_allowed_type
from tensorloom.framework.types.tensor_conversion import (
    internal_convert_n_to_tensor,
    internal_convert_to_tensor,
)

if TYPE_CHECKING:
    from tensorloom.framework.registry.op_registry import ArgDef, OpDef
    from tensorloom.framework.types.dtypes import DType

MISSING: Final = object()


def pop(keywords: dict[str, Any], name: str) -> Any:
    """The value passed for `name`, or for `name_` (a Python keyword)."""
    value = keywords.pop(name, MISSING)
    return keywords.pop(f"{name}_", MISSING) if value is MISSING else value


def convert_inputs(
    op_def: OpDef, keywords: dict[str, Any]
) -> tuple[list[Tensor], dict[str, Any]]:
    """The input tensors, taken out of the arguments, and the attrs that they tell.

    Raises:
      TypeError, ValueError: what cannot be converted, does not match or is missing.
    """
    attrs: dict[str, Any] = {}
    inferred: dict[str, str] = {}
    inputs: list[Tensor] = []
    for arg in op_def.inputs:
        value = pop(keywords, arg.name)
        if value is MISSING:
            raise TypeError(f"No argument for input {arg.name}")
        if arg.is_list:
            tensors = _convert_list(op_def, arg, value, attrs)
            _infer_list(op_def, arg, tensors, attrs, inferred)
            inputs.extend(tensors)
        else:
            tensor = _convert_single(op_def, arg, value, attrs, inferred)
            infer_single(op_def, arg, tensor._dtype, attrs, inferred)
            inputs.append(tensor)
    return inputs, attrs


# --- one tensor ----------------------------------------------------------------


def _default_type(op_def: OpDef, arg: ArgDef) -> DType | None:
    attr = op_def.attrs.get(arg.type_attr)
    return attr.default if attr is not None and attr.has_default else None


def _convert_single(
    op_def: OpDef,
    arg: ArgDef,
    value: Any,
    attrs: dict[str, Any],
    inferred: dict[str, str],
) -> Tensor:
    dtype = arg.type if arg.type is not None else attrs.get(arg.type_attr)
    preferred = None if dtype is not None else _default_type(op_def, arg)
    try:
        return internal_convert_to_tensor(value, dtype, arg.name, arg.is_ref, preferred)
    except TypeError as error:
        if dtype is None:
            raise
        raise TypeError(
            f"Expected {dtype.name} passed to parameter '{arg.name}' of op "
            f"'{op_def.name}', got {value!r} of type '{type(value).__name__}' "
            f"instead. Error: {error}"
        ) from None
    except ValueError:
        raise _mismatch(op_def, arg, value, attrs, inferred) from None


def _mismatch(
    op_def: OpDef,
    arg: ArgDef,
    value: Any,
    attrs: dict[str, Any],
    inferred: dict[str, str],
) -> Exception:
    """The message that names the dtype of the value and the expected one."""
    try:
        observed = internal_convert_to_tensor(value, as_ref=arg.is_ref).dtype.name
    except ValueError as error:
        return ValueError(
            f"Tried to convert '{arg.name}' to a tensor and failed. Error: {error}"
        )
    prefix = (
        f"Input '{arg.name}' of '{op_def.name}' Op has type {observed} that does not "
        "match"
    )
    if arg.type is not None:
        return TypeError(f"{prefix} expected type of {arg.type.name}.")
    default = _default_type(op_def, arg)
    wanted = attrs.get(arg.type_attr, default)
    origin = inferred.get(arg.type_attr, "Default in OpDef")
    return TypeError(
        f"{prefix} type {wanted.name if wanted else '?'} of argument '{origin}'."
    )


def infer_single(
    op_def: OpDef,
    arg: ArgDef,
    dtype: DType,
    attrs: dict[str, Any],
    inferred: dict[str, str],
) -> None:
    """Adds the attr that a tensor's dtype tells, or checks it against the one known.

    Args:
      attrs: those known so far.
      inferred: which argument each of them came from, for messages.

    Raises:
      TypeError: another dtype was found before, or it is not allowed.
    """
    if arg.is_ref and not dtype._is_ref_dtype:
        raise TypeError(
            f"'{op_def.name}' Op requires that input '{arg.name}' be a mutable tensor "
            "(e.g.: a tf.Variable)"
        )
    key = arg.type_attr
    if not key:
        return
    base = dtype.base_dtype
    known = attrs.get(key)
    if known is None:
        attr = op_def.attrs[key]
        if attr.allowed is not None and base not in attr.allowed:
            check_allowed_type(base, attr, arg.name)
        attrs[key] = base
        inferred[key] = arg.name
    elif known is not base:
        raise TypeError(
            f"Input '{arg.name}' of '{op_def.name}' Op has type {base.name} that does "
            f"not match type {known.name} of argument '{inferred[key]}'."
        )


# --- a list of tensors ------------------------------------------------------------


def _convert_list(
    op_def: OpDef, arg: ArgDef, values: Any, attrs: dict[str, Any]
) -> list[Tensor]:
    if not isinstance(values, list | tuple):
        raise TypeError(
            f"Expected list for '{arg.name}' argument to '{op_def.name}' Op, "
            f"not {values}."
        )
    dtype: DType | None = arg.type
    preferred: DType | None = None
    if dtype is None and arg.number_attr:
        dtype = attrs.get(arg.type_attr)
        if dtype is None:
            dtype = next((v.dtype for v in values if isinstance(v, Tensor)), None)
        if dtype is None:
            preferred = _default_type(op_def, arg)
    if dtype is not None and not arg.is_ref:
        dtype = dtype.base_dtype
    try:
        tensors = internal_convert_n_to_tensor(
            values, dtype, arg.name, arg.is_ref, preferred
        )
        if arg.number_attr and len({t.dtype.base_dtype for t in tensors}) > 1:
            raise TypeError("All types should match.")
    except (TypeError, ValueError):
        raise _list_error(op_def, arg, values, dtype, attrs) from None
    return tensors


def _list_error(
    op_def: OpDef,
    arg: ArgDef,
    values: Any,
    dtype: DType | None,
    attrs: dict[str, Any],
) -> TypeError:
    observed = []
    for value in values:
        try:
            tensor = internal_convert_to_tensor(value, as_ref=arg.is_ref)
            observed.append(tensor.dtype.base_dtype.name)
        except (TypeError, ValueError):
            observed.append("<NOT CONVERTIBLE TO TENSOR>")
    prefix = (
        f"Tensors in list passed to '{arg.name}' of '{op_def.name}' Op have types "
        f"[{', '.join(observed)}]"
    )
    if not arg.number_attr:
        return TypeError(f"{prefix} that are invalid. Tensors: {values}")
    if arg.type is not None:
        return TypeError(f"{prefix} that do not match expected type {arg.type.name}.")
    if arg.type_attr in attrs and dtype is not None:
        return TypeError(
            f"{prefix} that do not match type {dtype.name} inferred from earlier "
            "arguments."
        )
    return TypeError(f"{prefix} that don't all match.")


def _infer_list(
    op_def: OpDef,
    arg: ArgDef,
    tensors: list[Tensor],
    attrs: dict[str, Any],
    inferred: dict[str, str],
) -> None:
    if arg.is_ref and not all(t.dtype._is_ref_dtype for t in tensors):
        raise TypeError(
            f"'{op_def.name}' Op requires that input '{arg.name}' be a mutable tensor "
            "(e.g.: a tf.Variable)"
        )
    types = [t.dtype.base_dtype for t in tensors]
    if arg.number_attr:
        _infer_number(op_def, arg, len(tensors), attrs, inferred)
        if arg.type_attr:
            _infer_number_type(op_def, arg, types, attrs, inferred)
    elif arg.type_list_attr:
        _infer_type_list(op_def, arg, types, attrs, inferred)


def _infer_number(
    op_def: OpDef,
    arg: ArgDef,
    count: int,
    attrs: dict[str, Any],
    inferred: dict[str, str],
) -> None:
    key = arg.number_attr
    prefix = f"List argument '{arg.name}' to '{op_def.name}' Op with length {count}"
    if key in attrs:
        if attrs[key] != count:
            raise ValueError(
                f"{prefix} must match length {attrs[key]} of argument "
                f"'{inferred[key]}'."
            )
        return
    minimum = op_def.attrs[key].minimum
    if minimum is not None and count < minimum:
        raise ValueError(f"{prefix} shorter than minimum length {minimum}.")
    attrs[key] = count
    inferred[key] = arg.name


def _infer_number_type(
    op_def: OpDef,
    arg: ArgDef,
    types: list[DType],
    attrs: dict[str, Any],
    inferred: dict[str, str],
) -> None:
    if arg.type_attr in attrs:
        return
    if not types:
        raise TypeError(
            "Don't know how to infer type variable from empty input list passed to "
            f"input '{arg.name}' of '{op_def.name}' Op."
        )
    check_allowed_type(types[0], op_def.attrs[arg.type_attr], arg.name)
    attrs[arg.type_attr] = types[0]
    inferred[arg.type_attr] = arg.name


def _infer_type_list(
    op_def: OpDef,
    arg: ArgDef,
    types: list[DType],
    attrs: dict[str, Any],
    inferred: dict[str, str],
) -> None:
    key = arg.type_list_attr
    attr = op_def.attrs[key]
    known = attrs.get(key)
    if known is not None:
        if known != types:
            raise TypeError(
                f"Input '{arg.name}' of '{op_def.name}' Op has type list of "
                f"{', '.join(t.name for t in types)} that does not match type list "
                f"{', '.join(t.name for t in known)} of argument '{inferred[key]}'."
            )
        return
    for dtype in types:
        check_allowed_type(dtype, attr, arg.name)
    if attr.minimum is not None and len(types) < attr.minimum:
        raise ValueError(
            f"List argument '{arg.name}' to '{op_def.name}' Op with length "
            f"{len(types)} shorter than minimum length {attr.minimum}."
        )
    attrs[key] = types
    inferred[key] = arg.name
