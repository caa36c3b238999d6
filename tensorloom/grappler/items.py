"""`Item`: a graph with the names of what it is run for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.framework import errors
from tensorloom.grappler.item_graph import TRAIN_OP, ItemGraph, item_graph
from tensorloom.grappler.tensor_properties import tensor_properties

if TYPE_CHECKING:
    from tensorloom.framework.graph.operation import Operation


class Item:
    """What Grappler looks at: the graph of a MetaGraphDef."""

    def __init__(
        self,
        metagraph: Any,
        ignore_colocation: bool = True,
        ignore_user_placement: bool = False,
    ) -> None:
        """Reads a MetaGraphDef.

        Args:
          metagraph: the message; its collection `train_op` names what is run.
          ignore_colocation: whether constraints of colocation do not count.
          ignore_user_placement: whether the devices in the graph do not count.

        Raises:
          errors.InvalidArgumentError: nothing is named to be run, or the graph cannot
            be read.
        """
        self._metagraph = metagraph
        self._ignore_colocation = ignore_colocation
        self._ignore_user_placement = ignore_user_placement
        self._read = metagraph.SerializeToString(deterministic=True)
        self._tf_item = self._build()

    def _build(self) -> ItemGraph:
        if TRAIN_OP not in self._metagraph.collection_def:
            raise errors.InvalidArgumentError(
                None, None, "train_op not specified in the metagraph"
            )
        graph = item_graph(self._metagraph, self._ignore_user_placement)
        if graph is None:
            raise errors.InvalidArgumentError(None, None, "Invalid metagraph")
        return graph

    @property
    def metagraph(self) -> Any:
        """The message. What is changed in it counts from then on."""
        return self._metagraph

    @property
    def tf_item(self) -> ItemGraph:
        """The graph that was read; another object once the message was changed."""
        serialized = self._metagraph.SerializeToString(deterministic=True)
        if serialized != self._read:
            self._tf_item = self._build()
            self._read = serialized
        return self._tf_item

    def IdentifyImportantOps(self, sort_topologically: bool = False) -> list[str]:
        """The names of the nodes that a step, or a queue runner's, needs.

        Args:
          sort_topologically: whether producers are to come before consumers; else the
            nodes are as the graph has them.
        """
        item = self.tf_item
        needed = {op.name: None for op in [*item.needed(), *item.enqueues()]}
        if sort_topologically:
            return list(needed)
        return [op.name for op in item.operations() if op.name in needed]

    def GetOpProperties(self) -> dict[str, list[Any]]:
        """For each node an `OpInfo.TensorProperties` of each output.

        What is fed may have any shape, whatever its placeholder says.
        """
        graph = item_graph(
            self._metagraph, self._ignore_user_placement, assume_valid_feeds=False
        )
        assert graph is not None  # it was read before
        return {
            op.name: [tensor_properties(tensor) for tensor in op.outputs]
            for op in graph.operations()
        }

    def GetColocationGroups(self) -> list[tuple[str, ...]]:
        """Tuples of nodes that have to be on one device: writers and their variable."""
        group_of: dict[str, list[str]] = {}
        for operation in self.tf_item.operations():
            for index in _reference_inputs(operation):
                variable = operation.inputs[index].op.name
                first = group_of.setdefault(operation.name, [operation.name])
                second = group_of.setdefault(variable, [variable])
                if first is not second:
                    first += second
                    group_of.update(dict.fromkeys(second, first))
        groups = {id(group): tuple(sorted(group)) for group in group_of.values()}
        return list(groups.values())


def _reference_inputs(operation: Operation) -> list[int]:
    dtypes = operation._input_types
    return [index for index, dtype in enumerate(dtypes) if dtype._is_ref_dtype]
