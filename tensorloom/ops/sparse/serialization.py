"""Sparse tensors as strings and variants, and in maps that outlive a step."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.framework.export import export
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.registry.op_registry import register_op
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.sparse_tensor import SparseTensor
from tensorloom.framework.types.tensor_shape import TensorShape
from tensorloom.ops.sparse.shape_functions import MATRIX, VECTOR, check_sparse
from tensorloom.ops.sparse.sparse_builders import as_sparse

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph import Tensor
    from tensorloom.framework.registry.shape_inference import InferenceContext

_PARTS = ["sparse_indices: int64", "sparse_values: T", "sparse_shape: int64"]
_READ = ["sparse_indices: int64", "sparse_values: dtype", "sparse_shape: int64"]
_PLACE = ["container: string = ''", "shared_name: string = ''"]


def _serialize_shape(c: InferenceContext) -> TensorShape:
    check_sparse(c, 0)
    return TensorShape.of((3,))


def _serialize_many_shape(c: InferenceContext) -> TensorShape:
    check_sparse(c, 0)
    return TensorShape.of((None, 3))


def _read_shape(c: InferenceContext) -> list[TensorShape]:
    return [MATRIX, VECTOR, VECTOR]


def _deserialize_shape(c: InferenceContext) -> list[TensorShape]:
    shape = c.with_rank_at_least(0, 1).dims_tuple
    if shape is not None and shape[-1] not in (None, 3):
        c.fail(f"Dimension must be 3 but is {shape[-1]}")
    return _read_shape(c)


def _deserialize_many_shape(c: InferenceContext) -> list[TensorShape]:
    shape = c.with_rank(0, 2).dims_tuple
    if shape is not None and shape[1] not in (None, 3):
        c.fail(f"Dimension must be 3 but is {shape[1]}")
    return _read_shape(c)


def _handles_shape(c: InferenceContext) -> TensorShape:
    check_sparse(c, 0)
    return VECTOR


def _handle_shape(c: InferenceContext) -> TensorShape:
    check_sparse(c, 0)
    return TensorShape.of(())


def _take_shape(c: InferenceContext) -> list[TensorShape]:
    c.with_rank(0, 1)
    return _read_shape(c)


for _op, _shape, _doc in (
    ("SerializeSparse", _serialize_shape, "Three strings (or variants) of the parts."),
    ("SerializeManySparse", _serialize_many_shape, "Three strings for each row."),
):
    register_op(
        _op,
        inputs=_PARTS,
        outputs=["serialized_sparse: out_type"],
        attrs=["T: type", "out_type: {string, variant} = DT_STRING"],
        shape_fn=_shape,
        doc=_doc,
    )
register_op(
    "DeserializeSparse",
    inputs=["serialized_sparse: Tserialized"],
    outputs=_READ,
    attrs=["dtype: type", "Tserialized: {string, variant} = DT_STRING"],
    shape_fn=_deserialize_shape,
    doc="A sparse tensor from what SerializeSparse made, or a stack of them.",
)
register_op(
    "DeserializeManySparse",
    inputs=["serialized_sparse: string"],
    outputs=_READ,
    attrs=["dtype: type"],
    shape_fn=_deserialize_many_shape,
    doc="Sparse tensors [n, 3] stacked to one of a further dimension.",
)
register_op(
    "AddSparseToTensorsMap",
    inputs=_PARTS,
    outputs=["sparse_handle: int64"],
    attrs=["T: type", *_PLACE],
    shape_fn=_handle_shape,
    stateful=True,
    doc="Puts a sparse tensor into a map, under a handle.",
)
register_op(
    "AddManySparseToTensorsMap",
    inputs=_PARTS,
    outputs=["sparse_handles: int64"],
    attrs=["T: type", *_PLACE],
    shape_fn=_handles_shape,
    stateful=True,
    doc="Puts the rows of a sparse tensor into a map, under handles.",
)
register_op(
    "TakeManySparseFromTensorsMap",
    inputs=["sparse_handles: int64"],
    outputs=_READ,
    attrs=["dtype: type", *_PLACE],
    shape_fn=_take_shape,
    stateful=True,
    doc="Takes sparse tensors out of a map, stacked to one.",
)


@export("io.serialize_sparse", "serialize_sparse")
def serialize_sparse(
    sp_input: Any, name: str | None = None, out_type: Any = dtypes.string
) -> Tensor:
    """The parts of a SparseTensor as three strings (or variants), [3]."""
    return _serialize("SerializeSparse", sp_input, name, out_type)


@export("io.serialize_many_sparse", "serialize_many_sparse")
def serialize_many_sparse(
    sp_input: Any, name: str | None = None, out_type: Any = dtypes.string
) -> Tensor:
    """Each row of a SparseTensor as three strings (or variants), [rows, 3]."""
    return _serialize("SerializeManySparse", sp_input, name, out_type)


def _serialize(op: str, sp_input: Any, name: Any, out_type: Any) -> Tensor:
    sparse = as_sparse(sp_input)
    return apply_op(  # type: ignore[no-any-return]
        op,
        sparse_indices=sparse.indices,
        sparse_values=sparse.values,
        sparse_shape=sparse.dense_shape,
        out_type=out_type,
        name=name,
    )


@export("io.deserialize_many_sparse", "deserialize_many_sparse")
def deserialize_many_sparse(
    serialized_sparse: Any, dtype: Any, rank: Any = None, name: str | None = None
) -> SparseTensor:
    """Sparse tensors [n, 3] stacked to one whose first dimension is n.

    Args:
      rank: of one sparse tensor of the stack, for the static shape.
    """
    indices, values, shape = apply_op(
        "DeserializeManySparse",
        serialized_sparse=serialized_sparse,
        dtype=dtype,
        name=name,
    )
    indices.set_shape([None, rank])
    shape.set_shape([rank])
    return SparseTensor(indices, values, shape)
