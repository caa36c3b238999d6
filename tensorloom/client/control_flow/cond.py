"""`tf.cond`: one `If` node with a function for each branch, or classic nodes.

Those are built in `control_flow/classic_cond.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from tensorloom.client.control_flow import classic_cond, control_flow_values
from tensorloom.client.control_flow.summary_writes import SummaryWrites
from tensorloom.client.functions import func_graph
from tensorloom.client.functions.effects import keep_effects
from tensorloom.client.functions.func_graph import FuncGraph
from tensorloom.framework.export import export
from tensorloom.framework.graph.classic_node_counts import (
    Tally,
    makes_classic,
    mark_as_classic,
)
from tensorloom.framework.graph.default_graph import get_default_graph
from tensorloom.framework.graph.graph_ir import READS_DECIDE
from tensorloom.framework.graph.operation import Operation
from tensorloom.framework.runtime.scopes import control_dependencies, name_scope
from tensorloom.framework.types import dtypes, nest
from tensorloom.framework.types.composite_tensor import CompositeTensor
from tensorloom.framework.types.indexed_slices import IndexedSlices
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.ops.array import identity as identity_ops
from tensorloom.ops.array import reshape as reshape_ops
from tensorloom.ops.control_flow import functional as functional_ops
from tensorloom.ops.math import cast as math_ops_cast

if TYPE_CHECKING:
    from tensorloom.framework.graph.tensor import Tensor
    from tensorloom.framework.types.tensor_shape import TensorShape

# The words for the branches in errors, in the order of the graphs.
_BRANCH_NAMES = ("true_fn", "false_fn")


@export("cond")
def cond(
    pred: Any,
    true_fn: Callable[[], Any] | None = None,
    false_fn: Callable[[], Any] | None = None,
    strict: bool = False,
    name: str | None = None,
    fn1: Callable[[], Any] | None = None,
    fn2: Callable[[], Any] | None = None,
) -> Any:
    """`true_fn()` if `pred` is true when the graph runs, else `false_fn()`.

    Both functions are called once, now, to build the branches; only the operations
    that are made inside them run conditionally.

    Args:
      pred: a bool scalar tensor.
      true_fn, false_fn: return the same structure of tensors of the same dtypes; an
        Operation counts as a bool tensor.
      strict: keeps lists and tuples of one element as they are; otherwise the element
        is taken out.
      fn1, fn2: old names of `true_fn` and `false_fn`.

    Raises:
      TypeError: an argument is missing or of the wrong kind, or the structures
        returned differ in type.
      ValueError: a function returns nothing, or the two differ in number or dtype.
    """
    branches = (
        _branch_function(true_fn, fn1, "true_fn", "fn1"),
        _branch_function(false_fn, fn2, "false_fn", "fn2"),
    )
    if makes_classic(get_default_graph()):
        return classic_cond.build_cond(pred, *branches, strict, name)
    if isinstance(pred, bool):
        raise TypeError("pred must not be a Python bool")
    with (
        name_scope(name, "cond", [pred]) as scope,
        get_default_graph()._construction.building(),
    ):
        names = [func_graph.unique_function_name(scope, k) for k in ("true", "false")]
        predicate = convert_to_tensor(pred, name="pred")
        if predicate.dtype.base_dtype != dtypes.bool:
            raise TypeError(
                f"Input 'pred' of tf.cond has type {predicate.dtype.name} that does "
                "not match expected type of bool."
            )
        tally = Tally(get_default_graph())
        tally.bring(predicate)
        predicate = _as_scalar(predicate, tally.is_on)
        tally.add(4)  # Switch, switch_t, switch_f, pred_id
        graphs, results = [], []
        for graph_name, function, word in zip(
            names, branches, _BRANCH_NAMES, strict=True
        ):
            graph = FuncGraph(graph_name, frame=tally.frame(), scope=scope)
            graph.is_branch = tally.is_on
            graph.is_control_flow = True
            results.append(build_branch(graph, function, predicate, word))
            graphs.append(graph)
        if not strict:
            results = [_unpack_singleton(r) for r in results]
        check_same_results(graphs, results, _BRANCH_NAMES)
        chosen = add_array_handles(graphs, results)
        with tally.made_as(len(graphs[0].outputs)):  # Merge
            outputs = add_branching_op(
                ("StatelessIf", "If"), {"cond": predicate}, graphs, scope
            )
        if tally.is_on:
            op = outputs[0].op.inputs[0].op
            op._attrs[READS_DECIDE] = True
            mark_as_classic(op)
            for graph in graphs:
                graph.branching_op = op
        return control_flow_values.pack_branches(results, outputs, chosen)


def _as_scalar(predicate: Tensor, is_classic: bool) -> Tensor:
    """A Switch takes scalars alone; in functions TensorFlow makes one of the value.

    Raises:
      ValueError: TensorFlow would make a Switch, and the predicate is no scalar.
    """
    rank = predicate.shape.rank
    if rank == 0 or (is_classic and rank is None):
        return predicate
    if is_classic:
        raise ValueError(f"Shape must be rank 0 but is rank {rank} for the predicate")
    return reshape_ops.squeeze(predicate)


def _branch_function(
    function: Any, old_function: Any, word: str, old_word: str
) -> Callable[[], Any]:
    if old_function is not None:
        if function is not None:
            raise TypeError(
                f"cond(): {word} and {old_word} may not be set simultaneously."
            )
        function = old_function
    elif function is None:
        raise TypeError(f"cond(): {word} argument required")
    if not callable(function):
        raise TypeError(f"{word} must be callable.")
    return function  # type: ignore[no-any-return]


def _unpack_singleton(result: Any) -> Any:
    if isinstance(result, (list, tuple)) and len(result) == 1:
        return result[0]
    return result


def build_branch(
    graph: FuncGraph, function: Callable[[], Any], predicate: Tensor, word: str
) -> Any:
    """Builds a branch; returns its result with tensors (of `graph`) as leaves."""
    with graph.as_default():
        writes = SummaryWrites()
        result = function()
        if result is None:
            raise ValueError(f"{word} must have a return value.")
        result = writes.before(result)
        # The structure keeps TensorArrays; the outputs are their flows.
        structure = nest.map_structure(
            lambda v: _branch_value(graph, v, predicate), result
        )
        outputs = [graph.capture(t) for t in control_flow_values.flatten(structure)]
    graph.outputs = outputs
    keep_effects(graph)
    graph.structured_outputs = structure
    return structure


def _branch_value(graph: FuncGraph, value: Any, predicate: Tensor) -> Any:
    tally = Tally(graph)
    if isinstance(value, Operation):
        with tally.made_as(1), control_dependencies([value]):
            return identity_ops.identity(predicate)
    if isinstance(value, CompositeTensor) or control_flow_values.is_tensor_array(value):
        return value
    tensor = convert_to_tensor(value)
    if tensor.dtype._is_ref_dtype:  # a branch gives the variable's value
        with tally.made_as(0):
            return identity_ops.identity(tensor)
    return tensor


def check_same_results(
    graphs: Sequence[FuncGraph], results: list[Any], words: Sequence[str]
) -> None:
    """Checks that all branches give the same structure of the same dtypes.

    Raises:
      TypeError, ValueError: see `cond`.
    """
    for result, word in zip(results[1:], words[1:], strict=True):
        pair = f"{words[0]} and {word}"
        try:
            # A composite is first a leaf, so that one in place of a tuple is an error
            # of the value; another class of composite is one of the type.
            nest.assert_same_structure(results[0], result)
            nest.assert_same_structure(results[0], result, expand_composites=True)
        except TypeError as error:
            raise TypeError(f"Incompatible return types of {pair}: {error}") from None
        except ValueError as error:
            raise ValueError(f"Incompatible return values of {pair}: {error}") from None
    match_index_types(graphs)
    if not graphs[0].outputs:
        raise ValueError(f"{words[0]} and {words[1]} must return at least one result.")
    for graph, word in zip(graphs[1:], words[1:], strict=True):
        for x, y in zip(graphs[0].outputs, graph.outputs, strict=True):
            if x.dtype.base_dtype != y.dtype.base_dtype:
                raise ValueError(
                    f"Outputs of {words[0]} and {word} must have the same type: "
                    f"{x.dtype.name}, {y.dtype.name}"
                )


# --- parts that the gradient, tf.case and tf.switch_case share ----------------------


def add_array_handles(graphs: Sequence[FuncGraph], results: Sequence[Any]) -> list[int]:
    """Makes branches give the handles of arrays that are not the same in all of them.

    Returns:
      which leaves of the results are such TensorArrays.
    """
    chosen = []
    flat = [nest.flatten(result, expand_composites=True) for result in results]
    for index, leaves in enumerate(zip(*flat, strict=True)):
        if not all(map(control_flow_values.is_tensor_array, leaves)):
            continue
        handles = {leaf.handle for leaf in leaves}
        if len(handles) == 1 and not any(h.graph in graphs for h in handles):
            continue
        chosen.append(index)
        for graph, leaf in zip(graphs, leaves, strict=True):
            graph.outputs.append(graph.capture(leaf.handle))
    return chosen


def match_index_types(graphs: Sequence[FuncGraph]) -> None:
    """Makes int32 indices of IndexedSlices int64 where another branch has int64."""
    flat = [nest.flatten(g.structured_outputs) for g in graphs]
    position = 0
    for leaves in zip(*flat, strict=True):
        if all(isinstance(leaf, IndexedSlices) for leaf in leaves):
            _match_indices(graphs, position + 1)
        position += len(nest.flatten(leaves[0], expand_composites=True))


def _match_indices(graphs: Sequence[FuncGraph], position: int) -> None:
    if len({g.outputs[position].dtype for g in graphs}) == 1:
        return
    for graph in graphs:
        if graph.outputs[position].dtype == dtypes.int32:
            with graph.as_default():
                graph.outputs[position] = math_ops_cast.cast(
                    graph.outputs[position], dtypes.int64
                )


def match_inputs(graphs: Sequence[FuncGraph]) -> list[Tensor]:
    """Gives all branches the same arguments; returns what to pass for them.

    Each branch has captured what it needs; it gets an unused argument for what only
    another one needs.
    """
    wanted = {t: None for g in graphs for t in g.external_captures}
    for graph in graphs:
        inside = {outside: t for t, outside in graph._originals.items()}
        arguments = [
            inside[t]
            if t in inside
            else graph.add_argument(t._dtype, t._shape, "unused", t._handle_data)
            for t in wanted
        ]
        graph.inputs = arguments
        graph.reset_captures(zip(wanted, arguments, strict=True))
    return list(wanted)


def common_shapes(graphs: Sequence[FuncGraph]) -> list[TensorShape]:
    """For each output, the most specific shape that all branches' outputs have."""
    shapes = []
    for tensors in zip(*(g.outputs for g in graphs), strict=True):
        shape = tensors[0].shape
        for tensor in tensors[1:]:
            if tensor.shape.dims_tuple != shape.dims_tuple:
                shape = shape.most_specific_compatible_shape(tensor.shape)
        shapes.append(shape)
    return shapes


def add_branching_op(
    op_types: tuple[str, str],
    selector: dict[str, Tensor],
    graphs: Sequence[FuncGraph],
    name: str | None,
) -> list[Tensor]:
    """Adds the node over finished branches; returns the identities of its outputs.

    Args:
      op_types: (for branches without side effects, for others).
      selector: the predicate or the branch index, by input name.
    """
    inputs = match_inputs(graphs)
    outer = get_default_graph()
    for graph in graphs:
        outer.add_function(graph.to_function())
    op_type = op_types[any(g.is_stateful for g in graphs)]
    control = [op for g in graphs for op in g.control_captures]
    with control_dependencies(control):
        op = functional_ops.call_op(
            op_type,
            inputs,
            name or op_type,
            selector,
            Tout=[t.dtype.base_dtype for t in graphs[0].outputs],
            output_shapes=common_shapes(graphs),
            **branch_attrs(op_type, [g.name for g in graphs]),
        )
        _copy_handle_data(graphs[0], op)
        for graph in graphs:
            # What the call passes: itself a capture if this is a body, too.
            graph.reset_captures(zip(op.inputs[1:], graph.inputs, strict=True))
        op.__dict__["_branch_graphs"] = tuple(graphs)
        return [identity_ops.identity(t) for t in op.outputs]


def branch_attrs(op_type: str, names: Sequence[str]) -> dict[str, Any]:
    """The attrs that name the branches' functions."""
    functions = [functional_ops.named(n) for n in names]
    if op_type.endswith("Case"):
        return {"branches": functions}
    return {"then_branch": functions[0], "else_branch": functions[1]}


def _copy_handle_data(graph: FuncGraph, op: Operation) -> None:
    for inside, outside in zip(graph.outputs, op.outputs, strict=True):
        outside._handle_data = inside._handle_data
