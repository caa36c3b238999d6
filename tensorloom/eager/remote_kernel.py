"""An op on a device of another task: a step of the session of the cluster."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tensorloom.eager.cluster import Cluster, StepNodes, key_value
from tensorloom.eager.op_kernel import told
from tensorloom.eager.remote_handle import RemoteHandle, RemoteResource, RemoteTensor
from tensorloom.eager.variable_handles import ANONYMOUS
from tensorloom.framework import errors
from tensorloom.framework.types import dtypes

if TYPE_CHECKING:
    from tensorloom.eager.remote_device import RemoteDevice
    from tensorloom.eager.tensor_handle import TensorHandle
    from tensorloom.framework.graph.graph_ir import Edge, FunctionIR, Node


class RemoteKernel:
    """Runs an op whose attrs and input dtypes are known. Many threads may.

    There is a step for each combination of the places that inputs come from.
    """

    def __init__(
        self,
        node: Node,
        device: RemoteDevice,
        cluster: Cluster,
        functions: Mapping[str, FunctionIR],
    ) -> None:
        """Makes it.

        Raises:
          errors.UnimplementedError: a result is a variant, or a resource that cannot
            be found by a name.
        """
        self.node = node
        self.device = device
        self._cluster = cluster
        self._functions = functions
        self._makes_resources = dtypes.resource in node.output_types
        self._attrs = node.attrs
        if self._makes_resources:
            self._attrs = _named(node)
        elif dtypes.variant in node.output_types:
            raise errors.UnimplementedError(
                None, None, f"{node.op} on {device.name}: variants do not leave a step"
            )
        self._name = ""  # of the node, where the op makes resources

    def run(self, inputs: Sequence[TensorHandle]) -> list[TensorHandle]:
        """Runs the op.

        Raises:
          errors.InvalidArgumentError: an input that is here cannot be sent.
          errors.OpError: what the kernel raised, or the task cannot be reached.
        """
        cluster = self._cluster
        cluster.drop_dead_tensors()
        try:
            step = cluster.step(
                (self, *map(_place, inputs)),
                lambda nodes: self._build(nodes, inputs),
                self._functions,
            )
            results = step.run([_fed(h) for h in inputs if not _is_resource(h)])
        except errors.OpError as error:
            raise told(error) from error
        if self._makes_resources:
            return [
                RemoteHandle(RemoteResource((self._name, index)), dtype, self.device)
                for index, dtype in enumerate(self.node.output_types)
            ]
        return [
            RemoteHandle(
                RemoteTensor(cluster, self.device, _bytes(key), tuple(sizes.tolist())),
                dtype,
                self.device,
            )
            for dtype, key, sizes in zip(
                self.node.output_types, results[::2], results[1::2], strict=True
            )
        ]

    def _build(self, nodes: StepNodes, inputs: Sequence[TensorHandle]) -> None:
        place = self.device.name
        edges = [self._input(nodes, handle) for handle in inputs]
        types = self.node.output_types
        name, _ = nodes.add(self.node.op, place, edges, self._attrs, types)
        if self._makes_resources:
            self._name = name
            nodes.targets.append(name)
            return
        for index, dtype in enumerate(types):
            nodes.store((name, index), dtype, place)
        if not types:
            nodes.targets.append(name)

    def _input(self, nodes: StepNodes, handle: TensorHandle) -> Edge:
        value = handle.value
        if isinstance(value, RemoteResource):
            return value.edge
        if isinstance(value, RemoteTensor):
            return nodes.stored(handle.dtype, value.device.name)
        return nodes.feed(handle.dtype, self.device.name)


def _named(node: Node) -> dict[str, Any]:
    """The attrs of an op that finds resources by their name, with a name."""
    shared_name = node.attrs.get("shared_name")
    if (
        shared_name is None
        or shared_name == ANONYMOUS
        or node.inputs
        or any(dtype is not dtypes.resource for dtype in node.output_types)
    ):
        raise errors.UnimplementedError(
            None,
            None,
            f"{node.op} on another task: its resource has no name to be found by",
        )
    return {**node.attrs, "shared_name": shared_name or node.name.encode()}


def _place(handle: TensorHandle) -> Any:
    """What steps differ by: where an input comes from."""
    value = handle.value
    if isinstance(value, RemoteTensor):
        return value.device.name
    return value if isinstance(value, RemoteResource) else None


def _is_resource(handle: TensorHandle) -> bool:
    return isinstance(handle.value, RemoteResource)


def _fed(handle: TensorHandle) -> Any:
    if isinstance(handle.value, RemoteTensor):
        return key_value(handle.value.key)
    array = handle.array()
    # A scalar is as kernels give it: of NumPy, but bytes have no shape.
    return array if array.ndim or array.dtype == object else array[()]


def _bytes(key: Any) -> bytes:
    """A scalar string that a step gave."""
    return key if isinstance(key, bytes) else key.item()
