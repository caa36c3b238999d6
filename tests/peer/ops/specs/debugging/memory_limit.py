"""Specs of BytesLimit."""

from __future__ import annotations

from tests.peer.ops.specs.shared.contrib_ops import alone_spec

alone_spec("BytesLimit", lambda d: (), types=())
