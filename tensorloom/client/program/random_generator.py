"""`tf.random.experimental.Generator`: random numbers whose state is a variable."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import name_scope
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.framework.types.trackable_structures import AutoTrackable
from tensorloom.ops.array import array_ops
from tensorloom.ops.math import math_ops

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph import Tensor

_PHILOX: Final = 1
_THREEFRY: Final = 2
PHILOX_STATE_SIZE: Final = 3
_STATE_SIZES: Final = {_PHILOX: PHILOX_STATE_SIZE, _THREEFRY: 2}
_WORD: Final = 1 << 64


def _state_size(algorithm: int) -> int:
    if algorithm not in _STATE_SIZES:
        raise ValueError(f"Unsupported algorithm id: {algorithm}")
    return _STATE_SIZES[algorithm]


def _signed(word: int) -> int:
    return word - _WORD if word >= _WORD // 2 else word


@export("random.experimental.create_rng_state")
def create_rng_state(seed: Any, algorithm: int) -> Any:
    """The int64 state [n] of an algorithm for a seed.

    Args:
      seed: an integer of up to 1024 bits, or a vector of integers.
      algorithm: 1 (Philox) or 2 (ThreeFry).

    Raises:
      ValueError: another algorithm, or a seed of more dimensions.
    """
    size = _state_size(algorithm)
    if isinstance(seed, int):
        seed = [seed >> 64 * i & _WORD - 1 for i in range(size)]
    words = np.asarray([_signed(int(word)) for word in seed], np.int64)
    if words.ndim != 1:
        raise ValueError(
            f"seed should only have one dimension; got shape: {words.shape}"
        )
    words = words[:size]
    return np.pad(words, (size - len(words), 0))


def _state_tensor(state: Any) -> Tensor:
    if isinstance(state, list):
        state = [_signed(word) if isinstance(word, int) else word for word in state]
    return convert_to_tensor(state, dtype=dtypes.int64)


def _shape_tensor(shape: Any) -> Tensor:
    empty = isinstance(shape, (tuple, list)) and not shape
    return convert_to_tensor(shape, dtype=dtypes.int64 if empty else None, name="shape")


@export("random.experimental.Generator")
class Generator(AutoTrackable):
    """Random numbers of a state that is kept in a variable.

    Equal algorithm and state give equal numbers. Ops that draw move the state on; the
    variable is initialized like any other.
    """

    def __init__(
        self,
        copy_from: Generator | None = None,
        state: Any = None,
        alg: int | None = None,
    ) -> None:
        """A copy of a generator, or one of an algorithm with a state of its size."""
        from tensorloom.client.variables.resource_variable import ResourceVariable

        if copy_from is not None:
            value, algorithm = copy_from.state, copy_from.algorithm
        else:
            if state is None or alg is None:
                raise ValueError("A Generator needs copy_from, or both state and alg.")
            value, algorithm = _state_tensor(state), alg
            value.shape.assert_is_compatible_with([_state_size(alg)])
        self._state_var = ResourceVariable(value, dtype=dtypes.int64, trainable=False)
        self._algorithm = algorithm

    @classmethod
    def from_state(cls, state: Any, alg: int) -> Generator:
        """A generator of a state, int64 [n]."""
        return cls(alg=alg, state=state)

    @classmethod
    def from_seed(cls, seed: Any, alg: int | None = None) -> Generator:
        """A generator of a seed, as in `create_rng_state`; Philox by default."""
        algorithm = _PHILOX if alg is None else alg
        return cls(state=create_rng_state(seed, algorithm), alg=algorithm)

    @classmethod
    def from_non_deterministic_state(cls, alg: int | None = None) -> Generator:
        """A generator whose state comes from the operating system."""
        algorithm = _PHILOX if alg is None else alg
        size = [_state_size(algorithm)]
        state = apply_op("NonDeterministicInts", shape=size, dtype=dtypes.int64)
        return cls(state=state, alg=algorithm)

    @classmethod
    def from_key_counter(cls, key: Any, counter: Any, alg: int) -> Generator:
        """A generator of a key (a scalar) and a counter (the rest of the state)."""
        return cls(state=_joined(key, counter, alg), alg=alg)

    def reset(self, state: Any) -> Any:
        """Assigns a state; gives what runs the assignment."""
        state = _state_tensor(state)
        state.shape.assert_is_compatible_with([_state_size(self.algorithm)])
        return self._state_var.assign(state)

    def reset_from_seed(self, seed: Any) -> Any:
        """Assigns the state of a seed."""
        return self._state_var.assign(create_rng_state(seed, self.algorithm))

    def reset_from_key_counter(self, key: Any, counter: Any) -> Any:
        """Assigns the state of a key and a counter."""
        return self._state_var.assign(_joined(key, counter, self.algorithm))

    @property
    def state(self) -> Any:
        """The variable that holds the state."""
        return self._state_var

    @property
    def algorithm(self) -> int:
        """The number of the algorithm."""
        return self._algorithm

    @property
    def key(self) -> Any:
        """The key, a scalar: the last word of the state."""
        _state_size(self.algorithm)
        return self._state_var[-1]

    def skip(self, delta: Any) -> Any:
        """Moves the state on, as drawing `delta` numbers would."""
        return apply_op(
            "RngSkip",
            resource=self.state.handle,
            algorithm=self.algorithm,
            delta=delta,
        )

    def _draw(self, op: str, shape: Any, **attrs: Any) -> Any:
        return apply_op(
            op,
            resource=self.state.handle,
            algorithm=self.algorithm,
            shape=shape,
            **attrs,
        )

    def _scaled(
        self, op: str, shape: Any, mean: Any, stddev: Any, dtype: Any, scope: str
    ) -> Tensor:
        shape = _shape_tensor(shape)
        mean = convert_to_tensor(mean, dtype=dtype, name="mean")
        stddev = convert_to_tensor(stddev, dtype=dtype, name="stddev")
        unit = self._draw(op, shape, dtype=dtype)
        result: Tensor = math_ops.add(unit * stddev, mean, name=scope)
        return result

    def normal(
        self,
        shape: Any,
        mean: Any = 0.0,
        stddev: Any = 1.0,
        dtype: Any = dtypes.float32,
        name: str | None = None,
    ) -> Tensor:
        """Normal numbers of a shape."""
        with name_scope(name, "stateful_normal", [shape, mean, stddev]) as scope:
            op = "StatefulStandardNormalV2"
            return self._scaled(op, shape, mean, stddev, dtype, scope)

    def truncated_normal(
        self,
        shape: Any,
        mean: Any = 0.0,
        stddev: Any = 1.0,
        dtype: Any = dtypes.float32,
        name: str | None = None,
    ) -> Tensor:
        """Normal numbers within two deviations of the mean."""
        with name_scope(name, "truncated_normal", [shape, mean, stddev]) as scope:
            op = "StatefulTruncatedNormal"
            return self._scaled(op, shape, mean, stddev, dtype, scope)

    def uniform(
        self,
        shape: Any,
        minval: Any = 0,
        maxval: Any = None,
        dtype: Any = dtypes.float32,
        name: str | None = None,
    ) -> Tensor:
        """Numbers in [minval, maxval).

        Raises:
          ValueError: an integer dtype without maxval.
        """
        dtype = dtypes.as_dtype(dtype)
        if maxval is None:
            if dtype.is_integer:
                raise ValueError(f"Must specify maxval for integer dtype {dtype!r}")
            maxval = 1
        with name_scope(name, "stateful_uniform", [shape, minval, maxval]) as scope:
            shape = _shape_tensor(shape)
            low = convert_to_tensor(minval, dtype=dtype, name="min")
            high = convert_to_tensor(maxval, dtype=dtype, name="max")
            result: Tensor
            if dtype.is_integer:
                result = self._draw(
                    "StatefulUniformInt", shape, minval=low, maxval=high, name=scope
                )
                return result
            unit = self._draw("StatefulUniform", shape, dtype=dtype)
            result = math_ops.add(unit * (high - low), low, name=scope)
            return result

    def uniform_full_int(
        self, shape: Any, dtype: Any = dtypes.uint64, name: str | None = None
    ) -> Tensor:
        """Integers over the whole range of their dtype."""
        with name_scope(name, "stateful_uniform_full_int", [shape]) as scope:
            shape = _shape_tensor(shape)
            result: Tensor = self._draw(
                "StatefulUniformFullInt",
                shape,
                dtype=dtypes.as_dtype(dtype),
                name=scope,
            )
            return result

    def binomial(
        self,
        shape: Any,
        counts: Any,
        probs: Any,
        dtype: Any = dtypes.int32,
        name: str | None = None,
    ) -> Tensor:
        """Successes among `counts` trials; scalars, or one for each shape[0]."""
        with name_scope(name, "binomial", [shape, counts, probs]) as scope:
            counts = convert_to_tensor(counts, name="counts")
            probs = convert_to_tensor(probs, name="probs")
            shape = _shape_tensor(shape)
            result: Tensor = self._draw(
                "StatefulRandomBinomial",
                shape,
                counts=counts,
                probs=probs,
                dtype=dtypes.as_dtype(dtype),
                name=scope,
            )
            return result

    def make_seeds(self, count: int = 1) -> Tensor:
        """Seeds of stateless ops, int64 [2, count], one in each column."""
        _state_size(self.algorithm)
        keys = self.uniform_full_int([count], dtype=dtypes.int64)
        return array_ops.stack([keys, array_ops.zeros_like(keys)])

    def split(self, count: int = 1) -> Sequence[Generator]:
        """`count` generators whose keys this one draws, their counters zero."""
        zeros = [0] * (_state_size(self.algorithm) - 1)
        keys = self.uniform_full_int([count], dtype=dtypes.int64)
        states = [
            array_ops.concat([np.array(zeros, np.int64), keys[i : i + 1]], 0)
            for i in range(count)
        ]
        return [Generator(state=state, alg=self.algorithm) for state in states]


def _joined(key: Any, counter: Any, algorithm: int) -> Tensor:
    """The state of a key and a counter."""
    counter, key = _state_tensor(counter), _state_tensor(key)
    counter.shape.assert_is_compatible_with([_state_size(algorithm) - 1])
    key.shape.assert_is_compatible_with([])
    key = array_ops.reshape(key, [1])
    state: Tensor = array_ops.concat([counter, key], 0)
    return state


_global_lock = threading.Lock()
_global: Generator | None = None


@export("random.experimental.get_global_generator")
def get_global_generator() -> Generator:
    """The generator of the process; made from the system's randomness when asked."""
    global _global
    with _global_lock:
        if _global is None:
            _global = Generator.from_non_deterministic_state()
        return _global


@export("random.experimental.set_global_generator")
def set_global_generator(generator: Generator) -> None:
    """Replaces the generator of the process."""
    global _global
    with _global_lock:
        _global = generator
