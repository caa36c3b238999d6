"""Send and Recv: the edges between the parts of a partitioned graph.

The partitioner makes these nodes (`framework/partition/graph_partition.py`), the worker
runs them against the step's rendezvous; no builder makes one.
"""

from __future__ import annotations

from typing import Final

from tensorloom.framework.registry.op_registry import register_op
from tensorloom.framework.registry.shape_inference import no_outputs, unknown_shapes

_EDGE: Final = [
    "tensor_name: string",
    "send_device: string",
    "send_device_incarnation: int",
    "recv_device: string",
    "client_terminated: bool = false",
]

for _op in ("_Send", "_HostSend", "Send"):
    register_op(
        _op,
        inputs=["tensor: T"],
        attrs=["T: type", *_EDGE],
        shape_fn=no_outputs,
        stateful=True,
        doc="Leaves the tensor in the rendezvous for the device that receives it.",
    )

for _op in ("_Recv", "_HostRecv", "Recv"):
    register_op(
        _op,
        outputs=["tensor: tensor_type"],
        attrs=["tensor_type: type", *_EDGE],
        shape_fn=unknown_shapes,
        stateful=True,
        doc="Takes the tensor that another device sends from the rendezvous.",
    )
