"""Specs of _UnaryOpsComposition."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.peer.ops.spec import call, spec

if TYPE_CHECKING:
    from tests.peer.ops.draw import Draw


def _unary(d: Draw) -> Any:
    names = ["Tanh", "Exp", "Square", "Sigmoid", "Neg", "Relu", "Elu", "Cos", "Atan"]
    chosen = [d.choice(names) for _ in range(d.integer(1, 4))]
    return call(d.array(d.shape(0, 2)), op_names=chosen)


spec("_UnaryOpsComposition", _unary, mutate=(), gradient=False)
