"""The comparison of answers of `batch_runner`."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.peer import peers, runner
from tests.peer.ops.spec import Spec, Tolerance

Answer = dict[str, Any]
# (relative, absolute for a result whose largest magnitude is 1)
DEFAULT = {
    "float16": (2e-3, 2e-3),
    "bfloat16": (1.6e-2, 1.6e-2),
    "float32": (1e-5, 1e-6),
    "complex64": (1e-5, 1e-6),
    "float64": (1e-9, 1e-12),
    "complex128": (1e-9, 1e-12),
}
GRADIENT_WIDENED = 4.0  # 16-bit types
NO_KERNEL = (
    "No OpKernel was registered",
    "no supported kernel for CPU devices",
    "Could not find device for node",
    "No registered '",
    "Unsupported data type",
    "data type is not supported",
    "No WhereOp available",
    "is not in the list of allowed values",  # dtypes that later versions added
)


def outcome(answer: Answer) -> tuple[str, ...]:
    """("construction", class), ("run", class) or ("fine",)."""
    if answer["error"] is not None:
        return ("construction", answer["error"][0])
    for step in answer["steps"]:
        if "error" in step:
            return ("run", step["error"][0])
    return ("fine",)


def message(answer: Answer) -> str:
    """The message of the error of `outcome`."""
    if answer["error"] is not None:
        return str(answer["error"][1])
    return next((s["error"][1] for s in answer["steps"] if "error" in s), "")


def no_kernel(answer: Answer) -> bool:
    """Whether TensorFlow has no kernel for this op and dtype on a CPU."""
    said = message(answer)
    return any(words in said for words in NO_KERNEL)


def static_differences(ours: Answer, theirs: Answer) -> list[str]:
    """Static dtypes and shapes of all outputs."""
    if theirs["error"] is not None:
        return error_differences(ours, theirs)
    if ours["error"] is not None:
        return [f"construction fails here: {ours['error']}"]
    pairs = enumerate(zip(ours["static"], theirs["static"], strict=True))
    return [
        f"static output {i}: ours {mine}, TensorFlow's {real}"
        for i, (mine, real) in pairs
        if mine[0] != real[0] or mine[1] != real[1]
    ]


def error_differences(ours: Answer, theirs: Answer) -> list[str]:
    """Which stage fails, with which class."""
    mine, real = outcome(ours), outcome(theirs)
    if mine == real:
        return []
    return [
        f"ours {' '.join(mine)} {message(ours)[:300]!r}, "
        f"TensorFlow's {' '.join(real)} {message(theirs)[:300]!r}"
    ]


def step_differences(
    ours: Answer, theirs: Answer, spec: Spec, invalid: bool = False
) -> list[str]:
    """What the steps fetched; of an invalid case up to the first error."""
    if outcome(ours) != outcome(theirs):
        return error_differences(ours, theirs)
    lines: list[str] = []
    for number, (mine, real) in enumerate(
        zip(ours["steps"], theirs["steps"], strict=True)
    ):
        if "error" in real or "error" in mine:
            a, b = mine.get("error", ["none"]), real.get("error", ["none"])
            if a[0] != b[0]:
                lines.append(f"step {number}: ours {a}, TensorFlow's {b}")
            if invalid:  # what a failed update leaves behind is not defined
                break
            continue
        lines += list_differences(
            mine["values"], real["values"], spec, f"step {number} output"
        )
    return lines


def list_differences(
    ours: list[Any], theirs: list[Any], spec: Spec, where: str
) -> list[str]:
    """Of two lists of plain values."""
    if spec.canonical is not None:
        ours, theirs = canonical(ours, spec), canonical(theirs, spec)
    lines: list[str] = []
    for i, (mine, real) in enumerate(zip(ours, theirs, strict=True)):
        found = value_difference(mine, real, spec.tolerance)
        lines += [f"{where} {i}: {line}" for line in found]
    return lines


def canonical(values: list[Any], spec: Spec) -> list[Any]:
    """Values in a form that does not show what is free to differ."""
    assert spec.canonical is not None
    return [
        runner.plain_array(np.asarray(a)) for a in spec.canonical([*map(array, values)])
    ]


def array(plain: Any) -> Any:
    """The array of a plain value; quantized ones as their base integers."""
    if plain[0] == "strings":
        items = np.empty(len(plain[2]), object)
        items[:] = plain[2]
        return items.reshape(plain[1])
    name = {"qint8": "int8", "quint8": "uint8", "qint32": "int32"}.get(
        plain[1], plain[1]
    )
    name = {"qint16": "int16", "quint16": "uint16"}.get(name, name)
    return peers.read_array(("array", name, plain[2], plain[3]))


def value_difference(
    ours: Any, theirs: Any, tolerance: Tolerance, loose: bool = False
) -> list[str]:
    """Of two plain values (arrays, None, or slices).

    loose: slices may stand for a tensor: a gradient function that does not know that
    the axis is 0 makes a tensor.
    """
    if ours is None or theirs is None or "slices" in (ours[0], theirs[0]):
        return slices_difference(ours, theirs, tolerance, loose)
    if ours[0] != theirs[0] or ours[0] == "strings":
        equal = tuple(ours) == tuple(theirs)
        return [] if equal else [f"ours {short(ours)}, TensorFlow's {short(theirs)}"]
    if tuple(ours[1:3]) != tuple(theirs[1:3]):
        return [f"ours {ours[1]}{ours[2]}, TensorFlow's {theirs[1]}{theirs[2]}"]
    return number_difference(array(ours), array(theirs), ours[1], tolerance)


def slices_difference(
    ours: Any, theirs: Any, tolerance: Tolerance, loose: bool
) -> list[str]:
    """Where one is None or an IndexedSlices."""
    if ours is None and theirs is None:
        return []
    if ours is None or theirs is None or ours[0] != theirs[0]:
        if loose and ours and theirs:
            return value_difference(*dense_pair(ours, theirs), tolerance)
        return [f"ours {short(ours)}, TensorFlow's {short(theirs)}"]
    return value_difference(ours[1], theirs[1], tolerance) + value_difference(
        ours[2], theirs[2], tolerance
    )


def dense_pair(ours: Any, theirs: Any) -> tuple[Any, Any]:
    """Slices and a tensor, both as tensors."""
    if ours[0] == "slices":
        return densified(ours, array(theirs)), theirs
    return ours, densified(theirs, array(ours))


def densified(slices: Any, like: Any) -> Any:
    """IndexedSlices as a tensor of the shape of another."""
    total = np.zeros(like.shape, like.dtype)
    np.add.at(total, array(slices[2]), array(slices[1]))
    return runner.plain_array(total)


def short(plain: Any) -> str:
    """A plain value for a message."""
    if plain is None:
        return "None"
    if plain[0] == "strings":
        return f"strings{plain[1]} {plain[2]!r:.120}"
    if plain[0] == "slices":
        return "IndexedSlices"
    return f"{plain[1]}{plain[2]}"


def number_difference(
    mine: Any, real: Any, dtype: str, tolerance: Tolerance
) -> list[str]:
    """Of two arrays of one dtype and shape."""
    if dtype not in DEFAULT:
        equal = bool(np.array_equal(mine, real))
    else:
        relative, absolute = DEFAULT[dtype]
        relative = max(relative, tolerance.relative or 0)
        absolute = max(absolute, tolerance.absolute or 0)
        if dtype in ("float16", "bfloat16"):
            relative, absolute = (
                relative * tolerance.widened,
                absolute * tolerance.widened,
            )
        wide = np.complex128 if np.iscomplexobj(mine) else np.float64
        a, b = mine.astype(wide), real.astype(wide)
        magnitude = np.max(np.abs(b), initial=1.0, where=np.isfinite(b))
        equal = np.allclose(
            a, b, rtol=relative, atol=absolute * magnitude, equal_nan=True
        )
    return [] if equal else [peers._apart(mine, real)]


def gradient_differences(
    ours: Any, theirs: Any, spec: Spec, loose: bool = False
) -> list[str]:
    """Of two gradient answers."""
    if theirs is None:
        return []
    if ours is None:
        return ["no gradient was asked for here: the step failed"]
    if "error" in theirs:
        if any(words in theirs["error"][1] for words in NO_KERNEL):
            return []
        if "error" in ours and ours["error"][0] == theirs["error"][0]:
            return []
        # A gradient that later versions have, or one of 1.15 that fails.
        if "error" not in ours:
            return []
        mine = ours.get("error", "no error")
        return [f"ours {mine}, TensorFlow's {theirs['error']}"]
    if "error" in ours:
        return [f"ours {ours['error']}, TensorFlow's no error"]
    lines: list[str] = []
    # Sums over broadcast dimensions: TensorFlow's 16-bit sums round at each step.
    tolerance = Tolerance(
        spec.tolerance.relative, spec.tolerance.absolute, widened=GRADIENT_WIDENED
    )
    pairs = zip(ours["values"], theirs["values"], strict=True)
    for i, (mine, real) in enumerate(pairs):
        found = value_difference(mine, real, tolerance, loose)
        lines += [f"gradient {i}: {line}" for line in found]
    return lines
