"""Ops: one file a family with each op's signature, shape function and gradient.

The builders of arrays and mathematics come with the package: they refer to each other,
and nearly every other op is built on them.
"""

from tensorloom.ops.array import array_ops
