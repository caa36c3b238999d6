"""The signatures of a model: what its calls take and give, by name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from tensorloom.framework import errors
from tensorloom.framework.types import dtypes
from tensorloom.transport.wire import tensors

if TYPE_CHECKING:
    from tensorloom.framework.types.dtypes import DType

DEFAULT_KEY: Final = "serving_default"
PREDICT_METHOD: Final = "tensorflow/serving/predict"
CLASSIFY_METHOD: Final = "tensorflow/serving/classify"
REGRESS_METHOD: Final = "tensorflow/serving/regress"


@dataclass(frozen=True, slots=True)
class Slot:
    """One input or output."""

    alias: str
    #: The tensor in the graph, `name:index`.
    tensor: str
    dtype: DType
    #: None where the rank is not known; None as a size that is not known.
    shape: tuple[int | None, ...] | None


@dataclass(frozen=True, slots=True)
class Signature:
    """A `SignatureDef`, decoded."""

    key: str
    method_name: str
    #: By alias, sorted.
    inputs: Mapping[str, Slot]
    outputs: Mapping[str, Slot]
    #: Values of the inputs that a request may leave out.
    defaults: Mapping[str, Any] = field(default_factory=dict)


def decode_signatures(meta_graph_def: Any) -> dict[str, Signature]:
    """The signatures that can be called, by key.

    What marks an init or train op is none, nor is one with a tensor in parts (sparse,
    ragged), which the calls have no message for: a model that parses `tf.Example`s, or
    that takes the parts by name, is served.
    """
    found = {}
    for key, signature_def in sorted(meta_graph_def.signature_def.items()):
        if key.startswith("__saved_model"):
            continue
        infos = (*signature_def.inputs.values(), *signature_def.outputs.values())
        if all(info.name for info in infos):
            found[key] = _decode(key, signature_def)
    return found


def _decode(key: str, signature_def: Any) -> Signature:
    return Signature(
        key,
        signature_def.method_name,
        _slots(signature_def.inputs),
        _slots(signature_def.outputs),
        {k: tensors.decode(v) for k, v in signature_def.defaults.items()},
    )


def _slots(infos: Mapping[str, Any]) -> dict[str, Slot]:
    return {alias: _slot(alias, info) for alias, info in sorted(infos.items())}


def _slot(alias: str, info: Any) -> Slot:
    try:
        dtype = dtypes.as_dtype(int(info.dtype)).base_dtype
    except TypeError:
        raise errors.InvalidArgumentError(
            None, None, f"'{alias}' of a signature has the unknown dtype {info.dtype}"
        ) from None
    name = info.name if ":" in info.name else f"{info.name}:0"
    if info.tensor_shape.unknown_rank:
        return Slot(alias, name, dtype, None)
    sizes = tuple(d.size if d.size >= 0 else None for d in info.tensor_shape.dim)
    return Slot(alias, name, dtype, sizes)
