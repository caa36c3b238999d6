"""What a kernel says of a collective whose members may be on several tasks.

Kernels hand a `CollectiveRequest` to their step's `StepCollectives`, which knows the
other tasks.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Protocol

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tensorloom.framework.runtime.cancellation import CancellationManager

#: TensorFlow's kinds of collectives, with their numbers.
REDUCTION: Final = 0
BROADCAST: Final = 1
GATHERING: Final = 2

#: On a collective's node: the task that leads its group, if the server names none.
LEADER_ATTR: Final = "_collective_leader"
#: TensorFlow 1.15's ops that may have members on other tasks, and our own.
COLLECTIVE_OPS: Final = frozenset(
    {
        "CollectiveReduce",
        "CollectiveGather",
        "CollectiveBcastSend",
        "CollectiveBcastRecv",
        "_CollectiveReduceMany",
    }
)
#: How values become one, by `merge_op`.
MERGES: Final[Mapping[bytes, Callable[..., Any]]] = {
    b"Add": np.add,
    b"Mul": np.multiply,
    b"Min": np.minimum,
    b"Max": np.maximum,
}


@dataclass(frozen=True, slots=True)
class CollectiveRequest:
    """What one member brings to a collective."""

    kind: int  # REDUCTION, BROADCAST or GATHERING
    group_size: int
    group_key: int
    instance_key: int
    device: str  # full name of the member's
    node_name: str
    dtype: np.dtype[Any]
    shape: tuple[int, ...]  # of what each member brings, or gets by a broadcast
    value: NDArray[Any] | None  # None: it receives a broadcast
    merge: bytes = b"Add"
    divides: bool = False  # by the number of members, at the end
    subdivisions: tuple[int, ...] = ()  # `subdiv_offsets`
    leader: str = ""  # the task that leads where the server names none
    timeout_s: float = 0.0  # 0: as long as the step runs


class StepCollectives(Protocol):
    """The collectives of one step on one task."""

    def run(
        self, request: CollectiveRequest, cancellation: CancellationManager
    ) -> tuple[bool, Any]:
        """Takes part in a collective with members on other tasks; waits for its end.

        Returns:
          Whether it has such members, and its result. If it has none, the members meet
          within the task, and nothing was done.

        Raises:
          errors.InternalError, errors.InvalidArgumentError: the members disagree.
          errors.UnavailableError, errors.AbortedError: a member's task is gone.
          errors.OpError: a member's step has failed; the step was cancelled.
        """
        ...

    def is_among_own(
        self, request: CollectiveRequest, cancellation: CancellationManager
    ) -> bool:
        """Whether a group has members on several tasks, all of which run this system.

        Waits until they have all come, as `run` does; the value does not matter.

        Raises:
          errors.InternalError: the members disagree about the group.
          errors.OpError: as `run`.
        """
        ...


def instance_keys_of(attrs: Mapping[str, Any]) -> Sequence[int]:
    """The keys of the collectives that a node takes part in."""
    several: Sequence[int] | None = attrs.get("instance_keys")
    return [attrs["instance_key"]] if several is None else several


def divided(values: NDArray[Any], count: int) -> NDArray[Any]:
    """Values by the number of members, as `final_op` Div has it."""
    number = np.asarray(count, values.dtype)
    if values.dtype.kind in "iu":
        return np.asarray(values // number)
    return np.asarray(values / number).astype(values.dtype, copy=False)
