"""Images warped by a flow at each pixel, or at some points with splines between."""

from __future__ import annotations

from typing import Any

import numpy as np

from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import control_dependencies, name_scope
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.ops.array.concat import concat
from tensorloom.ops.array.constant import constant
from tensorloom.ops.array.fill import ones_like
from tensorloom.ops.array.fill import zeros as zeros_op
from tensorloom.ops.array.meshgrid import meshgrid
from tensorloom.ops.array.permute import transpose
from tensorloom.ops.array.reshape import expand_dims, reshape
from tensorloom.ops.array.shape import rank, shape
from tensorloom.ops.array.stack import stack, unstack
from tensorloom.ops.debugging.check import assert_equal, assert_greater_equal
from tensorloom.ops.indexing.gather import gather
from tensorloom.ops.linalg.builders import eye
from tensorloom.ops.linalg.matmul import matmul
from tensorloom.ops.linalg.matrix_solve import matrix_solve
from tensorloom.ops.math.binary import maximum, minimum
from tensorloom.ops.math.binary import pow as pow_op
from tensorloom.ops.math.cast import cast
from tensorloom.ops.math.elementwise import floor as floor_op
from tensorloom.ops.math.elementwise import log, sqrt, square
from tensorloom.ops.math.sequence import range as range_op
from tensorloom.ops.reductions.reductions import reduce_sum

# The least squared distance whose logarithm or root is taken.
_EPSILON = 1e-10


def interpolate_bilinear(
    grid: Any,
    query_points: Any,
    name: str = "interpolate_bilinear",
    indexing: str = "ij",
) -> Any:
    """Values between the points of a grid; beyond its edge those of the edge.

    Args:
      grid: [batch, height, width, channels].
      query_points: [batch, points, 2].
      name: of the operations.
      indexing: "ij": the points are (row, column); "xy": the other way round.

    Returns:
      [batch, points, channels].

    Raises:
      ValueError: the grid has not four dimensions, or `indexing` is none of those.
    """
    if indexing not in ("ij", "xy"):
        raise ValueError("Indexing mode must be 'ij' or 'xy'")
    with name_scope(name):
        grid = convert_to_tensor(grid)
        points = convert_to_tensor(query_points)
        if len(grid.shape.as_list()) != 4:
            raise ValueError(f"Grid must be 4 dimensional. Received size: {grid.shape}")
        batch, height, width, channels = unstack(shape(grid), num=4)
        checks = [
            assert_equal(
                rank(points), 3, message="Query points must be 3 dimensional."
            ),
            assert_equal(
                shape(points)[2],
                2,
                message="Query points must be size 2 in dim 2.",
            ),
            assert_greater_equal(height, 2, message="Grid height must be at least 2."),
            assert_greater_equal(width, 2, message="Grid width must be at least 2."),
        ]
        with control_dependencies(checks):
            parts = unstack(points, num=2, axis=2)
        if indexing == "xy":
            parts.reverse()
        rows, down = _around(parts[0], height, grid.dtype)
        columns, right = _around(parts[1], width, grid.dtype)
        flat = reshape(grid, [batch * height * width, channels])
        starts = reshape(range_op(batch) * height * width, [batch, 1])
        count = shape(points)[1]

        def at(row: Any, column: Any) -> Any:
            values = gather(flat, starts + row * width + column)
            return reshape(values, [batch, count, channels])

        with name_scope("interpolate"):
            top, bottom = (
                right * (at(row, columns + 1) - at(row, columns)) + at(row, columns)
                for row in (rows, rows + 1)
            )
            return down * (bottom - top) + top


def _around(queries: Any, size: Any, dtype: Any) -> tuple[Any, Any]:
    """The index before each query, and how far it is to the next, [..., 1]."""
    last = cast(size - 2, queries.dtype)
    zero = constant(0.0, dtype=queries.dtype)
    floor = minimum(maximum(zero, floor_op(queries)), last)
    part = cast(queries - floor, dtype)
    low, high = constant(0.0, dtype=dtype), constant(1.0, dtype=dtype)
    part = minimum(maximum(low, part), high)
    return cast(floor, dtypes.int32), expand_dims(part, 2)


@export("contrib.image.dense_image_warp")
def dense_image_warp(image: Any, flow: Any, name: str = "dense_image_warp") -> Any:
    """An image whose pixel (j, i) is that at (j, i) less its flow, interpolated.

    Args:
      image: [batch, height, width, channels], of floating point.
      flow: [batch, height, width, 2].
      name: of the operations.
    """
    with name_scope(name):
        batch, height, width, channels = unstack(shape(image), num=4)
        columns, rows = meshgrid(range_op(width), range_op(height))
        places = cast(stack([rows, columns], axis=2), flow.dtype)
        points = expand_dims(places, axis=0) - flow
        points = reshape(points, [batch, height * width, 2])
        values = interpolate_bilinear(image, points)
        return reshape(values, [batch, height, width, channels])


def _phi(r: Any, order: int) -> Any:
    """The radial basis function of squared distances."""
    with name_scope("phi"):
        if order in (2, 4):
            scaled = r if order == 2 else square(r)
            return 0.5 * scaled * log(maximum(r, _EPSILON))
        r = maximum(r, _EPSILON)
        if order == 1:
            return sqrt(r)
        power = pow_op(r, 0.5 * order)
        return 0.5 * power * log(r) if order % 2 == 0 else power


def _squared_distances(x: Any, y: Any) -> Any:
    x_norm = expand_dims(reduce_sum(square(x), 2), 2)
    y_norm = expand_dims(reduce_sum(square(y), 2), 1)
    return x_norm - 2 * matmul(x, y, adjoint_b=True) + y_norm


def _with_ones(points: Any) -> Any:
    return concat([points, ones_like(points[..., :1])], 2)


@export("contrib.image.interpolate_spline")
def interpolate_spline(
    train_points: Any,
    train_values: Any,
    query_points: Any,
    order: int,
    regularization_weight: float = 0.0,
    name: str = "interpolate_spline",
) -> Any:
    """Values of a polyharmonic spline through points (of order 2: a thin plate's).

    Args:
      train_points: [batch, n, dimensions].
      train_values: [batch, n, channels].
      query_points: [batch, m, dimensions].
      order: of the spline.
      regularization_weight: how far it may miss the points.
      name: of the operations.

    Returns:
      [batch, m, channels].

    Raises:
      ValueError: the number of dimensions or channels is not known.
    """
    with name_scope(name):
        points = convert_to_tensor(train_points)
        values = convert_to_tensor(train_values)
        queries = convert_to_tensor(query_points)
        batch, count, _ = unstack(shape(points), num=3)
        dimensions, channels = points.shape.as_list()[-1], values.shape.as_list()[-1]
        if dimensions is None:
            raise ValueError(
                "The dimensionality of the input points (d) must be "
                "statically-inferrable."
            )
        if channels is None:
            raise ValueError(
                "The dimensionality of the output values (k) must be "
                "statically-inferrable."
            )
        with name_scope("solve"):
            a = _phi(_squared_distances(points, points), order)
            if regularization_weight > 0:
                identity = expand_dims(eye(count, dtype=points.dtype), 0)
                a += regularization_weight * identity
            b = _with_ones(points)
            corner = zeros_op([batch, dimensions + 1, dimensions + 1], points.dtype)
            left = concat([a, transpose(b, [0, 2, 1])], 1)
            system = concat([left, concat([b, corner], 1)], 2)
            zeros = zeros_op([batch, dimensions + 1, channels], points.dtype)
            weights = matrix_solve(system, concat([values, zeros], 1))
        with name_scope("predict"):
            radial = _phi(_squared_distances(queries, points), order)
            return matmul(radial, weights[:, :count, :]) + matmul(
                _with_ones(queries), weights[:, count:, :]
            )


def boundary_locations(height: int, width: int, points: int) -> Any:
    """Points on the edge of an image, so many on each side and the corners."""
    ys, xs = np.meshgrid(
        np.linspace(0, height - 1, points + 2),
        np.linspace(0, width - 1, points + 2),
        indexing="ij",
    )
    edge = (xs == 0) | (xs == width - 1) | (ys == 0) | (ys == height - 1)
    return np.stack([ys[edge], xs[edge]], axis=-1)


def _for_each(array: Any, batch: int) -> Any:
    return np.tile(array[None], [batch] + [1] * array.ndim)


@export("contrib.image.sparse_image_warp")
def sparse_image_warp(
    image: Any,
    source_control_point_locations: Any,
    dest_control_point_locations: Any,
    interpolation_order: int = 2,
    regularization_weight: float = 0.0,
    num_boundary_points: int = 0,
    name: str = "sparse_image_warp",
) -> tuple[Any, Any]:
    """An image in which some points come to lie elsewhere, and others between.

    Args:
      image: [batch, height, width, channels], of known sizes.
      source_control_point_locations: (row, column) of points, [batch, n, 2].
      dest_control_point_locations: where these go.
      interpolation_order, regularization_weight: see `interpolate_spline`.
      num_boundary_points: how many points of each side stay where they are.
      name: of the operations.

    Returns:
      The image, and the flow at each pixel.
    """
    image = convert_to_tensor(image)
    source = convert_to_tensor(source_control_point_locations)
    target = convert_to_tensor(dest_control_point_locations)
    flows = target - source
    with name_scope(name):
        batch, height, width, _ = image.shape.as_list()
        grid = np.stack(
            np.meshgrid(np.arange(height), np.arange(width), indexing="ij"), -1
        ).reshape(-1, 2)
        places = constant(_for_each(grid, batch), image.dtype)
        if num_boundary_points > 0:
            fixed = _for_each(
                boundary_locations(height, width, num_boundary_points - 1), batch
            )
            target = concat([target, constant(fixed, target.dtype)], 1)
            zeros = constant(np.zeros_like(fixed), target.dtype)
            flows = concat([flows, zeros], 1)
        flow = interpolate_spline(
            target, flows, places, interpolation_order, regularization_weight
        )
        flow = reshape(flow, [batch, height, width, 2])
        return dense_image_warp(image, flow), flow
