"""Calls of other services from a graph; a call says what to do instead."""

from __future__ import annotations

from tensorloom.framework.refusals import export_refused

_PARAMETERS = (
    "address, method, request, protocol='', fail_fast=True, timeout_in_ms=0, name=None"
)

export_refused(
    "contrib.rpc",
    {"rpc": _PARAMETERS, "try_rpc": _PARAMETERS},
    "tensorloom's graphs do not call other services. Call them in a function of "
    "tf.py_func.",
)
