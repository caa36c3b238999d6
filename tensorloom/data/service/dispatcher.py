"""A dispatcher: answers workers and consumers, and writes down what it promises.

All its answers are in this one file, above the usual length, because they keep one
promise under one lock: what an answer says is in the journal (`_durable`, `_commit`).
What the answers change is in `state.py`; here is who asks, when, and what is refused.
"""

from __future__ import annotations

import base64
import hashlib
import secrets
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from tensorloom.data.service.config import AT_LEAST_ONCE, EXACTLY_ONCE
from tensorloom.data.service.places import Places
from tensorloom.data.service.state import TO_THE_END, Job, Piece, State
from tensorloom.framework import errors
from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.runtime.input_service import (
    DISTRIBUTED_EPOCH,
    ENDLESS,
    INDIVISIBLE,
    PARALLEL_EPOCHS,
    STATIC,
)

if TYPE_CHECKING:
    from tensorloom.data.service.calls import Answer, Fields
    from tensorloom.data.service.journal import Journal

#: A consumer that asks for work waits so long before it is told to ask again.
_LONGEST_WAIT_S: Final = 1.0
#: Who has not claimed anything for so long loses its piece to one that has no work.
_STALLED_S: Final = 5.0
#: A consumer gets at most so many pieces at a time.
_MOST_PIECES: Final = 16
#: The cardinality of a dataset that nobody has told.
_UNKNOWN: Final = -2


@dataclass(frozen=True)
class Limits:
    """How long a dispatcher waits, in seconds."""

    silence_s: float = 60.0  # of workers and consumers
    unused_s: float | None = 300.0  # of jobs without consumers; None: for ever


class Dispatcher:
    """Answers calls. What it answers is in the journal before it is said.

    Args:
      journal: where it writes; None: it forgets all when it ends.
      limits: how long it waits for others.
      is_allowed: raises where the graph of a dataset is refused.
      holds: raises where another dispatcher has taken over.
      clock: gives seconds.
      places: the addresses of a fixed list of workers, if there is one.
    """

    def __init__(
        self,
        journal: Journal | None = None,
        limits: Limits | None = None,
        is_allowed: Callable[[bytes], None] = lambda graph: None,
        holds: Callable[[], None] = lambda: None,
        clock: Callable[[], float] = time.monotonic,
        places: Sequence[str] = (),
    ) -> None:
        self.state = State()
        self._journal, self._limits = journal, limits or Limits()
        self._is_allowed, self._holds, self._clock = is_allowed, holds, clock
        self._changed = threading.Condition()
        self._is_stopped = False
        self._workers: dict[str, tuple[str, float]] = {}  # id: (address, last heard)
        self._places = Places(places)
        self._consumers: dict[tuple[int, str], float] = {}
        self._claimed: dict[tuple[int, int], float] = {}  # when a piece was worked on
        self._used: dict[int, float] = {}  # when a job last had a consumer
        if journal is not None:
            for event in journal.events:
                self.state.apply(event)
        if not self.state.next_job:
            # A worker may have runs of a dispatcher that has forgotten its jobs.
            self.state.next_job = secrets.randbits(40) + 1
        if journal is not None:
            journal.rewrite(self.state.events())
        now = clock()
        for job in self.state.jobs.values():
            self._used[job.number] = now
            for piece in job.pieces.values():
                self._consumers[job.number, piece.owner] = now

    def answers(self) -> dict[str, Answer]:
        """What answers each method."""
        return {
            "Register": self._register,
            "GetDataset": self._get_dataset,
            "OpenJob": self._open_job,
            "NextPiece": self._next_piece,
            "Claim": self._claim,
            "Beat": self._beat,
            "Leave": self._leave,
            "WorkerBeat": self._worker_beat,
            "WorkerLeave": self._worker_leave,
            "Describe": self._describe,
        }

    def stop(self) -> None:
        """Lets nobody wait any more."""
        with self._changed:
            self._is_stopped = True
            self._changed.notify_all()

    def look_around(self) -> None:
        """Gives up who has been silent for too long, and jobs that nobody reads."""
        with self._durable():
            now = self._clock()
            oldest = now - self._limits.silence_s
            for worker, (_, heard) in list(self._workers.items()):
                if heard < oldest:
                    del self._workers[worker]
            for (number, consumer), heard in list(self._consumers.items()):
                if heard < oldest:
                    self._lose(self.state.jobs.get(number), consumer, [])
            self._forget_unused(now)
            self._forget_returned()
            if self._journal is not None and self._journal.is_long:
                self._journal.rewrite(self.state.events())

    def _forget_unused(self, now: float) -> None:
        for number, _ in self._consumers:
            self._used[number] = now
        if self._limits.unused_s is None:
            return
        for number, used in list(self._used.items()):
            if used < now - self._limits.unused_s:
                self._commit({"kind": "forget", "job": number})
                del self._used[number]

    def _forget_returned(self) -> None:
        jobs = self.state.jobs
        self._claimed = {
            (number, piece): at
            for (number, piece), at in self._claimed.items()
            if number in jobs and piece in jobs[number].pieces
        }

    # --- changes ------------------------------------------------------------------

    @contextmanager
    def _durable(self) -> Iterator[None]:
        """Changes are made within, and are on the disk behind it."""
        self._holds()
        with self._changed:
            yield
            self._changed.notify_all()
        if self._journal is not None:
            self._journal.sync()
            self._holds()  # who has taken over does not know of this

    def _commit(self, event: Fields) -> None:
        if self._journal is not None:
            self._journal.append(event)
        self.state.apply(event)

    # --- datasets -----------------------------------------------------------------

    def _register(self, fields: Fields, graph: bytes) -> tuple[Fields, bytes]:
        self._is_allowed(graph)
        name = fields["dataset"] or hashlib.blake2b(graph, digest_size=16).hexdigest()
        event = {**fields, "kind": "dataset", "dataset": name}
        event["graph"] = base64.b64encode(graph).decode()
        with self._durable():
            if name not in self.state.datasets:
                self._commit(event)
        return {"dataset": name}, b""

    def _get_dataset(self, fields: Fields, _: bytes) -> tuple[Fields, bytes]:
        with self._durable():
            dataset = self._dataset(fields["dataset"])
        found = {name: dataset[name] for name in ("types", "shapes")}
        found["compression"] = dataset.get("compression", "")
        return found, base64.b64decode(dataset["graph"])

    def _dataset(self, name: str) -> Fields:
        dataset = self.state.datasets.get(name)
        if dataset is None:
            raise errors.NotFoundError(
                None,
                None,
                f"The dispatcher knows no dataset {name!r}. It forgets its datasets "
                "when it is started again without fault_tolerant_mode.",
            )
        return dataset

    # --- jobs ---------------------------------------------------------------------

    def _open_job(self, fields: Fields, _: bytes) -> tuple[Fields, bytes]:
        with self._durable():
            job = self.state.job_named(fields["name"], fields["iteration"])
            if job is None:
                job = self._make_job(fields)
            for name in ("dataset", "mode", "delivery"):
                if getattr(job, name) != fields[name]:
                    raise invalid_argument(
                        f"The job {job.name!r} has the {name} "
                        f"{getattr(job, name)!r}, and this consumer wants "
                        f"{fields[name]!r}"
                    )
            if job.is_cached != bool(fields["trainer"]):
                raise invalid_argument(
                    f"All consumers of the job {job.name!r} have a "
                    "cross_trainer_cache, or none has"
                )
            self._hear(job, fields["consumer"])
            return {"job": job.number, **self._who_works()}, b""

    def _make_job(self, fields: Fields) -> Job:
        dataset = self._dataset(fields["dataset"])
        mode, delivery = fields["mode"], fields["delivery"]
        if mode not in (PARALLEL_EPOCHS, DISTRIBUTED_EPOCH, *STATIC):
            raise invalid_argument(f"There is no processing mode {mode!r}")
        if mode in STATIC and not self._places.addresses:
            raise errors.NotFoundError(
                None,
                None,
                f"ShardingPolicy.{mode.upper()} is of a fixed list of workers, and "
                "this dispatcher has none: give it DispatcherConfig.worker_addresses",
            )
        if delivery not in (EXACTLY_ONCE, AT_LEAST_ONCE):
            raise invalid_argument(f"There is no delivery {delivery!r}")
        if fields["trainer"]:
            _check_cached(mode, dataset.get("cardinality", _UNKNOWN))
        elements, splits, size = dataset["elements"], 0, 1
        if mode == DISTRIBUTED_EPOCH:
            if elements == INDIVISIBLE:
                raise errors.UnimplementedError(
                    None,
                    None,
                    "This dataset cannot be divided for distributed_epoch: "
                    f"{dataset['reason']}. Use parallel_epochs.",
                )
            multiple = max(1, dataset["multiple"])
            size = max(1, fields["split_size"] or dataset["size"])
            size = -(-size // multiple) * multiple
            splits = ENDLESS if elements == ENDLESS else -(-elements // size)
        number = self.state.next_job
        event = {
            **{k: fields[k] for k in ("name", "iteration", "dataset")},
            **{"kind": "job", "number": number, "mode": mode, "delivery": delivery},
            **{"splits": splits, "split_size": size, "elements": elements},
            "is_cached": bool(fields["trainer"]),
        }
        self._commit(event)
        return self.state.jobs[number]

    def _job(self, fields: Fields) -> Job:
        """The job of a consumer that is in it."""
        job = self._known_job(fields)
        self._check_member(job, fields["consumer"])
        return job

    def _known_job(self, fields: Fields) -> Job:
        job = self.state.jobs.get(fields["job"])
        if job is None:
            raise errors.NotFoundError(
                None,
                None,
                f"The dispatcher knows no job {fields['job']}. It forgets jobs that "
                "nobody reads for long, and all of them when it is started again "
                "without fault_tolerant_mode.",
            )
        return job

    def _check_member(self, job: Job, consumer: str) -> None:
        if consumer in job.left:
            raise errors.AbortedError(
                None,
                None,
                f"A consumer of the job {job.name!r} was silent for "
                f"{self._limits.silence_s:g} s: what it had not claimed is others'",
            )
        self._hear(job, consumer)

    def _hear(self, job: Job, consumer: str) -> None:
        self._consumers[job.number, consumer] = self._used[job.number] = self._clock()

    def _lose(self, job: Job | None, consumer: str, ranges: list[Any]) -> None:
        if job is not None and consumer not in job.left:
            event = {"kind": "leave", "job": job.number, "consumer": consumer}
            self._commit({**event, "ranges": ranges})
        if job is not None:
            self._consumers.pop((job.number, consumer), None)

    # --- pieces -------------------------------------------------------------------

    def _next_piece(self, fields: Fields, _: bytes) -> tuple[Fields, bytes]:
        with self._durable():
            until = self._clock() + (_LONGEST_WAIT_S if fields["waits"] else 0.0)
            while True:
                job = self._job(fields)  # which may be left meanwhile
                pieces = self._take(job, fields)
                if pieces:
                    for piece in pieces:
                        self._claimed[job.number, piece.number] = self._clock()
                    return {"pieces": [self._told(job, piece) for piece in pieces]}, b""
                if job.is_over:
                    return {"over": True}, b""
                left = until - self._clock()
                if left <= 0 or self._is_stopped:
                    return {"over": False}, b""
                self._changed.wait(left)

    def _take(self, job: Job, fields: Fields) -> list[Piece]:
        consumer, request = fields["consumer"], fields["request"]
        had = [piece for piece in job.of(consumer) if piece.request == request]
        if had:
            return had  # the answer was lost
        if not job.has_more and job.delivery == EXACTLY_ONCE:
            self._take_from_stalled(job, consumer)
        if not job.has_more:
            return []
        count = self._share(job, fields["most"])
        event = {"kind": "take", "job": job.number, "count": count}
        self._commit({**event, "consumer": consumer, "request": request})
        return [job.pieces[job.next_piece - 1 - i] for i in reversed(range(count))]

    def _share(self, job: Job, most: int) -> int:
        """How many pieces a consumer gets at a time: no more than its share of them.

        So all consumers end at about the same time (guided self-scheduling;
        Polychronopoulos and Kuck, 1987).
        """
        if job.splits != ENDLESS:
            consumers = sum(1 for number, _ in self._consumers if number == job.number)
            most = min(most, -(-job.unclaimed // max(1, consumers)))
        return max(1, min(most, _MOST_PIECES))

    def _take_from_stalled(self, job: Job, consumer: str) -> None:
        """Returns a piece whose consumer does not go on: others may wait for them."""
        oldest = self._clock() - _STALLED_S
        for piece in job.pieces.values():
            at = self._claimed.setdefault((job.number, piece.number), self._clock())
            if piece.owner != consumer and at < oldest:
                event = {"kind": "return", "job": job.number, "piece": piece.number}
                self._commit(event)
                return

    @staticmethod
    def _told(job: Job, piece: Piece) -> Fields:
        begin, end = job.bounds(piece.split)
        return {
            **{"piece": piece.number, "split": piece.split, "begin": begin},
            **{"end": end, "first": piece.position, "stop": piece.stop},
        }

    def _claim(self, fields: Fields, _: bytes) -> tuple[Fields, bytes]:
        """A consumer wants to give elements to its program: are they its own still?"""
        with self._durable():
            job = self._known_job(fields)
            consumer, request = fields["consumer"], fields["request"]
            said = job.claims.get(consumer)
            if said is not None and said[0] == request:
                return {"granted": said[1]}, b""  # the first answer was lost
            self._check_member(job, consumer)
            granted: list[bool] = []
            event_claims: list[list[Any]] = []
            for number, begin, end, done in _checked_claims(fields["claims"]):
                piece = job.pieces.get(number)
                is_own = piece is not None and piece.owner == consumer
                granted.append(is_own)
                if piece is None or not is_own:
                    continue
                if job.delivery == EXACTLY_ONCE and piece.position != begin:
                    raise invalid_argument(
                        f"Elements [{begin}, {end}) are claimed of a piece that is at "
                        f"{piece.position}"
                    )
                event_claims.append([number, end, done])
            event = {"kind": "claim", "job": job.number, "consumer": consumer}
            event.update(request=request, claims=event_claims, granted=granted)
            self._commit(event)
            for number, _end, is_done in event_claims:
                if is_done:
                    self._claimed.pop((job.number, number), None)
                else:
                    self._claimed[job.number, number] = self._clock()
            return {"granted": granted}, b""

    # --- who is there -------------------------------------------------------------

    def _beat(self, fields: Fields, _: bytes) -> tuple[Fields, bytes]:
        with self._durable():
            self._job(fields)
            return self._who_works(), b""

    def _leave(self, fields: Fields, _: bytes) -> tuple[Fields, bytes]:
        with self._durable():
            job = self.state.jobs.get(fields["job"])
            ranges = [_range(job, each) for each in fields["ranges"]] if job else []
            self._lose(job, fields["consumer"], ranges)
            return {}, b""

    def _worker_beat(self, fields: Fields, _: bytes) -> tuple[Fields, bytes]:
        with self._durable():
            places, worker = self._places, fields["worker"]
            before = places.take(worker, fields["address"], self._workers)
            if before is not None:
                self._workers.pop(before, None)
            self._workers[fields["worker"]] = fields["address"], self._clock()
            gone = [n for n in fields["jobs"] if n not in self.state.jobs]
            return {"forget": gone}, b""

    def _worker_leave(self, fields: Fields, _: bytes) -> tuple[Fields, bytes]:
        with self._durable():
            self._workers.pop(fields["worker"], None)
            return {}, b""

    def _who_works(self) -> Fields:
        """The workers, and their places in the fixed list."""
        return {
            "workers": self._addresses(),
            "places": self._places.of,
            "count": len(self._places.addresses),
        }

    def _addresses(self) -> dict[str, str]:
        return {worker: address for worker, (address, _) in self._workers.items()}

    def _describe(self, fields: Fields, _: bytes) -> tuple[Fields, bytes]:
        with self._durable():
            jobs = [self._described(job) for job in self.state.jobs.values()]
            return {
                "datasets": len(self.state.datasets),
                "workers": self._addresses(),
                "jobs": jobs,
            }, b""

    def _described(self, job: Job) -> Fields:
        consumers = [name for number, name in self._consumers if number == job.number]
        return {
            **{"name": job.name, "iteration": job.iteration, "mode": job.mode},
            **{"delivery": job.delivery, "splits": job.splits},
            **{"handed_out": job.next_split, "returned": len(job.returned)},
            **{"pieces": len(job.pieces), "consumers": len(consumers)},
            "is_over": job.mode == DISTRIBUTED_EPOCH and job.is_over,
        }


def _check_cached(mode: str, cardinality: int) -> None:
    """Whether trainers can share what workers make of a dataset.

    Raises:
      errors.InvalidArgumentError: it has an end.
      errors.UnimplementedError: its input is divided.
    """
    if cardinality != ENDLESS:
        raise invalid_argument(
            "Cross-trainer caching requires the input dataset to be infinite. Got "
            f"input with cardinality {cardinality}"
        )
    if mode == DISTRIBUTED_EPOCH:
        raise errors.UnimplementedError(
            None,
            None,
            "A cross_trainer_cache is of what each worker makes: use "
            "ShardingPolicy.OFF, or a static policy",
        )


def _checked_claims(claims: list[Any]) -> list[tuple[int, int, int, bool]]:
    """Claims of pieces, each of which occurs once.

    Raises:
      errors.InvalidArgumentError: they are malformed.
    """
    kinds = [int, int, int, bool]
    for claim in claims:
        if not isinstance(claim, list) or [type(part) for part in claim] != kinds:
            raise invalid_argument(f"{claim!r:.100} is no claim of elements of a piece")
        if claim[2] < claim[1]:
            raise invalid_argument(
                f"Elements [{claim[1]}, {claim[2]}) are claimed of a piece that is at "
                f"{claim[1]}"
            )
    if len({claim[0] for claim in claims}) < len(claims):
        raise invalid_argument("One piece is claimed twice in one call")
    return [tuple(claim) for claim in claims]


def _range(job: Job, given: Any) -> tuple[int, int, int]:
    """Elements of a split that were claimed and not given.

    Raises:
      errors.InvalidArgumentError: they can be no such elements.
    """
    if (
        not isinstance(given, list)
        or len(given) != 3
        or not all(type(number) is int for number in given)
    ):
        raise invalid_argument(f"{given!r:.100} is no range of elements of a split")
    split, begin, end = given
    if (
        not 0 <= split < job.next_split
        or begin < 0
        or not (begin < end or end == TO_THE_END)
    ):
        raise invalid_argument(f"The job has given out no elements {given}")
    return split, begin, end
