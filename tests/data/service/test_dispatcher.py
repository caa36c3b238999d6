"""A dispatcher's promises, with a clock that goes when it is told to."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

from tensorloom.data.service.dispatcher import Dispatcher, Limits
from tensorloom.data.service.journal import Journal
from tensorloom.framework import errors
from tensorloom.framework.runtime.input_service import ENDLESS, INDIVISIBLE
from tests.data.service.calling import Caller, Clock, register


@pytest.fixture
def clock() -> Clock:
    """What the dispatcher goes by."""
    return Clock()


@pytest.fixture
def dispatcher(clock: Clock) -> Dispatcher:
    """One that has a dataset of 30 elements in 3 splits."""
    made = Dispatcher(limits=Limits(60.0, 300.0), clock=clock)
    register(made, "numbers", elements=30, size=10)
    return made


def told(piece: Any) -> tuple[int, int, int]:
    """The split of a piece, its first element, and its stop."""
    return piece["split"], piece["first"], piece["stop"]


def test_each_split_is_one_consumers(dispatcher: Dispatcher) -> None:
    a, b = Caller(dispatcher, "a"), Caller(dispatcher, "b")
    pieces = [a.take("1"), b.take("1"), a.take("2")]
    assert [told(piece) for piece in pieces] == [(0, 0, -1), (1, 0, -1), (2, 0, -1)]
    assert (pieces[1]["begin"], pieces[1]["end"]) == (10, 20)
    for caller, piece in zip([a, b, a], pieces, strict=True):
        assert caller.claim(piece, 0, 10, done=True)
    assert a.take("3") == b.take("2") == {"over": True}


def test_who_asks_again_is_told_the_same(dispatcher: Dispatcher) -> None:
    a = Caller(dispatcher, "a")
    piece = a.take("1")
    assert a.take("1") == piece
    for _ in range(2):
        assert a.claim(piece, 0, 4)
    for _ in range(2):
        assert a.claim(piece, 4, 10, done=True)
    assert told(a.take("2")) == (1, 0, -1)


def test_pieces_are_handed_out_together_and_fewer_towards_the_end(
    clock: Clock,
) -> None:
    made = Dispatcher(clock=clock)
    register(made, "numbers", elements=80, size=1)
    a, b = Caller(made, "a"), Caller(made, "b")
    found = []
    for number in range(80):
        caller = (a, b)[number % 2]
        asked = {"request": f"{number}", "most": 99, "waits": False}
        answer = caller.ask("NextPiece", **asked)
        assert caller.ask("NextPiece", **asked) == answer
        if "pieces" not in answer:
            break
        found.append([piece["split"] for piece in answer["pieces"]])
        for piece in answer["pieces"]:
            assert caller.claim(piece, 0, 1, done=True)
    assert [split for splits in found for split in splits] == list(range(80))
    sizes = [len(splits) for splits in found]
    assert sizes == sorted(sizes, reverse=True)
    assert (sizes[0], sizes[-1]) == (16, 1)


def test_claims_of_several_pieces_are_answered_one_by_one(
    dispatcher: Dispatcher, clock: Clock
) -> None:
    a, b = Caller(dispatcher, "a"), Caller(dispatcher, "b")
    pieces = [a.take(f"{number}") for number in range(3)]
    clock.now = 10.0
    assert told(b.take("1")) == (0, 0, -1)  # nobody goes on with it
    claims = [[piece["piece"], 0, 4, False] for piece in pieces]
    for _ in range(2):  # the answer may be lost
        assert a.claim_all(claims, "1") == [False, True, True]
    claims = [[piece["piece"], 4, 10, True] for piece in pieces[1:]]
    assert a.claim_all(claims, "2") == [True, True]
    assert a.claim_all(claims, "3") == [False, False]


@pytest.mark.parametrize(
    "claims",
    [[3], [[0, 1, 2]], [[0, 0, 1, 1]], [["0", 0, 1, True]], [[0, 0, 1, True]] * 2],
    ids=str,
)
def test_malformed_claims(dispatcher: Dispatcher, claims: Any) -> None:
    a = Caller(dispatcher, "a")
    piece = a.take("1")
    with pytest.raises(errors.InvalidArgumentError, match="claim"):
        a.claim_all(claims)
    assert a.claim(piece, 0, 10, done=True)


@pytest.mark.parametrize(("begin", "end"), [(0, 2), (2, 4), (5, 9), (3, 1)])
def test_claims_do_not_overlap(dispatcher: Dispatcher, begin: int, end: int) -> None:
    a = Caller(dispatcher, "a")
    piece = a.take("1")
    assert a.claim(piece, 0, 3)
    with pytest.raises(errors.InvalidArgumentError, match="of a piece that is at"):
        a.claim(piece, begin, end)


def test_a_silent_consumer_loses_what_it_had_not_claimed(
    dispatcher: Dispatcher, clock: Clock
) -> None:
    a, b = Caller(dispatcher, "a"), Caller(dispatcher, "b")
    piece = a.take("1")
    assert a.claim(piece, 0, 4)
    clock.now = 50.0
    b.ask("Beat")
    clock.now = 70.0
    dispatcher.look_around()
    assert told(b.take("1")) == (0, 4, -1)
    with pytest.raises(errors.AbortedError, match="was silent for 60 s"):
        a.claim(piece, 4, 10)
    with pytest.raises(errors.AbortedError):
        a.take("2")


def test_a_stalled_consumer_is_overtaken_at_the_end(
    dispatcher: Dispatcher, clock: Clock
) -> None:
    a, b = Caller(dispatcher, "a"), Caller(dispatcher, "b")
    stalled = a.take("1")
    assert a.claim(stalled, 0, 6)
    for request in ("1", "2"):
        piece = b.take(request)
        assert b.claim(piece, 0, 10, done=True)
    clock.now = 10.0
    assert told(b.take("3")) == (0, 6, -1)
    assert not a.claim(stalled, 6, 10, done=True)


def test_at_least_once_nobody_is_overtaken(
    dispatcher: Dispatcher, clock: Clock
) -> None:
    how = {"delivery": "at_least_once", "split_size": 30}
    a, b = (Caller(dispatcher, name, **how) for name in "ab")
    piece = a.take("1")
    dispatcher.stop()  # nobody waits
    clock.now = 10.0
    assert b.take("1") == {"over": False}
    a.ask("Leave", ranges=[])
    assert told(b.take("2")) == (0, 0, -1)
    assert piece["split"] == 0


def test_who_leaves_gives_back_what_its_program_did_not_have(
    dispatcher: Dispatcher,
) -> None:
    a, b = Caller(dispatcher, "a"), Caller(dispatcher, "b")
    piece = a.take("1")
    assert a.claim(piece, 0, 6)
    a.ask("Leave", ranges=[[0, 2, 6]])
    assert [told(b.take(request)) for request in "123"] == [
        (0, 6, -1),
        (0, 2, 6),
        (1, 0, -1),
    ]
    a.ask("Leave", ranges=[[0, 2, 6]])  # it asks again: nothing comes twice
    assert told(b.take("4")) == (2, 0, -1)


def test_who_leaves_while_it_waits_gets_nothing(dispatcher: Dispatcher) -> None:
    a, b = (Caller(dispatcher, name, split_size=30) for name in "ab")
    a.take("1")
    asked = threading.Event()
    said: list[Any] = []

    def wait() -> None:
        asked.set()
        try:
            while True:
                said.append(b.take("1"))
        except errors.AbortedError as error:
            said.append(type(error))

    thread = threading.Thread(target=wait)
    thread.start()
    asked.wait()
    b.ask("Leave", ranges=[])
    a.ask("Leave", ranges=[])
    thread.join()
    assert said.pop() is errors.AbortedError
    assert all(each == {"over": False} for each in said)
    assert told(Caller(dispatcher, "c").take("1")) == (0, 0, -1)


@pytest.mark.parametrize(
    "ranges",
    [[5], [[0, 1]], [[0, 3, 2]], [[7, 0, 1]], [[0, -1, 2]], [["0", 0, 1]]],
    ids=str,
)
def test_what_nobody_had_is_not_given_back(dispatcher: Dispatcher, ranges: Any) -> None:
    a = Caller(dispatcher, "a")
    a.take("1")
    with pytest.raises(errors.InvalidArgumentError, match="elements"):
        a.ask("Leave", ranges=ranges)
    assert told(a.take("2")) == (1, 0, -1)


def test_jobs_by_name_and_iteration(dispatcher: Dispatcher) -> None:
    a, b = Caller(dispatcher, "a"), Caller(dispatcher, "b", iteration=1)
    other = Caller(dispatcher, "c", name="another job")
    assert len({a.number, b.number, other.number}) == 3
    assert Caller(dispatcher, "d").number == a.number
    for field, value in (
        ("mode", "parallel_epochs"),
        ("delivery", "at_least_once"),
        ("dataset", "others"),
    ):
        with pytest.raises(errors.InvalidArgumentError, match=f"has the {field}"):
            Caller(dispatcher, "e", **{field: value})


def test_what_is_asked_in_vain(dispatcher: Dispatcher) -> None:
    with pytest.raises(errors.NotFoundError, match="knows no dataset 'others'"):
        Caller(dispatcher, "a", dataset="others", name="new")
    a = Caller(dispatcher, "a")
    a.number += 1
    with pytest.raises(errors.NotFoundError, match="knows no job"):
        a.take("1")
    register(dispatcher, "some", elements=INDIVISIBLE, size=1)
    with pytest.raises(errors.UnimplementedError, match="Use parallel_epochs"):
        Caller(dispatcher, "b", dataset="some", name="of some")
    for field in ("mode", "delivery"):
        with pytest.raises(errors.InvalidArgumentError, match=r"no .* 'nonsense'"):
            Caller(dispatcher, "c", **{"name": "new", field: "nonsense"})


def test_an_endless_dataset_has_splits_for_ever(dispatcher: Dispatcher) -> None:
    register(dispatcher, "endless", elements=ENDLESS, size=4)
    a = Caller(dispatcher, "a", dataset="endless", name="endless")
    for number in range(100):
        piece = a.take(f"{number}")
        assert (piece["begin"], piece["end"]) == (4 * number, 4 * number + 4)
        assert a.claim(piece, 0, 4, done=True)


def test_a_split_size_keeps_batches_whole(dispatcher: Dispatcher) -> None:
    fields = {"dataset": "batches", "types": [9], "shapes": [[4]], "reason": ""}
    sizes = {"elements": 30, "size": 8, "multiple": 4}
    dispatcher.answers()["Register"]({**fields, **sizes}, b"another graph")
    a = Caller(dispatcher, "a", dataset="batches", name="job of 5", split_size=5)
    pieces = [a.take(f"{number}") for number in range(4)]
    assert [(p["begin"], p["end"]) for p in pieces] == [
        (0, 8),
        (8, 16),
        (16, 24),
        (24, 30),
    ]


def test_a_job_that_nobody_reads_is_forgotten(
    dispatcher: Dispatcher, clock: Clock
) -> None:
    a = Caller(dispatcher, "a")
    a.ask("Leave", ranges=[])
    clock.now = 299.0
    dispatcher.look_around()
    beat = {"worker": "w", "address": "w:1", "jobs": [a.number]}
    tell = dispatcher.answers()["WorkerBeat"]
    assert tell(beat, b"")[0] == {"forget": []}
    clock.now = 301.0
    dispatcher.look_around()
    assert tell(beat, b"")[0] == {"forget": [a.number]}
    assert not dispatcher.state.jobs


def test_workers_that_are_silent_are_not_told_of(
    dispatcher: Dispatcher, clock: Clock
) -> None:
    answers = dispatcher.answers()
    a = Caller(dispatcher, "a")
    for number in range(2):
        beat = {"worker": f"{number}", "address": f"w:{number}", "jobs": []}
        answers["WorkerBeat"](beat, b"")
    clock.now = 50.0
    answers["WorkerBeat"](beat, b"")
    a.ask("Beat")
    clock.now = 70.0
    dispatcher.look_around()
    assert a.ask("Beat")["workers"] == {"1": "w:1"}
    answers["WorkerLeave"]({"worker": "1"}, b"")
    assert a.ask("Beat")["workers"] == {}


def test_a_dispatcher_that_starts_again_goes_on(tmp_path: Path) -> None:
    first = Dispatcher(Journal(str(tmp_path)))
    register(first, "numbers", elements=30, size=10)
    a, b = Caller(first, "a"), Caller(first, "b")
    of_a, of_b = a.take("1"), b.take("1")
    assert a.claim(of_a, 0, 4)
    assert first._journal is not None
    first._journal.close()
    second = Dispatcher(Journal(str(tmp_path)))
    assert list(second.state.events()) == list(first.state.events())
    c = Caller(second, "c")
    assert c.number == a.number
    assert told(c.take("1")) == (2, 0, -1)
    again = [Caller(second, name) for name in "ab"]
    assert again[0].claim(of_a, 4, 10, done=True)
    assert again[1].take("1") == of_b  # the answer was lost with the first one
    assert second._journal is not None
    second._journal.close()


def test_what_is_promised_without_the_lock_is_not_said(tmp_path: Path) -> None:
    class Stopped(Journal):
        """Whose process stands still in the middle of a call, past its lease."""

        is_late = False

        def sync(self) -> None:
            super().sync()
            self.is_late = armed.is_set()

    def holds() -> None:
        if journal.is_late:
            raise errors.UnavailableError(None, None, "another one has taken over")

    armed = threading.Event()
    journal = Stopped(str(tmp_path), locks=False)
    first = Dispatcher(journal, holds=holds)
    register(first, "numbers", elements=30, size=10)
    a = Caller(first, "a")
    armed.set()
    with pytest.raises(errors.UnavailableError, match="taken over"):
        a.take("1")
    # The file may still be open there.
    second = Dispatcher(Journal(str(tmp_path), locks=False))
    assert told(Caller(second, "a").take("1")) == (0, 0, -1)
    journal.append({"kind": "too late"})
    for dispatcher in (first, second):
        assert dispatcher._journal is not None
        dispatcher._journal.close()
    third = Journal(str(tmp_path))
    third.close()
    assert "too late" not in {event["kind"] for event in third.events}


def test_numbers_of_jobs_do_not_come_again() -> None:
    """A worker may still have what a dispatcher that forgets had asked it for."""
    numbers = set()
    for _ in range(3):
        dispatcher = Dispatcher()
        register(dispatcher, "numbers", elements=30, size=10)
        numbers.add(Caller(dispatcher, "a").number)
    assert len(numbers) == 3
