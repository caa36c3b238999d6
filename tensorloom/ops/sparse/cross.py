"""Crosses of features: each combination of the values of a row as one value."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.framework.export import export
from tensorloom.framework.graph.tensor import Tensor
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.registry.op_registry import NOT_DIFFERENTIABLE, register_op
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.sparse_tensor import SparseTensor, is_sparse
from tensorloom.framework.types.tensor_shape import TensorShape
from tensorloom.ops.math import math_ops
from tensorloom.ops.sparse.shape_functions import VECTOR
from tensorloom.ops.sparse.sparse_builders import as_sparse

if TYPE_CHECKING:
    from tensorloom.framework.registry.shape_inference import InferenceContext

_DEFAULT_HASH_KEY = 0xDECAFCAFFE
_TYPES = "list({int64, string}) >= 0"
_INPUTS = [
    "indices: N * int64",
    "values: sparse_types",
    "shapes: N * int64",
    "dense_inputs: dense_types",
]
_KINDS = ["N: int >= 0", f"sparse_types: {_TYPES}", f"dense_types: {_TYPES}"]


def _cross_shape(c: InferenceContext) -> list[TensorShape]:
    return [TensorShape.of((None, 2)), VECTOR, TensorShape.of((2,))]


_HASH_KEY = ["hash_key: int"]
for _name, _inputs, _key, _doc in (
    (
        "SparseCross",
        _INPUTS,
        _HASH_KEY,
        "Crosses of sparse and dense features, as strings or hashed.",
    ),
    (
        "SparseFeatureCross",
        [*_INPUTS[:3], "dense: dense_types"],
        [],
        "Crosses of features, as strings or hashed by TensorFlow's older function.",
    ),
    (
        "SparseFeatureCrossV2",
        [*_INPUTS[:3], "dense: dense_types"],
        _HASH_KEY,
        "Crosses of features, as strings or hashed by the type of the output.",
    ),
):
    register_op(
        _name,
        inputs=_inputs,
        outputs=[
            "output_indices: int64",
            "output_values: out_type",
            "output_shape: int64",
        ],
        attrs=[
            "N: int >= 0",
            "hashed_output: bool",
            "num_buckets: int >= 0",
            *_key,
            f"sparse_types: {_TYPES}",
            f"dense_types: {_TYPES}",
            "out_type: {int64, string}",
            "internal_type: {int64, string}",
        ],
        shape_fn=_cross_shape,
        gradient=None if _name == "SparseCross" else NOT_DIFFERENTIABLE,
        doc=_doc,
    )
register_op(
    "SparseCrossV2",
    inputs=[*_INPUTS, "sep: string"],
    outputs=["output_indices: int64", "output_values: string", "output_shape: int64"],
    attrs=_KINDS,
    shape_fn=_cross_shape,
    doc="Crosses of sparse and dense features as strings with a separator.",
)
register_op(
    "SparseCrossHashed",
    inputs=[*_INPUTS, "num_buckets: int64", "strong_hash: bool", "salt: int64"],
    outputs=["output_indices: int64", "output_values: int64", "output_shape: int64"],
    attrs=_KINDS,
    shape_fn=_cross_shape,
    doc="Hashes of crosses of sparse and dense features.",
)


@export("sparse.cross")
def sparse_cross(inputs: Any, name: str | None = None) -> SparseTensor:
    """Crosses of SparseTensors or tensors [batch, ...] as strings joined with "_X_".

    Raises:
      TypeError: an input is neither.
    """
    return _cross(inputs, False, 0, None, name)


@export("sparse.cross_hashed")
def sparse_cross_hashed(
    inputs: Any, num_buckets: int = 0, hash_key: int | None = None, name: Any = None
) -> SparseTensor:
    """Hashes of crosses of tensors, sparse or not, int64 below `num_buckets`.

    Raises:
      TypeError: an input is no tensor.
    """
    return _cross(inputs, True, num_buckets, hash_key, name)


def _cross(
    inputs: Any, hashed: bool, buckets: int, hash_key: int | None, name: Any
) -> SparseTensor:
    if not isinstance(inputs, list | tuple):
        raise TypeError("Inputs must be a list")
    if not all(is_sparse(x) or isinstance(x, Tensor) for x in inputs):
        raise TypeError("All inputs must be SparseTensors")
    parts = [as_sparse(x) for x in inputs if is_sparse(x)]
    dense = [x for x in inputs if not is_sparse(x)]
    all_text = all(x.dtype == dtypes.string for x in [*parts, *dense])
    found = apply_op(
        "SparseCross",
        indices=[x.indices for x in parts],
        values=[_as_text_or_integers(x.values) for x in parts],
        shapes=[x.dense_shape for x in parts],
        dense_inputs=[_as_text_or_integers(x) for x in dense],
        hashed_output=hashed,
        num_buckets=buckets,
        hash_key=_DEFAULT_HASH_KEY if hash_key is None else hash_key,
        out_type=dtypes.int64 if hashed else dtypes.string,
        internal_type=dtypes.string if all_text else dtypes.int64,
        name=name,
    )
    return SparseTensor(*found)


def _as_text_or_integers(tensor: Tensor) -> Tensor:
    if tensor.dtype == dtypes.string:
        return tensor
    integers: Tensor = math_ops.cast(tensor, dtypes.int64)
    return integers
