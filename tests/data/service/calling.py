"""Calls of a dispatcher without a network."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tensorloom.data.service.dispatcher import Dispatcher

JOB = {
    "name": "job",
    "iteration": 0,
    "dataset": "numbers",
    "mode": "distributed_epoch",
    "delivery": "exactly_once",
    "split_size": 0,
    "trainer": "",
}


def register(dispatcher: Dispatcher, name: str, elements: int, size: int) -> None:
    """Makes a dataset known."""
    fields = {
        "dataset": name,
        "types": [9],
        "shapes": [[]],
        "elements": elements,
        "size": size,
        "multiple": 1,
        "reason": "its elements are not known",
        "cardinality": elements,
        "compression": "",
    }
    dispatcher.answers()["Register"](fields, b"a graph")


class Clock:
    """A clock that goes when it is told to."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


class Caller:
    """A consumer that does what a test says."""

    def __init__(self, dispatcher: Dispatcher, name: str, /, **job: Any) -> None:
        self._answers = dispatcher.answers()
        self._name = name
        self.number = self.ask("OpenJob", **{**JOB, **job})["job"]

    def ask(self, method: str, **fields: Any) -> Any:
        """Calls a method."""
        job = {"job": self.number} if method != "OpenJob" else {}
        return self._answers[method]({**job, "consumer": self._name, **fields}, b"")[0]

    def take(self, request: str) -> Any:
        """Asks for a piece."""
        found = self.ask("NextPiece", request=request, most=1, waits=True)
        return found["pieces"][0] if "pieces" in found else found

    def claim(self, piece: Any, begin: int, end: int, done: bool = False) -> bool:
        """Claims elements."""
        return self.claim_all([[piece["piece"], begin, end, done]])[0]

    def claim_all(self, claims: list[list[Any]], request: str = "") -> list[bool]:
        """Claims elements of several pieces."""
        request = request or str(claims)
        granted: list[bool] = self.ask("Claim", request=request, claims=claims)[
            "granted"
        ]
        return granted
