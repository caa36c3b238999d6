"""Parts of specs that several families use: LMDB databases."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.peer.ops.process_count import process_count

if TYPE_CHECKING:
    from tests.peer.ops.draw import Draw

_FOLDER = Path(tempfile.gettempdir()) / "tensorloom-peer-files"
_NAMES = process_count()

# How the specs are given: each case in a session of its own.
ALONE: dict[str, Any] = {"types": (), "gradient": False, "mutate": (), "alone": True}


def written_database(d: Draw) -> str:
    """A database of some pairs; its file name."""
    import lmdb

    _FOLDER.mkdir(exist_ok=True)
    folder = _FOLDER / f"lmdb{next(_NAMES)}-{d.integer(0, 1 << 30)}"
    with (
        lmdb.open(str(folder), map_size=1 << 20) as database,
        database.begin(write=True) as transaction,
    ):
        for number in d.rng.permutation(d.integer(1, 5)):
            size = int(d.choice([0, 3, 5000]))
            transaction.put(b"key%d" % number, b"v" * size)
    return str(folder / "data.mdb")
