"""Filters of the exports of a model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tensorloom.compat.graphs import export_collection as exports
from tensorloom.compat.graphs.export_collection import Path

if TYPE_CHECKING:
    import pathlib


@pytest.mark.parametrize(
    ("keep", "versions", "kept"),
    [
        (exports.largest_export_versions(2), [9, 7, 8], [8, 9]),
        (exports.largest_export_versions(2), [0, 3], [0, 3]),
        (exports.largest_export_versions(0), [0, 3], []),
        (exports.mod_export_version(3), [4, 6, 9], [6, 9]),
        (exports.one_of_every_n_export_versions(3), [0, 1, 3, 5, 6, 33], [3, 6, 33]),
        (exports.one_of_every_n_export_versions(3), [0, 4, 5], [0, 5]),
        (exports.negation(exports.mod_export_version(2)), [4, 5, 6], [5]),
        (
            exports.union(
                exports.largest_export_versions(1), exports.mod_export_version(3)
            ),
            [3, 4, 5],
            [3, 5],
        ),
    ],
)
def test_a_filter_keeps_paths(keep: Any, versions: list[int], kept: list[int]) -> None:
    found = keep([Path("/model", version) for version in versions])
    assert [path.export_version for path in found] == kept


def test_the_directories_that_have_a_version(tmp_path: pathlib.Path) -> None:
    for name in ("2", "1", "other"):
        (tmp_path / name).mkdir()

    def version(path: Path) -> Path | None:
        name = path.path.rpartition("/")[2]
        return path._replace(export_version=int(name)) if name.isdigit() else None

    found = exports.get_paths(str(tmp_path).encode(), version)
    assert found == [Path(str(tmp_path / name), int(name)) for name in ("1", "2")]
