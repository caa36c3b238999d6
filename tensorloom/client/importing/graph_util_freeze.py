"""`tf.graph_util.convert_variables_to_constants`: variables' values in the graph.

    VarHandleOp w -> ReadVariableOp r    becomes    Const w -> Identity r

A handle that is passed on, through Identity or a loop or into a function, is followed:
what carried the handle carries the value, and a function gets a copy of itself whose
argument is that value.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from tensorloom.client.importing.graph_util import extract_sub_graph
from tensorloom.client.importing.import_problems import used_functions
from tensorloom.framework.export import export
from tensorloom.framework.registry import op_registry
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_proto import make_tensor_proto
from tensorloom.ops.state.resource_variable import read_variable_op

_logger = logging.getLogger("tensorloom")

_VARIABLES: Final = frozenset(["Variable", "VariableV2", "VarHandleOp"])
_PASS_ON: Final = frozenset(
    ["Enter", "Exit", "Identity", "Merge", "NextIteration", "Switch"]
)
_REF_PASS_ON: Final = {f"Ref{op}": op for op in _PASS_ON}
# Ops that call functions: the attrs that name those, the attr with the types of what is
# passed to them, and how many inputs come before that.
_CALLS: Final[dict[str, tuple[tuple[str, ...], str, int]]] = {
    "PartitionedCall": (("f",), "Tin", 0),
    "StatefulPartitionedCall": (("f",), "Tin", 0),
    "If": (("then_branch", "else_branch"), "Tin", 1),
    "StatelessIf": (("then_branch", "else_branch"), "Tin", 1),
    "Case": (("branches",), "Tin", 1),
    "StatelessCase": (("branches",), "Tin", 1),
    "While": (("cond", "body"), "T", 0),
    "StatelessWhile": (("cond", "body"), "T", 0),
}
_RESULT_TYPES: Final = {"While": "T", "StatelessWhile": "T"}

_INT32: Final = dtypes.int32.as_datatype_enum

Carried = dict[tuple[str, int | None], int]  # (node, output or any) -> DataType


@export("graph_util.convert_variables_to_constants")
def convert_variables_to_constants(
    sess: Any,
    input_graph_def: Any,
    output_node_names: Sequence[str],
    variable_names_whitelist: Collection[str] | None = None,
    variable_names_blacklist: Collection[str] | None = None,
) -> Any:
    """The part of a graph that `output_node_names` need, with variables as constants.

    Args:
      sess: a session of the graph; the variables must be initialized.
      input_graph_def: the `GraphDef` of it.
      output_node_names: names of operations.
      variable_names_whitelist: variables to convert; all when None.
      variable_names_blacklist: variables to leave as they are.

    Returns:
      A `GraphDef`. Where functions read variables, it has copies of those functions.

    Raises:
      ValueError: an operation that is needed changes a variable, or uses it in a way
        that a constant cannot be used.
    """
    graph_def = extract_sub_graph(input_graph_def, output_node_names)
    chosen = [
        node
        for node in graph_def.node
        if node.op in _VARIABLES
        and (variable_names_whitelist is None or node.name in variable_names_whitelist)
        and not (variable_names_blacklist and node.name in variable_names_blacklist)
    ]
    values = sess.run([_reader(sess.graph, node) for node in chosen]) if chosen else []
    _logger.info("Froze %d variables.", len(values))
    constants = {node.name: value for node, value in zip(chosen, values, strict=True)}
    return _Freezer(graph_def, constants).frozen()


def _reader(graph: Any, node: Any) -> str:
    """The tensor with a variable's value."""
    if node.op != "VarHandleOp":
        return f"{node.name}:0"
    usual = f"{node.name}/Read/ReadVariableOp"
    if usual in graph._by_name:
        return f"{usual}:0"
    handle = graph.get_tensor_by_name(f"{node.name}:0")
    for op in handle.consumers():
        if op.type == "ReadVariableOp":
            return str(op.outputs[0].name)
    with graph.as_default(), graph.control_dependencies(None):
        value = read_variable_op(handle, dtypes.as_dtype(node.attr["dtype"].type))
    return str(value.name)


@dataclass(frozen=True)
class _Body:
    """The nodes of a graph or function on their way to being converted."""

    nodes: Sequence[Any]
    # (node, output) of an input's text; None of a control input.
    parse: Callable[[str], tuple[str, int | None] | None]
    # The text of output 0 of a node.
    first_output: Callable[[str, str], str]
    where: str


class _Freezer:
    """One conversion of a graph and the functions that it calls."""

    def __init__(self, graph_def: Any, constants: Mapping[str, Any]) -> None:
        self._graph_def = graph_def
        self._constants = constants
        self._functions = {f.signature.name: f for f in graph_def.library.function}
        # Copies of functions, by name and the arguments that are values now.
        self._copies: dict[tuple[str, tuple[tuple[int, int], ...]], str] = {}
        self._result = type(graph_def)()

    def frozen(self) -> Any:
        """The converted graph."""
        result = self._result
        result.library.CopyFrom(self._graph_def.library)
        result.versions.CopyFrom(self._graph_def.versions)
        body = _Body(
            self._graph_def.node, _parse_graph_input, lambda name, _: name, "the graph"
        )
        carried: Carried = {
            (node.name, None): node.attr["dtype"].type
            for node in body.nodes
            if node.name in self._constants
        }
        refs = {
            node.name
            for node in body.nodes
            if node.name in self._constants and node.op != "VarHandleOp"
        }
        self._spread(body, carried, refs)
        for node in body.nodes:
            if node.name in self._constants:
                result.node.append(self._constant(node))
            else:
                result.node.extend(self._converted(node, body, carried, refs))
        if self._copies:
            _drop_unused_functions(result)
        return result

    def _constant(self, node: Any) -> Any:
        value = self._constants[node.name]
        made = type(node)(name=node.name, op="Const")
        dtype = node.attr["dtype"].type
        made.attr["dtype"].type = dtype
        made.attr["value"].tensor.CopyFrom(
            make_tensor_proto(value, dtype=dtype, shape=value.shape)
        )
        return made

    # --- where handles go ------------------------------------------------------------

    def _spread(self, body: _Body, carried: Carried, refs: set[str]) -> None:
        """Follows values until nothing is added; loops have edges backwards."""
        size = -1
        while size != len(carried):
            size = len(carried)
            for node in body.nodes:
                found = self._inputs(node, body, carried)
                if not found:
                    continue
                if node.op in _PASS_ON or node.op in _REF_PASS_ON:
                    first = body.parse(node.input[0])
                    if first and first[0] in refs and node.op not in _REF_PASS_ON:
                        continue  # its input is a value in either case
                    carried[node.name, None] = next(iter(found.values()))
                    if node.op in _REF_PASS_ON:
                        refs.add(node.name)
                elif node.op in _RESULT_TYPES:
                    carried.update({(node.name, i): t for i, t in found.items()})
                elif node.op in _CALLS or node.op in self._functions:
                    carried.update(
                        {(node.name, i): t for i, t in self._results(node, found)}
                    )

    def _inputs(self, node: Any, body: _Body, carried: Carried) -> dict[int, int]:
        """The inputs of a node that carry converted variables, with their types."""
        found = {}
        for i, text in enumerate(node.input):
            place = body.parse(text)
            if place is not None:
                dtype = carried.get(place) or carried.get((place[0], None))
                if dtype:
                    found[i] = dtype
        return found

    def _called(self, node: Any) -> tuple[list[Any], int]:
        """The functions that a node calls, and where their arguments begin."""
        if node.op in self._functions:
            return [self._functions[node.op]], 0
        names, _, begin = _CALLS[node.op]
        found = []
        for attr in names:
            value = node.attr[attr]
            functions = value.list.func if attr == "branches" else [value.func]
            found += [self._functions[f.name] for f in functions]
        return found, begin

    def _results(self, node: Any, found: dict[int, int]) -> Iterable[tuple[int, int]]:
        """The results of a call that are handles which were passed in."""
        functions, begin = self._called(node)
        function = functions[-1]
        names = [arg.name for arg in function.signature.input_arg]
        for i, result in enumerate(function.signature.output_arg):
            source = function.ret[result.name]
            if source in names and names.index(source) + begin in found:
                yield i, found[names.index(source) + begin]

    # --- rewriting -------------------------------------------------------------------

    def _converted(
        self, node: Any, body: _Body, carried: Carried, refs: set[str]
    ) -> list[Any]:
        found = self._inputs(node, body, carried)
        made = type(node)()
        made.CopyFrom(node)
        if not found:
            return [made]
        if node.op in _REF_PASS_ON:
            made.op = _REF_PASS_ON[node.op]
            return [made]
        place = body.parse(node.input[min(found)])
        assert place is not None
        if place[0] in refs:
            if node.op == "IsVariableInitialized":
                return _is_initialized(made, body, 0)
            _check_ref_use(node, body)
            return [made]
        rewrite = _REWRITES.get(node.op)
        if rewrite is not None:
            return rewrite(made, body, found[min(found)])
        if node.op in _PASS_ON:
            made.attr["T"].type = found[min(found)]
            made.attr.pop("_output_shapes", None)
            return [made]
        if node.op in _CALLS or node.op in self._functions:
            return [self._call(made, found)]
        raise ValueError(
            f"Cannot freeze: node '{node.name}' (op {node.op}) in {body.where} uses "
            f"the variable '{place[0]}' as a resource. Leave it out of the graph, or "
            "the variable out of the conversion (variable_names_blacklist)."
        )

    def _call(self, made: Any, found: dict[int, int]) -> Any:
        _, begin = self._called(made)
        values = tuple(sorted((i - begin, t) for i, t in found.items()))
        if made.op in self._functions:
            made.op = self._copy(made.op, values)
            return made
        names, types, _ = _CALLS[made.op]
        for i, dtype in values:
            made.attr[types].list.type[i] = dtype
        if "Tout" in made.attr:
            for i, dtype in self._results(made, found):
                made.attr["Tout"].list.type[i] = dtype
        for attr in names:
            value = made.attr[attr]
            for function in value.list.func if attr == "branches" else [value.func]:
                function.name = self._copy(function.name, values)
        for attr in ("_output_shapes", "output_shapes"):
            made.attr.pop(attr, None)
        return made

    def _copy(self, name: str, values: tuple[tuple[int, int], ...]) -> str:
        """The name of a function's copy, some of whose arguments are values."""
        known = self._copies.get((name, values))
        if known is not None:
            return known
        new_name = f"{name}_frozen_{len(self._copies)}"
        while new_name in self._functions:
            new_name += "_"
        self._copies[name, values] = new_name
        function = self._functions[name]
        copy = type(function)()
        copy.CopyFrom(function)
        copy.signature.name = new_name
        carried: Carried = {}
        for i, dtype in values:
            arg = copy.signature.input_arg[i]
            arg.type = dtype
            arg.ClearField("handle_data")
            carried[arg.name, None] = dtype
            if i in copy.arg_attr:
                copy.arg_attr[i].attr.pop("_output_shapes", None)
        body = _Body(
            function.node_def,
            _parse_function_input,
            lambda name, output: f"{name}:{output}:0",
            f"function '{name}'",
        )
        self._spread(body, carried, set())
        del copy.node_def[:]
        for node in body.nodes:
            copy.node_def.extend(self._converted(node, body, carried, set()))
        _rename_outputs(function, copy)
        for result in copy.signature.output_arg:
            place = body.parse(copy.ret[result.name])
            if place is not None:
                value = carried.get(place) or carried.get((place[0], None))
                result.type = value or result.type
        self._result.library.function.append(copy)
        return new_name


def _drop_unused_functions(graph_def: Any) -> None:
    """Leaves the functions that are called, and their gradients."""
    used = used_functions(graph_def)
    kept = [f for f in graph_def.library.function if f.signature.name in used]
    pairs = [g for g in graph_def.library.gradient if g.function_name in used]
    library = type(graph_def.library)(function=kept, gradient=pairs)
    graph_def.library.CopyFrom(library)


def _check_ref_use(node: Any, body: _Body) -> None:
    op_def = op_registry.find(node.op)
    if op_def is not None and op_def.inputs and op_def.inputs[0].is_ref:
        raise ValueError(
            f"Cannot freeze: node '{node.name}' (op {node.op}) in {body.where} changes "
            "a variable."
        )


# --- ops that read a variable --------------------------------------------------------


def _read(node: Any, body: _Body, dtype: int) -> list[Any]:
    """ReadVariableOp -> Identity"""
    _become(node, "Identity", {"T": dtype})
    return [node]


def _gather(node: Any, body: _Body, dtype: int) -> list[Any]:
    """ResourceGather -> GatherV2 with a constant axis"""
    batch_dims = node.attr["batch_dims"].i if "batch_dims" in node.attr else 0
    indices = node.attr["Tindices"].type
    axis = type(node)(name=f"{node.name}/axis", op="Const")
    axis.attr["dtype"].type = indices
    axis.attr["value"].tensor.CopyFrom(make_tensor_proto(batch_dims, dtype=indices))
    inputs = [*node.input[:2], body.first_output(axis.name, "output"), *node.input[2:]]
    _become(
        node,
        "GatherV2",
        {"Tparams": dtype, "Tindices": indices, "Taxis": indices},
        inputs,
    )
    if batch_dims:
        node.attr["batch_dims"].i = batch_dims
    return [axis, node]


def _gather_nd(node: Any, body: _Body, dtype: int) -> list[Any]:
    """ResourceGatherNd -> GatherNd"""
    _become(
        node, "GatherNd", {"Tparams": dtype, "Tindices": node.attr["Tindices"].type}
    )
    return [node]


def _shape(node: Any, body: _Body, dtype: int) -> list[Any]:
    """VariableShape -> Shape"""
    out = node.attr["out_type"].type if "out_type" in node.attr else 0
    _become(node, "Shape", {"T": dtype, "out_type": out or _INT32})
    return [node]


def _is_initialized(node: Any, body: _Body, dtype: int) -> list[Any]:
    """VarIsInitializedOp -> Const true"""
    _become(node, "Const", {"dtype": dtypes.bool.as_datatype_enum}, [])
    node.attr["value"].tensor.CopyFrom(make_tensor_proto(True))
    return [node]


def _become(
    node: Any, op: str, types: Mapping[str, int], inputs: Sequence[str] | None = None
) -> None:
    """Makes a node one of another op; it keeps its name and what it is placed with."""
    groups = list(node.attr["_class"].list.s) if "_class" in node.attr else []
    node.op = op
    node.attr.clear()
    if groups:
        node.attr["_class"].list.s.extend(groups)
    for name, dtype in types.items():
        node.attr[name].type = dtype
    if inputs is not None:
        del node.input[:]
        node.input.extend(inputs)


_REWRITES: Final[dict[str, Callable[[Any, _Body, int], list[Any]]]] = {
    "ReadVariableOp": _read,
    "ResourceGather": _gather,
    "ResourceGatherNd": _gather_nd,
    "VarIsInitializedOp": _is_initialized,
    "VariableShape": _shape,
}


_RENAMED: Final = {"ReadVariableOp": "value", "VarIsInitializedOp": "is_initialized"}


def _rename_outputs(function: Any, copy: Any) -> None:
    """Uses of outputs in a function name the output argument: that of the new op."""
    new_ops = {node.name: node.op for node in copy.node_def}
    names = {
        f"{node.name}:{_RENAMED[node.op]}:0": f"{node.name}:output:0"
        for node in function.node_def
        if node.op in _RENAMED and new_ops[node.name] != node.op
    }
    for node in copy.node_def:
        for i, text in enumerate(node.input):
            if text in names:
                node.input[i] = names[text]
    for key, text in list(copy.ret.items()):
        if text in names:
            copy.ret[key] = names[text]


# --- names of inputs -----------------------------------------------------------------


def _parse_graph_input(text: str) -> tuple[str, int | None] | None:
    if text.startswith("^"):
        return None
    name, _, index = text.partition(":")
    return name, int(index or 0)


def _parse_function_input(text: str) -> tuple[str, int | None] | None:
    """Inputs in functions: `argument`, or `node:output:index`.

    What carries a handle has one output argument, a list or not: the index says which.
    """
    if text.startswith("^"):
        return None
    parts = text.split(":")
    return parts[0], int(parts[2]) if len(parts) == 3 else 0
