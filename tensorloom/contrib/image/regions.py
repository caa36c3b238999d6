"""Matches between rows and columns, connected pixels, and colours in YIQ."""

from __future__ import annotations

from typing import Any

from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import name_scope
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.ops.array.fill import zeros_like
from tensorloom.ops.array.reshape import reshape
from tensorloom.ops.array.shape import shape
from tensorloom.ops.indexing.gather import gather
from tensorloom.ops.indexing.selection import unique, where_v2
from tensorloom.ops.math.cast import cast
from tensorloom.ops.math.comparison import not_equal
from tensorloom.ops.reductions.scan import cumsum


@export("contrib.image.bipartite_match")
def bipartite_match(
    distance_mat: Any,
    num_valid_rows: Any,
    top_k: int = -1,
    name: str = "bipartite_match",
) -> Any:
    """Pairs rows with columns, nearest first.

    Args:
      distance_mat: float32, [rows, columns].
      num_valid_rows: how many rows count.
      top_k: how many pairs at most; -1 for all.
      name: of the operation.

    Returns:
      For each row its column, and for each column its row; -1 for none.
    """
    return apply_op(
        "BipartiteMatch",
        distance_mat=distance_mat,
        num_valid_rows=num_valid_rows,
        top_k=top_k,
        name=name,
    )


@export("contrib.image.connected_components")
def connected_components(images: Any) -> Any:
    """Numbers from 1 for the connected regions of equal values; 0 where they are zero.

    Args:
      images: [height, width] or [batch, height, width].

    Returns:
      int32, of that shape.

    Raises:
      TypeError: the rank is neither 2 nor 3.
    """
    with name_scope("connected_components"):
        given = convert_to_tensor(images, name="images")
        if given.shape.rank not in (2, 3):
            raise TypeError(
                "images should have rank 2 (HW) or 3 (NHW). Static shape is "
                f"{given.shape}"
            )
        batch = given[None, :, :] if given.shape.rank == 2 else given
        components = apply_op("ImageConnectedComponents", image=batch)
        ids, which = unique(reshape(components, [-1]))
        is_region = not_equal(ids, 0)
        # Regions are counted in the order in which they appear.
        numbers = cumsum(cast(is_region, dtypes.int32))
        numbers = where_v2(is_region, numbers, zeros_like(numbers))
        numbered = reshape(gather(numbers, which), shape(components))
        return numbered[0, :, :] if given.shape.rank == 2 else numbered
