"""How much memory of the device is used, was used, and may be used."""

from __future__ import annotations

from tensorloom.framework.registry.op_registry import register_op
from tensorloom.framework.registry.shape_inference import scalar_shape

for _name, _what in (
    ("BytesInUse", "The bytes in use now"),
    ("BytesLimit", "The bytes that may be used"),
    ("MaxBytesInUse", "The most bytes in use so far"),
):
    register_op(
        _name,
        outputs=["out: int64"],
        shape_fn=scalar_shape,
        stateful=True,
        doc=f"{_what} of the memory of the device that it runs on.",
    )
