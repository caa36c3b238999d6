"""Optimizer updates on torch nodes: the kernels that take values of either kind."""

from __future__ import annotations

from functools import partial

from tensorloom.framework.registry.op_kernel import kernel
from tensorloom.framework.types import dtypes
from tensorloom.kernels.host.training import training_ops as host_training_ops
from tensorloom.kernels.host.training.training_ops import GRADIENTS, scalar_inputs
from tensorloom.kernels.host.training.update_ops import (
    DENSE_OPS,
    FUSED_OPS,
    FUSED_RULES,
    FUSED_SPARSE_OPS,
    SPARSE_OPS,
)
from tensorloom.kernels.host.training.update_rules import FORMULAS

_ALL_SCALARS = scalar_inputs(tuple(FORMULAS))
kernel(DENSE_OPS, host_inputs=_ALL_SCALARS, any_inputs=GRADIENTS)(
    partial(host_training_ops.apply_dense, on_tensors=True)
)
kernel(SPARSE_OPS, host_inputs=_ALL_SCALARS, any_inputs=GRADIENTS)(
    host_training_ops.apply_sparse
)
kernel(FUSED_SPARSE_OPS, host_inputs=_ALL_SCALARS, any_inputs=GRADIENTS)(
    host_training_ops.apply_fused_sparse
)
kernel(
    FUSED_OPS,
    host_inputs=scalar_inputs(FUSED_RULES),
    any_inputs=GRADIENTS,
)(partial(host_training_ops.apply_fused, on_tensors=True))

# The powers of Adam are variables, which a step changes. On a GPU they stay there:
# reading them would wait for all kernels before.
for _ops, _factory in (
    (("ApplyAdam", "ResourceApplyAdam"), host_training_ops.apply_dense),
    (("_FusedApplyAdam", "_FusedResourceApplyAdam"), host_training_ops.apply_fused),
):
    kernel(
        _ops,
        devices=("GPU",),
        types={"T": (dtypes.float32,)},
        host_inputs=("lr", "beta1", "beta2", "epsilon"),
        any_inputs=GRADIENTS,
    )(partial(_factory, on_tensors=True))
