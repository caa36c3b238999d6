"""Maps of tensors (2.x). TensorFlow has their keys in no order: they are sorted here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tests.peer.ops.program import Program
from tests.peer.ops.spec import spec

if TYPE_CHECKING:
    from tests.peer.ops.draw import Draw


_TYPES = {"key_dtype": "int32", "value_dtype": "float32"}


def _filled(d: Draw, p: Program, keys: Any) -> Any:
    """A map with random values."""
    held = p.op("EmptyTensorMap")[0]
    for key in keys:
        value = p.feed(d.array((2,), "float32"))
        held = p.op(
            "TensorMapInsert", held, p.const(np.int32(key), "int32"), value, **_TYPES
        )[0]
    return held


def _keys(d: Draw) -> list[int]:
    return d.rng.integers(0, 4, d.integer(1, 5)).tolist()


def _size(d: Draw) -> Program:
    p = Program(differentiate=False)
    p.run(p.op("TensorMapSize", _filled(d, p, _keys(d))))
    return p


def _one(d: Draw, missing: bool = False, **types: str) -> Program:
    """Of a map with some keys, what the op says of one."""
    p = Program(differentiate=False)
    keys = _keys(d)
    held = _filled(d, p, keys)
    key = p.const(np.int32(9 if missing else d.choice(keys)), "int32")
    attrs = {k: v for k, v in {**_TYPES, **types}.items() if d.op != "TensorMapHasKey"}
    attrs["key_dtype"] = "int32"
    found = p.op(d.op, held, key, **attrs)[0]
    if d.op == "TensorMapErase":
        found = p.op("TensorMapSize", found)[0]
    p.run(found)
    return p


def _stacked(d: Draw, keys: Any = None, kind: str = "int32") -> Program:
    p = Program(differentiate=False)
    held = _filled(d, p, _keys(d) if keys is None else keys)
    found = p.op("TensorMapStackKeys", held, key_dtype=kind)[0]
    p.run(found)
    return p


def _in_order(values: list[Any]) -> list[Any]:
    return [np.sort(value) for value in values]


_ALONE: dict[str, Any] = {"types": (), "gradient": False, "mutate": ()}


spec("EmptyTensorMap TensorMapSize TensorMapInsert", _size, **_ALONE)


spec(
    "TensorMapHasKey",
    lambda d: _one(d, d.maybe()),
    **_ALONE,
)


spec("TensorMapErase", _one, bad=(lambda d: _one(d, True),), **_ALONE)


spec(
    "TensorMapLookup",
    _one,
    bad=(lambda d: _one(d, True), lambda d: _one(d, value_dtype="int32")),
    **_ALONE,
)


spec(
    "TensorMapStackKeys",
    _stacked,
    bad=(lambda d: _stacked(d, ()), lambda d: _stacked(d, None, "float32")),
    canonical=_in_order,
    **_ALONE,
)
