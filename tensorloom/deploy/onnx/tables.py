"""Lookups in tables that the model fills itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tensorloom.deploy.onnx.registry import builder
from tensorloom.deploy.program import Unexportable, static_value
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
    """The keys and values that the model's own nodes fill a table with."""
    name = site.node.inputs[0][0]
    nodes = site.model.tables.nodes
    fillers = [
        node for node in nodes.values() if node.inputs and node.inputs[0][0] == name
    ]
    if len(fillers) != 1:
        raise Unexportable(f"the table {name!r} is not filled by one node of the model")
    filler = fillers[0]
    if filler.op in ("InitializeTable", "InitializeTableV2", "LookupTableImportV2"):
        parts = [static_value(nodes[edge[0]]) for edge in filler.inputs[1:3]]
        if any(part is None for part in parts):
            raise Unexportable(f"what fills the table {name!r} is no constant")
        return parts[0], parts[1]
    raise Unexportable(f"the table {name!r} is filled by {filler.op}, from a file")
