"""Names of scopes, and the placeholders that stand where a graph was cut."""

from __future__ import annotations

from typing import Any

from tensorloom.contrib.graph_editor.element_lists import transform_tree
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Graph, GraphKeys, Operation, Tensor
from tensorloom.ops.array.placeholder import placeholder

_PREFIX = "geph"  # graph editor's placeholder


def scope_finalize(scope: str) -> str:
    """The scope with a slash at its end, unless it is empty."""
    return scope + "/" if scope and not scope.endswith("/") else scope


def scope_dirname(scope: str) -> str:
    """What is before the last part of a name, with the slash."""
    return scope[: scope.rfind("/") + 1]


def scope_basename(scope: str) -> str:
    """The last part of a name."""
    return scope[scope.rfind("/") + 1 :]


@export("contrib.graph_editor.placeholder_name")
def placeholder_name(
    t: Tensor | None = None, scope: str | None = None, prefix: str = _PREFIX
) -> str:
    """The name of a placeholder that stands for a tensor.

    Args:
      t: the tensor, whose name becomes part of it.
      scope: where the placeholder is to be; None for the scope of `t`.
      prefix: how its last part begins.

    Raises:
      TypeError: `t` is no tensor.
    """
    scope = None if scope is None else scope_finalize(scope)
    if t is None:
        return (scope or "") + prefix
    if not isinstance(t, Tensor):
        raise TypeError(f"Expected a tf.Tenfor, got: {type(t)}")
    name = scope_basename(t.op.name)
    if not name.startswith(f"{prefix}__"):  # a placeholder's placeholder
        name = f"{prefix}__{name}_{t.value_index}"
    return (scope_dirname(t.op.name) if scope is None else scope) + name


@export("contrib.graph_editor.make_placeholder_from_tensor")
def make_placeholder_from_tensor(
    t: Tensor, scope: str | None = None, prefix: str = _PREFIX
) -> Tensor:
    """A placeholder in the default graph with the dtype and shape of a tensor.

    Args:
      t: the tensor.
      scope: where the placeholder is to be; None for the scope of `t`.
      prefix: how its last part begins.

    Raises:
      TypeError: `t` is no tensor.
    """
    name = placeholder_name(t, scope=scope, prefix=prefix)
    return placeholder(dtype=t.dtype, shape=t.get_shape(), name=name)


@export(
    "contrib.graph_editor.make_placeholder_from_dtype_and_shape",
    "contrib.graph_editor.ph",
)
def make_placeholder_from_dtype_and_shape(
    dtype: Any, shape: Any = None, scope: str | None = None, prefix: str = _PREFIX
) -> Tensor:
    """A placeholder in the default graph, named as the editor's are.

    Args:
      dtype: its dtype.
      shape: its shape; any when None.
      scope: where it is to be; the root when None.
      prefix: its name.
    """
    name = placeholder_name(scope=scope, prefix=prefix)
    return placeholder(dtype=dtype, shape=shape, name=name)


def get_predefined_collection_names() -> list[Any]:
    """The names of the collections that `tf.GraphKeys` lists."""
    return [getattr(GraphKeys, k) for k in dir(GraphKeys) if not k.startswith("__")]


def find_corresponding_elem(
    target: Tensor | Operation,
    dst_graph: Graph,
    dst_scope: str = "",
    src_scope: str = "",
) -> Any:
    """What has the name of a tensor or operation in another graph.

    Args:
      target: the tensor or operation.
      dst_graph: the other graph.
      dst_scope: a scope that is put before the name there.
      src_scope: a scope that is taken from the front of the name first.

    Raises:
      TypeError: `target` is neither a tensor nor an operation.
      ValueError: its name does not begin with `src_scope`.
      KeyError: the other graph has no such name.
    """
    src_scope = scope_finalize(src_scope)
    if not target.name.startswith(src_scope):
        raise ValueError(f"{target.name} does not start with {src_scope}")
    name = scope_finalize(dst_scope) + target.name[len(src_scope) :]
    if isinstance(target, Tensor):
        return dst_graph.get_tensor_by_name(name)
    if isinstance(target, Operation):
        return dst_graph.get_operation_by_name(name)
    raise TypeError(f"Expected tf.Tensor or tf.Operation, got: {type(target)}")


def find_corresponding(
    targets: Any, dst_graph: Graph, dst_scope: str = "", src_scope: str = ""
) -> Any:
    """`find_corresponding_elem` of all leaves of a nested structure."""
    return transform_tree(
        targets,
        lambda top: find_corresponding_elem(top, dst_graph, dst_scope, src_scope),
    )
