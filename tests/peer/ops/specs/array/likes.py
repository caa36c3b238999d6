"""Specs of OnesLike, ZerosLike."""

from __future__ import annotations

from tests.peer.ops.spec import spec
from tests.peer.ops.specs.shared.elementwise import unary

spec("ZerosLike OnesLike", unary())
