"""Specs of Elu, EluGrad, LeakyRelu, LeakyReluGrad, ...."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.peer.ops.spec import call, spec

if TYPE_CHECKING:
    from tests.peer.ops.draw import Draw
from tests.peer.ops.specs.shared.elementwise import (
    POLYNOMIALS,
    plain,
    same,
    special,
    unary,
)

spec(
    "Softsign",
    unary(),
    tolerance=POLYNOMIALS,
)


spec("EluGrad SeluGrad ReluGrad Relu6Grad SoftplusGrad SoftsignGrad", same())


spec("Elu Selu Relu Relu6", unary(), tolerance=POLYNOMIALS)


spec("Softplus", plain(-30, 30), tolerance=POLYNOMIALS)


def leaky(d: Draw) -> Any:
    return call(special(d, d.array()), alpha=d.choice([0.2, 0.5, 1.5, -0.3]))


def leaky_grad(d: Draw) -> Any:
    shape = d.shape()
    return call(d.array(shape), d.array(shape), alpha=d.choice([0.2, 0.5]))


spec("LeakyRelu", leaky)


spec("LeakyReluGrad", leaky_grad)
