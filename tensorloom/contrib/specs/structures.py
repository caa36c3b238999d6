"""Summaries of graphs: their structure as text, and how many parameters they have."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

from tensorloom.contrib.specs.evaluation import create_net
from tensorloom.framework.export import export
from tensorloom.framework.graph.tensor import Tensor
from tensorloom.framework.types import dtypes
from tensorloom.ops.array.placeholder import placeholder

# Short names of common operations; `_` for what stands around a specification.
SHORT_NAMES: Final = {
    "BiasAdd": "biasadd",
    "Const": "_",
    "Conv2D": "conv",
    "MatMul": "dot",
    "Placeholder": "_",
    "Sigmoid": "sig",
    "Variable": "var",
}


def _is_pruned(op: Any) -> bool:
    # Unrolled cells would fill pages.
    return "/HorizontalLstm/" in op.name


def _op_and_shape(x: Any, without: Any) -> tuple[Any, Any]:
    if isinstance(x, Tensor):
        return x.op, x.get_shape().as_list()
    return x, without


@export("contrib.specs.tf_structure")
def tf_structure(
    x: Any, include_shapes: bool = False, finished: set[Any] | None = None
) -> str:
    """The operations that lead to a tensor, inputs first, as words.

    Args:
      x: a tensor or an operation.
      include_shapes: whether static shapes stand there too.
      finished: operations that were told already: `<>` stands for them.
    """
    finished = set() if finished is None else finished
    op, shape = _op_and_shape(x, [])
    if op in finished:
        return " <>"
    finished.add(op)
    words = []
    if not _is_pruned(op):
        words = [tf_structure(y, include_shapes, finished) for y in op.inputs]
    if include_shapes:
        words.append(f" {shape}")
    if op.type != "Identity":
        words.append(f" {SHORT_NAMES.get(op.type, op.type.lower())}")
    return "".join(words)


@export("contrib.specs.tf_print")
def tf_print(
    x: Any,
    depth: int = 0,
    finished: set[Any] | None = None,
    printer: Callable[[str], Any] = print,
) -> None:
    """Prints the operations that lead to a tensor, the inputs of each further in.

    Args:
      x: a tensor or an operation.
      depth: how far in it stands.
      finished: operations that were printed already.
      printer: takes each line.
    """
    finished = set() if finished is None else finished
    op, shape = _op_and_shape(x, "")
    if op.type == "Identity":
        op = op.inputs[0].op
    name = f"<{op.name}>" if op in finished else op.name
    printer(f"{'  ' * depth}{name} {op.type} {shape}")
    if op in finished:
        return
    finished.add(op)
    if not _is_pruned(op):
        for y in op.inputs:
            tf_print(y, depth + 1, finished, printer=printer)


@export("contrib.specs.tf_num_params")
def tf_num_params(x: Any) -> int:
    """The number of elements of all reference variables that lead to a tensor."""
    op = x.op if isinstance(x, Tensor) else x
    if op.type in ("Variable", "VariableV2"):
        return int(op.outputs[0].get_shape().num_elements() or 0)
    return sum(tf_num_params(y) for y in op.inputs)


@export("contrib.specs.tf_left_split")
def tf_left_split(op: Any) -> tuple[Any, list[Any]]:
    """The first input of an operation, or None, and the others."""
    if not op.inputs:
        return None, []
    first = 1 if op.type == "Concat" else 0
    return op.inputs[first], list(op.inputs[first + 1 :])


@export("contrib.specs.tf_parameter_iter")
def tf_parameter_iter(x: Any) -> Iterator[tuple[str, int, Any]]:
    """Name, number of parameters and shape of each operation along first inputs."""
    while x is not None:
        op, shape = _op_and_shape(x, "")
        x, others = tf_left_split(op)
        yield op.name, sum(tf_num_params(y) for y in others), shape


def _combined(
    layers: Iterable[tuple[str, int, Any]],
) -> Iterator[tuple[str, int, Any]]:
    """Operations of one outermost scope as one, with the shape of the first."""
    named = ((name.partition("/")[0], total, shape) for name, total, shape in layers)
    for name, group in itertools.groupby(named, key=lambda layer: layer[0]):
        members = list(group)
        yield name, sum(total for _, total, _ in members), members[0][2]


@export("contrib.specs.tf_parameter_summary")
def tf_parameter_summary(
    x: Any, printer: Callable[[str], Any] = print, combine: bool = True
) -> None:
    """Prints how many parameters there are at each depth, from the inputs on.

    Args:
      x: a tensor or an operation.
      printer: takes each line.
      combine: whether operations of one outermost scope are one.
    """
    layers: Iterable[tuple[str, int, Any]] = tf_parameter_iter(x)
    if combine:
        layers = _combined(layers)
    for name, total, shape in reversed(list(layers)):
        printer(f"{total:10d} {name:<20} {shape}")


def _net(spec: str, inputs: Any, input_shape: Any, input_type: Any) -> Any:
    if inputs is None:
        inputs = placeholder(input_type, input_shape)
    return create_net(spec, inputs)


@export("contrib.specs.tf_spec_structure")
def tf_spec_structure(
    spec: str,
    inputs: Any = None,
    input_shape: Any = None,
    input_type: Any = dtypes.float32,
) -> str:
    """`tf_structure` of a specification's network.

    Args:
      spec: the specification.
      inputs: what it is applied to; by default a placeholder.
      input_shape, input_type: of the placeholder.
    """
    return tf_structure(_net(spec, inputs, input_shape, input_type)).strip()


@export("contrib.specs.tf_spec_summary")
def tf_spec_summary(
    spec: str,
    inputs: Any = None,
    input_shape: Any = None,
    input_type: Any = dtypes.float32,
) -> None:
    """`tf_parameter_summary` of a specification's network; see `tf_spec_structure`."""
    tf_parameter_summary(_net(spec, inputs, input_shape, input_type))


@export("contrib.specs.tf_spec_print")
def tf_spec_print(
    spec: str,
    inputs: Any = None,
    input_shape: Any = None,
    input_type: Any = dtypes.float32,
) -> None:
    """`tf_print` of a specification's network; see `tf_spec_structure`."""
    tf_print(_net(spec, inputs, input_shape, input_type))
