"""`tf.cond` as TensorFlow 1.15 builds it: Switch and Merge nodes, and two contexts.

before: cond(p, lambda: f(x), lambda: g(x))
after:  (x_false, x_true) = Switch(x, p);  Merge(g(x_false), f(x_true))
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from tensorloom.client.control_flow.cond_context import CondContext
from tensorloom.client.control_flow.control_flow_values import is_tensor_array
from tensorloom.client.control_flow.summary_writes import SummaryWrites
from tensorloom.framework.graph.graph_keys import GraphKeys
from tensorloom.framework.graph.operation import Operation
from tensorloom.framework.runtime.scopes import add_to_collection, name_scope
from tensorloom.framework.types import dtypes, nest
from tensorloom.framework.types.indexed_slices import IndexedSlices
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.ops.array import identity as identity_ops
from tensorloom.ops.control_flow import builders as control_flow_ops
from tensorloom.ops.control_flow import classic
from tensorloom.ops.lists.tensor_array import build_ta_with_new_flow, one_of
from tensorloom.ops.math import cast as math_ops_cast

if TYPE_CHECKING:
    from tensorloom.framework.graph.tensor import Tensor
    from tensorloom.ops.lists.tensor_array import TensorArray


class _Branch:
    """A finished branch.

    `original` is what its function returned; `tensors` has the same structure, in a
    list if it is not in one already, of the tensors that the branch ends in.
    """

    def __init__(self, original: Any, tensors: Any) -> None:
        self.original = original
        self.tensors = tensors

    def flat(self) -> list[Tensor]:
        """The tensors that the branch ends in."""
        tensors: list[Tensor] = nest.flatten(self.tensors, expand_composites=True)
        return tensors


def build_cond(
    pred: Any,
    true_fn: Callable[[], Any],
    false_fn: Callable[[], Any],
    strict: bool,
    name: str | None,
) -> Any:
    """See `tf.cond`.

    Raises:
      TypeError: `pred` is not a bool tensor, or the structures differ in type.
      ValueError: a function returns nothing, or the two differ in number or dtype.
    """
    with name_scope(name, "cond", [pred]):
        if isinstance(pred, bool):
            raise TypeError("pred must not be a Python bool")
        when_false, when_true = classic.switch(pred, pred)
        pivots = (
            identity_ops.identity(when_true, name="switch_t"),
            identity_ops.identity(when_false, name="switch_f"),
        )
        pred = identity_ops.identity(pred, name="pred_id")
        for tensor in (when_true, when_false, *pivots, pred):
            tensor.graph.prevent_fetching(tensor.op)
        contexts, branches = [], []
        for function, pivot, side in (
            (true_fn, pivots[0], 1),
            (false_fn, pivots[1], 0),
        ):
            contexts.append(CondContext(pred, pivot, side))
            branches.append(_build_branch(contexts[-1], function))
        return _merge(branches, contexts, strict)


def _build_branch(context: CondContext, function: Callable[[], Any]) -> _Branch:
    """Builds a branch in its context."""
    context.Enter()
    try:
        writes = SummaryWrites()
        original = function()
        if original is None:
            word = "true_fn" if context.branch else "false_fn"
            raise ValueError(f"{word} must have a return value.")
        original = writes.before(original)
        tensors = nest.map_structure(
            lambda value: _result(context, value), original, expand_composites=True
        )
        if not isinstance(tensors, (list, tuple)):
            tensors = [tensors]
        context.ExitResult(nest.flatten(tensors, expand_composites=True))
    finally:
        context.Exit()
    return _Branch(original, tensors)


def _result(context: CondContext, value: Any) -> Tensor:
    """What the branch ends in for a leaf of what its function returned."""
    if isinstance(value, Operation):
        # The pivot stands for what has no value.
        gated: Tensor = control_flow_ops.with_dependencies([value], context.pivot)
        return gated
    if is_tensor_array(value):
        value = value.flow
    return context.branch_result(convert_to_tensor(value))


def _merge(
    branches: Sequence[_Branch], contexts: Sequence[CondContext], strict: bool
) -> Any:
    """Ends both branches; returns what the cond gives."""
    originals = [branch.original for branch in branches]
    if not strict:
        originals = [_unpack_singleton(original) for original in originals]
    _check_structures(originals, branches)
    true_tensors, false_tensors = (branch.flat() for branch in branches)
    if not true_tensors:
        raise ValueError("true_fn and false_fn must return at least one result.")
    for x, y in zip(true_tensors, false_tensors, strict=False):
        if x.dtype.base_dtype != y.dtype.base_dtype:
            raise ValueError(
                "Outputs of true_fn and false_fn must have the same type: "
                f"{x.dtype.name}, {y.dtype.name}"
            )
    merged = [
        classic.merge([y, x]) for x, y in zip(true_tensors, false_tensors, strict=False)
    ]
    leaves = [nest.flatten(o, expand_composites=True) for o in originals]
    packed = [
        _array(contexts, pair, tensor) if is_tensor_array(pair[0]) else tensor
        for *pair, tensor in zip(*leaves, merged, strict=True)
    ]
    if contexts[0].outer_context is None:
        # What is inside another construct is part of its context.
        for context in contexts:
            add_to_collection(GraphKeys.COND_CONTEXT, context)
    result = nest.pack_sequence_as(originals[0], packed, expand_composites=True)
    return result if strict else _unpack_singleton(result)


def _unpack_singleton(value: Any) -> Any:
    if isinstance(value, (list, tuple)) and len(value) == 1:
        return value[0]
    return value


def _check_structures(originals: list[Any], branches: Sequence[_Branch]) -> None:
    """Checks that both branches give the same structure.

    Indices of IndexedSlices that differ in their dtypes become int64.

    Raises:
      TypeError, ValueError: they do not.
    """
    first, second = originals
    if not _agree(originals):
        for structures in (originals, [branch.tensors for branch in branches]):
            nest.map_structure(_match_indices, *structures)
    try:
        nest.assert_same_structure(first, second, expand_composites=True)
    except TypeError as error:
        raise TypeError(
            f"Incompatible return types of true_fn and false_fn: {error}"
        ) from None
    except ValueError as error:
        raise ValueError(
            f"Incompatible return values of true_fn and false_fn: {error}"
        ) from None


def _agree(originals: list[Any]) -> bool:
    first, second = originals
    try:
        nest.assert_same_structure(first, second, expand_composites=True)
    except (TypeError, ValueError):
        return False
    return all(
        a.indices.dtype == b.indices.dtype
        for a, b in zip(*map(nest.flatten, originals), strict=True)
        if isinstance(a, IndexedSlices)
    )


def _match_indices(a: Any, b: Any) -> None:
    if not isinstance(a, IndexedSlices) or not isinstance(b, IndexedSlices):
        return
    if a.indices.dtype != b.indices.dtype:
        for slices in (a, b):
            slices._indices = math_ops_cast.cast(slices.indices, dtypes.int64)


def _array(
    contexts: Sequence[CondContext], arrays: Sequence[TensorArray], flow: Tensor
) -> TensorArray:
    """The TensorArray of a cond; it has the handle of the branch that was taken."""
    handles = [array.handle for array in arrays]
    if handles[0] is handles[1]:
        same: TensorArray = build_ta_with_new_flow(arrays[0], flow)
        return same
    given = []
    for context, handle in zip(contexts, handles, strict=True):
        context.Enter()
        given.append(context.branch_result(handle))
        context.Exit()
    return one_of(list(arrays), classic.merge(given[::-1]), flow)
