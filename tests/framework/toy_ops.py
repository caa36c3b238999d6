"""A few ops for tests of graphs, in a registry of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tensorloom.framework.registry import op_registry
from tensorloom.framework.registry.op_registry import register_op

if TYPE_CHECKING:
    import pytest


def register(monkeypatch: pytest.MonkeyPatch) -> None:
    """Replaces the registry by one with the toy ops, for the running test."""
    op_registry.registered_ops()  # those that load late are not lost afterwards
    monkeypatch.setattr(op_registry, "_REGISTRY", {})
    register_op("NoOp")
    register_op("Const", outputs=["out: dtype"], attrs=["value: tensor", "dtype: type"])
    register_op(
        "Add",
        inputs=["x: T", "y: T"],
        outputs=["z: T"],
        attrs=["T: {float, int32}"],
        commutative=True,
        doc="x + y",
    )
    register_op(
        "Split", inputs=["x: T"], outputs=["y: N * T"], attrs=["N: int >= 1", "T: type"]
    )
    register_op(
        "Cast", inputs=["x: Src"], outputs=["y: Dst"], attrs=["Src: type", "Dst: type"]
    )
    register_op(
        "Call",
        inputs=["args: Tin"],
        outputs=["out: Tout"],
        attrs=["Tin: list(type) >= 0", "Tout: list(type)", "f: func"],
        stateful=True,
    )
    register_op(
        "Variable",
        outputs=["ref: Ref(dtype)"],
        attrs=["dtype: type", "shape: shape"],
        stateful=True,
    )
    register_op(
        "Assign",
        inputs=["ref: Ref(T)", "value: T"],
        outputs=["out: Ref(T)"],
        attrs=["T: type", "use_locking: bool = true"],
        allows_uninitialized_input=True,
    )
    register_op(
        "Pad",
        inputs=["x: float"],
        outputs=["y: float"],
        attrs=[
            "mode: {'SAME', 'VALID'} = 'SAME'",
            "sizes: list(int) >= 2 = [0, 1]",
            "scale: float = 1.5",
            "name: string = ''",
        ],
    )
    register_op(
        "Merge",
        inputs=["inputs: N * T"],
        outputs=["output: T", "value_index: int32"],
        attrs=["T: type", "N: int >= 1"],
    )
    register_op(
        "NextIteration", inputs=["data: T"], outputs=["output: T"], attrs=["T: type"]
    )
