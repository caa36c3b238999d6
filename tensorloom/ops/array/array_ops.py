"""The array builders in one import, as the other families use them.

Each concept has a file of its own; this one only gathers their names.
"""

from __future__ import annotations

from tensorloom.ops.array.concat import concat, concat_offset, split
from tensorloom.ops.array.constant import constant
from tensorloom.ops.array.fill import fill, ones, ones_like, zeros, zeros_like
from tensorloom.ops.array.identity import (
    check_numerics,
    ensure_shape,
    guarantee_const,
    identity,
    identity_n,
    prevent_gradient,
    stop_gradient,
)
from tensorloom.ops.array.meshgrid import meshgrid
from tensorloom.ops.array.pad import pad, tile
from tensorloom.ops.array.permute import (
    invert_permutation,
    matrix_transpose,
    reverse,
    reverse_sequence,
    roll,
    transpose,
)
from tensorloom.ops.array.placeholder import (
    placeholder,
    placeholder_with_default,
    sparse_placeholder,
)
from tensorloom.ops.array.repeat import repeat, repeat_with_axis
from tensorloom.ops.array.reshape import (
    bitcast,
    broadcast_to,
    expand_dims,
    reshape,
    squeeze,
)
from tensorloom.ops.array.shape import (
    broadcast_dynamic_shape,
    broadcast_gradient_args,
    broadcast_static_shape,
    rank,
    rank_internal,
    shape,
    shape_internal,
    shape_n,
    size,
    size_internal,
)
from tensorloom.ops.array.space import (
    batch_to_space,
    batch_to_space_nd,
    depth_to_space,
    required_space_to_batch_paddings,
    space_to_batch,
    space_to_batch_nd,
    space_to_depth,
)
from tensorloom.ops.array.stack import parallel_stack, stack, unstack
from tensorloom.ops.indexing.batch_gather import batch_gather, batch_gather_nd
from tensorloom.ops.indexing.gather import gather, gather_nd
from tensorloom.ops.indexing.one_hot import one_hot, sequence_mask
from tensorloom.ops.indexing.partition import dynamic_partition, dynamic_stitch
from tensorloom.ops.indexing.selection import (
    boolean_mask,
    searchsorted,
    setdiff1d,
    unique,
    unique_with_counts,
    where,
    where_v2,
)
from tensorloom.ops.indexing.slice import slice, strided_slice
from tensorloom.ops.indexing.tensor_index import getitem, newaxis
from tensorloom.ops.indexing.tensor_scatter import (
    scatter_nd,
    tensor_scatter_add,
    tensor_scatter_sub,
    tensor_scatter_update,
)
from tensorloom.ops.linalg.matrix_diag import (
    diag,
    diag_part,
    matrix_band_part,
    matrix_diag,
    matrix_diag_part,
    matrix_set_diag,
)

__all__ = [
    "batch_gather",
    "batch_gather_nd",
    "batch_to_space",
    "batch_to_space_nd",
    "bitcast",
    "boolean_mask",
    "broadcast_dynamic_shape",
    "broadcast_gradient_args",
    "broadcast_static_shape",
    "broadcast_to",
    "check_numerics",
    "concat",
    "concat_offset",
    "constant",
    "depth_to_space",
    "diag",
    "diag_part",
    "dynamic_partition",
    "dynamic_stitch",
    "ensure_shape",
    "expand_dims",
    "fill",
    "gather",
    "gather_nd",
    "getitem",
    "guarantee_const",
    "identity",
    "identity_n",
    "invert_permutation",
    "matrix_band_part",
    "matrix_diag",
    "matrix_diag_part",
    "matrix_set_diag",
    "matrix_transpose",
    "meshgrid",
    "newaxis",
    "one_hot",
    "ones",
    "ones_like",
    "pad",
    "parallel_stack",
    "placeholder",
    "placeholder_with_default",
    "prevent_gradient",
    "rank",
    "rank_internal",
    "repeat",
    "repeat_with_axis",
    "required_space_to_batch_paddings",
    "reshape",
    "reverse",
    "reverse_sequence",
    "roll",
    "scatter_nd",
    "searchsorted",
    "sequence_mask",
    "setdiff1d",
    "shape",
    "shape_internal",
    "shape_n",
    "size",
    "size_internal",
    "slice",
    "space_to_batch",
    "space_to_batch_nd",
    "space_to_depth",
    "sparse_placeholder",
    "split",
    "squeeze",
    "stack",
    "stop_gradient",
    "strided_slice",
    "tensor_scatter_add",
    "tensor_scatter_sub",
    "tensor_scatter_update",
    "tile",
    "transpose",
    "unique",
    "unique_with_counts",
    "unstack",
    "where",
    "where_v2",
    "zeros",
    "zeros_like",
]
