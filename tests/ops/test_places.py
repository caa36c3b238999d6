"""An op's definition, gradient, kernels and spec are in folders of one name."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import tensorloom.kernels
from tensorloom.framework.registry import (
    gradient_registry,
    late_modules,
    op_kernel,
    op_registry,
)
from tensorloom.framework.registry.package_modules import import_all
from tests.peer.ops import spec

# These work on values of any family; lists and maps have kernels of their own for them.
_OF_ANY_VALUES = frozenset({"AddN", "ZerosLike"})
# The gradients of functional control flow and calls are a part of the client.
_CLIENT = "tensorloom.client."


@pytest.mark.slow
def test_an_op_is_in_folders_of_one_name() -> None:
    late_modules.load_all("op")
    late_modules.load_all("gradient")
    import_all(tensorloom.kernels)
    specs = spec.load()
    wrong = []
    for op, module in op_registry.places().items():
        if not module.startswith("tensorloom.ops."):
            continue  # of a test
        family = module.split(".")[2]
        places = {place for place in _places(op) if not place.startswith(_CLIENT)}
        wrong += [
            f"{op} is of {family}, but see {place}"
            for place in sorted(places)
            if family not in place.split(".")[1:-1]
        ]
        if op in specs and specs[op].family != family:
            wrong.append(f"{op} is of {family}, its spec is of {specs[op].family}")
    assert not wrong, "\n".join(wrong)


def _places(op: str) -> Iterator[str]:
    """The modules that register an op's gradient and its kernels."""
    gradient = gradient_registry.places().get(op)
    if gradient is not None:
        yield gradient
    for kernel in op_kernel.registered_kernels(op):
        factory = getattr(kernel.factory, "func", kernel.factory)  # of a partial
        place = factory.__module__
        if not (op in _OF_ANY_VALUES and ".lists." in place):
            yield place
