"""A consumer: takes part in a job, and gives its elements to the program.

    dispatcher -- pieces --> fetchers, one a worker -- chunks --> claims --> program

A fetcher asks for pieces and fetches their elements from its worker, many with a call.
What came with an answer is claimed at the dispatcher before the program gets the first
(`exactly_once`): from then on nobody else does. A worker that is gone, or hangs, costs
nothing: another fetcher goes on with its pieces behind what was fetched.

All of them share one lock, and one account of what is on its way (`ahead.py`). The file
is above the usual length because the threads that do are read together.
"""

from __future__ import annotations

import hashlib
import itertools
import threading
import time
import uuid
from collections import deque
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from tensorloom.data.service import elements
from tensorloom.data.service.ahead import Ahead, Chunk, Piece
from tensorloom.data.service.calls import GONE, call
from tensorloom.data.service.config import AT_LEAST_ONCE
from tensorloom.data.service.pipelines import ALL, Share
from tensorloom.data.service.state import TO_THE_END
from tensorloom.framework import errors
from tensorloom.framework.runtime import threads
from tensorloom.framework.runtime.input_service import DISTRIBUTED_EPOCH, STATIC
from tensorloom.transport.grpc.channel import GrpcChannel
from tensorloom.transport.peers.liveness import task_timeout_s

if TYPE_CHECKING:
    from tensorloom.data.service.calls import Fields
    from tensorloom.framework.runtime.cancellation import CancellationManager
    from tensorloom.framework.runtime.input_service import Reading

#: Elements that are fetched ahead, where nobody says how many.
_OUTSTANDING: Final = 1024
#: How often it says that it is there, and hears of workers.
_BEAT_S: Final = 1.0
#: How long the dispatcher may be away.
_DISPATCHER_S: Final = 600.0
_PAUSE_S: Final = 0.1
_LAST_WORDS_S: Final = 2.0
#: How many pieces are asked for at a time, if they take less than so long.
_MOST_PIECES: Final = 16
_SHORT_S: Final = 0.05
#: The piece that all consumers share in `parallel_epochs`.
_WHOLE: Final = -1


class Consumer:
    """Implements `input_service.Reader`.

    Args:
      reading: the dataset, the job, and how elements are to come.
    """

    def __init__(self, reading: Reading) -> None:
        self._reading = reading
        self._shares = reading.mode != DISTRIBUTED_EPOCH
        self._is_static = reading.mode in STATIC
        self._claims = not self._shares and reading.delivery != AT_LEAST_ONCE
        self._ahead = Ahead(self._claims, reading.max_outstanding or _OUTSTANDING)
        self._dispatcher = GrpcChannel(reading.address)
        # Who asks for work may be let wait: a channel that closes ends such calls.
        self._work = GrpcChannel(reading.address)
        self._name = self._member = uuid.uuid4().hex
        self._job = -1
        self._call_s = task_timeout_s() or None
        self._changed = threading.Condition()
        self._stop = threading.Event()
        self._is_closed = False
        self._is_over = False  # nothing more will be fetched
        self._error: errors.OpError | None = None
        # Of the dispatcher, and of fetchers whose worker is gone.
        self._queued: deque[Piece] = deque()
        self._most_pieces, self._asked = 1, 0.0
        self._answers = itertools.count()
        self._workers: dict[str, str] = {}
        self._fetching: set[str] = set()
        self._finished: set[str] = set()  # workers whose whole dataset was read
        # Of a static policy: workers' places, how many there are, and what was read.
        self._places: dict[str, int] = {}
        self._count = 0
        self._read_places: set[int] = set()
        self._channels: set[GrpcChannel] = set()
        self._threads: list[threading.Thread] = []
        self._start(self._manage, "tensorloom-input-consumer")

    # --- the program's side -------------------------------------------------------

    def next(self, cancellation: CancellationManager) -> tuple[Any, ...] | None:
        """The next element; None at the end. See `input_service.Reader`."""
        token = cancellation.register(self._wake)
        try:
            with self._changed:
                while True:
                    cancellation.check()
                    item, has_changed = self._ahead.pop()
                    if has_changed:
                        self._changed.notify_all()
                    if item is not None:
                        break
                    if self._error is not None:
                        raise self._error
                    if self._is_closed:
                        raise errors.CancelledError(None, None, "Iterator was closed")
                    if self._is_over and not self._ahead.has_unclaimed:
                        return None
                    self._changed.wait()
        finally:
            if token is not None:
                cancellation.deregister(token)
        if isinstance(item, errors.OpError):
            raise item
        return item

    def close(self) -> None:
        """Leaves the job; what was fetched and not given is others'."""
        with self._changed:
            if self._is_closed:
                return
            self._is_closed = True
            self._changed.notify_all()
            channels = [self._work, *self._channels]
        self._stop.set()
        for channel in channels:
            channel.close()  # what is fetched from a worker that hangs, ends too
        # It may be called by a thread that must not wait for the network.
        threads.start(self._leave)

    def _leave(self) -> None:
        while running := [thread for thread in self._threads if thread.is_alive()]:
            running[0].join()
        ranges = self._ahead.not_given()
        if self._job >= 0:
            try:
                fields = {"job": self._job, "consumer": self._member, "ranges": ranges}
                call(self._dispatcher, "Leave", fields, b"", _LAST_WORDS_S)
            except errors.OpError:
                pass  # it is given up when it has been silent
        self._dispatcher.close()

    def _wake(self) -> None:
        with self._changed:
            self._changed.notify_all()

    def _start(self, task: Any, name: str, *arguments: Any) -> None:
        thread = threading.Thread(
            target=self._guarded, args=(task, *arguments), name=name
        )
        thread.daemon = True
        self._threads.append(thread)
        thread.start()

    def _guarded(self, task: Any, *arguments: Any) -> None:
        try:
            task(*arguments)
        except errors.OpError as error:
            self._fail(error)
        except Exception as error:
            self._fail(errors.InternalError(None, None, repr(error)))

    def _fail(self, error: errors.OpError) -> None:
        with self._changed:
            if not self._is_closed and self._error is None:
                self._error = error
            self._changed.notify_all()

    def _goes_on(self) -> bool:
        return not self._is_closed and self._error is None and not self._is_over

    # --- the dispatcher's side ------------------------------------------------------

    def _ask(
        self, name: str, fields: Fields, channel: GrpcChannel | None = None
    ) -> Fields:
        """Calls the dispatcher, and waits for one that is away."""
        channel = channel or self._dispatcher
        until = time.monotonic() + _DISPATCHER_S
        while True:
            try:
                return call(channel, name, fields, b"", self._call_s)[0]
            except GONE as error:
                if time.monotonic() > until:
                    raise errors.UnavailableError(
                        None,
                        None,
                        f"The dispatcher of the input service at "
                        f"{self._reading.address} has been away for "
                        f"{_DISPATCHER_S:g} s: {error.message}",
                    ) from None
                self._stop.wait(_PAUSE_S)
                if self._is_closed:
                    raise

    def _manage(self) -> None:
        """Joins the job, and starts a fetcher for each worker that is there."""
        self._join()
        if not self._shares:
            self._start(self._settle, "tensorloom-input-claims")
        while self._goes_on():
            self._start_fetchers()
            self._pause_until_beat()
            if not self._goes_on():
                return
            try:
                fields = {"job": self._job, "consumer": self._member}
                found = self._ask("Beat", fields)
            except errors.AbortedError:
                self._join()
                continue
            with self._changed:
                self._note_workers(found)

    def _note_workers(self, found: Fields) -> None:
        self._workers, self._places = found["workers"], found["places"]
        self._count = found["count"]

    def _join(self) -> None:
        """Takes part in the job, under a new name if it was given up."""
        reading = self._reading
        name = uuid.uuid4().hex
        fields = {
            **{"name": reading.job_name or self._name, "iteration": reading.iteration},
            **{"dataset": reading.dataset_id, "mode": reading.mode},
            **{"delivery": reading.delivery, "split_size": reading.split_size},
            **{"trainer": reading.trainer, "consumer": name},
        }
        found = self._ask("OpenJob", fields)
        with self._changed:
            self._job, self._member = found["job"], name
            self._note_workers(found)

    def _pause_until_beat(self) -> None:
        with self._changed:
            # The first worker is waited for.
            until = time.monotonic() + (_BEAT_S if self._workers else _PAUSE_S)
            while self._goes_on() and (left := until - time.monotonic()) > 0:
                self._changed.wait(left)

    # --- the workers' side ----------------------------------------------------------

    def _start_fetchers(self) -> None:
        with self._changed:
            fresh = [
                (worker, address, self._places.get(worker, -1))
                for worker, address in self._workers.items()
                if worker not in self._fetching
                and worker not in self._finished
                and self._places.get(worker) not in self._read_places
            ]
            self._fetching.update(worker for worker, _, _ in fresh)
            self._threads = [t for t in self._threads if t.is_alive()]
            self._end_if_finished()
        for who in fresh:
            self._start(self._fetch, "tensorloom-input-fetcher", *who)

    def _fetch(self, worker: str, address: str, place: int) -> None:
        channel = GrpcChannel(address)
        with self._changed:
            self._channels.add(channel)
        try:
            if self._shares:
                self._fetch_whole(worker, channel, place)
            else:
                self._fetch_pieces(channel)
        finally:
            channel.close()
            with self._changed:
                self._channels.discard(channel)
                self._fetching.discard(worker)

    def _end_if_finished(self) -> None:
        """In `parallel_epochs` the job ends with the datasets of all workers.

        In a static policy with those of all that there are to be, here or not.
        """
        if self._is_static:
            is_over = len(self._read_places) == self._count > 0
        else:
            is_over = bool(self._workers) and self._finished >= set(self._workers)
        if self._shares and is_over:
            self._is_over = True
            self._changed.notify_all()

    def _fetch_whole(self, worker: str, channel: GrpcChannel, place: int) -> None:
        whole = Piece(self._member, _WHOLE, 0, -1, -1, 0, 0, TO_THE_END)
        pieces = deque([whole])
        share = ALL
        if self._is_static:
            share = Share(self._reading.mode, self._count, place)
        try:
            self._fetch_in_turn(channel, pieces, share)
        except GONE:
            self._stop.wait(_PAUSE_S)  # it has left, or comes back as another
        if not pieces:
            with self._changed:
                self._finished.add(worker)
                if self._is_static:
                    self._read_places.add(place)
                self._end_if_finished()

    def _fetch_pieces(self, channel: GrpcChannel) -> None:
        while self._goes_on():
            with self._changed:
                if not self._has_room():
                    return
            pieces = self._next_pieces(waits=True)
            if not pieces:
                continue
            try:
                self._fetch_in_turn(channel, pieces)
            except GONE:
                with self._changed:
                    # Who wants each element once goes on behind what came; else the
                    # piece comes again as a whole.
                    if not self._claims:
                        pieces[0] = replace(pieces[0], position=pieces[0].start)
                    self._queued.extend(pieces)
                    self._changed.notify_all()
                # This worker is tried again if the dispatcher still has it then.
                self._stop.wait(_BEAT_S)
                return

    def _next_pieces(self, waits: bool) -> deque[Piece]:
        """What to fetch next; empty where there is nothing now.

        Args:
          waits: whether the dispatcher may let it wait for what others give back.
        """
        with self._changed:
            if self._queued:
                return self._dequeued()
            job, member = self._job, self._member
            most = self._adapted()
        fields = {"job": job, "consumer": member, "request": uuid.uuid4().hex}
        try:
            found = self._ask(
                "NextPiece", {**fields, "most": most, "waits": waits}, self._work
            )
        except errors.AbortedError:
            self._stop.wait(_BEAT_S)  # it joins again with its next beat
            return deque()
        with self._changed:
            for told in found.get("pieces", ()):
                names = ("piece", "split", "begin", "end", "first", "first", "stop")
                self._queued.append(Piece(member, *[told[name] for name in names]))
            if found.get("over"):
                self._is_over = True
            self._changed.notify_all()
            return self._dequeued()

    def _adapted(self) -> int:
        """How many pieces to ask for: more than last time if they were short."""
        now = time.monotonic()
        took_s = (now - self._asked) * max(1, len(self._fetching))
        self._asked = now
        if took_s > 4 * _SHORT_S:
            self._most_pieces = max(1, self._most_pieces // 2)
        elif took_s < _SHORT_S:
            factor = 4 if 4 * took_s < _SHORT_S else 2
            self._most_pieces = min(factor * self._most_pieces, _MOST_PIECES)
        return self._most_pieces

    def _dequeued(self) -> deque[Piece]:
        """A fetcher's share of the pieces that nobody fetches now."""
        count = -(-len(self._queued) // max(1, len(self._fetching)))
        return deque(self._queued.popleft() for _ in range(count))

    def _has_room(self) -> bool:
        """Waits for room for more elements; False if none are wanted any more."""
        while self._goes_on() and self._ahead.room <= 0:
            self._changed.wait()
        return self._goes_on()

    def _fetch_in_turn(
        self, channel: GrpcChannel, pieces: deque[Piece], share: Share = ALL
    ) -> None:
        """Fetches pieces, and takes each off the list when it has it.

        More are asked for before the last ones were fetched, so that the worker always
        has some. Those that are others', and all if the consumer has ended, are left
        out.

        Raises:
          errors.OpError: one of `GONE`, if the worker is.
        """
        run, asks = pieces[0].number, not self._shares
        while pieces:
            with self._changed:
                goes_on = self._has_room()
                for piece in list(pieces):
                    if self._ahead.is_refused(piece):
                        pieces.remove(piece)
                if not goes_on or not pieces:
                    break
                most = self._ahead.room
            self._add(self._call_worker(channel, run, pieces, most, share))
            if asks and pieces and len(pieces) <= self._most_pieces // 2:
                more = self._next_pieces(waits=False)
                pieces.extend(more)
                asks = bool(more)
        else:
            return
        if not self._shares:
            self._release(channel, run)

    def _call_worker(
        self,
        channel: GrpcChannel,
        run: int,
        pieces: deque[Piece],
        most: int,
        share: Share,
    ) -> list[Chunk]:
        """The next elements of the pieces, which go on behind them."""
        fields = {
            **{"job": self._job, "run": run, "dataset": self._reading.dataset_id},
            **{"parts": [self._part(piece) for piece in pieces], "most": most},
            **{"share": list(share), "trainer": self._reading.trainer},
        }
        found, content = call(channel, "GetElements", fields, b"", self._call_s)
        items = iter(elements.unpack(found, content))
        answer = next(self._answers)
        chunks = []
        for number, first, size, ended in found["sections"]:
            own = deque(itertools.islice(items, size))
            at = next((i for i, p in enumerate(pieces) if p.number == number), -1)
            if at < 0:
                continue  # it was found to be another's after the run had begun
            piece = pieces[at]
            if not self._shares and (at, first) != (0, piece.position):
                raise errors.InternalError(
                    None,
                    None,
                    f"The worker at {channel.address} gave elements of piece {number} "
                    f"from {first} on, and not of piece {pieces[0].number} from "
                    f"{pieces[0].position} on",
                )
            if ended:
                pieces.popleft()
            else:
                pieces[0] = replace(piece, position=first + size)
            chunks.append(Chunk(piece, first, own, ended, answer, size=size))
        return chunks

    def _part(self, piece: Piece) -> list[int]:
        """A piece as a worker is told of it."""
        seed = hashlib.blake2b(f"{self._job} {piece.split}".encode(), digest_size=7)
        number = int.from_bytes(seed.digest(), "little")
        return [
            *(piece.number, piece.begin, piece.end, number, piece.position, piece.stop)
        ]

    def _release(self, channel: GrpcChannel, run: int) -> None:
        """Tells a worker that nobody wants the rest."""
        try:
            fields = {"job": self._job, "run": run}
            call(channel, "Release", fields, b"", _LAST_WORDS_S)
        except errors.OpError:
            return  # it ends by itself what nobody asks for

    def _add(self, chunks: list[Chunk]) -> None:
        chunks = [chunk for chunk in chunks if chunk.size or chunk.done]
        with self._changed:
            if chunks:
                self._ahead.add(chunks)
                self._changed.notify_all()

    # --- claims ---------------------------------------------------------------------

    def _settle(self) -> None:
        """Claims what was fetched; or tells, afterwards, what was read."""
        while True:
            with self._changed:
                chunks = self._next_to_settle()
            if not chunks:
                return
            granted = self._claim(chunks)
            with self._changed:
                self._ahead.settled(granted)
                self._changed.notify_all()

    def _next_to_settle(self) -> list[Chunk]:
        """Waits for chunks; empty if there will be none."""
        while not (self._is_closed or self._error):
            chunks = self._ahead.next_to_settle()
            if chunks:
                return chunks
            if self._is_over and not self._ahead.has_unclaimed:
                break
            self._changed.wait()
        return []

    def _claim(self, chunks: list[Chunk]) -> list[bool]:
        """Which chunks' elements are this consumer's."""
        granted: list[bool] = []
        # Under one name, as a rule: a consumer that was given up has another one.
        for member, group in itertools.groupby(
            chunks, lambda chunk: chunk.piece.member
        ):
            claims = [
                [each.piece.number, each.first, each.first + each.size, each.done]
                for each in group
            ]
            fields = {
                **{"job": self._job, "consumer": member},
                **{"request": uuid.uuid4().hex, "claims": claims},
            }
            try:
                granted += self._ask("Claim", fields)["granted"]
            except errors.AbortedError:
                granted += [False] * len(claims)
        return granted
