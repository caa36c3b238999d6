"""The examples here and in TensorFlow 1.15, step by step, with each other's files.

Each program runs a few steps in both, unchanged, and both write checkpoints. Then each
goes on from the checkpoints of the other.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

import tensorloom as tf
from tests.cluster.clusters import free_ports
from tests.peer import example_recorder
from tests.peer.peers import REPOSITORY, python_of
from tools.train_examples import all_examples

# How far numbers may be apart, in parts of the largest of their tensor. Adam's first
# steps divide gradients by their own size, and so scale up how they were rounded. If a
# gradient is nearly zero, rounding decides its step, and each processor rounds its own
# way: so one number in RARE may be further away, but by no more than a step.
TOLERANCE = 1e-5
RARE = 1000
STEP = 0.01
WIDER = {
    "text/char_lstm": 2e-4,  # 160 characters, each written from the state before
    # A last digit decides between two levels of a quantized number.
    "contrib/quantization_aware": 5e-3,
    # Small batches, normalized by their own moments: each processor rounds convolutions
    # its own way.
    "contrib/slim_resnet": 5e-3,
    "images/convolutional": 5e-3,
}
# In TensorFlow the draws of `shuffle_batch` depend on which thread is faster.
ARGUMENTS = {"inputs/queue_runners": ["--nomix"]}
STEPS = 5
# TensorFlow had tf.contrib.gan up to 1.14, and never had embeddings that grow.
NOT_IN_115 = {"contrib/tfgan", "recommendation/click_stream"}
EXAMPLES = [
    pytest.param(e.name, id=e.name) for e in all_examples() if e.name not in NOT_IN_115
]
_ON_CLUSTERS = {e.name for e in all_examples() if e.arguments[0] == "cluster"}
_SYSTEMS = ("tensorloom", "tensorflow")

Trace = dict[str, np.ndarray]


@pytest.fixture(scope="module")
def digits(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """scikit-learn's digits, for Pythons that are too old for it."""
    datasets = pytest.importorskip("sklearn.datasets")
    path = tmp_path_factory.mktemp("data") / "digits.npz"
    found = datasets.load_digits()
    np.savez(path, data=found.data, target=found.target)
    return path


def _command(system: str, name: str, trace: Path, digits: Path) -> list[str]:
    python = sys.executable if system == "tensorloom" else str(python_of("1.15"))
    program = str(REPOSITORY / "examples" / f"{name}.py")
    return [
        *(python, example_recorder.__file__, system, program, str(trace)),
        *(str(digits), *ARGUMENTS.get(name, [])),
    ]


@contextmanager
def _started(
    system: str, command: list[str], **variables: str
) -> Iterator[subprocess.Popen[str]]:
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    if system == "tensorloom":
        environment["PYTHONPATH"] = str(REPOSITORY)
        # Sums in one order, however many cores there are.
        environment["OMP_NUM_THREADS"] = "1"
    process = subprocess.Popen(
        command,
        env={**environment, **variables},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def _finish(process: subprocess.Popen[str]) -> None:
    output = process.communicate(timeout=600)[0]
    assert process.returncode == 0, output[-4000:]


def _run(system: str, name: str, model: Path, steps: int, digits: Path) -> Trace:
    """What the program did until it had made so many steps."""
    trace = model.parent / f"{system}-{steps}.npz"
    command = _command(system, name, trace, digits)
    command += ["--steps", str(steps), "--model_dir", str(model)]
    if name in _ON_CLUSTERS:
        ports = free_ports(2)
        cluster = {
            job: [f"localhost:{port}"]
            for job, port in zip(("ps", "worker"), ports, strict=True)
        }
        tasks = [
            json.dumps({"cluster": cluster, "task": {"type": job, "index": 0}})
            for job in ("ps", "worker")
        ]
        with (
            _started(system, command, TF_CONFIG=tasks[0]),
            _started(system, command, TF_CONFIG=tasks[1]) as worker,
        ):
            _finish(worker)
    else:
        with _started(system, command) as process:
            _finish(process)
    with np.load(trace) as file:
        return dict(file)


def _differences(ours: Trace, theirs: Trace, tolerance: float) -> list[str]:
    missing = [key for key in theirs if key not in ours]
    extra = [key for key in ours if key not in theirs]
    lines = [f"not here: {missing[:9]}"] if missing else []
    lines += [f"only here: {extra[:9]}"] if extra else []
    for key in theirs.keys() & ours.keys():
        a, b = ours[key], theirs[key]
        if (a.dtype, a.shape) != (b.dtype, b.shape):
            lines.append(f"{key}: {a.dtype}{a.shape}, TensorFlow's {b.dtype}{b.shape}")
        elif a.dtype.kind == "f":
            size = max(1.0, np.max(np.abs(b), initial=0.0))
            apart = np.abs(a.astype(np.float64) - b) / size
            far = np.count_nonzero(~(apart <= tolerance))
            if far > a.size / RARE or (far and not apart.max() <= STEP):
                lines.append(f"{key}: {far} of {a.size} apart, by {apart.max():.3g}")
        elif not np.array_equal(a, b):
            lines.append(f"{key}: ours {a}, TensorFlow's {b}")
    return sorted(lines)


def _initial_values(model: Path, trace: Trace) -> Trace:
    """The variables before the first step: in a checkpoint, or when they were made."""
    checkpoint = model / "model.ckpt-0"
    if Path(f"{checkpoint}.index").exists():
        reader = tf.train.load_checkpoint(str(checkpoint))
        return {n: reader.get_tensor(n) for n in reader.get_variable_to_shape_map()}
    first = "0000 variable "
    return {
        key.removeprefix(first): value
        for key, value in trace.items()
        if key.startswith(first)
    }


@pytest.mark.parametrize("name", EXAMPLES)
def test_steps_agree_and_checkpoints_are_exchanged(
    name: str, tmp_path: Path, digits: Path
) -> None:
    if python_of("1.15") is None:
        pytest.skip("no TensorFlow 1.15 is here (make peer)")
    tolerance = WIDER.get(name, TOLERANCE)
    models = {system: tmp_path / system / "model" for system in _SYSTEMS}
    for model in models.values():
        model.parent.mkdir()

    ours, theirs = (_run(s, name, models[s], STEPS, digits) for s in _SYSTEMS)
    starts = [
        _initial_values(models[system], trace)
        for system, trace in zip(_SYSTEMS, (ours, theirs), strict=True)
    ]
    assert len(starts[0]) > 2
    assert example_recorder.equal(*starts)  # bit for bit
    assert any("fetch" in key for key in theirs)
    assert not _differences(ours, theirs, tolerance)

    ours, theirs = (
        _run(system, name, models[other], 2 * STEPS, digits)
        for system, other in zip(_SYSTEMS, reversed(_SYSTEMS), strict=True)
    )
    assert not _differences(ours, theirs, tolerance)
