"""Generates tensorloom/protos/*_pb2.py and *_pb2.pyi from the .proto files beside them.

Usage: python tools/generate_protos.py

The check that protoc writes into each module, that the installed protobuf is not older
than protoc, is taken out: the modules only hand a serialized descriptor to the runtime,
which every protobuf from 4 on can do, and an application that also loads TensorFlow is
bound to the older protobuf that TensorFlow asks for. The modules put their messages in
the pool of `tensorloom/protos/pool.py` instead of protobuf's default one.
"""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path

from grpc_tools import protoc

ROOT = Path(__file__).resolve().parent.parent
PROTOS = ROOT / "tensorloom" / "protos"

_VERSION_CHECK = re.compile(
    r"^from google\.protobuf import runtime_version as _runtime_version\n"
    r"|^_runtime_version\.ValidateProtobufRuntimeVersion\(\n(?:    .*\n)*\)\n"
    r"|^# Protobuf Python Version: .*\n",
    re.MULTILINE,
)
_OWN_POOL = (
    (
        "from google.protobuf import descriptor_pool as _descriptor_pool\n"
        "from google.protobuf import symbol_database as _symbol_database\n"
        "from google.protobuf.internal import builder as _builder\n",
        "from tensorloom.protos import pool as _pool\n",
    ),
    ("_sym_db = _symbol_database.Default()\n", ""),
    ("_descriptor_pool.Default()", "_pool.POOL"),
    ("_builder.BuildMessageAndEnumDescriptors(DESCRIPTOR, _globals)\n", ""),
    ("_builder.BuildTopDescriptorsAndMessages(", "_pool.build("),
)


def main() -> int:
    """Runs protoc on all files; returns its exit status."""
    sources = sorted(str(path.relative_to(ROOT)) for path in PROTOS.rglob("*.proto"))
    status = protoc.main(
        [
            "protoc",
            f"-I{ROOT}",
            f"-I{Path(protoc.__file__).parent / '_proto'}",
            f"--plugin=protoc-gen-mypy={_plugin('protoc-gen-mypy')}",
            f"--python_out={ROOT}",
            f"--mypy_out=quiet:{ROOT}",
            *sources,
        ]
    )
    if status == 0:
        for module in PROTOS.rglob("*_pb2.py"):
            module.write_text(_into_own_pool(module.read_text()))
    return int(status)


def _into_own_pool(source: str) -> str:
    """A generated module whose messages go to our pool, for any protobuf from 4 on.

    Raises:
      SystemExit: protoc wrote something else than expected.
    """
    source = _VERSION_CHECK.sub("", source)
    for theirs, ours in _OWN_POOL:
        if theirs not in source:
            raise SystemExit(f"protoc's output has no {theirs!r} any more")
        source = source.replace(theirs, ours)
    return source


def _plugin(name: str) -> str:
    beside_python = Path(sys.executable).parent / name
    found = str(beside_python) if beside_python.exists() else shutil.which(name)
    if found is None:
        raise SystemExit(f"{name} is not installed: pip install mypy-protobuf")
    return found


if __name__ == "__main__":
    raise SystemExit(main())
