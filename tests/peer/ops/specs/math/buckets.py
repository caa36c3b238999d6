"""Specs of Bucketize."""

from __future__ import annotations

from tests.peer.ops.spec import call, spec

spec("Bucketize", lambda d: call(d.array(), boundaries=[-2.0, 0.5, 3.0]))
