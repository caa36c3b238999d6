"""What the process that compiles does: traces a function, and hands it to torch.

The kernels of the function's nodes run once, over tensors without elements; torch's
tracer writes down which of its operations they call. Inductor makes one shared library
of these: elementwise operations in one loop, products by the libraries that torch has.
"""

from __future__ import annotations

import contextlib
import ctypes
import dataclasses
import json
import os
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from tensorloom.devices import cpu
from tensorloom.devices import device as devices
from tensorloom.framework.graph import graph_def
from tensorloom.framework.runtime.resource import ResourceManager
from tensorloom.framework.types.tensor_shape import TensorShape
from tensorloom.worker.compile.piece import compile_over_tensors
from tensorloom.worker.compiled.plain_kernels import TracedEmitter
from tensorloom.worker.compiled.request import Request

if TYPE_CHECKING:
    import torch

_ = cpu  # registers the kind of device
_TASK: Final = "/job:localhost/replica:0/task:0"
_PR_SET_PDEATHSIG: Final = 1
_NICENESS: Final = 19


def main() -> None:
    """Compiles what lines of standard input ask for until it ends."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what a compiler prints is no answer
    with contextlib.suppress(OSError):
        os.nice(_NICENESS)
    if sys.platform.startswith("linux"):  # it ends with who started it
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    for line in sys.stdin.buffer:
        request, path = Request.of_line(line)
        problem = None
        try:
            compile_into(request, path)
        except Exception as error:
            problem = f"{type(error).__name__}: {str(error).strip()[:2000]}"
        print(json.dumps({"problem": problem}), file=answers, flush=True)


def compile_into(request: Request, path: Path) -> None:
    """Writes the code of a function into a file, whole or not at all.

    Raises:
      Exception: of whatever kind: a kernel cannot be traced, or the compiler failed.
    """
    import torch
    from torch._inductor import aoti_compile_and_package

    traced, example = trace(request)
    exported = torch.export.export(traced, tuple(example))
    beside = path.with_name(f"{path.stem}.{os.getpid()}.pt2")
    try:
        aoti_compile_and_package(
            exported,
            package_path=str(beside),
            # As many threads as its caller has when it runs.
            inductor_configs={"cpp.dynamic_threads": True},
        )
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)


def trace(request: Request) -> tuple[torch.fx.GraphModule, list[Any]]:
    """The function as torch's operations, and arguments such as it takes."""
    import torch
    from torch._subclasses.fake_tensor import FakeTensorMode
    from torch.fx.experimental.proxy_tensor import make_fx

    functions = graph_def.from_proto(
        graph_def.parse(request.function), internal=True
    ).functions
    function = functions[request.name]
    shapes = tuple(TensorShape.of(shape) for shape in request.shapes)
    functions[request.name] = dataclasses.replace(function, arg_shapes=shapes)
    device = devices.make_devices(_TASK, {"CPU": 1}, {})[0]
    emitter = TracedEmitter(device, ResourceManager(), functions, {})
    call = compile_over_tensors(emitter, request.name)
    pairs = zip(request.shapes, request.dtypes, strict=True)
    example = [torch.zeros(shape, dtype=getattr(torch, name)) for shape, name in pairs]
    # Constants of the function have their elements; nothing else has any.
    with torch.no_grad(), FakeTensorMode(allow_non_fake_inputs=True) as mode:
        fake = [mode.from_tensor(tensor) for tensor in example]
        traced = make_fx(lambda *args: list(call(args, None)))(*fake)
    return traced, example


if __name__ == "__main__":
    main()
