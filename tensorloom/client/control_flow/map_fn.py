"""`tf.map_fn`: a function of each element of tensors, in a loop."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tensorloom.client.control_flow import element_arrays, while_loop
from tensorloom.framework.export import export
from tensorloom.framework.runtime.scopes import name_scope
from tensorloom.framework.types import nest
from tensorloom.framework.types.sparse_tensor import SparseTensor
from tensorloom.ops.array import array_ops
from tensorloom.ops.lists.tensor_array import TensorArray

if TYPE_CHECKING:
    from tensorloom.framework.graph.tensor import Tensor


@export("map_fn")
def map_fn(
    fn: Callable[..., Any],
    elems: Any,
    dtype: Any = None,
    parallel_iterations: int | None = None,
    back_prop: bool = True,
    swap_memory: bool = False,
    infer_shape: bool = True,
    name: str | None = None,
) -> Any:
    """`fn` of each slice of `elems` along the first dimension, stacked again.

    Args:
      fn: gets slices in the structure of `elems`.
      elems: a tensor, or a structure of tensors of equal first dimension.
      dtype: the structure and dtypes that `fn` gives, where not those of `elems`.
      parallel_iterations, back_prop, swap_memory: see `tf.while_loop`.
      infer_shape: all results of `fn` have the same shape.
      name: of the scope, "map" by default.

    Raises:
      TypeError: `fn` cannot be called, or its result is not of the given structure.
      ValueError: an element of `elems` is a scalar.
    """
    if not callable(fn):
        raise TypeError("fn must be callable.")
    if isinstance(elems, SparseTensor):
        raise TypeError(
            "To perform a map on the values of a sparse tensor use either  "
            "SparseTensor(input.indices, fn(input.values), input.dense_shape) or  "
            "SparseTensor(input.indices, map_fn(fn, input.values), input.dense_shape)"
        )
    with name_scope(name, "map", nest.flatten(elems)):
        tensors = element_arrays.to_tensors(elems)
        if dtype is None:
            dtype = element_arrays.pack(elems, [t.dtype for t in tensors])
        if tensors[0].shape.rank == 0:
            raise ValueError(
                "elems must be a 1+ dimensional Tensor, not a scalar"
                if len(tensors) == 1
                else "elements in elems must be 1+ dimensional Tensors, not scalars"
            )
        count = element_arrays.count_of(tensors[0])
        arrays = element_arrays.unstack_all(tensors, count)
        start = array_ops.constant(0)
        results = [
            TensorArray(
                dtype=d, size=count, dynamic_size=False, infer_shape=infer_shape
            )
            for d in nest.flatten(dtype)
        ]

        def compute(i: Tensor, written: list[TensorArray]) -> tuple[Any, Any]:
            values = fn(element_arrays.pack(elems, [a.read(i) for a in arrays]))
            nest.assert_same_structure(dtype, values)
            written = [
                array.write(i, value)
                for array, value in zip(written, nest.flatten(values), strict=True)
            ]
            return i + 1, written

        _, written = while_loop.while_loop(
            lambda i, _: i < count,
            compute,
            (start, results),
            parallel_iterations=parallel_iterations or 10,
            back_prop=back_prop,
            swap_memory=swap_memory,
            maximum_iterations=count,
        )
        stacked = [array.stack() for array in written]
        element_arrays.set_first_dimension(stacked, tensors)
        return element_arrays.pack(dtype, stacked)
