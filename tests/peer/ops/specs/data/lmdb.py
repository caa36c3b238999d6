"""Datasets of LMDB databases, where the package that reads and writes them is installed."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

import numpy as np

from tests.peer.ops.program import Program
from tests.peer.ops.spec import spec
from tests.peer.ops.specs.data.pipelines import read
from tests.peer.ops.specs.shared.lmdb_files import ALONE, written_database
from tests.peer.ops.specs.shared.pipelines import shaped

if TYPE_CHECKING:
    from tests.peer.ops.draw import Draw


_PAIR = (["string", "string"], [(), ()])


def _dataset(d: Draw, name: str = "") -> Program:
    p = Program()
    names = p.const(np.array([(name or written_database(d)).encode()], object))
    made = p.op(d.op, names, **shaped(*_PAIR))
    return read(p, made, *_PAIR, 6)


if find_spec("lmdb") is not None:
    spec(
        "LMDBDataset ExperimentalLMDBDataset",
        _dataset,
        bad=(lambda d: _dataset(d, "/no/such/data.mdb"),),
        **ALONE,
    )
