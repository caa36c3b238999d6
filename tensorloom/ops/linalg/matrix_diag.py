"""Diagonals and bands of matrices and tensors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.framework.export import export
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.registry.op_registry import register_op
from tensorloom.framework.registry.shape_inference import (
    InferenceContext,
    unchanged_shape,
)
from tensorloom.framework.types.tensor_shape import UNKNOWN, TensorShape
from tensorloom.ops.linalg import matrix_diag_shape as shape

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph import Tensor

# --- shape functions ----------------------------------------------------------------


def _diag_shape(c: InferenceContext) -> TensorShape:
    c.with_rank_at_least(0, 1)
    dims = c.input_shape(0).dims_tuple
    return UNKNOWN if dims is None else TensorShape.of(dims + dims)


def _diag_part_shape(c: InferenceContext) -> TensorShape:
    dims = c.input_shape(0).dims_tuple
    if dims is None:
        return UNKNOWN
    if len(dims) % 2 or not dims:
        c.fail(f"Input must have even and non-zero rank, input rank is {len(dims)}")
    half = len(dims) // 2
    pairs = zip(dims[:half], dims[half:], strict=True)
    return TensorShape.of(tuple(c.merge_dim(a, b) for a, b in pairs))


# --- definitions --------------------------------------------------------------------

_NUMBERS = "T: {bfloat16, half, float, double, int32, int64, complex64, complex128}"

register_op(
    "Diag",
    inputs=["diagonal: T"],
    outputs=["output: T"],
    attrs=[_NUMBERS],
    shape_fn=_diag_shape,
    doc="The tensor of twice the rank with the input on its diagonal.",
)

register_op(
    "DiagPart",
    inputs=["input: T"],
    outputs=["diagonal: T"],
    attrs=[_NUMBERS],
    shape_fn=_diag_part_shape,
    doc="The diagonal of a tensor whose two halves of axes are alike.",
)

register_op(
    "MatrixBandPart",
    inputs=["input: T", "num_lower: Tindex", "num_upper: Tindex"],
    outputs=["band: T"],
    attrs=["T: type", "Tindex: {int32, int64} = DT_INT64"],
    shape_fn=unchanged_shape,
    doc="Matrices with zeros outside a band around the diagonal.",
)

register_op(
    "MatrixDiag",
    inputs=["diagonal: T"],
    outputs=["output: T"],
    attrs=["T: type"],
    shape_fn=shape.matrix_diag,
    doc="Square matrices with the input on their diagonals.",
)

register_op(
    "MatrixDiagV2",
    inputs=[
        "diagonal: T",
        "k: int32",
        "num_rows: int32",
        "num_cols: int32",
        "padding_value: T",
    ],
    outputs=["output: T"],
    attrs=["T: type"],
    shape_fn=shape.matrix_diag_v2,
    doc="Matrices with the input on their diagonals k[0] to k[1].",
)

register_op(
    "MatrixDiagPart",
    inputs=["input: T"],
    outputs=["diagonal: T"],
    attrs=["T: type"],
    shape_fn=shape.matrix_diag_part,
    doc="The diagonals of matrices.",
)

register_op(
    "MatrixDiagPartV2",
    inputs=["input: T", "k: int32", "padding_value: T"],
    outputs=["diagonal: T"],
    attrs=["T: type"],
    shape_fn=shape.matrix_diag_part_v2,
    doc="The diagonals k[0] to k[1] of matrices, padded to one length.",
)

register_op(
    "MatrixSetDiag",
    inputs=["input: T", "diagonal: T"],
    outputs=["output: T"],
    attrs=["T: type"],
    shape_fn=shape.matrix_set_diag,
    doc="Matrices with another diagonal.",
)

register_op(
    "MatrixSetDiagV2",
    inputs=["input: T", "diagonal: T", "k: int32"],
    outputs=["output: T"],
    attrs=["T: type"],
    shape_fn=shape.matrix_set_diag_v2,
    doc="Matrices with other diagonals k[0] to k[1].",
)

# --- builders -----------------------------------------------------------------------


@export("diag", "linalg.tensor_diag")
def diag(diagonal: Any, name: str | None = None) -> Tensor:
    """The tensor of twice the rank with `diagonal` on its diagonal, zeros elsewhere."""
    return apply_op("Diag", diagonal=diagonal, name=name)  # type: ignore[no-any-return]


@export("diag_part", "linalg.tensor_diag_part")
def diag_part(input: Any, name: str | None = None) -> Tensor:
    """The diagonal of `input`, whose shape is some shape twice."""
    return apply_op("DiagPart", input=input, name=name)  # type: ignore[no-any-return]


@export("linalg.band_part", "matrix_band_part")
def matrix_band_part(
    input: Any, num_lower: Any, num_upper: Any, name: str | None = None
) -> Tensor:
    """`input`, [..., rows, columns], with zeros outside a band.

    Args:
      num_lower, num_upper: diagonals kept below and above the main one; negative: all.
    """
    return apply_op(  # type: ignore[no-any-return]
        "MatrixBandPart",
        input=input,
        num_lower=num_lower,
        num_upper=num_upper,
        name=name,
    )


def _all_default(*arguments: tuple[Any, int]) -> bool:
    """True when each (value, default) pair is equal: the first op version will do."""
    return all(
        isinstance(value, int) and value == default for value, default in arguments
    )


@export("linalg.diag", "matrix_diag")
def matrix_diag(
    diagonal: Any,
    name: str = "diag",
    k: Any = 0,
    num_rows: Any = -1,
    num_cols: Any = -1,
    padding_value: Any = 0,
) -> Tensor:
    """Matrices with `diagonal` on their diagonals.

    Args:
      diagonal: [..., n], or [..., number of diagonals, n] with a pair `k`.
      k: the diagonal, positive above the main one; or the lowest and the highest.
      num_rows, num_cols: of the result; as small as possible when -1.
      padding_value: of all other elements.
    """
    if _all_default((k, 0), (num_rows, -1), (num_cols, -1), (padding_value, 0)):
        return apply_op("MatrixDiag", diagonal=diagonal, name=name)  # type: ignore[no-any-return]
    if getattr(diagonal, "dtype", None) == "bool":
        padding_value = bool(padding_value)
    return apply_op(  # type: ignore[no-any-return]
        "MatrixDiagV2",
        diagonal=diagonal,
        k=k,
        num_rows=num_rows,
        num_cols=num_cols,
        padding_value=padding_value,
        name=name,
    )


@export("linalg.diag_part", "matrix_diag_part")
def matrix_diag_part(
    input: Any, name: str = "diag_part", k: Any = 0, padding_value: Any = 0
) -> Tensor:
    """The diagonals of `input`, [..., rows, columns].

    Args:
      k: the diagonal, positive above the main one; or the lowest and the highest.
      padding_value: at the end of diagonals shorter than the longest.
    """
    if _all_default((k, 0), (padding_value, 0)):
        return apply_op("MatrixDiagPart", input=input, name=name)  # type: ignore[no-any-return]
    if getattr(input, "dtype", None) == "bool":
        padding_value = bool(padding_value)
    return apply_op(  # type: ignore[no-any-return]
        "MatrixDiagPartV2", input=input, k=k, padding_value=padding_value, name=name
    )


@export("linalg.set_diag", "matrix_set_diag")
def matrix_set_diag(
    input: Any, diagonal: Any, name: str = "set_diag", k: Any = 0
) -> Tensor:
    """`input`, [..., rows, columns], with other diagonals."""
    if _all_default((k, 0)):
        return apply_op("MatrixSetDiag", input=input, diagonal=diagonal, name=name)  # type: ignore[no-any-return]
    return apply_op("MatrixSetDiagV2", input=input, diagonal=diagonal, k=k, name=name)  # type: ignore[no-any-return]
