"""Products of matrices."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tensorloom.deploy.onnx.registry import builder

if TYPE_CHECKING:
    from tensorloom.deploy.onnx.scope import Site


@builder("MatMul", "BatchMatMul", "BatchMatMulV2")
def _product(site: Site) -> str:
    names = []
    kinds = ("transpose_a", "transpose_b")
    if site.node.op != "MatMul":
        kinds = ("adj_x", "adj_y")
    for at, attr in enumerate(kinds):
        name = site[at]
        if site.attr(attr):
            rank = 2 if site.node.op == "MatMul" else site.rank(at)
            name = site.transposed(name, [*range(rank - 2), rank - 1, rank - 2])
        names.append(name)
    return site.op("MatMul", *names)


@builder("Einsum")
def _einsum(site: Site) -> str:
    return site.op("Einsum", *site.inputs, equation=site.attr("equation"))


@builder("MatrixBandPart")
def _band(site: Site) -> str:
    lower = int(site.constant(1, "number of lower diagonals"))
    upper = int(site.constant(2, "number of upper diagonals"))
    value = site[0]
    if lower >= 0:
        value = site.op("Trilu", value, site.value(-lower, "int64"), upper=1)
    if upper >= 0:
        value = site.op("Trilu", value, site.value(upper, "int64"), upper=0)
    return value
