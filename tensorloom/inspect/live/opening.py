"""Opens the live page, and says where it is."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import Final

from tensorloom.inspect.live.dashboard import Dashboard
from tensorloom.inspect.live.watcher import Ask, Watcher

TOKEN_VARIABLE: Final = "TENSORLOOM_DASHBOARD_TOKEN"


def open_dashboard(tasks: Mapping[str, Ask], port: int, host: str) -> Dashboard:
    """Serves the page of these tasks; its address goes to the standard error.

    Raises:
      OSError: it cannot listen there.
    """
    token = os.environ.get(TOKEN_VARIABLE) or None
    dashboard = Dashboard(Watcher(tasks), port, host, token)
    dashboard.start()
    print(f"The dashboard is at {dashboard.url}", file=sys.stderr, flush=True)
    return dashboard
