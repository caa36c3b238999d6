"""`tf.wrap_function`: graph-building code of TensorFlow 1 as a function."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from tensorloom.client.functions.concrete_function import ConcreteFunction, trace
from tensorloom.client.importing.importer import import_graph_def
from tensorloom.framework import errors
from tensorloom.framework.export import export
from tensorloom.framework.graph.default_graph import get_default_graph
from tensorloom.framework.graph.graph_keys import GraphKeys
from tensorloom.framework.graph.operation import Operation
from tensorloom.framework.graph.tensor import Tensor
from tensorloom.framework.types import nest
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.framework.types.tensor_shape import as_shape

if TYPE_CHECKING:
    from tensorloom.client.functions.func_graph import FuncGraph
    from tensorloom.framework.types.dtypes import DType


class WrappedFunction(ConcreteFunction):
    """What `tf.wrap_function` makes: its calls are single nodes of the graph."""

    variables: tuple[Any, ...] = ()  # those that the Python function made

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Adds a call to the default graph.

        Args:
          *args: tensors, in the structure of the signature.

        Raises:
          NotImplementedError: there are arguments by keyword.
          ValueError: there are more or fewer than the signature has.
          InvalidArgumentError: a tensor is of another dtype.
        """
        if kwargs:
            raise NotImplementedError(
                "Keyword arguments not supported when calling a "
                "wrap_function-decorated function."
            )
        given = nest.flatten(list(args), expand_composites=True)
        declared = self.inputs[: len(self._arg_names)]
        if len(given) != len(declared):
            raise ValueError(
                "Arguments and signature arguments do not match. got: "
                f"{len(given)}, expected: {len(declared)} "
            )
        return self.call_flat(
            [
                _argument(index, value, inside.dtype)
                for index, (value, inside) in enumerate(
                    zip(given, declared, strict=True)
                )
            ]
        )

    def prune(
        self, feeds: Any, fetches: Any, name: str | None = None
    ) -> WrappedFunction:
        """A function of a part of this one's graph.

        Args:
          feeds: a structure of tensors of the graph, or their names: its arguments.
          fetches: a structure of tensors, operations or names: its results.
          name: part of its name.

        Raises:
          KeyError: the graph has no such tensor.
          ValueError: an argument of this function is needed and not among the feeds.
        """
        graph = self.graph
        fed = [_element(graph, feed) for feed in nest.flatten(feeds)]
        wanted = [_element(graph, fetch) for fetch in nest.flatten(fetches)]
        needed = _needed(wanted, fed)
        captured = dict(
            zip(graph.internal_captures, graph.external_captures, strict=True)
        )
        _check_arguments(self, needed, fed)

        def make_arguments(inner: FuncGraph) -> tuple[list[Any], dict[str, Any]]:
            made = [
                inner.add_argument(t.dtype, t.shape, "feed", t._handle_data)
                for t in fed
            ]
            return made, {}

        def body(*arguments: Tensor) -> Any:
            inner: Any = get_default_graph()
            mapped = {t.name: arg for t, arg in zip(fed, arguments, strict=True)}
            mapped |= {
                inside.name: inner.capture(outside)
                for inside, outside in captured.items()
                if inside.op in needed
            }
            results = import_graph_def(
                _part_of(graph, needed - {inside.op for inside in captured}),
                input_map=mapped,
                return_elements=[one.name for one in wanted],
                name="",
            )
            inner.control_outputs += [
                one for one in results or () if isinstance(one, Operation)
            ]
            values = [
                mapped.get(old.name, None if isinstance(new, Operation) else new)
                for old, new in zip(wanted, results or (), strict=True)
            ]
            return nest.pack_sequence_as(fetches, values)

        pruned = trace(
            name or "pruned",
            make_arguments,
            body,
            ["feed"] * len(fed),
            WrappedFunction,
            orders_effects=False,
        )
        assert isinstance(pruned, WrappedFunction)
        pruned.variables = self.variables
        return pruned


def _argument(index: int, value: Any, dtype: DType) -> Tensor:
    tensor = value if isinstance(value, Tensor) else convert_to_tensor(value, dtype)
    if tensor.dtype.base_dtype != dtype.base_dtype:
        raise errors.InvalidArgumentError(
            None,
            None,
            f"Expects arg[{index}] to be {dtype.name} but {tensor.dtype.name} is "
            "provided",
        )
    return tensor


def _element(graph: FuncGraph, given: Any) -> Any:
    return graph.as_graph_element(given, allow_tensor=True, allow_operation=True)


def _needed(wanted: Sequence[Any], fed: Sequence[Tensor]) -> set[Operation]:
    """What must run for the wanted ones, short of what is fed."""
    given = set(map(id, fed))
    pending = [
        one if isinstance(one, Operation) else one.op
        for one in wanted
        if id(one) not in given
    ]
    found: set[Operation] = set()
    while pending:
        op = pending.pop()
        if op in found:
            continue
        found.add(op)
        pending += [t.op for t in op.inputs if id(t) not in given]
        pending += op.control_inputs
    return found


def _check_arguments(
    function: ConcreteFunction, needed: set[Operation], fed: Sequence[Tensor]
) -> None:
    missing = [
        tensor.name
        for tensor in function.inputs[: len(function._arg_names)]
        if tensor.op in needed and not any(tensor is one for one in fed)
    ]
    if missing:
        raise ValueError(f"The fetches need {missing}, which must be among the feeds.")


def _part_of(graph: FuncGraph, ops: set[Operation]) -> Any:
    definition = graph.as_graph_def()
    kept = {op.name for op in ops}
    nodes = [node for node in definition.node if node.name in kept]
    for node in nodes:
        _forget_colocation(node, kept)
    del definition.node[:]
    definition.node.extend(nodes)
    return definition


def _forget_colocation(node: Any, kept: set[str]) -> None:
    """A node need not be where one that is gone would be."""
    if "_class" in node.attr:
        classes = node.attr["_class"].list.s
        staying = [
            one
            for one in classes
            if not one.startswith(b"loc:@") or one[5:].decode() in kept
        ]
        del classes[:]
        classes.extend(staying)


@export("wrap_function")
def wrap_function(
    fn: Callable[..., Any], signature: Sequence[Any], name: str | None = None
) -> WrappedFunction:
    """Calls a function that builds a graph once, and makes a function of the graph.

    Args:
      fn: takes tensors. Variables that it makes are made once and belong to the result.
      signature: a structure of TensorSpecs, one for each tensor.
      name: part of the function's name.

    Returns:
      A callable over tensors, with `prune` for parts of the graph.
    """
    names: list[str] = []

    def make_arguments(graph: FuncGraph) -> tuple[list[Any], dict[str, Any]]:
        def argument(spec: Any) -> Tensor:
            names.append(getattr(spec, "name", None) or "placeholder")
            return graph.add_argument(spec.dtype, as_shape(spec.shape), names[-1])

        return list(nest.map_structure(argument, list(signature))), {}

    before = len(_variables())
    # The code of TensorFlow 1 says itself what runs after what.
    made = trace(
        name or "wrapped_function",
        make_arguments,
        fn,
        names,
        WrappedFunction,
        orders_effects=False,
    )
    assert isinstance(made, WrappedFunction)
    made.variables = tuple(_variables()[before:])
    return made


def _variables() -> list[Any]:
    return get_default_graph().get_collection_ref(GraphKeys.GLOBAL_VARIABLES)
