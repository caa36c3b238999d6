"""Ops one at a time, without a graph, by the kernels that graphs run on.

A `Context` has devices, functions and resources. `Context.execute` runs one op on
`TensorHandle`s and gives others. Nothing here is a user's mode of its own: the C API
(`TFE_*`) stands on it.

    context.py        what ops share, and `execute`
    operation.py      one op being put together: attrs from its inputs, checks
    placement.py      the device of an op
    op_kernel.py      the kernel of an op, run
    function_kernel.py    ops that call functions, compiled as a function around them
    tensor_handle.py  values
    cluster.py        the other tasks of a cluster; remote_*.py are their devices,
                      kernels and values
"""

from __future__ import annotations

from tensorloom.eager.context import Context
from tensorloom.eager.operation import EagerOperation
from tensorloom.eager.placement import PlacementPolicy
from tensorloom.eager.tensor_handle import TensorHandle

__all__ = ["Context", "EagerOperation", "PlacementPolicy", "TensorHandle"]
