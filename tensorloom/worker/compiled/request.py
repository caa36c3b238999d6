"""What is to be compiled, and under which name its code is kept."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import platform
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tensorloom.framework.registry import kept_index

PACKAGE: Final = Path(__file__).parents[2]
#: Where code is kept; without it, in the user's folder for such.
CACHE: Final = "TENSORLOOM_COMPILE_CACHE"
# Of what the code is made: a change of these files makes other code.
_SOURCES: Final = ("kernels/torch", "worker/compile", "worker/compiled")


@dataclass(frozen=True, slots=True)
class Request:
    """A function, for arguments of certain shapes."""

    #: A GraphDef whose library has it.
    function: bytes
    name: str
    #: Of the arguments, by torch's names.
    dtypes: tuple[str, ...]
    shapes: tuple[tuple[int, ...], ...]

    def to_line(self, path: Path) -> bytes:
        """The request as a line, with the file that the code goes to."""
        text = json.dumps(
            {
                "function": base64.b64encode(self.function).decode(),
                "name": self.name,
                "dtypes": self.dtypes,
                "shapes": self.shapes,
                "path": str(path),
            }
        )
        return text.encode() + b"\n"

    @staticmethod
    def of_line(line: bytes) -> tuple[Request, Path]:
        """What `to_line` wrote."""
        fields = json.loads(line)
        shapes = tuple(tuple(shape) for shape in fields["shapes"])
        function = base64.b64decode(fields["function"])
        request = Request(function, fields["name"], tuple(fields["dtypes"]), shapes)
        return request, Path(fields["path"])

    def path(self) -> Path:
        """The file of its code: of this function, torch, processor and package."""
        import torch

        digest = hashlib.sha256(self.function)
        told = (
            *(self.name, self.dtypes, self.shapes, torch.__version__),
            *(platform.machine(), torch.backends.cpu.get_cpu_capability()),
            kept_index.state_of(PACKAGE, _SOURCES),
        )
        digest.update(repr(told).encode())
        return cache_folder() / f"{digest.hexdigest()[:32]}.pt2"


def cache_folder() -> Path:
    """Where code is kept, of this user."""
    folder = os.environ.get(CACHE)
    if folder:
        return Path(folder)
    home = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return Path(home) / "tensorloom" / "compiled"
