"""Whether samples of a distribution are differentiable by its parameters."""

from __future__ import annotations

from tensorloom.framework.export import export, export_value


@export("distributions.ReparameterizationType")
class ReparameterizationType:
    """A kind of sampling; each instance is equal to itself alone."""

    def __init__(self, rep_type: str) -> None:
        self._rep_type = rep_type

    def __repr__(self) -> str:
        return f"<Reparameteriation Type: {self._rep_type}>"

    def __eq__(self, other: object) -> bool:
        return self is other

    __hash__ = object.__hash__


FULLY_REPARAMETERIZED = ReparameterizationType("FULLY_REPARAMETERIZED")
NOT_REPARAMETERIZED = ReparameterizationType("NOT_REPARAMETERIZED")
export_value(FULLY_REPARAMETERIZED, "distributions.FULLY_REPARAMETERIZED")
export_value(NOT_REPARAMETERIZED, "distributions.NOT_REPARAMETERIZED")
