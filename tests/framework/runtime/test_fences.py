"""Which fences are older than others."""

from __future__ import annotations

import pytest

from tensorloom.framework import errors
from tensorloom.framework.runtime.fences import Fence, Fences

NEWEST = Fence("lock", 5, "B", "process 2")


@pytest.mark.parametrize(
    ("fence", "is_refused"),
    [
        (Fence("lock", 4, "A", "process 1"), True),
        (Fence("lock", 4, "B", "process 2"), False),  # its own, from before
        (Fence("lock", 5, "B", "process 2"), False),
        (Fence("lock", 6, "C", "process 3"), False),
        (Fence("another", 1, "A", "process 1"), False),
    ],
    ids=str,
)
def test_older_ones_of_others_are_refused(fence: Fence, is_refused: bool) -> None:
    fences = Fences()
    fences.admit(NEWEST)
    if is_refused:
        with pytest.raises(errors.AbortedError, match=r"\(token 4\).*\(token 5\)"):
            fences.admit(fence)
    else:
        fences.admit(fence)
        fences.check(fence)


def test_its_own_older_one_does_not_let_others_in() -> None:
    fences = Fences()
    fences.admit(NEWEST)
    fences.admit(Fence("lock", 3, "B", "process 2"))
    with pytest.raises(errors.AbortedError):
        fences.check(Fence("lock", 4, "A", "process 1"))
