"""Datasets as graphs: a node for each dataset and each tensor that it was made of.

    Const/_0, Const/_1, Const/_2 -> RangeDataset/_3 -> MapDataset/_4 -> dataset

The last node is a `_Retval`.

Nodes are numbered as TensorFlow numbers them; statistics are tagged with their names.
"""

from __future__ import annotations

import copy
import hashlib
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tensorloom.framework import errors
from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.functions.called_functions import functions_named, names_of
from tensorloom.framework.functions.function_instances import with_instances
from tensorloom.framework.graph import graph_def
from tensorloom.framework.graph.graph_ir import FunctionIR, GraphIR, Node
from tensorloom.framework.registry import op_registry
from tensorloom.framework.registry.op_kernel import host_kernel
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.attr_value import NameAttrList
from tensorloom.framework.types.message_tensor import with_message_constants
from tensorloom.framework.types.tensor_shape import TensorShape
from tensorloom.kernels.host.data.pipeline.dataset import Dataset, as_dataset

if TYPE_CHECKING:
    from tensorloom.framework.registry.op_kernel import (
        Compute,
        OpKernelConstruction,
        OpKernelContext,
    )

_RESULT: Final = "dataset"
# They have no state themselves; their functions are looked at.
_HARMLESS: Final = frozenset(["Assert", "Case", "If", "While"])


class _Nodes:
    """The nodes so far, and what their functions need."""

    def __init__(self) -> None:
        self.nodes: dict[str, Node] = {}
        self.functions: dict[str, FunctionIR] = {}
        self.names: dict[int, str] = {}

    def add(self, dataset: Dataset) -> str:
        """Adds a dataset with what it was made of; returns its node's name."""
        maker = dataset.maker
        if maker is None:
            raise errors.UnimplementedError(
                None,
                None,
                f"{type(dataset).__name__} does not support serialization: no node of "
                "the graph made it",
            )
        inputs = tuple([(self._added(value), 0) for value in dataset.arguments])
        name = self._unused_name(maker.op)
        attrs = {k: v for k, v in maker.attrs.items() if not k.startswith("_")}
        self.nodes[name] = maker.node.replace(
            name=name, inputs=inputs, control_inputs=(), device="", attrs=attrs
        )
        library = dict(maker.functions)
        self.functions.update(functions_named(names_of(maker.node), library))
        self.names[id(dataset)] = name
        return name

    def _added(self, value: Any) -> str:
        if isinstance(value, Dataset):
            return self.add(value)
        array = np.asarray(value)
        if array.dtype == object and not array.ndim and isinstance(array[()], Dataset):
            return self.add(array[()])
        dtype = dtypes.string if array.dtype == object else dtypes.as_dtype(array.dtype)
        name = self._unused_name("Const")
        shape = TensorShape.of(array.shape)
        attrs = {"dtype": dtype, "value": array}
        self.nodes[name] = Node(name, "Const", (), (), "", attrs, (dtype,), (shape,))
        return name

    def _unused_name(self, op: str) -> str:
        return f"{op}/_{len(self.nodes)}"


def to_graph(dataset: Dataset, allowed: Collection[str] | None = ()) -> bytes:
    """The dataset as a serialized GraphDef.

    Args:
      dataset: one that nodes have made.
      allowed: stateful ops that its functions may have; None: all.

    Raises:
      errors.FailedPreconditionError: a function has another stateful op.
      errors.UnimplementedError: no node has made it.
    """
    if allowed is not None:
        check_stateless(dataset, allowed)
    nodes = _Nodes()
    name = nodes.add(dataset)
    nodes.nodes[_RESULT] = Node(
        _RESULT,
        "_Retval",
        ((name, 0),),
        (),
        "",
        {"T": dtypes.variant, "index": 0},
        (),
    )
    graph = GraphIR(nodes.nodes, nodes.functions)
    serialized: bytes = graph_def.to_proto(graph).SerializeToString(deterministic=True)
    return serialized


def named(dataset: Dataset) -> Dataset:
    """The pipeline with the names that its datasets have in its graph.

    One that cannot be in a graph stays as it is.
    """
    nodes = _Nodes()
    try:
        check_stateless(dataset)
        nodes.add(dataset)
    except (errors.OpError, TypeError, ValueError):
        return dataset
    return _with_names(dataset, nodes.names)


def _with_names(dataset: Dataset, names: dict[int, str]) -> Dataset:
    result = copy.copy(dataset)
    result.inputs = tuple(_with_names(each, names) for each in dataset.inputs)
    result.graph_name = names.get(id(dataset), "")
    return result


def fingerprint(dataset: Dataset) -> str:
    """Sixteen digits that are the same for pipelines that do the same.

    Names do not count, nor does the order in which functions were made.
    """
    digest = hashlib.blake2b(digest_size=8)
    _fingerprint(dataset, digest.update)
    return digest.hexdigest()


def _fingerprint(
    value: Any, add: Callable[[bytes], None], functions: Any = None
) -> None:
    if isinstance(value, Dataset):
        maker = value.maker
        _fingerprint(type(value).__name__ if maker is None else maker.op, add)
        if maker is not None:
            attrs = {k: v for k, v in maker.attrs.items() if not k.startswith("_")}
            _fingerprint(attrs, add, maker.functions)
        _fingerprint(value.inputs if maker is None else value.arguments, add)
    elif isinstance(value, NameAttrList):
        function = (functions or {}).get(value.name)
        _fingerprint(value.name if function is None else function, add, functions)
    elif isinstance(value, FunctionIR):
        names = [*value.arg_names, *value.nodes]
        number = {name: index for index, name in enumerate(names)}
        for node in value.nodes.values():
            edges = [(number.get(name), index) for name, index in node.inputs]
            _fingerprint([node.op, edges, node.attrs], add, functions)
        _fingerprint([(number.get(n), i) for n, i in value.returns], add)
    elif isinstance(value, np.ndarray) and value.dtype != object:
        add(f"{value.dtype.str}{value.shape}".encode())
        add(np.ascontiguousarray(value).tobytes())
    elif isinstance(value, (list, tuple)):
        add(f"[{len(value)}".encode())
        for each in value:
            _fingerprint(each, add, functions)
    elif isinstance(value, dict):
        _fingerprint(sorted(value.items()), add, functions)
    elif isinstance(value, np.ndarray):
        _fingerprint(list(value.ravel()), add, functions)
    else:
        add(repr(value).encode())


def check_stateless(dataset: Dataset, allowed: Collection[str] = ()) -> None:
    """Raises FailedPreconditionError if a function has state that a copy would share.

    Datasets in functions, and checks, are no state. What counts into an aggregator is
    refused with an UnimplementedError.
    """
    for each in dataset.inputs:
        check_stateless(each, allowed)
    maker = dataset.maker
    if maker is None:
        return
    if maker.op.endswith("SetStatsAggregatorDataset"):
        raise errors.UnimplementedError(
            None, None, f"{maker.op} does not support checkpointing"
        )
    for op in _stateful_ops(names_of(maker.node), maker.functions):
        if op not in allowed:
            raise errors.FailedPreconditionError(None, None, f"{op} is stateful.")


def _stateful_ops(names: Iterable[str], functions: Any) -> Iterator[str]:
    for function in functions_named(names, dict(functions)).values():
        for node in function.nodes.values():
            op_def = op_registry.find(node.op)
            if (
                op_def is not None
                and op_def.is_stateful
                and node.op not in _HARMLESS
                and "Dataset" not in node.op
            ):
                yield node.op


@host_kernel("DatasetToGraph", large=True)
def dataset_to_graph(c: OpKernelConstruction) -> Compute:
    """The serialized graph of a dataset."""
    allowed = {name.decode() for name in c.get("stateful_whitelist", ())}
    return lambda dataset: _text(to_graph(as_dataset(dataset), allowed))


@host_kernel("DatasetToGraphV2", large=True)
def dataset_to_graph_v2(c: OpKernelConstruction) -> Compute:
    """The serialized graph of a dataset; policy 2 refuses stateful functions."""
    refuses = c.get("external_state_policy", 0) == 2

    def compute(dataset: Any) -> Any:
        source = as_dataset(dataset)
        return _text(to_graph(source, () if refuses else None))

    return compute


def _text(serialized: bytes) -> Any:
    return np.array(serialized, object)


@host_kernel("DatasetFromGraph", context=True, large=True)
def dataset_from_graph(c: OpKernelConstruction) -> Compute:
    """The dataset of a serialized graph: its nodes are run."""

    def compute(context: OpKernelContext, serialized: Any) -> Any:
        graph = graph_def.from_proto(
            graph_def.parse(bytes(np.asarray(serialized)[()])), internal=True
        )
        graph = with_message_constants(with_instances(graph, graph.functions))
        ends = [node for node in graph.nodes.values() if node.op == "_Retval"]
        if len(ends) != 1:
            raise invalid_argument(
                f"The graph of a dataset has one _Retval, but this has {len(ends)}"
            )
        body = {name: n for name, n in graph.nodes.items() if n.op != "_Retval"}
        name = "_dataset_of_graph"
        function = FunctionIR(
            name, (), (), (_RESULT,), (dtypes.variant,), body, ends[0].inputs
        )
        library = {**graph.functions, name: function}
        call = c.function(NameAttrList(name), host_results=True, library=library)
        return as_dataset(call(context)[0])

    return compute
