"""`slim.model_analyzer`: how large operations' results and variables are."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from tensorloom.framework.export import export

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph import Graph


@export("contrib.slim.model_analyzer.tensor_description")
def tensor_description(var: Any) -> str:
    """Dtype and shape of a variable or tensor, such as `(float32 3x4)`."""
    sizes = "x".join(str(size) for size in var.get_shape())
    return f"({var.dtype.name} {sizes})"


def _print_title(title: str) -> None:
    print("---------", title, "---------", sep="\n")


@export("contrib.slim.model_analyzer.analyze_ops")
def analyze_ops(graph: Graph, print_info: bool = False) -> int:
    """The number of elements of all results of a graph's operations.

    Args:
      graph: the graph.
      print_info: whether a line for each operation is printed.

    Returns:
      The number; results of unknown shape count as nothing.
    """
    if print_info:
        _print_title("Operations: name -> (type shapes) [size]")
    total = 0
    for op in graph.get_operations():
        shapes = [output.get_shape() for output in op.outputs]
        size = sum(shape.num_elements() or 0 for shape in shapes)
        total += size
        if print_info:
            texts = [
                tensor_description(output)
                for output, shape in zip(op.outputs, shapes, strict=True)
                if shape
            ]
            print(op.name, "\t->", ", ".join(texts), f"[{size}]")
    return total


@export("contrib.slim.model_analyzer.analyze_vars")
def analyze_vars(variables: Iterable[Any], print_info: bool = False) -> tuple[int, int]:
    """(elements, bytes) of all variables.

    Args:
      variables: the variables.
      print_info: whether a line for each of them is printed, and the sums.
    """
    if print_info:
        _print_title("Variables: name (type shape) [size]")
    total_size = total_bytes = 0
    for variable in variables:
        size = variable.get_shape().num_elements() or 0
        in_bytes = size * variable.dtype.size
        total_size += size
        total_bytes += in_bytes
        if print_info:
            description = tensor_description(variable)
            print(variable.name, description, f"[{size}, bytes: {in_bytes}]")
    if print_info:
        print(f"Total size of variables: {total_size}")
        print(f"Total bytes of variables: {total_bytes}")
    return total_size, total_bytes
