"""Lookups in tables that the model fills itself, from constants or files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tensorloom.deploy.onnx.registry import builder
from tensorloom.deploy.program import Unexportable
from tensorloom.framework.types import dtypes

if TYPE_CHECKING:
    from tensorloom.deploy.onnx.scope import Site

ML: Final = "ai.onnx.ml"
_NAMES: Final = {
    (dtypes.string, True): "keys_strings",
    (dtypes.int64, True): "keys_int64s",
    (dtypes.float32, True): "keys_floats",
    (dtypes.string, False): "values_strings",
    (dtypes.int64, False): "values_int64s",
    (dtypes.float32, False): "values_floats",
}
_DEFAULTS: Final = {
    dtypes.string: "default_string",
    dtypes.int64: "default_int64",
    dtypes.float32: "default_float",
}


@builder("HashTable", "HashTableV2")
def _table(site: Site) -> str:
    # Lookups have its contents.
    return ""


@builder("LookupTableFind", "LookupTableFindV2")
def _find(site: Site) -> str:
    keys, values = _contents(site)
    key, value = site.input_dtype(1), site.dtype()
    kinds = dtypes.string, dtypes.int64, dtypes.float32
    looked = site[1]
    if key == dtypes.int32:
        looked, key, keys = (
            site.cast(looked, dtypes.int64),
            dtypes.int64,
            keys.astype(np.int64),
        )
    wanted = value
    if value == dtypes.int32:
        wanted, values = dtypes.int64, values.astype(np.int64)
    if key not in kinds or wanted not in kinds:
        raise Unexportable(f"ONNX has no table from {key.name} to {value.name}")
    default = np.reshape(site.constant(2, "default value"), ()).item()
    attrs: dict[str, Any] = {
        _NAMES[key, True]: keys.tolist(),
        _NAMES[wanted, False]: values.tolist(),
        _DEFAULTS[wanted]: default,
    }
    found = site.scope.emit("LabelEncoder", looked, domain=ML, **attrs)[0]
    return found if wanted == value else site.cast(found, value)


def _contents(site: Site) -> tuple[Any, Any]:
    """The keys and values of a table once the model has filled it."""
    name = site.node.inputs[0][0]
    found = site.model.tables.get(name)
    if found is None:
        raise Unexportable(f"the table {name!r} is not filled by the model")
    return found
