"""What an audit found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

ERROR = "error"  # it will not run
WARNING = "warning"  # it will run, perhaps otherwise than expected
NOTE = "note"  # good to know


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing found."""

    severity: str
    subject: str  # an op, an attr, a name such as tf.contrib, a variable
    where: str  # a node, or FILE:LINE
    message: str
    remedy: str = ""  # the nearest replacement, or what to do
    count: int = 1  # how often
    places: tuple[str, ...] = ()  # every FILE:LINE, where it is of a program

    def __str__(self) -> str:
        text = f"{self.where}: {self.severity}: {self.message}"
        if self.count > 1:
            text += f" ({self.count} times)"
        return f"{text}; {self.remedy}" if self.remedy else text


@dataclass(frozen=True)
class Audit:
    """The answer for one path."""

    path: str
    kind: str  # what it is: "SavedModel", "program", ...
    findings: Sequence[Finding] = ()
    facts: dict[str, Any] = field(default_factory=dict)

    @property
    def will_run(self) -> bool:
        """True when nothing was found that keeps it from running."""
        return all(finding.severity != ERROR for finding in self.findings)

    def absent_names(self) -> list[tuple[str, int, list[str]]]:
        """Of programs: each name that is missing, how often it is used, and in which
        files; what is used in most files first."""
        uses: dict[str, list[str]] = {}
        for finding in self.findings:
            if finding.severity == ERROR and finding.places:
                uses.setdefault(finding.subject, []).extend(finding.places)
        counted = [
            (name, len(places), sorted({p.rpartition(":")[0] for p in places}))
            for name, places in uses.items()
        ]
        return sorted(counted, key=lambda one: (-len(one[2]), -one[1], one[0]))

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "path": self.path,
            "kind": self.kind,
            "will_run": self.will_run,
            "facts": self.facts,
            "findings": [asdict(finding) for finding in self.findings],
            "absent_names": [
                {"name": name, "uses": uses, "files": files}
                for name, uses, files in self.absent_names()
            ],
        }
