"""`tf.case` (conditions tried in order) and `tf.switch_case` (a branch by index)."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from tensorloom.client.control_flow import cond as cond_module
from tensorloom.client.control_flow import control_flow_values
from tensorloom.client.functions import func_graph
from tensorloom.client.functions.func_graph import FuncGraph
from tensorloom.framework.export import export
from tensorloom.framework.graph.tensor import Tensor
from tensorloom.framework.runtime.scopes import control_dependencies, name_scope
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.ops.array import array_ops
from tensorloom.ops.control_flow import builders as control_flow_ops
from tensorloom.ops.math import math_ops

Action = Callable[[], Any]


@export("case")
def case(
    pred_fn_pairs: Any,
    default: Action | None = None,
    exclusive: bool = False,
    strict: bool = False,
    name: str = "case",
) -> Any:
    """What the function of the first true predicate gives, else that of `default`.

    Args:
      pred_fn_pairs: (bool scalar tensor, function) pairs, or a dict of them.
      default: without it, it is an error if no predicate is true.
      exclusive: it is an error if more than one predicate is true.
      strict: see `tf.cond`.
      name: of the scope.

    Raises:
      TypeError: the pairs or `default` are not of these kinds.
      ValueError: there are no pairs.
    """
    branch = partial(cond_module.cond, strict=strict)
    return case_by(branch, pred_fn_pairs, default, exclusive, name, tensors_only=True)


def case_by(
    branch: Callable[..., Any],
    pred_fn_pairs: Any,
    default: Action | None,
    exclusive: bool,
    name: str,
    tensors_only: bool = False,
) -> Any:
    """`tf.case` made of calls of `branch`, which is `tf.cond` or one like it.

    Args:
      branch: called with a predicate, `true_fn` and `false_fn`.
      tensors_only: predicates must be tensors; else they may be bools too.
      pred_fn_pairs, default, exclusive, name: as in `tf.case`.

    Raises:
      TypeError, ValueError: as in `tf.case`.
    """
    predicates, actions = _check_pairs(pred_fn_pairs, tensors_only)
    with name_scope(name, "case", list(predicates)):
        if not actions:
            raise ValueError("pred_fn_pairs must have at least one pair")
        if default is None:
            default, predicates, actions = _default_action(predicates, actions)
        elif not callable(default):
            raise TypeError("default must be callable.")
        chosen = default
        for predicate, action in reversed(list(zip(predicates, actions, strict=True))):
            chosen = partial(branch, predicate, true_fn=action, false_fn=chosen)
        if not exclusive:
            return chosen()
        # Without the last one where that is the default, as in TensorFlow.
        check = _assert_at_most(predicates, 1, "Input error: exclusive=True")
        with control_dependencies([check]):
            return chosen()


def _check_pairs(pairs: Any, tensors_only: bool) -> tuple[list[Tensor], list[Action]]:
    if not isinstance(pairs, (list, tuple, dict)):
        raise TypeError("fns must be a list, tuple, or dict")
    if isinstance(pairs, OrderedDict):
        pairs = list(pairs.items())
    elif isinstance(pairs, dict):
        pairs = sorted(pairs.items(), key=lambda pair: pair[0].name)
    for pair in pairs:
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise TypeError("Each entry in pred_fn_pairs must be a 2-tuple")
        predicate, action = pair
        if not isinstance(predicate, Tensor):
            if tensors_only:
                raise TypeError(f"pred must be a Tensor, got: {predicate}")
            if not isinstance(predicate, bool | np.bool_):
                raise TypeError(f"pred must be a Tensor or bool, got: {predicate}")
        elif predicate.dtype.base_dtype != dtypes.bool:
            raise TypeError(f"pred must be Tensor of type bool: {predicate.name}")
        if not callable(action):
            raise TypeError(f"fn for pred {_name(predicate)} must be callable.")
    return [p for p, _ in pairs], [a for _, a in pairs]


def _name(predicate: Any) -> str:
    return predicate.name if isinstance(predicate, Tensor) else str(predicate)


def _default_action(
    predicates: Sequence[Tensor], actions: Sequence[Action]
) -> tuple[Action, list[Tensor], list[Action]]:
    """The last action as the default, which checks that it is the right one."""
    last = len(predicates) - 1
    others = list(predicates[:last])

    def default() -> Any:
        message = (
            "Implementation error: selected default action "
            f"#{last} was called, but some of other predicates are True: "
        )
        data = [
            "Input error: None of conditions evaluated as True:",
            array_ops.stack(list(predicates), name="preds_c"),
        ]
        checks = [
            _assert_at_most(others, 0, message),
            control_flow_ops.Assert(predicates[last], data=data),
        ]
        with control_dependencies(checks):
            return actions[last]()

    return default, others, list(actions[:last])


def _assert_at_most(predicates: Sequence[Tensor], limit: int, message: str) -> Any:
    together = array_ops.stack(list(predicates), name="preds_c")
    count = math_ops.reduce_sum(
        math_ops.cast(together, dtypes.int32), name="num_true_conds"
    )
    allowed = convert_to_tensor(limit, name="n_true_conds")
    names = ", ".join(map(_name, predicates))
    data = [
        f"{message}: more than {limit} conditions ({names}) evaluated as True:",
        together,
    ]
    return control_flow_ops.Assert(
        math_ops.less_equal(count, allowed), data=data, summarize=len(predicates)
    )


@export("switch_case")
def switch_case(
    branch_index: Tensor,
    branch_fns: Any,
    default: Action | None = None,
    name: str = "switch_case",
) -> Any:
    """What the function number `branch_index` gives.

    Args:
      branch_index: an int scalar tensor.
      branch_fns: functions, or (index, function) pairs, or a dict of them; the indices
        are 0, 1, ... without a gap.
      default: for other indices; the last function without it.
      name: of the scope.

    Raises:
      TypeError: an argument is not of these kinds, or the results differ in structure,
        number or dtype.
      ValueError: the indices have a gap.
    """
    actions = _check_branches(branch_index, branch_fns, default)
    with name_scope(name, "case", [branch_index]), name_scope("indexed_case") as scope:
        names = [
            func_graph.unique_function_name(scope, f"branch{i}")
            for i in range(len(actions))
        ]
        if branch_index.dtype.base_dtype != dtypes.int32:
            branch_index = math_ops.cast(branch_index, dtypes.int32)
        graphs = [FuncGraph(graph_name) for graph_name in names]
        for graph in graphs:
            graph.is_control_flow = True
        results = [
            cond_module.build_branch(graph, action, branch_index, "branch")
            for graph, action in zip(graphs, actions, strict=True)
        ]
        words = [f"branches[{i}]" for i in range(len(graphs))]
        try:
            cond_module.check_same_results(graphs, results, words)
        except ValueError as error:  # where tf.cond has two classes, this has one
            raise TypeError(str(error)) from None
        chosen = cond_module.add_array_handles(graphs, results)
        outputs = cond_module.add_branching_op(
            ("Case", "Case"), {"branch_index": branch_index}, graphs, scope
        )
        return control_flow_values.pack_branches(results, outputs, chosen)


def _check_branches(
    branch_index: Any, branch_fns: Any, default: Action | None
) -> list[Action]:
    if not isinstance(branch_index, Tensor):
        raise TypeError(f"branch_index must a Tensor, got {type(branch_index)}")
    if not branch_index.dtype.is_integer:
        raise TypeError(
            f"branch_index must an integer Tensor, got {branch_index.dtype}"
        )
    if not branch_fns:
        raise ValueError("Must provide at least one item in branch_fns")
    if not isinstance(branch_fns, (list, tuple, dict)):
        raise TypeError("branch_fns must be a list, tuple, or dict")
    pairs = list(branch_fns.items() if isinstance(branch_fns, dict) else branch_fns)
    if all(callable(p) for p in pairs):
        pairs = list(enumerate(pairs))
    by_index: dict[int, Action] = {}
    for pair in pairs:
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise TypeError("Each entry in branch_fns must be a 2-tuple")
        key, action = pair
        if not isinstance(key, int):
            raise TypeError(f"key must be a Python `int`, got {type(key)}")
        if not callable(action):
            raise TypeError(f"fn for key {key} must be callable.")
        by_index[key] = action
    if sorted(by_index) != list(range(len(pairs))):
        found = ",".join(map(str, sorted(key for key, _ in pairs)))
        raise ValueError(
            "branch indices (keys) must form contiguous range of [0 to "
            f"{len(pairs)}) but found {{{found}}}"
        )
    actions = [by_index[i] for i in range(len(by_index))]
    return actions if default is None else [*actions, default]
