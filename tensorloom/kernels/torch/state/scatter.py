"""Scatter updates on torch nodes: the kernels that take values of either kind."""

from __future__ import annotations

from tensorloom.framework.registry.op_kernel import kernel
from tensorloom.kernels.host.state import scatter as host_scatter_ops

kernel(host_scatter_ops.ROW_OPS, any_inputs=("indices", "updates"))(
    host_scatter_ops.scatter_rows
)
kernel(host_scatter_ops.ND_OPS, any_inputs=("indices", "updates"))(
    host_scatter_ops.scatter_nd
)
