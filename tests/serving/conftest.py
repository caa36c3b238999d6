"""A server that many tests ask, and servers of one test."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.serving import models
from tests.serving.servers import Served, start, write_config


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Models `half` (version 1 and 2), `dtypes` and `moody`; nobody changes it."""
    base = tmp_path_factory.mktemp("served")
    models.half_plus(base / "half", 1, 2.0)
    models.half_plus(base / "half", 2, 3.0)
    models.every_dtype(base / "dtypes")
    models.moody(base / "moody")
    config = write_config(base, "half", "dtypes", "moody").replace("\n", "")
    text = Path(config).read_text()
    both = (
        "model_version_policy { all {} } "
        'version_labels { key: "stable" value: 1 } '
        'version_labels { key: "canary" value: 2 }'
    )
    first = f'base_path: "{base / "half"}"'
    Path(config).write_text(text.replace(first, f"{first} {both}"))
    found = start(
        base, model_config_file=config, enable_signature_method_name_check=True
    )
    yield found
    found.server.stop()


@pytest.fixture
def start_server(tmp_path: Path) -> Iterator[Callable[..., Served]]:
    """Starts servers that end with the test."""
    started: list[Served] = []

    def run(**options: Any) -> Served:
        started.append(start(tmp_path, **options))
        return started[-1]

    yield run
    for served in started:
        served.server.stop(0.5)
