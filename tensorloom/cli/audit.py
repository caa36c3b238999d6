"""`tensorloom audit PATH`: will it run here?"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import TYPE_CHECKING

from tensorloom.cli.actions import FINE, PROBLEMS, Action, progress, show, single

if TYPE_CHECKING:
    from tensorloom.inspect.findings import Audit


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "paths",
        nargs="+",
        metavar="PATH",
        help="a GraphDef, MetaGraph, SavedModel, checkpoint, Python program or "
        "notebook, or a directory of programs",
    )


def _execute(options: argparse.Namespace) -> int:
    from tensorloom.inspect.audit import audit

    with progress("audit", None) as step:
        audits = [audit(path, lambda what: step(what, 1)) for path in options.paths]
    show(
        options,
        [one.as_dict() for one in audits],
        (line for one in audits for line in _lines(one)),
    )
    return FINE if all(one.will_run for one in audits) else PROBLEMS


def _lines(audit: Audit) -> Iterator[str]:
    facts = ", ".join(f"{name} {value}" for name, value in audit.facts.items())
    yield f"{audit.path}: {audit.kind}" + (f" ({facts})" if facts else "")
    for finding in audit.findings:
        yield f"  {finding}"
    if audit.facts.get("files", 1) > 1:
        for name, uses, files in audit.absent_names():
            yield f"  missing: {name}, {uses} uses in {len(files)} files"
    problems = sum(finding.severity == "error" for finding in audit.findings)
    yield "  will run" if audit.will_run else f"  will NOT run: {problems} problems"


COMMAND = single(
    Action(
        "audit",
        "say whether a graph, model, checkpoint or program will run, and what is "
        "missing",
        _add_arguments,
        _execute,
    )
)
