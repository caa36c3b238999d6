"""Models for other runtimes: each is run there and compared before it is kept."""

from __future__ import annotations

import importlib
import io
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tensorloom.deploy import comparison, examples
from tensorloom.deploy.program import program_of
from tensorloom.deploy.runner import Runner, joined
from tensorloom.framework import errors
from tensorloom.storage.files import filesystem

if TYPE_CHECKING:
    from tensorloom.deploy.examples import Examples
    from tensorloom.deploy.frozen_model import FrozenModel
    from tensorloom.deploy.program import Program

#: The largest difference of an output, as a share of its largest value.
DIFFERENCE: Final = 1e-3


@dataclass(frozen=True)
class Export:
    """What was written."""

    path: str
    format: str
    size_bytes: int
    #: By output: how far the other runtime's is from ours.
    differences: Mapping[str, float]
    #: What both were run with.
    source: str


def needed(name: str) -> ModuleType:
    """A library of the extra `export`.

    Raises:
      errors.FailedPreconditionError: it is not installed.
    """
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise errors.FailedPreconditionError(
            None, None, f"{error}: install 'tensorloom[export]'"
        ) from error


def to_onnx(
    model: FrozenModel,
    path: str,
    given: Examples | None = None,
    difference: float = DIFFERENCE,
) -> Export:
    """Writes a model as ONNX, after ONNX Runtime gave its outputs.

    Args:
      model: what is written.
      path: the file.
      given: what both are run with; values are made up if it is None.
      difference: how far outputs may be away, as a share of their largest value.

    Raises:
      errors.FailedPreconditionError: a library is not there, or outputs differ.
      errors.UnimplementedError: nodes cannot be written; the message has all.
    """
    needed("onnx")
    runtime = needed("onnxruntime")
    from tensorloom.deploy.onnx import exporter

    program = program_of(model)
    data = exporter.export(program).SerializeToString()
    options = runtime.SessionOptions()
    options.log_severity_level = 3
    options.intra_op_num_threads = 1
    session = runtime.InferenceSession(
        data, options, providers=["CPUExecutionProvider"]
    )
    names = [exporter.output_name(program, key) for key in model.outputs]
    read = {one.name for one in session.get_inputs()}

    def run(values: Mapping[str, Any]) -> dict[str, Any]:
        feeds = {key: _texts(v) for key, v in values.items() if key in read}
        return dict(zip(model.outputs, session.run(names, feeds), strict=True))

    return written(model, path, "ONNX", data, run, given, difference)


def _texts(value: Any) -> Any:
    """Bytes as the texts that ONNX Runtime takes."""
    array = np.asarray(value)
    if array.dtype != object:
        return array
    flat = [v.decode() if isinstance(v, bytes) else str(v) for v in array.flat]
    return np.array(flat, object).reshape(array.shape)


def written(
    model: FrozenModel,
    path: str,
    what: str,
    data: bytes,
    run: Any,
    given: Examples | None,
    difference: float,
) -> Export:
    """Compares what was made with the model, and writes it.

    Args:
      model: that was exported.
      path: the file.
      what: the name of the format.
      data: the file's content.
      run: gives the outputs of inputs, by their names.
      given, difference: as in `to_onnx`.

    Raises:
      errors.FailedPreconditionError: it does not run, or its outputs differ.
    """
    given = examples.as_fed(model, given or examples.made_up(model))
    with Runner(model) as runner:
        expected = runner.run_all(given.batches)
    try:
        found = joined([run(batch) for batch in given.batches])
    except Exception as error:
        raise errors.FailedPreconditionError(
            None, None, f"nothing is written: the {what} model does not run: {error}"
        ) from error
    away = comparison.differences(expected, {k: _bytes(v) for k, v in found.items()})
    wrong = {key: share for key, share in away.items() if not share <= difference}
    if wrong:
        raise errors.FailedPreconditionError(
            None,
            None,
            f"nothing is written: outputs of the {what} model differ: {wrong} of their "
            f"largest value (at most {difference:g})",
        )
    filesystem.write_file(path, data)
    return Export(path, what, len(data), away, given.source)


def _bytes(value: Any) -> Any:
    array = np.asarray(value)
    if array.dtype.kind == "U" or array.dtype == object:
        flat = [v.encode() if isinstance(v, str) else v for v in array.flat]
        made = np.empty(array.shape, object)
        made.reshape(-1)[:] = flat
        return made
    return array


def to_safetensors(values: Mapping[str, Any], path: str) -> Export:
    """Writes variables by their names, and reads them back.

    Raises:
      errors.FailedPreconditionError: the library is not there.
      errors.InvalidArgumentError: there are no variables, or some have dtypes that the
        format does not have.
    """
    library = needed("safetensors.numpy")
    if not values:
        raise errors.InvalidArgumentError(
            None, None, "nothing is written: the model has no variables"
        )
    arrays = {name: np.ascontiguousarray(value) for name, value in values.items()}
    odd = {
        name: str(v.dtype) for name, v in arrays.items() if v.dtype.kind not in "fiub"
    }
    if odd:
        raise errors.InvalidArgumentError(
            None, None, f"nothing is written: safetensors has no such dtypes: {odd}"
        )
    shaped = {name: arrays[name].reshape(np.shape(values[name])) for name in arrays}
    data = library.save(shaped)
    found = library.load(data)
    away = {
        name: 0.0 if found[name].tobytes() == value.tobytes() else float("inf")
        for name, value in shaped.items()
    }
    if any(away.values()):
        raise errors.DataLossError(None, None, f"{path}: values differ when read back")
    filesystem.write_file(path, data)
    return Export(path, "safetensors", len(data), away, "the file, read back")


def to_torchscript(
    model: FrozenModel,
    path: str,
    given: Examples | None = None,
    difference: float = DIFFERENCE,
) -> Export:
    """Writes a model as TorchScript, after torch gave its outputs from the file.

    The module takes the inputs by name or in order, and gives a dict of the outputs.
    See `to_onnx` for the arguments and errors.
    """
    import torch

    from tensorloom.deploy.torchscript import module

    program = program_of(model)
    file = io.BytesIO()
    with warnings.catch_warnings():
        # torch says with each use that there is torch.export too.
        warnings.simplefilter("ignore")
        torch.jit.save(module.script(program), file)
        data = file.getvalue()
        loaded = torch.jit.load(  # type: ignore[no-untyped-call]
            io.BytesIO(data)
        )

    def run(values: Mapping[str, Any]) -> dict[str, Any]:
        with torch.no_grad(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = loaded(*tensors(program, values))
        return {key: value.numpy() for key, value in found.items()}

    return written(model, path, "TorchScript", data, run, given, difference)


def tensors(program: Program, values: Mapping[str, Any]) -> list[Any]:
    """The inputs in order, for torch."""
    import torch

    return [torch.from_numpy(np.array(values[key])) for key, _, _ in program.inputs]
