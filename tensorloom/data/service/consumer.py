"""A consumer: takes part in a job, and gives its elements to the program.

    dispatcher -- pieces --> fetchers, one a worker -- chunks --> claims --> program

A fetcher asks for a piece and fetches its elements from its worker. A chunk of them is
claimed at the dispatcher before the program gets the first (`exactly_once`): from then
on nobody else does. A worker that is gone, or hangs, costs nothing: another fetcher
goes on with its piece behind what was fetched.

All of them share one lock, and one account of what is on its way (`ahead.py`). The file
is above the usual length because the threads that do are read together.
"""

from __future__ import annotations

import hashlib
import threading
import time
import uuid
from collections import deque
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from tensorloom.data.service import elements
from tensorloom.data.service.ahead import Ahead, Chunk, Piece
from tensorloom.data.service.calls import GONE, call
from tensorloom.data.service.config import AT_LEAST_ONCE, PARALLEL_EPOCHS
from tensorloom.data.service.state import TO_THE_END
from tensorloom.framework import errors
from tensorloom.framework.runtime import threads
from tensorloom.transport.grpc.channel import GrpcChannel
from tensorloom.transport.peers.liveness import task_timeout_s

if TYPE_CHECKING:
    from collections.abc import Callable

    from tensorloom.data.service.calls import Fields
    from tensorloom.data.service.elements import Item
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
#: The piece that all consumers share in `parallel_epochs`.
_WHOLE: Final = -1


class Consumer:
    """Implements `input_service.Reader`.

    Args:
      reading: the dataset, the job, and how elements are to come.
    """

    def __init__(self, reading: Reading) -> None:
        self._reading = reading
        self._shares = reading.mode == PARALLEL_EPOCHS
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
        self._given_up: deque[Piece] = deque()  # by fetchers whose worker is gone
        self._workers: dict[str, str] = {}
        self._fetching: set[str] = set()
        self._finished: set[str] = set()  # workers whose whole dataset was read
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
                workers = self._ask("Beat", fields)["workers"]
            except errors.AbortedError:
                self._join()
                continue
            with self._changed:
                self._workers = workers

    def _join(self) -> None:
        """Takes part in the job, under a new name if it was given up."""
        reading = self._reading
        name = uuid.uuid4().hex
        fields = {
            **{"name": reading.job_name or self._name, "iteration": reading.iteration},
            **{"dataset": reading.dataset_id, "mode": reading.mode},
            **{"delivery": reading.delivery, "split_size": reading.split_size},
            "consumer": name,
        }
        found = self._ask("OpenJob", fields)
        with self._changed:
            self._job, self._workers = found["job"], found["workers"]
            self._member = name

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
                (worker, address)
                for worker, address in self._workers.items()
                if worker not in self._fetching and worker not in self._finished
            ]
            self._fetching.update(worker for worker, _ in fresh)
            self._threads = [t for t in self._threads if t.is_alive()]
            self._end_if_finished()
        for worker, address in fresh:
            self._start(self._fetch, "tensorloom-input-fetcher", worker, address)

    def _fetch(self, worker: str, address: str) -> None:
        channel = GrpcChannel(address)
        with self._changed:
            self._channels.add(channel)
        try:
            if self._shares:
                self._fetch_whole(worker, channel)
            else:
                self._fetch_pieces(channel)
        finally:
            channel.close()
            with self._changed:
                self._channels.discard(channel)
                self._fetching.discard(worker)

    def _end_if_finished(self) -> None:
        """In `parallel_epochs` the job ends with the datasets of all workers."""
        if self._shares and self._workers and self._finished >= set(self._workers):
            self._is_over = True
            self._changed.notify_all()

    def _fetch_whole(self, worker: str, channel: GrpcChannel) -> None:
        piece = Piece(self._member, _WHOLE, 0, -1, -1, 0, TO_THE_END)
        try:
            if self._fetch_piece(channel, piece, lambda position: None):
                with self._changed:
                    self._finished.add(worker)
                    self._end_if_finished()
        except GONE:
            self._stop.wait(_PAUSE_S)  # it has left, or comes back as another

    def _fetch_pieces(self, channel: GrpcChannel) -> None:
        while self._goes_on():
            piece = self._next_piece()
            if piece is None:
                continue
            at = [piece.position]
            try:
                self._fetch_piece(channel, piece, at.append)
            except GONE:
                # Who wants each element once goes on behind what came; else the
                # piece comes again as a whole.
                position = at[-1] if self._claims else piece.position
                with self._changed:
                    self._given_up.append(replace(piece, position=position))
                    self._changed.notify_all()
                # This worker is tried again if the dispatcher still has it then.
                self._stop.wait(_BEAT_S)
                return

    def _next_piece(self) -> Piece | None:
        """What to fetch next; None where there is nothing now."""
        with self._changed:
            if not self._has_room():
                return None
            if self._given_up:
                return self._given_up.popleft()
            job, member = self._job, self._member
        request = {"job": job, "consumer": member, "request": uuid.uuid4().hex}
        try:
            found = self._ask("NextPiece", request, self._work)
        except errors.AbortedError:
            self._stop.wait(_BEAT_S)  # it joins again with its next beat
            return None
        if "piece" in found:
            names = ("piece", "split", "begin", "end", "first", "stop")
            return Piece(member, *[found[name] for name in names])
        if found["over"]:
            with self._changed:
                self._is_over = True
                self._changed.notify_all()
        return None

    def _has_room(self) -> bool:
        """Waits for room for more elements; False if none are wanted any more."""
        while self._goes_on() and self._ahead.room <= 0:
            self._changed.wait()
        return self._goes_on()

    def _fetch_piece(
        self, channel: GrpcChannel, piece: Piece, reached: Callable[[int], None]
    ) -> bool:
        """Fetches a piece; False if it is not wanted to its end.

        Args:
          reached: called with the number of the element that comes next.

        Raises:
          errors.OpError: one of `GONE`, if the worker is.
        """
        position, ended = piece.position, False
        while not ended:
            with self._changed:
                if not self._has_room() or self._ahead.is_refused(piece):
                    break
                most = self._ahead.room
            if piece.stop != TO_THE_END:
                most = min(most, piece.stop - position)
            items, ended = self._call_worker(channel, piece, position, most)
            first, position = position, position + len(items)
            if piece.stop != TO_THE_END and position >= piece.stop:
                ended = True
            self._add(Chunk(piece, first, deque(items), ended, size=len(items)))
            reached(position)
        if not self._shares and (not ended or piece.stop != TO_THE_END):
            self._release(channel, piece)
        return ended

    def _call_worker(
        self, channel: GrpcChannel, piece: Piece, position: int, most: int
    ) -> tuple[list[Item], bool]:
        seed = hashlib.blake2b(f"{self._job} {piece.split}".encode(), digest_size=7)
        fields = {
            **{"job": self._job, "piece": piece.number, "first": position},
            **{"dataset": self._reading.dataset_id, "most": most},
            **{"begin": piece.begin, "end": piece.end},
            "seed": int.from_bytes(seed.digest(), "little"),
        }
        found, content = call(channel, "GetElements", fields, b"", self._call_s)
        items = elements.unpack(found, content)
        if not self._shares and found.get("first") != position:
            raise errors.InternalError(
                None,
                None,
                f"The worker at {channel.address} gave elements from "
                f"{found.get('first')} on, and not from {position} on",
            )
        return items, found.get("ended") is True

    def _release(self, channel: GrpcChannel, piece: Piece) -> None:
        """Tells a worker that nobody wants the rest."""
        fields = {"job": self._job, "piece": piece.number}
        try:
            call(channel, "Release", fields, b"", _LAST_WORDS_S)
        except errors.OpError:
            return  # it ends by itself what nobody asks for

    def _add(self, chunk: Chunk) -> None:
        with self._changed:
            if chunk.items or chunk.done:
                self._ahead.add(chunk)
                self._changed.notify_all()

    # --- claims ---------------------------------------------------------------------

    def _settle(self) -> None:
        """Claims what was fetched; or tells, afterwards, what was read."""
        while True:
            with self._changed:
                chunk = self._next_to_settle()
            if chunk is None:
                return
            granted = self._claim(chunk)
            with self._changed:
                self._ahead.settled(granted)
                self._changed.notify_all()

    def _next_to_settle(self) -> Chunk | None:
        """Waits for a chunk; None if there will be none."""
        while not (self._is_closed or self._error):
            chunk = self._ahead.next_to_settle()
            if chunk is not None:
                return chunk
            if self._is_over and not self._ahead.has_unclaimed:
                return None
            self._changed.wait()
        return None

    def _claim(self, chunk: Chunk) -> bool:
        """Whether the elements of a chunk are this consumer's."""
        fields = {
            **{"job": self._job, "consumer": chunk.piece.member},
            **{"piece": chunk.piece.number, "begin": chunk.first},
            **{"end": chunk.first + chunk.size, "done": chunk.done},
        }
        try:
            return self._ask("Claim", fields)["granted"] is True
        except errors.AbortedError:
            return False
