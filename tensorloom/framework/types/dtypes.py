"""Element types of tensors: `DType` singletons and conversions to and from them.

A `DType` is identified by its number in the `DataType` enum of the wire protocol.
There is exactly one object per number, all its facts are plain slots, so that the
hot paths (graph building, kernel selection) compare by identity and read attributes.

NumPy and DType correspond one to one for value types: bfloat16 is
`ml_dtypes.bfloat16`, a quantized type is a one-field structured dtype named after it,
a string tensor is an object array of `bytes`.
"""

from __future__ import annotations

import builtins
from typing import Any, Final, final

import ml_dtypes
import numpy as np

from tensorloom.framework.export import export, export_value

_REF_OFFSET: Final = 100


@export("DType", "dtypes.DType")
@final
class DType:
    """The type of a tensor's elements; interned, immutable.

    `DType(number)` returns the interned object for an enum number.

    Raises:
        TypeError: the number is not one of the `DataType` enum, or is `DT_INVALID`.
    """

    __slots__ = (
        "_as_ref",
        "_is_ref_dtype",
        "_type_enum",
        "as_datatype_enum",
        "as_numpy_dtype",
        "base_dtype",
        "is_bool",
        "is_complex",
        "is_floating",
        "is_integer",
        "is_numpy_compatible",
        "is_quantized",
        "is_unsigned",
        "name",
        "np_dtype",
        "real_dtype",
        "size",
    )

    #: Number in the `DataType` enum; reference types are 100 above their base.
    as_datatype_enum: int
    _type_enum: int
    #: TensorFlow's name: `"float32"`, `"float32_ref"`, ...
    name: str
    #: Bytes of one element; 1 for resource and variant, a pointer for string.
    size: int
    #: NumPy scalar class, or structured dtype for quantized types. Resource and
    #: variant have none: reading it raises TypeError.
    as_numpy_dtype: Any
    #: The same as a `numpy.dtype` instance, for callers that create arrays.
    np_dtype: np.dtype[Any]
    #: The type without the reference mark.
    base_dtype: DType
    #: float32 for complex64, float64 for complex128, otherwise the type itself.
    real_dtype: DType
    is_floating: builtins.bool
    is_integer: builtins.bool
    is_complex: builtins.bool
    is_bool: builtins.bool
    is_quantized: builtins.bool
    is_unsigned: builtins.bool
    is_numpy_compatible: builtins.bool
    _is_ref_dtype: builtins.bool
    #: The reference type of the same base.
    _as_ref: DType

    def __new__(cls, type_enum: Any) -> DType:
        number = int(type_enum)
        try:
            return _BY_ENUM[number]
        except KeyError:
            raise TypeError(
                f"type_enum is not a valid types_pb2.DataType: {number}"
            ) from None

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"DType is immutable: cannot set {name!r} of {self!r}")

    def __getattr__(self, name: str) -> Any:
        if name in ("as_numpy_dtype", "np_dtype"):
            raise TypeError(f"{self} has no NumPy counterpart.")
        raise AttributeError(f"'DType' object has no attribute {name!r}")

    @property
    def min(self) -> Any:
        """Smallest finite value.

        Raises:
            TypeError: the type is unordered, quantized or not numeric.
        """
        return self._limit("min", "minimum")

    @property
    def max(self) -> Any:
        """Largest finite value.

        Raises:
            TypeError: the type is unordered, quantized or not numeric.
        """
        return self._limit("max", "maximum")

    def _limit(self, attribute: str, word: str) -> Any:
        if self.is_floating:
            info = ml_dtypes.finfo(self.as_numpy_dtype)  # type: ignore[no-untyped-call]
            return getattr(info, attribute)
        if self.is_integer:
            return getattr(np.iinfo(self.as_numpy_dtype), attribute)
        raise TypeError(f"Cannot find {word} value of {self}.")

    @property
    def limits(self) -> tuple[Any, Any]:
        """Intensity range (low, high) of image data of this type, low end cut at 0.

        Raises:
            KeyError: images are not made of this type.
        """
        return 0, dtype_range[self.as_numpy_dtype][1]

    def is_compatible_with(self, other: Any) -> builtins.bool:
        """Whether a tensor of type `other` may stand where this type is expected.

        A reference is accepted where its base is expected, not the other way round.

        Raises:
            TypeError: `other` cannot be converted to a DType.
        """
        other = as_dtype(other)
        return self is other or self is other.base_dtype

    def __eq__(self, other: object) -> builtins.bool:
        if self is other:
            return True
        if other is None or type(other) is DType:
            return False
        try:
            return self is as_dtype(other)
        except TypeError:
            return False

    def __ne__(self, other: object) -> builtins.bool:
        return not self.__eq__(other)

    def __hash__(self) -> int:
        return self._type_enum

    def __str__(self) -> str:
        return f"<dtype: {self.name!r}>"

    def __repr__(self) -> str:
        return "tf." + self.name

    def __reduce__(self) -> tuple[Any, tuple[str]]:
        return as_dtype, (self.name,)


_BY_ENUM: dict[int, DType] = {}

# NumPy identifies quantized values by the field name of a structured dtype.
_np_qint8 = np.dtype([("qint8", np.int8)])
_np_quint8 = np.dtype([("quint8", np.uint8)])
_np_qint16 = np.dtype([("qint16", np.int16)])
_np_quint16 = np.dtype([("quint16", np.uint16)])
_np_qint32 = np.dtype([("qint32", np.int32)])

# (enum number, name, NumPy counterpart, kind)
_TABLE: tuple[tuple[int, str, Any, str], ...] = (
    (1, "float32", np.float32, "floating"),
    (2, "float64", np.float64, "floating"),
    (3, "int32", np.int32, "integer"),
    (4, "uint8", np.uint8, "unsigned"),
    (5, "int16", np.int16, "integer"),
    (6, "int8", np.int8, "integer"),
    (7, "string", object, "string"),
    (8, "complex64", np.complex64, "complex"),
    (9, "int64", np.int64, "integer"),
    (10, "bool", np.bool_, "bool"),
    (11, "qint8", _np_qint8, "quantized"),
    (12, "quint8", _np_quint8, "quantized"),
    (13, "qint32", _np_qint32, "quantized"),
    (14, "bfloat16", ml_dtypes.bfloat16, "floating"),
    (15, "qint16", _np_qint16, "quantized"),
    (16, "quint16", _np_quint16, "quantized"),
    (17, "uint16", np.uint16, "unsigned"),
    (18, "complex128", np.complex128, "complex"),
    (19, "float16", np.float16, "floating"),
    (20, "resource", None, "handle"),
    (21, "variant", None, "handle"),
    (22, "uint32", np.uint32, "unsigned"),
    (23, "uint64", np.uint64, "unsigned"),
)


def _make(number: int, name: str, numpy_type: Any, kind: str) -> DType:
    dtype = object.__new__(DType)
    facts: dict[str, Any] = {
        "_type_enum": number,
        "as_datatype_enum": number,
        "name": name,
        "size": 1 if numpy_type is None else np.dtype(numpy_type).itemsize,
        "_is_ref_dtype": number > _REF_OFFSET,
        "is_floating": kind == "floating",
        "is_integer": kind in ("integer", "unsigned"),
        "is_complex": kind == "complex",
        "is_bool": kind == "bool",
        "is_quantized": kind == "quantized",
        "is_unsigned": kind == "unsigned",
        "is_numpy_compatible": numpy_type is not None,
    }
    if numpy_type is not None:
        facts["as_numpy_dtype"] = numpy_type
        facts["np_dtype"] = np.dtype(numpy_type)
    for slot, value in facts.items():
        object.__setattr__(dtype, slot, value)
    return dtype


def _fill_table() -> None:
    for number, name, numpy_type, kind in _TABLE:
        base = _make(number, name, numpy_type, kind)
        ref = _make(number + _REF_OFFSET, name + "_ref", numpy_type, kind)
        for dtype in (base, ref):
            object.__setattr__(dtype, "base_dtype", base)
            object.__setattr__(dtype, "_as_ref", ref)
            object.__setattr__(dtype, "real_dtype", dtype)
            _BY_ENUM[dtype._type_enum] = dtype
    for complex_number, real_number in ((8, 1), (18, 2)):
        for number in (complex_number, complex_number + _REF_OFFSET):
            real = _BY_ENUM[real_number]
            object.__setattr__(_BY_ENUM[number], "real_dtype", real)


_fill_table()

resource: Final = DType(20)
variant: Final = DType(21)
float16: Final = DType(19)
half: Final = float16
float32: Final = DType(1)
float64: Final = DType(2)
double: Final = float64
bfloat16: Final = DType(14)
int8: Final = DType(6)
int16: Final = DType(5)
int32: Final = DType(3)
int64: Final = DType(9)
uint8: Final = DType(4)
uint16: Final = DType(17)
uint32: Final = DType(22)
uint64: Final = DType(23)
string: Final = DType(7)
complex64: Final = DType(8)
complex128: Final = DType(18)
bool: Final = DType(10)
qint8: Final = DType(11)
quint8: Final = DType(12)
qint16: Final = DType(15)
quint16: Final = DType(16)
qint32: Final = DType(13)

resource_ref: Final = resource._as_ref
variant_ref: Final = variant._as_ref
float16_ref: Final = float16._as_ref
half_ref: Final = float16_ref
float32_ref: Final = float32._as_ref
float64_ref: Final = float64._as_ref
double_ref: Final = float64_ref
bfloat16_ref: Final = bfloat16._as_ref
int8_ref: Final = int8._as_ref
int16_ref: Final = int16._as_ref
int32_ref: Final = int32._as_ref
int64_ref: Final = int64._as_ref
uint8_ref: Final = uint8._as_ref
uint16_ref: Final = uint16._as_ref
uint32_ref: Final = uint32._as_ref
uint64_ref: Final = uint64._as_ref
string_ref: Final = string._as_ref
complex64_ref: Final = complex64._as_ref
complex128_ref: Final = complex128._as_ref
bool_ref: Final = bool._as_ref
qint8_ref: Final = qint8._as_ref
quint8_ref: Final = quint8._as_ref
qint16_ref: Final = qint16._as_ref
quint16_ref: Final = quint16._as_ref
qint32_ref: Final = qint32._as_ref

_QUANTIZED_DTYPES_NO_REF = frozenset((qint8, quint8, qint16, quint16, qint32))
_QUANTIZED_DTYPES_REF = frozenset(d._as_ref for d in _QUANTIZED_DTYPES_NO_REF)
QUANTIZED_DTYPES = _QUANTIZED_DTYPES_REF | _QUANTIZED_DTYPES_NO_REF

for _dtype in _BY_ENUM.values():
    if not _dtype._is_ref_dtype:
        export_value(_dtype, _dtype.name, f"dtypes.{_dtype.name}")
export_value(float16, "half", "dtypes.half")
export_value(float64, "double", "dtypes.double")
export_value(QUANTIZED_DTYPES, "QUANTIZED_DTYPES", "dtypes.QUANTIZED_DTYPES")

#: (low, high) of image intensities by NumPy type.
dtype_range: dict[Any, tuple[Any, Any]] = {
    np.bool_: (False, True),
    np.uint8: (0, 255),
    np.uint16: (0, 65535),
    np.int8: (-128, 127),
    np.int16: (-32768, 32767),
    np.int64: (-(2**63), 2**63 - 1),
    np.uint64: (0, 2**64 - 1),
    np.int32: (-(2**31), 2**31 - 1),
    np.uint32: (0, 2**32 - 1),
    np.float32: (-1, 1),
    np.float64: (-1, 1),
}

_NP_TO_TF: dict[Any, DType] = {
    dtype.as_numpy_dtype: dtype
    for dtype in _BY_ENUM.values()
    if dtype.is_numpy_compatible and not dtype._is_ref_dtype
}
_NP_TO_TF |= {np.object_: string, np.bytes_: string, np.str_: string}
# The C-named classes are distinct objects from the fixed-width ones on some platforms.
for _c_type in (np.intc, np.uintc, np.int_, np.uint, np.longlong, np.ulonglong):
    _NP_TO_TF.setdefault(_c_type, _NP_TO_TF[np.dtype(np.dtype(_c_type).str).type])

_ANY_TO_TF: dict[Any, DType] = {
    **_BY_ENUM,
    **{dtype.name: dtype for dtype in _BY_ENUM.values()},
    **_NP_TO_TF,
    "half": float16,
    "half_ref": float16_ref,
    "float": float32,
    "float_ref": float32_ref,
    "double": float64,
    "double_ref": float64_ref,
    builtins.float: float32,
    builtins.bool: bool,
    builtins.object: string,
}


@export("as_dtype", "dtypes.as_dtype")
def as_dtype(type_value: Any) -> DType:
    """Converts a DType, enum number, name, NumPy type or Python type to a DType.

    Of the Python types, `float` (float32), `bool` and `object` (string) are accepted;
    `int` and `str` are ambiguous and refused, as in TensorFlow.

    Raises:
        TypeError: there is no such DType.
    """
    if type(type_value) is DType:
        return type_value
    if isinstance(type_value, np.dtype):
        found = _NP_TO_TF.get(type_value.type)
        if found is not None:
            return found
    try:
        return _ANY_TO_TF[type_value]
    except KeyError:
        pass
    raise TypeError(f"Cannot convert value {type_value!r} to a TensorFlow DType.")


def memory_dtype(dtype: DType) -> np.dtype[Any]:
    """The NumPy dtype of a type's values while a program runs, and in files.

    A quantized type's values are its base integers; its own NumPy dtype, a structured
    one, is for programs to name it.
    """
    found: np.dtype[Any] = dtype.np_dtype
    return found[0] if dtype.is_quantized else found


def memory_view(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """An array as its values are in memory; see `memory_dtype`. Nothing is copied."""
    dtype = array.dtype
    return array if dtype.names is None else array.view(dtype[0])


def named_view(array: Any, dtype: DType) -> Any:
    """A type's values, as they are in memory, in an array that tells their type."""
    return np.asarray(array).view(dtype.np_dtype) if dtype.is_quantized else array
