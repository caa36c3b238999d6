"""What a dispatcher knows and must not forget: datasets, jobs, and who makes what.

The input of a job in `distributed_epoch` is divided into splits, by numbers. A piece is
what one consumer has of a split: elements from `position` on, to the end of the split
or to `stop`. Its consumer claims elements before it gives them to its program, and what
it has not claimed when it is gone is a piece of somebody else's.

A state changes by events alone, so that the events of a journal make it again.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import Any, Final

from tensorloom.framework.runtime.input_service import ENDLESS

Event = dict[str, Any]
#: A `stop`: the end of the split, wherever that is.
TO_THE_END: Final = -1


@dataclass
class Piece:
    """A part of a split that a consumer has."""

    number: int
    split: int
    position: int  # the first element that is not claimed
    stop: int
    owner: str
    request: str  # of the call that asked for it


@dataclass
class Job:
    """One iteration over a dataset."""

    number: int
    name: str
    iteration: int
    dataset: str
    mode: str
    delivery: str
    splits: int  # ENDLESS; 0 in `parallel_epochs`
    split_size: int
    elements: int
    #: Whether trainers share what a worker makes, and each gets all of it.
    is_cached: bool = False
    next_split: int = 0
    next_piece: int = 0
    #: (split, position, stop) of what was given back.
    returned: list[tuple[int, int, int]] = field(default_factory=list)
    pieces: dict[int, Piece] = field(default_factory=dict)
    #: What a consumer's newest claims were answered, by request: it may ask twice.
    claims: dict[str, tuple[str, list[bool]]] = field(default_factory=dict)
    #: Consumers that have left, or were given up.
    left: list[str] = field(default_factory=list)

    @property
    def has_more(self) -> bool:
        """Whether there is something that nobody has."""
        if self.returned or self.splits == ENDLESS:
            return True
        return self.next_split < self.splits

    @property
    def unclaimed(self) -> int:
        """How many pieces nobody has; of a job with an end."""
        return len(self.returned) + self.splits - self.next_split

    @property
    def is_over(self) -> bool:
        """Whether all elements were claimed."""
        return not self.has_more and not self.pieces

    def bounds(self, split: int) -> tuple[int, int]:
        """The elements of the input that a split has."""
        begin = split * self.split_size
        end = begin + self.split_size
        return begin, end if self.elements == ENDLESS else min(end, self.elements)

    def of(self, consumer: str) -> list[Piece]:
        """The pieces of a consumer."""
        return [piece for piece in self.pieces.values() if piece.owner == consumer]


class State:
    """All datasets and jobs."""

    def __init__(self) -> None:
        self.datasets: dict[str, Event] = {}
        self.jobs: dict[int, Job] = {}
        self.next_job = 0
        self._by_name: dict[tuple[str, int], Job] = {}

    def job_named(self, name: str, iteration: int) -> Job | None:
        """The iteration of a job."""
        return self._by_name.get((name, iteration))

    def apply(self, event: Event) -> None:
        """Changes what an event says."""
        getattr(self, f"_apply_{event['kind']}")(event)

    def events(self) -> Iterator[Event]:
        """The fewest events that make an equal state of an empty one."""
        yield from self.datasets.values()
        for job in self.jobs.values():
            yield {"kind": "job", **asdict(job)}
        yield {"kind": "numbers", "next_job": self.next_job}

    def _apply_dataset(self, event: Event) -> None:
        self.datasets[event["dataset"]] = event

    def _apply_numbers(self, event: Event) -> None:
        self.next_job = event["next_job"]

    def _apply_job(self, event: Event) -> None:
        known = {k: v for k, v in event.items() if k != "kind"}
        pieces = known.pop("pieces", {})
        job = Job(**known)
        job.returned = [(s, p, e) for s, p, e in job.returned]
        job.claims = {name: (r, granted) for name, (r, granted) in job.claims.items()}
        job.pieces = {int(number): Piece(**piece) for number, piece in pieces.items()}
        self.jobs[job.number] = self._by_name[job.name, job.iteration] = job
        self.next_job = max(self.next_job, job.number + 1)

    def _apply_forget(self, event: Event) -> None:
        job = self.jobs.pop(event["job"])
        del self._by_name[job.name, job.iteration]

    def _apply_take(self, event: Event) -> None:
        """A consumer takes what was given back, or the next splits."""
        job = self.jobs[event["job"]]
        for _ in range(event["count"]):
            if job.returned:
                split, position, stop = job.returned.pop(0)
            else:
                split, position, stop = job.next_split, 0, TO_THE_END
                job.next_split += 1
            number = job.next_piece
            job.next_piece += 1
            job.pieces[number] = Piece(
                number, split, position, stop, event["consumer"], event["request"]
            )

    def _apply_claim(self, event: Event) -> None:
        job = self.jobs[event["job"]]
        for number, end, done in event["claims"]:
            job.pieces[number].position = end
            if done:
                del job.pieces[number]
        job.claims[event["consumer"]] = event["request"], event["granted"]

    def _apply_return(self, event: Event) -> None:
        """A piece is taken from its consumer."""
        job = self.jobs[event["job"]]
        self._give_back(job, job.pieces[event["piece"]])

    def _apply_leave(self, event: Event) -> None:
        """A consumer is gone; it says, or not, what it claimed and did not give."""
        job = self.jobs[event["job"]]
        for piece in job.of(event["consumer"]):
            self._give_back(job, piece)
        job.returned += [(s, p, e) for s, p, e in event["ranges"]]
        job.left.append(event["consumer"])

    @staticmethod
    def _give_back(job: Job, piece: Piece) -> None:
        del job.pieces[piece.number]
        job.returned.append((piece.split, piece.position, piece.stop))
