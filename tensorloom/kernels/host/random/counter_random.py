"""Random ops over a key and a counter that are given, or kept in a variable."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from tensorloom.framework import errors
from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.registry.op_kernel import host_kernel
from tensorloom.kernels.host.array.allocation import shape_from_tensor
from tensorloom.kernels.host.random import random_distributions as distributions
from tensorloom.kernels.host.random.philox import SAMPLES_PER_OUTPUT, Stream
from tensorloom.kernels.host.random.random_gamma import highest_sample
from tensorloom.kernels.host.random.stateless_random import seeded_stream
from tensorloom.kernels.torch.state.variable_value import (
    is_host,
    to_host,
    to_tensor,
    unreadable_resource,
)

if TYPE_CHECKING:
    from tensorloom.framework.registry.op_kernel import Compute, OpKernelConstruction
    from tensorloom.framework.runtime.resource import Variable

_Array = NDArray[Any]
_PHILOX: Final = 1
_THREEFRY: Final = 2
_AUTOMATIC: Final = 3
_MASK64: Final = 2**64 - 1
_STATE_WORDS: Final = 3  # two of counter, one of key

Fill = Callable[..., _Array]  # (stream, count, numpy dtype, *bounds)
_FILLS: Final[dict[str, Fill]] = {
    "Uniform": distributions.uniform,
    "Normal": distributions.standard_normal,
    "TruncatedNormal": distributions.truncated_normal,
    "UniformFullInt": distributions.uniform_full_int,
}


def _uniform_int(
    stream: Stream, count: int, dtype: np.dtype[Any], minval: Any, maxval: Any
) -> _Array:
    for name, bound in (("minval", minval), ("maxval", maxval)):
        if np.ndim(bound):
            raise invalid_argument(
                f"{name} must be 0-D, got shape {list(np.shape(bound))}"
            )
    low, high = int(minval), int(maxval)
    if count and low >= high:
        raise invalid_argument(f"Need minval < maxval, got {low} >= {high}")
    signed = np.dtype(f"int{8 * dtype.itemsize}")
    if not count:
        return np.empty(0, dtype)
    return distributions.uniform_int(stream, count, low, high, signed).view(dtype)


_FILLS["UniformInt"] = _uniform_int
_BY_OP: Final[dict[str, str]] = {
    "StatelessRandomUniformV2": "Uniform",
    "StatelessRandomNormalV2": "Normal",
    "StatelessTruncatedNormalV2": "TruncatedNormal",
    "StatelessRandomUniformIntV2": "UniformInt",
    "StatelessRandomUniformFullIntV2": "UniformFullInt",
    "StatefulUniform": "Uniform",
    "StatefulStandardNormal": "Normal",
    "StatefulStandardNormalV2": "Normal",
    "StatefulTruncatedNormal": "TruncatedNormal",
    "StatefulUniformInt": "UniformInt",
    "StatefulUniformFullInt": "UniformFullInt",
}


def _filler(c: OpKernelConstruction) -> Callable[..., _Array]:
    """(stream, shape tensor, *bounds) -> the values in their shape."""
    dtype, device, fill = c["dtype"], c.device, _FILLS[_BY_OP[c.op]]
    numpy_dtype = np.dtype(dtype.as_numpy_dtype)

    def compute(make: Callable[[int], Stream], shape: _Array, *bounds: Any) -> _Array:
        dims = shape_from_tensor(shape, dtype, device)
        count = math.prod(dims)
        return fill(make(count), count, numpy_dtype, *bounds).reshape(dims)

    return compute


# --- stateless -------------------------------------------------------------------


@host_kernel([op for op in _BY_OP if op.startswith("Stateless")], large=True)
def fill_stateless(c: OpKernelConstruction) -> Compute:
    """Values of the op's distribution."""
    fill = _filler(c)

    def compute(
        shape: _Array, key: _Array, counter: _Array, alg: Any, *bounds: Any
    ) -> _Array:
        check_algorithm(int(alg))
        if np.shape(key) != (1,):
            raise invalid_argument(
                f"key must have shape [1], not {list(np.shape(key))}"
            )
        if np.ndim(counter) != 1 or len(counter) < 2:
            raise invalid_argument("counter must be a vector of at least 2 elements")
        low, high = (int(word) for word in counter[:2])
        stream = Stream(int(key[0]), low | high << 64)
        return fill(lambda _: stream, shape, *bounds)

    return compute


@host_kernel("StatelessRandomUniformFullInt", large=True)
def uniform_full_int(c: OpKernelConstruction) -> Compute:
    """Integers over the whole range."""
    dtype, device = c["dtype"], c.device
    numpy_dtype = np.dtype(dtype.as_numpy_dtype)

    def compute(shape: _Array, seed: _Array) -> _Array:
        dims = shape_from_tensor(shape, dtype, device)
        values = distributions.uniform_full_int(
            seeded_stream(seed), math.prod(dims), numpy_dtype
        )
        return values.reshape(dims)

    return compute


@host_kernel("StatelessRandomPoisson", large=True)
def stateless_poisson(c: OpKernelConstruction) -> Compute:
    """Poisson samples; the rates' shape ends the output's."""
    from tensorloom.kernels.loops.random.random_samples import poisson

    dtype, device = c["dtype"], c.device
    numpy_dtype = np.dtype(dtype.as_numpy_dtype)

    def compute(shape: _Array, seed: _Array, lam: _Array) -> _Array:
        dims = shape_from_tensor(shape, dtype, device)
        rates = np.asarray(lam, np.float64)
        if dims[len(dims) - rates.ndim :] != rates.shape:
            raise invalid_argument(
                f"Shape passed in must end with broadcasted shape of lam, got {dims}"
            )
        count = math.prod(dims)
        if not count:
            return np.empty(dims, numpy_dtype)
        samples = count // rates.size
        highest = highest_sample(rates, numpy_dtype)
        values = poisson(seeded_stream(seed), rates.reshape(-1), samples, highest)
        return values.reshape(dims).astype(numpy_dtype)

    return compute


@host_kernel(
    ["StatelessRandomGetKeyCounter", "StatelessRandomGetKeyCounterAlg"], large=True
)
def key_counter(c: OpKernelConstruction) -> Compute:
    """Key and counter of a seed."""
    with_algorithm = c.op.endswith("Alg")

    def compute(seed: _Array) -> tuple[Any, ...]:
        stream = seeded_stream(seed)
        key = np.array([stream.key], np.uint64)
        counter = np.array([stream.start & _MASK64, stream.start >> 64], np.uint64)
        return (key, counter, np.int32(_PHILOX)) if with_algorithm else (key, counter)

    return compute


@host_kernel("StatelessRandomGetAlg", large=True)
def algorithm(c: OpKernelConstruction) -> Compute:
    """Philox."""
    return lambda: np.int32(_PHILOX)


def check_algorithm(number: int) -> None:
    """Raises InvalidArgumentError unless the number is that of Philox, or of any."""
    if number not in (_PHILOX, _AUTOMATIC):
        raise invalid_argument(f"Unsupported algorithm id: {number}")


# --- with a state ----------------------------------------------------------------


_WITH_ALGORITHM: Final = (
    "StatefulUniform",
    "StatefulStandardNormalV2",
    "StatefulTruncatedNormal",
    "StatefulUniformInt",
    "StatefulUniformFullInt",
)


@host_kernel(_WITH_ALGORITHM, large=True)
def fill_stateful(c: OpKernelConstruction) -> Compute:
    """Values of the op's distribution; the state moves on."""
    fill = _filler(c)

    def compute(variable: Variable, algorithm: Any, *inputs: Any) -> _Array:
        check_scalar_algorithm(algorithm)
        return fill(lambda count: advance(variable, count)[1], *inputs)

    return compute


@host_kernel("StatefulStandardNormal", large=True)
def fill_of_whole_state(c: OpKernelConstruction) -> Compute:
    """Normal values; the state begins with the number of its algorithm."""
    fill = _filler(c)

    def compute(variable: Variable, shape: _Array) -> _Array:
        return fill(lambda count: advance(variable, count, begin=1)[1], shape)

    return compute


def check_scalar_algorithm(number: Any) -> None:
    """As `check_algorithm`, of an input that must be a scalar."""
    if np.ndim(number):
        raise invalid_argument(
            f"algorithm must be of shape [], not {list(np.shape(number))}"
        )
    check_algorithm(int(number))


def advance(variable: Variable, outputs: int, begin: int = 0) -> tuple[_Array, Stream]:
    """The state before it moved on by so many outputs, and its stream.

    begin: where the words of the stream are; those before name the algorithm.
    """
    words = slice(begin, begin + _STATE_WORDS)
    with variable.lock:
        held = variable.value
        if held is None:
            raise unreadable_resource(variable)
        state = to_host(held)
        if state.dtype != np.int64:
            raise invalid_argument("dtype of RNG state variable must be int64")
        if state.ndim != 1 or len(state) < words.stop:
            raise invalid_argument(
                "RNG state must have one and only one dimension and at least "
                f"{words.stop} elements, has shape {list(state.shape)}"
            )
        for number in state[:begin]:
            check_algorithm(int(number))
        low, high, key = (int(word) & _MASK64 for word in state[words])
        stream = Stream(key, low | high << 64)
        end = stream.skip(outputs * SAMPLES_PER_OUTPUT).start
        moved = state.copy()
        moved.view(np.uint64)[begin : begin + 2] = end & _MASK64, end >> 64
        variable.value = (
            moved if is_host(held) else to_tensor(moved, held.device, copy=True)
        )
        return state.copy(), stream


@host_kernel("RngSkip", large=True)
def rng_skip(c: OpKernelConstruction) -> Compute:
    """Moves the state on."""

    def compute(variable: Variable, algorithm: Any, delta: Any) -> None:
        check_scalar_algorithm(algorithm)
        advance(variable, int(delta))

    return compute


@host_kernel("RngReadAndSkip", large=True)
def rng_read_and_skip(c: OpKernelConstruction) -> Compute:
    """The state, which then moves on; in three words even if it has only two."""

    def compute(variable: Variable, algorithm: Any, delta: Any) -> _Array:
        if np.ndim(algorithm) == 0 and int(algorithm) == _THREEFRY:
            raise errors.UnimplementedError(
                None, None, "Non-XLA devices don't support the ThreeFry algorithm."
            )
        check_scalar_algorithm(algorithm)
        state: _Array = advance(variable, int(delta))[0]
        return np.pad(state, (0, max(0, 3 - len(state))))

    return compute


@host_kernel("NonDeterministicInts", large=True)
def non_deterministic_ints(c: OpKernelConstruction) -> Compute:
    """Integers from the operating system."""
    dtype, device = c["dtype"], c.device
    numpy_dtype = np.dtype(dtype.as_numpy_dtype)

    def compute(shape: _Array) -> _Array:
        dims = shape_from_tensor(shape, dtype, device)
        data = os.urandom(math.prod(dims) * numpy_dtype.itemsize)
        return np.frombuffer(data, numpy_dtype).reshape(dims)

    return compute
