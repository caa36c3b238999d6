"""Ops: one file a family with each op's signature, shape function and gradient."""
