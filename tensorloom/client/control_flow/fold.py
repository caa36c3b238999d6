"""`tf.foldl`, `tf.foldr` and `tf.scan`: accumulating over the elements of tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tensorloom.client.control_flow import element_arrays, while_loop
from tensorloom.framework.export import export
from tensorloom.framework.runtime.scopes import name_scope
from tensorloom.framework.types import nest
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.ops.array import array_ops
from tensorloom.ops.lists.tensor_array import TensorArray

if TYPE_CHECKING:
    from tensorloom.framework.graph.tensor import Tensor
    from tensorloom.framework.types.tensor_shape import TensorShape


@export("foldl")
def foldl(
    fn: Callable[..., Any],
    elems: Any,
    initializer: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    name: str | None = None,
) -> Any:
    """fn(... fn(fn(initializer, elems[0]), elems[1]) ..., elems[-1]).

    Args:
      fn: (accumulated value, element) -> accumulated value; both are structures.
      elems: a tensor, or a structure of tensors of equal first dimension.
      initializer: the first accumulated value; the first element when None.
      parallel_iterations, back_prop, swap_memory: see `tf.while_loop`.
      name: of the scope, "foldl" by default.

    Raises:
      TypeError: `fn` cannot be called.
    """
    _check_callable(fn)
    with name_scope(name, "foldl", nest.flatten(elems)):
        count, arrays = _unstack_all(elems)
        if initializer is None:
            value = nest.map_structure(lambda a: a.read(0), arrays)
            start = array_ops.constant(1)
        else:
            value = initializer
            start = array_ops.constant(0)

        def compute(i: Tensor, value: Any) -> list[Any]:
            element = nest.map_structure(lambda a: a.read(i), arrays)
            value = fn(value, element)
            return [i + 1, value]

        _, result = while_loop.while_loop(
            lambda i, _: i < count,
            compute,
            [start, value],
            parallel_iterations=parallel_iterations,
            back_prop=back_prop,
            swap_memory=swap_memory,
            maximum_iterations=count,
        )
        return result


@export("foldr")
def foldr(
    fn: Callable[..., Any],
    elems: Any,
    initializer: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    name: str | None = None,
) -> Any:
    """fn(... fn(fn(initializer, elems[-1]), elems[-2]) ..., elems[0]).

    Args and raised errors are those of `foldl`.
    """
    _check_callable(fn)
    with name_scope(name, "foldr", nest.flatten(elems)):
        count, arrays = _unstack_all(elems)
        if initializer is None:
            start = count - 1
            value = nest.map_structure(lambda a: a.read(start), arrays)
        else:
            start, value = count, initializer

        def compute(i: Tensor, value: Any) -> list[Any]:
            i -= 1
            element = nest.map_structure(lambda a: a.read(i), arrays)
            return [i, fn(value, element)]

        _, result = while_loop.while_loop(
            lambda i, _: i > 0,
            compute,
            [start, value],
            parallel_iterations=parallel_iterations,
            back_prop=back_prop,
            swap_memory=swap_memory,
            maximum_iterations=count,
        )
        return result


def _check_callable(fn: Any) -> None:
    if not callable(fn):
        raise TypeError("fn must be callable.")


def _unstack_all(elems: Any) -> tuple[Any, Any]:
    """(the number of elements, a TensorArray for each leaf of `elems`)."""
    tensors = element_arrays.to_tensors(elems)
    count = element_arrays.count_of(tensors[0])
    # One after the other, as TensorFlow makes them here.
    arrays = [element_arrays.unstack_all([t], count)[0] for t in tensors]
    return count, element_arrays.pack(elems, arrays)


@export("scan")
def scan(
    fn: Callable[..., Any],
    elems: Any,
    initializer: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    infer_shape: bool = True,
    reverse: bool = False,
    name: str | None = None,
) -> Any:
    """All accumulated values of `foldl`, stacked along a new first dimension.

    Args beyond those of `foldl`:
      infer_shape: all accumulated values have the same shape.
      reverse: goes from the last element to the first; results stay at their places.
      name: of the scope, "scan" by default.

    Raises:
      TypeError: `fn` cannot be called, or its result is not of the structure of
        `initializer`.
      ValueError: that structure differs in length.
    """
    _check_callable(fn)
    like = elems if initializer is None else initializer
    with name_scope(name, "scan", nest.flatten(elems)):
        tensors = element_arrays.to_tensors(elems)
        count = element_arrays.count_of(tensors[0])
        arrays = element_arrays.unstack_all(tensors, count, knows_shapes=True)
        if initializer is None:
            first = count - 1 if reverse else 0
            values = [a.read(first) for a in arrays]
        else:
            values = [convert_to_tensor(v) for v in nest.flatten(initializer)]
        results = [_result_array(v, count, infer_shape) for v in values]
        skipped = 0
        if initializer is None:
            skipped = 1
            results = [r.write(first, v) for r, v in zip(results, values, strict=True)]

        def compute(i: Tensor, values: Any, written: Any) -> tuple[Any, Any, Any]:
            element = element_arrays.pack(elems, [a.read(i) for a in arrays])
            following = fn(element_arrays.pack(like, values), element)
            nest.assert_same_structure(like, following)
            values = nest.flatten(following)
            written = [w.write(i, v) for w, v in zip(written, values, strict=True)]
            return (i - 1 if reverse else i + 1), values, written

        _, _, written = while_loop.while_loop(
            (lambda i, _1, _2: i >= 0) if reverse else (lambda i, _1, _2: i < count),
            compute,
            (count - 1 - skipped if reverse else skipped, values, results),
            parallel_iterations=parallel_iterations,
            back_prop=back_prop,
            swap_memory=swap_memory,
            maximum_iterations=count,
        )
        stacked = [w.stack() for w in written]
        element_arrays.set_first_dimension(stacked, tensors)
        return element_arrays.pack(like, stacked)


def _result_array(value: Tensor, count: Any, infer_shape: bool) -> TensorArray:
    shape: TensorShape | None = value.shape if infer_shape else None
    return TensorArray(
        dtype=value.dtype,
        size=count,
        element_shape=shape,
        dynamic_size=False,
        infer_shape=infer_shape,
    )
