"""Models as programs of `torch.export`, and as the machine code of AOTInductor."""

from __future__ import annotations

import contextlib
import io
import os
import shutil
import tempfile
import warnings
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from tensorloom.deploy import examples
from tensorloom.deploy.exporting import DIFFERENCE, tensors, written
from tensorloom.deploy.program import Refusal, program_of, refused
from tensorloom.framework import errors

if TYPE_CHECKING:
    from tensorloom.deploy.examples import Examples
    from tensorloom.deploy.exporting import Export
    from tensorloom.deploy.frozen_model import FrozenModel
    from tensorloom.deploy.program import Program

# torch.export follows one way through a program.
_OF_VALUES: Final = (
    *("If", "StatelessIf", "While", "StatelessWhile", "Where", "ReverseSequence"),
    *("NonMaxSuppression", "NonMaxSuppressionV2", "NonMaxSuppressionV3"),
)


def to_torch(
    model: FrozenModel,
    path: str,
    given: Examples | None = None,
    difference: float = DIFFERENCE,
) -> Export:
    """Writes a model as a program of `torch.export`, after torch ran it from the file.

    The axes of inputs stay open that the model leaves open. The program has no loops
    and branches. See `exporting.to_onnx` for the arguments and errors.
    """
    import torch

    program = program_of(model)
    file = io.BytesIO()
    with _refusing("torch.export cannot trace the model (TorchScript may)"):
        torch.export.save(_exported(model, program, given), file)
        data = file.getvalue()
        loaded = torch.export.load(io.BytesIO(data)).module()
    run = _runner(program, loaded)
    return written(model, path, "torch.export", data, run, given, difference)


def to_aotinductor(
    model: FrozenModel,
    path: str,
    given: Examples | None = None,
    difference: float = DIFFERENCE,
) -> Export:
    """Writes a model as machine code, after it gave the model's outputs from the file.

    `torch._inductor.aoti_load_package(path)`, or its C++ likeness, loads it; it takes
    the inputs in order, and gives a dict of the outputs. It is made for this
    processor, and for models that `to_torch` takes. See `exporting.to_onnx` for the
    arguments and errors.

    Raises:
      errors.FailedPreconditionError: there is no C++ compiler, too.
    """
    program = program_of(model)
    with _refusing("torch.export cannot trace the model"):
        exported = _exported(model, program, given)
    _check_compiler()
    from torch._inductor import aoti_compile_and_package, aoti_load_package

    # What was loaded stays mapped when the folder goes.
    with tempfile.TemporaryDirectory() as folder:
        file = str(Path(folder) / "model.pt2")
        with _refusing("AOTInductor cannot compile the model"):
            # It runs in as many threads as its caller has then.
            settings = {"cpp.dynamic_threads": True}
            aoti_compile_and_package(
                exported, package_path=file, inductor_configs=settings
            )
            loaded = aoti_load_package(file)
        data = Path(file).read_bytes()
        run = _runner(program, loaded)
        return written(model, path, "AOTInductor", data, run, given, difference)


def _check_compiler() -> None:
    name = os.environ.get("CXX") or "g++"
    if shutil.which(name) is None:
        raise errors.FailedPreconditionError(
            None,
            None,
            f"nothing is written: there is no C++ compiler '{name}' (the variable CXX "
            "may name another)",
        )


def _exported(model: FrozenModel, program: Program, given: Examples | None) -> Any:
    """The program as torch traces it.

    Raises:
      errors.UnimplementedError: nodes do what depends on values, or have no form in
        torch; the message has all.
      Exception: torch cannot trace it.
    """
    import torch

    from tensorloom.deploy.torchscript import module

    found = [
        Refusal(node.name, node.op, "what it does depends on values: use torchscript")
        for node in program.graph.nodes.values()
        if node.op in _OF_VALUES
    ]
    if found:
        raise refused("a program of torch.export", found)
    batches = (given or examples.made_up(model)).batches
    sizes = [
        {
            axis: torch.export.Dim.AUTO
            for axis, size in enumerate(_known(shape))
            if not size
        }
        for _, _, shape in program.inputs
    ]
    return torch.export.export(
        module.module_of(program),
        tuple(tensors(program, batches[0])),
        dynamic_shapes=tuple(sizes),
    )


@contextlib.contextmanager
def _refusing(what: str) -> Iterator[None]:
    """Says in TensorFlow's terms that torch cannot do something."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of torch about its own parts
            yield
    except errors.OpError:
        raise
    except Exception as error:
        reason = str(error).partition("\n")[0]
        raise errors.UnimplementedError(None, None, f"{what}: {reason}") from error


def _runner(
    program: Program, loaded: Callable[..., Any]
) -> Callable[[Mapping[str, Any]], dict[str, Any]]:
    import torch

    def run(values: Mapping[str, Any]) -> dict[str, Any]:
        with torch.no_grad():
            found = loaded(*tensors(program, values))
        return {key: value.numpy() for key, value in found.items()}

    return run


def _known(shape: Any) -> list[int | None]:
    if shape.ndims is None:
        raise errors.UnimplementedError(
            None, None, "torch.export needs inputs whose rank is known"
        )
    return list(shape.as_list())
