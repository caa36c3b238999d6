"""Ops and kernels of a shared library, as `tensorloom/kernel.h` describes them."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tensorloom.framework import errors
from tensorloom.framework.registry import op_kernel, op_registry
from tensorloom.framework.registry.shape_inference import (
    unchanged_shape,
    unknown_shapes,
)
from tensorloom.framework.types.dtypes import DType

if TYPE_CHECKING:
    from tensorloom.framework.registry.op_registry import OpDef

SYMBOL: Final = "tensorloom_ops"
_SAME_SHAPE: Final = 1
_STATEFUL: Final = 2
_MOST_DIMS: Final = 64


class _Array(ctypes.Structure):
    _fields_ = (
        ("data", ctypes.c_void_p),
        ("dims", ctypes.POINTER(ctypes.c_int64)),
        ("num_elements", ctypes.c_int64),
        ("num_dims", ctypes.c_int32),
        ("dtype", ctypes.c_int32),
    )


_Output = ctypes.CFUNCTYPE(
    ctypes.c_void_p,
    ctypes.c_void_p,
    ctypes.c_int32,
    ctypes.POINTER(ctypes.c_int64),
    ctypes.c_int32,
)
_IntAttr = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_char_p)
_FloatAttr = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_void_p, ctypes.c_char_p)
_StringAttr = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p)
_Fail = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int32, ctypes.c_char_p)


class _Call(ctypes.Structure):
    _fields_ = (
        ("inputs", ctypes.POINTER(_Array)),
        ("num_inputs", ctypes.c_int32),
        ("num_outputs", ctypes.c_int32),
        ("output", _Output),
        ("int_attr", _IntAttr),
        ("float_attr", _FloatAttr),
        ("string_attr", _StringAttr),
        ("fail", _Fail),
    )


_Compute = ctypes.CFUNCTYPE(None, ctypes.POINTER(_Call))


class _Op(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_char_p),
        ("inputs", ctypes.POINTER(ctypes.c_char_p)),
        ("outputs", ctypes.POINTER(ctypes.c_char_p)),
        ("attrs", ctypes.POINTER(ctypes.c_char_p)),
        ("doc", ctypes.c_char_p),
        ("flags", ctypes.c_uint32),
        ("compute", _Compute),
    )


# --- A run ------------------------------------------------------------------------


class _Run:
    """What a kernel has asked for, and given, in one call."""

    def __init__(self, attrs: Any, output_types: Sequence[DType]) -> None:
        self.attrs = attrs
        self.output_types = output_types
        self.outputs: list[np.ndarray[Any, Any] | None] = [None] * len(output_types)
        self.error: errors.OpError | None = None
        self.kept: list[Any] = []  # strings that the kernel was given

    def fail(self, code: int, message: str) -> None:
        """Keeps the first error."""
        if self.error is None:
            known = range(errors.CANCELLED, errors.UNAUTHENTICATED + 1)
            kind = errors.exception_type_from_error_code(
                code if code in known else errors.UNKNOWN
            )
            self.error = kind(None, None, message)


class _Current(threading.local):
    run: _Run | None = None


_CURRENT: Final = _Current()


def _current() -> _Run:
    run = _CURRENT.run
    assert run is not None, "called by a thread that runs no kernel"
    return run


def _output(call: Any, index: int, dims: Any, num_dims: int) -> int | None:
    run = _current()
    if not 0 <= index < len(run.outputs) or not 0 <= num_dims <= _MOST_DIMS:
        run.fail(errors.INTERNAL, f"the kernel has no output {index}")
        return None
    try:
        shape = tuple(dims[:num_dims]) if num_dims else ()
        array = np.empty(shape, run.output_types[index].np_dtype)
    except (ValueError, MemoryError) as error:
        run.fail(errors.RESOURCE_EXHAUSTED, f"output {index}: {error}")
        return None
    run.outputs[index] = array
    return array.ctypes.data


def _int_attr(call: Any, name: bytes) -> int:
    value = _current().attrs.get(name.decode())
    if isinstance(value, DType):
        return value.as_datatype_enum
    return int(value) if isinstance(value, int) else 0


def _float_attr(call: Any, name: bytes) -> float:
    value = _current().attrs.get(name.decode())
    return float(value) if isinstance(value, int | float) else 0.0


def _string_attr(call: Any, name: bytes) -> int | None:
    run = _current()
    value = run.attrs.get(name.decode())
    if not isinstance(value, bytes):
        return None
    kept = ctypes.create_string_buffer(value)
    run.kept.append(kept)
    return ctypes.addressof(kept)


def _fail(call: Any, code: int, message: bytes | None) -> None:
    _current().fail(code, (message or b"").decode("utf-8", "replace"))


# What each call hands to C; they know the run by the thread.
_FUNCTIONS: Final = (
    _Output(_output),
    _IntAttr(_int_attr),
    _FloatAttr(_float_attr),
    _StringAttr(_string_attr),
    _Fail(_fail),
)


# --- Registering ------------------------------------------------------------------


def register(library: ctypes.CDLL) -> list[OpDef]:
    """Registers the ops and kernels of a library; none if it exports no table.

    Raises:
      AlreadyExistsError: there is an op of that name.
      InvalidArgumentError: a signature is malformed, or has what no kernel in C takes.
    """
    try:
        table = (ctypes.POINTER(_Op) * 1).in_dll(library, SYMBOL)
    except ValueError:
        return []
    pointers = ctypes.cast(table, ctypes.POINTER(ctypes.POINTER(_Op)))
    found, place = [], 0
    while pointers[place]:
        found.append(_register(pointers[place].contents))
        place += 1
    return found


def _words(pointer: Any) -> list[str]:
    words: list[str] = []
    while pointer and pointer[len(words)] is not None:
        words.append(pointer[len(words)].decode())
    return words


def _register(op: Any) -> OpDef:
    name = op.name.decode()
    if op_registry.find(name) is not None:
        raise errors.AlreadyExistsError(
            None, None, f"op '{name}' is registered already"
        )
    compute, flags = op.compute, op.flags
    try:
        op_registry.register_op(
            name,
            inputs=_words(op.inputs),
            outputs=_words(op.outputs),
            attrs=_words(op.attrs),
            shape_fn=unchanged_shape if flags & _SAME_SHAPE else unknown_shapes,
            stateful=bool(flags & _STATEFUL),
            doc=(op.doc or b"").decode("utf-8", "replace"),
        )
        definition = op_registry.find(name)
    except (ValueError, TypeError, KeyError) as error:
        raise errors.InvalidArgumentError(
            None, None, f"the signature of op '{name}': {error}"
        ) from None
    assert definition is not None

    @op_kernel.host_kernel(name, devices=("CPU",), large=True)
    def make(node: op_kernel.OpKernelConstruction) -> Any:
        return _kernel(compute, node)

    return definition


def _kernel(compute: Any, node: op_kernel.OpKernelConstruction) -> Any:
    """The function that runs a kernel of C over arrays."""
    output_types = [dtype.base_dtype for dtype in node.node.output_types]
    input_types = [dtype.base_dtype for dtype in node.input_types]
    for dtype in [*output_types, *input_types]:
        if not dtype.is_numpy_compatible or dtype.np_dtype.hasobject:
            raise errors.InvalidArgumentError(
                None, None, f"a kernel in C takes and gives no {dtype.name}"
            )
    attrs = node.attrs

    def run(*values: Any) -> Any:
        arrays = [np.ascontiguousarray(v).reshape(np.shape(v)) for v in values]
        state = _Run(attrs, output_types)
        inputs = (_Array * max(1, len(arrays)))(*map(_as_input, arrays, input_types))
        call = _Call(inputs, len(arrays), len(output_types), *_FUNCTIONS)
        before, _CURRENT.run = _CURRENT.run, state
        try:
            compute(ctypes.byref(call))  # without Python's lock
        finally:
            _CURRENT.run = before
        return _results(state)

    return run


def _as_input(array: np.ndarray[Any, Any], dtype: DType) -> _Array:
    dims = (ctypes.c_int64 * max(1, array.ndim))(*array.shape)
    return _Array(
        array.ctypes.data, dims, array.size, array.ndim, dtype.as_datatype_enum
    )


def _results(run: _Run) -> Any:
    if run.error is not None:
        raise run.error
    results = []
    for index, array in enumerate(run.outputs):
        if array is None:
            raise errors.InternalError(
                None, None, f"the kernel did not ask for output {index}"
            )
        results.append(array if array.ndim else array[()])
    return results[0] if len(results) == 1 else tuple(results) or None
