"""Watched identities over torch tensors, and over variables."""

from __future__ import annotations

from tensorloom.framework.registry.op_kernel import (
    Compute,
    OpKernelConstruction,
    kernel,
)


@kernel(
    [
        "Copy",
        "CopyHost",
        "DebugIdentityV2",
        "DebugGradientIdentity",
    ],
    aliases=True,
)
def _identity(c: OpKernelConstruction) -> Compute:
    return lambda value: value
