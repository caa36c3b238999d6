"""A program as an ONNX model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from onnx import checker, helper

from tensorloom.deploy.onnx import (  # noqa: F401  (they fill the table)
    arrays,
    control,
    convolution,
    detection,
    elementwise,
    linear,
    reductions,
    tables,
)
from tensorloom.deploy.onnx.scope import ELEMENT_TYPES, Model, Scope
from tensorloom.deploy.program import Refusal, refused

if TYPE_CHECKING:
    from tensorloom.deploy.program import Program
    from tensorloom.framework.graph.graph_ir import Node

#: The version of ONNX's operators that is written; ML is that of its tables.
OPSET: Final = 23
_ML_OPSET: Final = 5
_IR_VERSION: Final = 11


def export(program: Program) -> Any:
    """The model.

    Raises:
      errors.UnimplementedError: nodes cannot be written; the message has all of them.
    """
    model = Model(program.graph, program.tables)
    scope = Scope(model, program.graph.nodes, {})
    inputs = []
    for node, (key, dtype, shape) in zip(
        _ends(program, "_Arg"), program.inputs, strict=True
    ):
        element = ELEMENT_TYPES.get(dtype)
        if element is None:
            model.refusals.append(Refusal(key, "input", f"ONNX has no {dtype.name}"))
            continue
        sizes = None
        if shape.ndims is not None:
            sizes = [
                f"{key}_{at}" if size is None else size
                for at, size in enumerate(shape.as_list())
            ]
            if sizes and not isinstance(sizes[0], int):
                # Inputs have as many examples as each other.
                sizes[0] = "batch"
        scope.values[node.name, 0] = key
        inputs.append(helper.make_tensor_value_info(key, element, sizes))
    scope.build()
    outputs = _outputs(program, model, scope)
    if model.refusals:
        raise refused("ONNX", model.refusals)
    graph = helper.make_graph(
        _needed(scope.made, {info.name for info in outputs}),
        "tensorloom",
        inputs,
        outputs,
        _used(model, scope, outputs),
    )
    opsets = [helper.make_opsetid("", OPSET)]
    if len(model.domains) > 1:
        opsets.append(helper.make_opsetid(tables.ML, _ML_OPSET))
    made = helper.make_model(
        graph, opset_imports=opsets, producer_name="tensorloom", ir_version=_IR_VERSION
    )
    # The checker wants all ranks, which no runtime does.
    if all(info.type.tensor_type.HasField("shape") for info in (*inputs, *outputs)):
        checker.check_model(made)
    return made


def _ends(program: Program, op: str) -> list[Node]:
    found = [node for node in program.graph.nodes.values() if node.op == op]
    return sorted(found, key=lambda node: int(node.attrs["index"]))


def output_name(program: Program, key: str) -> str:
    """The name of an output in the model."""
    return f"{key}_output" if key in {name for name, _, _ in program.inputs} else key


def _outputs(program: Program, model: Model, scope: Scope) -> list[Any]:
    made = []
    results = _ends(program, "_Retval")
    for key, place in program.outputs:
        name, output = results[place].inputs[0]
        source = program.graph.nodes[name]
        dtype = source.output_types[output]
        element = ELEMENT_TYPES.get(dtype)
        if element is None:
            model.refusals.append(Refusal(key, "output", f"ONNX has no {dtype.name}"))
            continue
        value = scope.values[name, output]
        # An output of the graph has the key's name, unless that is an input's.
        key = output_name(program, key)
        scope.made.append(helper.make_node("Identity", [value], [key]))
        sizes = None
        shapes = source.output_shapes
        if shapes is not None and shapes[output].ndims is not None:
            sizes = [
                f"{key}_{at}" if size is None else size
                for at, size in enumerate(shapes[output].as_list())
            ]
        made.append(helper.make_tensor_value_info(key, element, sizes))
    return made


def _needed(nodes: list[Any], wanted: set[str]) -> list[Any]:
    """The nodes that outputs need, in order."""
    kept = []
    wanted = set(wanted)
    for node in reversed(nodes):
        if wanted & set(node.output):
            kept.append(node)
            wanted |= _read(node)
    return kept[::-1]


def _read(node: Any) -> set[str]:
    """What a node reads, and what the graphs in it read."""
    found = set(node.input)
    for attr in node.attribute:
        for graph in [attr.g, *attr.graphs]:
            for inner in graph.node:
                found |= _read(inner)
            found |= {info.name for info in graph.output}
    return found


def _used(model: Model, scope: Scope, outputs: list[Any]) -> list[Any]:
    nodes = _needed(scope.made, {info.name for info in outputs})
    read = {name for node in nodes for name in _read(node)}
    return [one for one in model.initializers if one.name in read]
