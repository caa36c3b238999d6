"""The journal: a process that dies at any byte has kept what it promised."""

from __future__ import annotations

import os
import random
from pathlib import Path
from typing import Any

import pytest

from tensorloom.data.service import journal
from tensorloom.data.service.dispatcher import Dispatcher
from tensorloom.data.service.journal import Journal
from tensorloom.data.service.state import State
from tensorloom.framework import errors
from tests.data.service.calling import JOB, register


def state_of(events: list[Any]) -> dict[str, Any]:
    """What a state is after events."""
    state = State()
    for event in events:
        state.apply(event)
    return {"events": list(state.events())}


def life(directory: Path, steps: int) -> list[tuple[int, dict[str, Any]]]:
    """Calls a dispatcher at random: the size of its file, its state after each."""
    draw = random.Random(5)
    dispatcher = Dispatcher(Journal(str(directory)))
    answers = dispatcher.answers()
    path = directory / "journal"
    seen = [(path.stat().st_size, {"events": list(dispatcher.state.events())})]
    register(dispatcher, "numbers", elements=1000, size=10)
    job = answers["OpenJob"]({**JOB, "consumer": "a"}, b"")[0]["job"]
    held: list[dict[str, Any]] = []
    for number in range(steps):
        consumer = draw.choice("abc")
        if held and draw.random() < 0.5:
            piece = held.pop(draw.randrange(len(held)))
            done = draw.random() < 0.5
            end = piece["first"] + draw.randrange(1, 5)
            claims = [[piece["piece"], piece["first"], end, done]]
            fields = {"job": job, "consumer": piece["owner"], "request": f"{number}"}
            answers["Claim"]({**fields, "claims": claims}, b"")
            if not done:
                held.append({**piece, "first": end})
        else:
            fields = {"job": job, "consumer": consumer, "request": f"{number}"}
            pieces = answers["NextPiece"]({**fields, "most": 2, "waits": True}, b"")[0][
                "pieces"
            ]
            held += [{**piece, "owner": consumer} for piece in pieces]
        events = {"events": list(dispatcher.state.events())}
        seen.append((path.stat().st_size, events))
    dispatcher.stop()
    assert dispatcher._journal is not None
    dispatcher._journal.close()
    return seen


@pytest.mark.parametrize(
    "step", [97, pytest.param(1, marks=pytest.mark.slow)], ids=["some", "all"]
)
def test_what_was_promised_is_there_wherever_the_file_ends(
    tmp_path: Path, step: int
) -> None:
    promised = life(tmp_path / "whole", 12)
    content = (tmp_path / "whole" / "journal").read_bytes()
    cut = tmp_path / "cut"
    ends = [size for size, _ in promised]
    for size in {*range(ends[0], len(content) + 1, step), *ends}:
        cut.write_bytes(content[:size])
        events, end = journal.read(cut)
        assert end <= size
        kept = max((one for one in promised if one[0] <= size), key=lambda one: one[0])
        found = state_of(events)
        if end == kept[0]:
            assert found == kept[1]
        else:  # something that was not promised yet is there as a whole
            assert end > kept[0]


def test_a_journal_goes_on_behind_what_was_cut_off(tmp_path: Path) -> None:
    promised = life(tmp_path, 6)
    path = tmp_path / "journal"
    content = path.read_bytes()
    path.write_bytes(content[:-3])
    dispatcher = Dispatcher(Journal(str(tmp_path)))
    assert {"events": list(dispatcher.state.events())} == promised[-2][1]
    register(dispatcher, "others", elements=1, size=1)
    assert dispatcher._journal is not None
    dispatcher._journal.close()
    events, end = journal.read(path)
    assert end == path.stat().st_size
    assert "others" in {event.get("dataset") for event in events}


def test_a_journal_of_another_version_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    content = journal.record({**journal.FIRST, "version": 1})
    path.write_bytes(content)
    with pytest.raises(errors.FailedPreconditionError, match="another version"):
        Journal(str(tmp_path))
    assert path.read_bytes() == content


@pytest.mark.parametrize(
    "damage",
    [
        lambda content: content[:60] + bytes([content[60] ^ 1]) + content[61:],
        lambda content: content[:3] + bytes([content[3] ^ 1]) + content[4:],
        lambda content: b"no journal at all, but a text of some length",
    ],
    ids=["an event", "a length", "another file"],
)
def test_damage_is_told(tmp_path: Path, damage: Any) -> None:
    life(tmp_path, 3)
    path = tmp_path / "journal"
    content = damage(path.read_bytes())
    path.write_bytes(content)
    with pytest.raises(errors.DataLossError, match="damaged at byte"):
        Journal(str(tmp_path))
    assert path.read_bytes() == content
    path.unlink()
    Journal(str(tmp_path)).close()  # and nobody holds the directory


def test_a_tail_that_was_never_written_is_cut_off(tmp_path: Path) -> None:
    promised = life(tmp_path, 3)
    path = tmp_path / "journal"
    path.write_bytes(path.read_bytes() + bytes(100))
    events, end = journal.read(path)
    assert end == promised[-1][0]
    assert state_of(events) == promised[-1][1]


def test_one_dispatcher_has_a_directory(tmp_path: Path) -> None:
    first = Journal(str(tmp_path))
    with pytest.raises(errors.FailedPreconditionError, match="another dispatcher"):
        Journal(str(tmp_path))
    first.close()
    Journal(str(tmp_path)).close()


def test_a_long_journal_is_written_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journal, "_GROWTH", 500)
    dispatcher = Dispatcher(Journal(str(tmp_path)))
    register(dispatcher, "numbers", elements=1000, size=1)
    answers = dispatcher.answers()
    job = answers["OpenJob"]({**JOB, "consumer": "a"}, b"")[0]["job"]
    for number in range(20):
        fields = {"job": job, "consumer": "a", "request": f"{number}"}
        asked = {**fields, "most": 1, "waits": True}
        (told,) = answers["NextPiece"](asked, b"")[0]["pieces"]
        answers["Claim"]({**fields, "claims": [[told["piece"], 0, 1, True]]}, b"")
    before = (tmp_path / "journal").stat().st_size
    dispatcher.look_around()
    assert (tmp_path / "journal").stat().st_size < before / 2
    events = list(dispatcher.state.events())
    assert dispatcher._journal is not None
    dispatcher._journal.close()
    found, _ = journal.read(tmp_path / "journal")
    assert state_of(found) == {"events": events}


def test_a_disk_that_refuses_is_not_trusted_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dispatcher = Dispatcher(Journal(str(tmp_path)))

    def fail(file: int) -> None:
        raise OSError("no space left")

    monkeypatch.setattr(os, "fdatasync", fail)
    with pytest.raises(errors.InternalError, match="no space left"):
        register(dispatcher, "numbers", elements=1, size=1)
    monkeypatch.undo()
    with pytest.raises(errors.InternalError, match="no space left"):
        register(dispatcher, "others", elements=1, size=1)
    assert dispatcher._journal is not None
    dispatcher._journal.close()
