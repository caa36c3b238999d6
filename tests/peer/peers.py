"""Processes of real TensorFlow, and the comparison of a program run there and here."""

from __future__ import annotations

import os
import pickle
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tests.peer import runner

REPOSITORY = Path(__file__).resolve().parents[2]
# Where `make peer` puts the environments, unless these variables say otherwise.
ENVIRONMENTS = {
    "1.15": os.environ.get("PEER115", ".venv-tf115"),
    "2.21": os.environ.get("PEER221", ".venv-tf221"),
}
ASPECTS = ("error", "ops", "attrs", "values")


def python_of(version: str) -> Path | None:
    """The Python of the environment with that TensorFlow; None if it is not there."""
    python = REPOSITORY / ENVIRONMENTS[version] / "bin" / "python"
    return python if python.exists() else None


class Peer:
    """A process that runs programs in one version of TensorFlow."""

    def __init__(self, version: str, script: str = runner.__file__) -> None:
        python = python_of(version)
        if python is None:
            raise FileNotFoundError(
                f"no environment for TensorFlow {version}: make peer"
            )
        self.version = version
        environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
        self._process = subprocess.Popen(
            [python, script, version],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
        )
        self.full_version = self._read(16).decode().strip()
        self._known: dict[tuple[str, bool], dict[str, Any]] = {}

    def execute(
        self, source: str, *, ops: bool = True, again: bool = False
    ) -> dict[str, Any]:
        """What `runner.execute` says of the program there; asked once a program.

        With `again` the program is run once more.
        """
        key = source, ops
        if again or key not in self._known:
            arguments = {"source": source, "ops": ops}
            request = pickle.dumps(arguments, protocol=runner.PROTOCOL)
            stdin = self._process.stdin
            assert stdin is not None
            stdin.write(runner.HEADER.pack(len(request)) + request)
            stdin.flush()
            length = runner.HEADER.unpack(self._read(runner.HEADER.size))[0]
            self._known[key] = pickle.loads(self._read(length))
        return self._known[key]

    def close(self) -> None:
        """Ends the process; one that does not end by itself, by force."""
        for stream in (self._process.stdin, self._process.stdout):
            assert stream is not None
            stream.close()
        try:
            self._process.wait(timeout=30)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _read(self, size: int) -> bytes:
        stdout = self._process.stdout
        assert stdout is not None
        data = stdout.read(size)
        if len(data) < size:
            code = self._process.wait(timeout=30)
            raise RuntimeError(f"TensorFlow {self.version} ended with status {code}")
        return data


@dataclass(frozen=True)
class Tolerance:
    """How far two floating-point results may be apart.

    TensorFlow's own sums of a dozen products near one are off by 1.2e-6 on processors
    without AVX-512.
    """

    relative: float = 1e-5
    absolute: float = 2e-6


def compare_program(
    source: str,
    peer: Peer,
    aspects: tuple[str, ...] = ("error", "ops", "values"),
    tolerance: Tolerance | None = None,
) -> list[str]:
    """Runs `source` here and in `peer`; one line for each difference, none if equal.

    `aspects`: "error" (class of the exception that ended it), "ops" (names, types,
    inputs, control inputs, devices, dtypes, static shapes), "attrs" (of each
    node), "values".
    """
    import tensorloom as tf

    theirs = peer.execute(source)
    ours = runner.execute(tf, source)
    tolerance = tolerance or Tolerance()
    differences = _differences(ours, theirs, aspects, tolerance)
    # Some programs race in TensorFlow itself (its readers at the end of a file do), and
    # two of its runs may end alike by chance. Ours has to be right at once.
    for _ in range(4):
        if not differences:
            break
        repeated = peer.execute(source, again=True)
        differences = _differences(ours, repeated, aspects, tolerance)
    return differences


def _differences(
    ours: dict[str, Any],
    theirs: dict[str, Any],
    aspects: tuple[str, ...],
    tolerance: Tolerance,
) -> list[str]:
    differences: list[str] = []
    if "error" in aspects:
        differences += _error_differences(ours["error"], theirs["error"])
    if "ops" in aspects:
        differences += _op_differences(ours["ops"], theirs["ops"])
    if "attrs" in aspects:
        differences += _attr_differences(ours["ops"], theirs["ops"])
    if "values" in aspects and ours["error"] and not differences:
        # One mistake in the program would hide what stands after it.
        differences.append(f"both stop before the end: {_error_text(ours['error'])}")
    if "values" in aspects and not differences:
        differences += value_differences(ours["result"], theirs["result"], tolerance)
    return differences


def _error_differences(ours: Any, theirs: Any) -> list[str]:
    if (ours and ours[0]) == (theirs and theirs[0]):
        return []
    told = f"error: ours {_error_text(ours)}, TensorFlow's {_error_text(theirs)}"
    return [told, *([ours[2]] if ours else [])]


def _error_text(error: Any) -> str:
    return "none" if error is None else f"{error[0]}({error[1][:200]!r})"


OP_FIELDS = (
    "type",
    "inputs",
    "control_inputs",
    "device",
    "dtypes",
    "shapes",
)


def _op_differences(ours: list[Any], theirs: list[Any]) -> list[str]:
    mine = {op["name"]: op for op in ours}
    real = {op["name"]: op for op in theirs}
    missing = [name for name in real if name not in mine]
    extra = [name for name in mine if name not in real]
    lines = [f"ops missing here: {missing[:12]}"] if missing else []
    lines += [f"ops only here: {extra[:12]}"] if extra else []
    for name in [name for name in real if name in mine]:
        lines += [
            f"op {name!r} {field}: ours {mine[name][field]}, TensorFlow's {expected}"
            for field in OP_FIELDS
            if mine[name][field] != (expected := real[name][field])
        ]
    if not lines and [op["name"] for op in ours] != [op["name"] for op in theirs]:
        lines.append("ops are the same but made in another order")
    return lines


def _attr_differences(ours: list[Any], theirs: list[Any]) -> list[str]:
    mine = {op["name"]: op["attrs"] for op in ours}
    return [
        f"op {op['name']!r} attrs: ours {sorted(mine[op['name']].items())}, "
        f"TensorFlow's {sorted(op['attrs'].items())}"
        for op in theirs
        if op["name"] in mine and mine[op["name"]] != op["attrs"]
    ]


def value_differences(
    ours: Any, theirs: Any, tolerance: Tolerance, path: str = "result"
) -> list[str]:
    """One line for each place where two outcomes of `runner.plain` differ."""
    if not (isinstance(ours, tuple) and isinstance(theirs, tuple)):
        if ours == theirs and type(ours) is type(theirs):
            return []
        if isinstance(ours, float) and isinstance(theirs, float):
            return _number_differences(ours, theirs, tolerance, path)
        return [f"{path}: ours {ours!r}, TensorFlow's {theirs!r}"]
    if ours[:1] == theirs[:1] == ("array",) and len(ours) == len(theirs) == 4:
        return _array_differences(ours, theirs, tolerance, path)
    if len(ours) != len(theirs):
        return [f"{path}: ours {ours!r}, TensorFlow's {theirs!r}"]
    lines: list[str] = []
    for index, (mine, real) in enumerate(zip(ours, theirs, strict=True)):
        lines += value_differences(mine, real, tolerance, f"{path}[{index}]")
    return lines


def _array_differences(
    ours: Any, theirs: Any, tolerance: Tolerance, path: str
) -> list[str]:
    if ours[1:3] != theirs[1:3]:
        return [f"{path}: ours {ours[1:3]}, TensorFlow's {theirs[1:3]}"]
    mine, real = read_array(ours), read_array(theirs)
    return _number_differences(mine, real, tolerance, path)


def _number_differences(
    mine: Any, real: Any, tolerance: Tolerance, path: str
) -> list[str]:
    a, b = np.asarray(mine), np.asarray(real)
    if a.dtype.kind not in "fcV":
        equal = np.array_equal(a, b)
    else:
        # Half precision keeps three digits, and sums round after each addition or once.
        relative = 2e-3 if a.dtype.itemsize == 2 else tolerance.relative
        wide = np.complex128 if np.iscomplexobj(a) else np.float64
        a, b = a.astype(wide), b.astype(wide)
        # An element may be a small difference of large sums.
        magnitude = np.max(np.abs(b), initial=1.0, where=np.isfinite(b))
        absolute = tolerance.absolute * magnitude
        equal = np.allclose(a, b, rtol=relative, atol=absolute, equal_nan=True)
    return [] if equal else [f"{path}: {_apart(mine, real)}"]


def _apart(mine: Any, real: Any) -> str:
    """Small values whole, of large ones how many elements differ and how far."""
    if np.size(mine) <= 12:
        return f"ours {mine!r}, TensorFlow's {real!r}"
    a, b = np.asarray(mine), np.asarray(real)
    if a.dtype.kind not in "fiu":
        return f"{np.sum(a != b)} of {a.size} elements differ"
    a, b = a.astype(np.float64), b.astype(np.float64)
    with np.errstate(all="ignore"):
        far = np.abs(a - b)
        relative = np.nanmax(far / np.maximum(np.abs(b), 1e-30))
    return (
        f"{np.sum(a != b)} of {a.size} elements differ, by up to {np.nanmax(far):.3g}"
        f" (relative {relative:.3g})"
    )


def read_array(described: Any) -> Any:
    """The array that `runner.plain_array` took apart."""
    _, dtype, shape, data = described
    if dtype == "bfloat16":
        import ml_dtypes

        return np.frombuffer(data, ml_dtypes.bfloat16).reshape(shape)
    return np.frombuffer(data, np.dtype(dtype)).reshape(shape)
