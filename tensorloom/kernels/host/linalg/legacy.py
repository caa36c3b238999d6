"""The batched linear algebra of old graphs, by the kernels of its successors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tensorloom.framework.registry.op_kernel import host_kernel
from tensorloom.kernels.host.linalg import matrix_diag as array_ops_matrix
from tensorloom.kernels.host.linalg import matrix_ops

if TYPE_CHECKING:
    from tensorloom.framework.registry.op_kernel import KernelFactory

_FACTORIES: Final[dict[str, KernelFactory]] = {
    "Cholesky": matrix_ops.cholesky,
    "CholeskyGrad": matrix_ops.cholesky_grad,
    "MatrixBandPart": array_ops_matrix._matrix_band_part,
    "MatrixDeterminant": matrix_ops.matrix_determinant,
    "MatrixDiag": array_ops_matrix._matrix_diag,
    "MatrixDiagPart": array_ops_matrix._matrix_diag_part,
    "MatrixInverse": matrix_ops.matrix_inverse,
    "MatrixSetDiag": array_ops_matrix._matrix_set_diag,
    "MatrixSolve": matrix_ops.matrix_solve,
    "MatrixSolveLs": matrix_ops.matrix_solve_ls,
    "MatrixTriangularSolve": matrix_ops.matrix_triangular_solve,
    "SelfAdjointEig": matrix_ops.self_adjoint_eig_v1,
    "SelfAdjointEigV2": matrix_ops.self_adjoint_eig,
    "Svd": matrix_ops.svd,
}

for _op, _factory in _FACTORIES.items():
    # As in TensorFlow, on the CPU alone.
    host_kernel(f"Batch{_op}", devices=("CPU",), large=True)(_factory)
