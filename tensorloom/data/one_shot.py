"""The factory function of one-shot iterators: a dataset copied into a function."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tensorloom.client.functions.func_graph import FuncGraph
from tensorloom.framework.graph.default_graph import get_default_graph
from tensorloom.framework.runtime.scopes import uid
from tensorloom.framework.types.attr_value import NameAttrList

if TYPE_CHECKING:
    from tensorloom.framework.graph.operation import Operation
    from tensorloom.framework.graph.tensor import Tensor


class _ByValueGraph(FuncGraph):
    """A function body that copies what it uses of the graph around it."""

    def __init__(self, name: str, allowed: set[Operation]) -> None:
        super().__init__(name)
        self._allowed = allowed
        self._copies: dict[Operation, Operation] = {}

    def capture(self, tensor: Tensor, name: str | None = None) -> Tensor:
        """A copy of the tensor's operation, and of all that it needs.

        Raises:
          ValueError: that is a placeholder or a stateful operation.
        """
        if tensor._op._graph is self:
            return tensor
        return self._copy(tensor._op)._outputs[tensor._value_index]

    def _copy(self, op: Operation) -> Operation:
        copy = self._copies.get(op)
        if copy is not None:
            return copy
        if op.type.startswith("Placeholder"):
            raise ValueError(
                f"Cannot capture a placeholder (name:{op.name}, type:{op.type}) by "
                "value."
            )
        if op._is_stateful and op not in self._allowed:
            raise ValueError(
                f"Cannot capture a stateful node (name:{op.name}, type:{op.type}) by "
                "value."
            )
        # Control inputs stay behind, as in TensorFlow: what runs for its effect alone
        # is stateful, such as the check of `list_files` that there is a file.
        inputs = [self.capture(t) for t in op._inputs]
        types = [t._dtype for t in op._outputs]
        copy = self.add_operation(
            op._op_def, inputs, dict(op._attrs), self.unique_name(op._name), types
        )
        copy._device = op._device
        for mine, theirs in zip(copy._outputs, op._outputs, strict=True):
            mine._shape = theirs._shape
        self._copies[op] = copy
        return copy


def make_factory(make_variant: Callable[[], Tensor], variant: Tensor) -> NameAttrList:
    """A function without arguments that makes a dataset.

    Args:
      make_variant: adds the dataset's last nodes to the default graph.
      variant: of the dataset before them.

    Raises:
      ValueError: the dataset uses a variable, a table or another state.
    """
    outer = get_default_graph()
    graph = _ByValueGraph(f"_make_dataset_{uid()}", dataset_ops(variant))
    with graph.as_default():
        try:
            graph.outputs = [graph.capture(make_variant())]
        except ValueError as error:
            if "Cannot capture a stateful node" not in str(error):
                raise
            raise ValueError(
                "Failed to create a one-shot iterator for a dataset. "
                "`Dataset.make_one_shot_iterator()` does not support datasets that "
                "capture stateful objects, such as a `Variable` or `LookupTable`. In "
                "these cases, use `Dataset.make_initializable_iterator()`. (Original "
                f"error: {error})"
            ) from None
    function: Any = graph.to_function()
    outer.add_function(function)
    return NameAttrList(function.name)


def dataset_ops(variant: Tensor) -> set[Operation]:
    """The operations of a dataset and of its inputs."""
    found: set[Operation] = set()
    pending = [variant._op]
    while pending:
        op = pending.pop()
        if op not in found:
            found.add(op)
            pending += [t._op for t in op._inputs if _is_of_dataset(t)]
    return found


def _is_of_dataset(tensor: Tensor) -> bool:
    """Whether it is a dataset, or the id of one that an input service is told of."""
    return tensor._dtype.name == "variant" or tensor._op.type == "RegisterInputDataset"
