"""The check of folders and circles finds what it is for."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools import check_layout


def _package(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = root / "house" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root / "house"


def test_a_folder_with_too_many_modules_is_told(tmp_path: Path) -> None:
    files = {f"room/m{i}.py": "" for i in range(check_layout.MOST_MODULES + 1)}
    house = _package(tmp_path, {"__init__.py": "", "room/__init__.py": "", **files})
    assert len(list(check_layout.crowded(house))) == 1
    (house / "room/m0.py").rename(house / "room/m0_pb2.py")
    assert not list(check_layout.crowded(house))


@pytest.mark.parametrize(
    ("first", "second", "is_circle"),
    [
        ("from house import b", "from house import a", True),
        ("from house.b import x", "def f():\n    from house.a import y", True),
        ("import house.b", "import house.a as other", True),
        ("from house import b", "", False),
        (
            "from house.b import x",
            "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n"
            "    from house.a import y",
            False,
        ),
    ],
)
def test_circles(tmp_path: Path, first: str, second: str, is_circle: bool) -> None:
    house = _package(tmp_path, {"__init__.py": "", "a.py": first, "b.py": second})
    assert bool(list(check_layout.circles(house))) == is_circle
