"""Huge pages are asked for where the system has them."""

from __future__ import annotations

import mmap
from pathlib import Path

import pytest

from tensorloom.framework.runtime import huge_pages

_HUGE = 1 << 21


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("Node 0, zone      DMA  1 0 0 0 0 0 0 0 0 0 0\n", 0),
        ("Node 0, zone   Normal  9 9 9 9 9 9 9 9 9 3 0\n", 3 * _HUGE),
        ("Node 0, zone   Normal  0 0 0 0 0 0 0 0 0 1 2\n" * 2, 10 * _HUGE),
        ("", 0),
    ],
)
def test_what_is_at_hand(tmp_path: Path, text: str, size: int) -> None:
    path = tmp_path / "buddyinfo"
    path.write_text(text)
    assert huge_pages.at_hand(str(path)) == size


def test_nobody_says(tmp_path: Path) -> None:
    assert huge_pages.at_hand(str(tmp_path / "none")) == 0


@pytest.mark.parametrize(
    ("text", "given_back"), [("9\n", True), ("10", False), ("-1", False), ("x", False)]
)
def test_what_goes_to_the_host(tmp_path: Path, text: str, given_back: bool) -> None:
    path = tmp_path / "page_reporting_order"
    path.write_text(text)
    assert huge_pages.are_given_back(str(path)) is given_back
    assert not huge_pages.are_given_back(str(tmp_path / "none"))


@pytest.mark.parametrize(
    ("free", "given_back", "asked"),
    [(1 << 20, False, []), (2 << 30, False, [True]), (2 << 30, True, [])],
)
def test_asking(
    monkeypatch: pytest.MonkeyPatch, free: int, given_back: bool, asked: list[bool]
) -> None:
    class Memory:
        def madvise(self, advice: int) -> None:
            calls.append(advice == mmap.MADV_HUGEPAGE)

    calls: list[bool] = []
    monkeypatch.setattr(huge_pages, "at_hand", lambda: free)
    monkeypatch.setattr(huge_pages, "are_given_back", lambda: given_back)
    huge_pages.ask_for(Memory(), 1 << 25)  # type: ignore[arg-type]
    assert calls == asked
