"""The generator that a random op keeps from step to step."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Final

from tensorloom.framework.runtime.resource import Resource
from tensorloom.kernels.host.random.philox import Generator, Stream

if TYPE_CHECKING:
    from tensorloom.framework.registry.op_kernel import OpKernelConstruction

# Not a name that a user's container can have, so that resetting containers leaves
# the sequences of a running session alone.
_CONTAINER = "<random>"


class _Sequences(threading.local):
    """Where the function that runs in this thread keeps its generators, by node."""

    of_pipeline: dict[str, Generator] | None = None


sequences: Final = _Sequences()


class _RandomState(Resource):
    """A generator as a resource of the session."""

    def __init__(self, name: str, seed: int, seed2: int) -> None:
        super().__init__(_CONTAINER, name)
        self.generator = Generator(seed, seed2)


class NodeGenerator(Generator):
    """The generator of a seeded node: the session's, or that of a running pipeline.

    Each run of a pipeline begins the sequences of its functions anew, as TensorFlow
    makes their kernels anew.

    Args:
      shared: the session's.
      name: of the node, with its seeds.
    """

    def __init__(self, shared: Generator, name: str, seed: int, seed2: int) -> None:
        super().__init__(seed, seed2)
        self._shared, self._name = shared, name
        self._seeds = seed, seed2

    def reserve(self, counters: int) -> Stream:
        """As the base class."""
        kept = sequences.of_pipeline
        if kept is None:
            return self._shared.reserve(counters)
        generator = kept.get(self._name)
        if generator is None:
            # Threads of one pipeline may come here together: the first one's is kept.
            generator = kept.setdefault(self._name, Generator(*self._seeds))
        return generator.reserve(counters)


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
    return NodeGenerator(state.generator, name, seed, seed2)
