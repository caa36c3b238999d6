"""`tensorloom saved-model`: shows, runs and scans SavedModels."""

from __future__ import annotations

from tensorloom.cli.actions import Action, group
from tensorloom.cli.saved_models.run import add_run, run_saved_model
from tensorloom.cli.saved_models.scan import add_scan, scan_saved_model
from tensorloom.cli.saved_models.show import add_show, show_saved_model

COMMAND = group(
    "saved-model",
    "show what a SavedModel takes and gives, run it, or scan its ops",
    (
        Action("show", "list tag-sets and signatures", add_show, show_saved_model),
        Action("run", "run a signature on inputs from files", add_run, run_saved_model),
        Action("scan", "look for ops that touch files", add_scan, scan_saved_model),
    ),
)
