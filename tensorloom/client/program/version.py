"""`tf.version` and `tf.sysconfig`: what a program may ask about its TensorFlow.

The version is that of the TensorFlow whose behaviour a program gets, and the GraphDef
versions are what its graphs carry.
"""

from __future__ import annotations

import platform
import sysconfig
from pathlib import Path
from typing import Final

from tensorloom.framework.export import export, export_value
from tensorloom.framework.graph.graph_ir import MIN_CONSUMER_VERSION, PRODUCER_VERSION

VERSION: Final = "1.15.0"
GIT_VERSION: Final = f"v{VERSION}"
COMPILER_VERSION: Final = platform.python_compiler()
GRAPH_DEF_VERSION: Final = PRODUCER_VERSION
GRAPH_DEF_VERSION_MIN_CONSUMER: Final = MIN_CONSUMER_VERSION
GRAPH_DEF_VERSION_MIN_PRODUCER: Final = 0
# There is no C++ library of ours to be linked with: nothing is built monolithically.
CXX11_ABI_FLAG: Final = 0
MONOLITHIC_BUILD: Final = 0

for _name in (
    "GIT_VERSION",
    "COMPILER_VERSION",
    "GRAPH_DEF_VERSION",
    "GRAPH_DEF_VERSION_MIN_CONSUMER",
    "GRAPH_DEF_VERSION_MIN_PRODUCER",
):
    export_value(globals()[_name], _name, f"version.{_name}")
export_value(VERSION, "version.VERSION")
for _name in ("CXX11_ABI_FLAG", "MONOLITHIC_BUILD"):
    export_value(globals()[_name], _name, f"sysconfig.{_name}")

_PACKAGE: Final = Path(__file__).resolve().parents[2]


@export("sysconfig.get_include")
def get_include() -> str:
    """The folder of the header files: our C ABI's when installed, else Python's."""
    ours = _PACKAGE / "include"
    return str(ours) if ours.is_dir() else sysconfig.get_paths()["include"]


@export("sysconfig.get_lib")
def get_lib() -> str:
    """The folder of the package."""
    return str(_PACKAGE)


@export("sysconfig.get_compile_flags")
def get_compile_flags() -> list[str]:
    """Flags that a C++ extension is compiled with."""
    return [f"-I{get_include()}", f"-D_GLIBCXX_USE_CXX11_ABI={CXX11_ABI_FLAG}"]


@export("sysconfig.get_link_flags")
def get_link_flags() -> list[str]:
    """Flags that a C++ extension is linked with."""
    return [f"-L{get_lib()}"]
