"""The linear algebra of graphs before version 14: one op for batches of matrices.

The ops without "Batch" took over their work. They are here so that old graphs load
and run; builders make none of them.
"""

from __future__ import annotations

from typing import Final

from tensorloom.framework.registry.op_registry import register_op
from tensorloom.framework.registry.shape_inference import unknown_shapes

_REALS: Final = "T: {double, float}"
_MATRICES: Final = "T: {double, float, complex64, complex128}"
_ANY: Final = "T: type"

# (op without "Batch", inputs, outputs, attrs)
_Signature = tuple[str, list[str], list[str], list[str]]
_IN: Final = ["input: T"]
_OUT: Final = ["output: T"]
_SYSTEM: Final = ["matrix: T", "rhs: T"]

_OPS: Final[tuple[_Signature, ...]] = (
    ("Cholesky", _IN, _OUT, [_REALS]),
    ("CholeskyGrad", ["l: T", "grad: T"], _OUT, ["T: {float, double}"]),
    (
        "MatrixBandPart",
        ["input: T", "num_lower: int64", "num_upper: int64"],
        ["band: T"],
        [_ANY],
    ),
    (
        "MatrixDeterminant",
        _IN,
        _OUT,
        ["T: {float, double, complex64, complex128}"],
    ),
    ("MatrixDiag", ["diagonal: T"], _OUT, [_ANY]),
    ("MatrixDiagPart", _IN, ["diagonal: T"], [_ANY]),
    ("MatrixInverse", _IN, _OUT, ["adjoint: bool = false", _REALS]),
    ("MatrixSetDiag", ["input: T", "diagonal: T"], _OUT, [_ANY]),
    ("MatrixSolve", _SYSTEM, _OUT, ["adjoint: bool = false", _REALS]),
    (
        "MatrixSolveLs",
        [*_SYSTEM, "l2_regularizer: double"],
        _OUT,
        [_REALS, "fast: bool = true"],
    ),
    (
        "MatrixTriangularSolve",
        _SYSTEM,
        _OUT,
        ["lower: bool = true", "adjoint: bool = false", _REALS],
    ),
    ("SelfAdjointEig", _IN, _OUT, [_REALS]),
    ("SelfAdjointEigV2", _IN, ["e: T", "v: T"], ["compute_v: bool = true", _REALS]),
    (
        "Svd",
        _IN,
        ["s: T", "u: T", "v: T"],
        ["compute_uv: bool = true", "full_matrices: bool = false", _MATRICES],
    ),
)

# Versions of the graph since when the newer name does it all, where it is not 13.
_SINCE = {
    "SelfAdjointEig": 11,
    "MatrixBandPart": 14,
    "MatrixDiag": 14,
    "MatrixDiagPart": 14,
    "MatrixSetDiag": 14,
}

for _op, _inputs, _outputs, _attrs in _OPS:
    _newer = "SelfAdjointEigV2" if _op == "SelfAdjointEig" else _op
    _since = _SINCE.get(_op, 13)
    register_op(
        f"Batch{_op}",
        inputs=_inputs,
        outputs=_outputs,
        attrs=_attrs,
        shape_fn=unknown_shapes,
        deprecated=(_since, f"Use {_newer} instead."),
        doc=f"The older name of {_op} for batches of matrices.",
    )
