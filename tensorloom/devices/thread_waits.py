"""How long torch's threads look for work before they sleep.

The threads of a kernel meet at its end and wait there, and between kernels, by looking
again and again. GNU's OpenMP lets them do that for milliseconds before they sleep. On
cores that other processes want too, the one that is waited for then gets no core: a
kernel of 50 us took 40 ms on two crowded cores, and takes 1 ms with the limit here.
Kernels of a step follow one another within this time, so that on free cores nobody has
to be woken.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from typing import Final

# Looks: about 0.3 ms.
LOOKS: Final = 10_000
_VARIABLE: Final = "GOMP_SPINCOUNT"
# With one of these the user has chosen.
_CHOICES: Final = (_VARIABLE, "OMP_WAIT_POLICY")


@contextlib.contextmanager
def limited() -> Iterator[None]:
    """The limit is that of an OpenMP library which is loaded in the block.

    It reads the environment once, then. Processes started later do not inherit it.
    """
    if any(name in os.environ for name in _CHOICES):
        yield
        return
    os.environ[_VARIABLE] = str(LOOKS)
    try:
        yield
    finally:
        os.environ.pop(_VARIABLE, None)
