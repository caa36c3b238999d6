"""The generator that a random op keeps from step to step."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tensorloom.framework.runtime.resource import Resource
from tensorloom.kernels.host.random.philox import Generator

if TYPE_CHECKING:
    from tensorloom.framework.registry.op_kernel import OpKernelConstruction

# Not a name that a user's container can have, so that resetting containers leaves
# the sequences of a running session alone.
_CONTAINER = "<random>"


class _RandomState(Resource):
    """A generator as a resource of the session."""

    def __init__(self, name: str, seed: int, seed2: int) -> None:
        super().__init__(_CONTAINER, name)
        self.generator = Generator(seed, seed2)


def node_generator(c: OpKernelConstruction) -> Generator:
    """The node's generator, by its attrs seed and seed2.

    A node that stands in several compiled pieces (other fetches, other feeds) goes on
    with one sequence, as TensorFlow's stateful kernels do within a session.
    """
    seed, seed2 = c["seed"], c["seed2"]
    if c.resources is None or not (seed or seed2):
        return Generator(seed, seed2)
    name = c.resources.own_name(f"{c.node_name}/{seed}/{seed2}")
    state = c.resources.lookup_or_create(
        _CONTAINER, name, _RandomState, lambda: _RandomState(name, seed, seed2)
    )
    return state.generator
