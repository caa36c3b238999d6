"""Copies of operations and variables in another graph, under the same names."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tensorloom.client.session.session import Session
from tensorloom.client.variables.variables import Variable
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Graph, GraphKeys, Operation, Tensor


@export("contrib.copy_graph.copy_variable_to_graph")
def copy_variable_to_graph(org_instance: Any, to_graph: Graph, scope: str = "") -> Any:
    """A variable of the same initial value in another graph.

    Args:
      org_instance: the variable.
      to_graph: where the copy goes.
      scope: what its name and its collections begin with; collections of global and
        of trainable variables keep their names.

    Raises:
      TypeError: `org_instance` is no variable.
    """
    if not isinstance(org_instance, Variable):
        raise TypeError(f"{org_instance} is not a Variable")
    graph = org_instance.graph
    kept = (GraphKeys.GLOBAL_VARIABLES, GraphKeys.TRAINABLE_VARIABLES)
    collections = [
        _scoped(name, "" if name in kept else scope)
        for name, members in graph._collections.items()
        if any(member is org_instance for member in members)
    ]
    trainable = graph.get_collection(GraphKeys.TRAINABLE_VARIABLES)
    with graph.as_default(), Session(graph=graph) as session:
        value = session.run(org_instance.initialized_value())
    with to_graph.as_default():
        return Variable(
            value,
            trainable=any(one is org_instance for one in trainable),
            name=_scoped(org_instance.op.name, scope),
            collections=collections,
            validate_shape=False,
        )


@export("contrib.copy_graph.copy_op_to_graph")
def copy_op_to_graph(
    org_instance: Any, to_graph: Graph, variables: Iterable[Any], scope: str = ""
) -> Any:
    """An operation or tensor, and what it is computed from, in another graph.

    Args:
      org_instance: the operation or tensor.
      to_graph: where the copies go; what is there under the copy's name is taken.
      variables: copies of variables, made by `copy_variable_to_graph`.
      scope: what names and collections begin with.

    Raises:
      TypeError: `org_instance` is neither an operation nor a tensor.
    """
    name = _scoped(org_instance.name, scope)
    copied = {variable.name: variable for variable in variables}
    if name in copied:
        return to_graph.get_tensor_by_name(copied[name].name)
    try:
        return to_graph.as_graph_element(name, allow_tensor=True, allow_operation=True)
    except (KeyError, ValueError):
        pass  # not there yet
    if isinstance(org_instance, Tensor):
        operation = copy_op_to_graph(org_instance.op, to_graph, variables, scope)
        tensor = operation.outputs[org_instance.value_index]
        for collection, members in org_instance.graph._collections.items():
            if any(member is org_instance for member in members):
                to_graph.add_to_collection(_scoped(collection, scope), tensor)
        return tensor
    if not isinstance(org_instance, Operation):
        raise TypeError(f"Could not copy instance: {org_instance}")

    def copy(one: Any) -> Any:
        return copy_op_to_graph(one, to_graph, variables, scope)

    original = org_instance._original_op
    new_original = None if original is None else copy(original)
    controls = [copy(one) for one in org_instance.control_inputs]
    inputs = [copy(one) for one in org_instance.inputs]
    for function in org_instance.graph.functions.values():
        to_graph.add_function(function)
    # The copy is made as it is: no scope of the program that is open counts.
    with (
        to_graph.as_default(),
        to_graph.control_dependencies(None),
        to_graph.control_dependencies(controls),
        to_graph.device(None),
    ):
        made = to_graph.create_op(
            org_instance.type, inputs, name=f"{name}/", attrs=dict(org_instance.attrs)
        )
    made._set_device(org_instance.device)
    made._original_op = new_original
    return made


@export("contrib.copy_graph.get_copied_op")
def get_copied_op(org_instance: Any, graph: Graph, scope: str = "") -> Any:
    """The operation or tensor of that name in another graph.

    Args:
      org_instance: the operation or tensor that was copied.
      graph: where its copy is.
      scope: what the copy's name begins with.

    Raises:
      KeyError: there is none.
    """
    name = _scoped(org_instance.name, scope)
    return graph.as_graph_element(name, allow_tensor=True, allow_operation=True)


def _scoped(name: str, scope: str) -> str:
    return f"{scope}/{name}" if scope else name
