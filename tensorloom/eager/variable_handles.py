"""VarHandleOp on its own: it looks for its variable each time that it runs."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from tensorloom.eager.tensor_handle import TensorHandle
from tensorloom.framework.runtime.resource import DEFAULT_CONTAINER, Variable
from tensorloom.framework.types import dtypes

if TYPE_CHECKING:
    from tensorloom.devices.device import Device
    from tensorloom.framework.graph.graph_ir import Node
    from tensorloom.framework.runtime.resource import ResourceManager

# The shared_name that asks for a variable that no other handle finds.
ANONYMOUS: Final = b"cd2c89b7-88b7-44c8-ad83-06c2a9158347"
_numbers = itertools.count()


class VariableHandles:
    """Gives a handle of the variable of a name, or of a new one without a name.

    A variable without a name is in no container: it goes with its last handle.
    """

    def __init__(self, node: Node, device: Device, resources: ResourceManager) -> None:
        self.node = node
        self.device = device
        self._resources = resources
        attrs = node.attrs
        self._dtype, self._shape = attrs["dtype"], attrs["shape"]
        self._is_anonymous = attrs["shared_name"] == ANONYMOUS
        self._name = attrs["shared_name"].decode() or node.name
        self._container = attrs["container"].decode() or DEFAULT_CONTAINER

    def run(self, inputs: Sequence[TensorHandle]) -> list[TensorHandle]:
        """The handle."""
        if self._is_anonymous:
            variable = self._variable(f"_AnonymousVar{next(_numbers)}")
        else:
            variable = self._resources.lookup_or_create(
                self._container,
                self._name,
                Variable,
                lambda: self._variable(self._name),
            )
        return [TensorHandle(variable, dtypes.resource, self.device)]

    def _variable(self, name: str) -> Variable:
        return Variable(
            self._container, name, self._dtype, self._shape, self.device.name
        )
