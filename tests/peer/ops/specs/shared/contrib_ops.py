"""Parts of specs that several families use: alone_spec, scalar_input."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.peer.ops.spec import spec


def alone_spec(ops: str, make: Any, **options: Any) -> None:
    spec(ops, make, **{"mutate": (), "gradient": False, **options})


def scalar_input(value: Any, dtype: Any = np.int32) -> Any:
    return np.array(value, dtype)
