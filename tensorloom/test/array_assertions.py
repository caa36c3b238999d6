"""Assertions over arrays, tensors and structures of them."""

from __future__ import annotations

import unittest
from typing import Any

import numpy as np

from tensorloom.framework.graph.graph import Tensor
from tensorloom.framework.types.dtypes import as_dtype

# Half and bfloat16 are compared this loosely by `assertAllCloseAccordingToType`.
_LOW_PRECISION = ("float16", "bfloat16")


class ArrayAssertions(unittest.TestCase):
    """What `tf.test.TestCase` adds to `unittest` for arrays."""

    def evaluate(self, tensors: Any) -> Any:
        """The values of a structure of tensors."""
        raise AssertionError("abstract")

    def _array(self, value: Any) -> Any:
        if isinstance(value, Tensor) or hasattr(value, "value_index"):
            value = self.evaluate(value)
        return value if isinstance(value, np.ndarray) else np.array(value)

    def assertAllClose(
        self, a: Any, b: Any, rtol: float = 1e-6, atol: float = 1e-6, msg: Any = None
    ) -> None:
        """Structures of arrays are equal within `atol + rtol * abs(b)`."""
        if hasattr(a, "_asdict"):
            a = a._asdict()
        if hasattr(b, "_asdict"):
            b = b._asdict()
        if isinstance(a, dict) != isinstance(b, dict):
            raise ValueError(f"Can't compare dict to non-dict, {a} vs {b}. {msg or ''}")
        if isinstance(a, dict):
            self.assertEqual(set(a), set(b), msg)
            for key in a:
                self.assertAllClose(a[key], b[key], rtol, atol, f"[{key}] {msg or ''}")
            return
        if isinstance(a, list | tuple) and any(isinstance(x, dict) for x in a):
            self._all_close_items(a, b, rtol, atol, msg)
            return
        try:
            pair = self._array(a), self._array(b)
        except ValueError:  # rows of different lengths
            self._all_close_items(a, b, rtol, atol, msg)
            return
        self._arrays_close(*pair, rtol, atol, msg)

    def _all_close_items(
        self, a: Any, b: Any, rtol: float, atol: float, msg: Any
    ) -> None:
        self.assertEqual(len(a), len(b), msg)
        for index, (x, y) in enumerate(zip(a, b, strict=True)):
            self.assertAllClose(x, y, rtol, atol, f"[{index}] {msg or ''}")

    def _arrays_close(self, a: Any, b: Any, rtol: float, atol: float, msg: Any) -> None:
        message = msg or ""
        self.assertEqual(
            a.shape,
            b.shape,
            f"Shape mismatch: expected {b.shape}, got {a.shape}. {message}",
        )
        a, b = (x.astype(np.float32) if x.dtype.kind == "V" else x for x in (a, b))
        np.testing.assert_allclose(
            a, b, rtol=rtol, atol=atol, err_msg=str(message), equal_nan=True
        )

    def assertAllCloseAccordingToType(
        self,
        a: Any,
        b: Any,
        rtol: float = 1e-6,
        atol: float = 1e-6,
        float_rtol: float = 1e-6,
        float_atol: float = 1e-6,
        half_rtol: float = 1e-3,
        half_atol: float = 1e-3,
        bfloat16_rtol: float = 1e-2,
        bfloat16_atol: float = 1e-2,
        msg: Any = None,
    ) -> None:
        """`assertAllClose` with the tolerance of the less precise dtype."""
        a, b = self._array(a), self._array(b)
        tolerances = {
            "float32": (float_rtol, float_atol),
            "complex64": (float_rtol, float_atol),
            "float16": (half_rtol, half_atol),
            "bfloat16": (bfloat16_rtol, bfloat16_atol),
        }
        for array in (a, b):
            loose = tolerances.get(array.dtype.name, (0.0, 0.0))
            rtol, atol = max(rtol, loose[0]), max(atol, loose[1])
        if a.dtype.name in _LOW_PRECISION or b.dtype.name in _LOW_PRECISION:
            a, b = a.astype(np.float32), b.astype(np.float32)
        self.assertAllClose(a, b, rtol=rtol, atol=atol, msg=msg)

    def assertNotAllClose(self, a: Any, b: Any, **kwargs: Any) -> None:
        """`assertAllClose` fails."""
        try:
            self.assertAllClose(a, b, **kwargs)
        except AssertionError:
            return
        raise AssertionError("The two values are close at all elements")

    def assertAllEqual(self, a: Any, b: Any, msg: Any = None) -> None:
        """Arrays have equal shapes and elements; NaNs are equal."""
        a, b = self._array(a), self._array(b)
        if not b.ndim and a.ndim == 3 and not a.size:
            b = b.reshape(a.shape)
        message = f"Shape mismatch: expected {a.shape}, got {b.shape}. {msg or ''}"
        self.assertEqual(a.shape, b.shape, message)
        a, b = (np.char.encode(x) if x.dtype.kind == "U" else x for x in (a, b))
        a, b = (x.astype(object) if x.dtype.kind == "S" else x for x in (a, b))
        np.testing.assert_array_equal(a, b, err_msg=str(msg or ""))

    def assertNotAllEqual(self, a: Any, b: Any, msg: Any = None) -> None:
        """`assertAllEqual` fails."""
        try:
            self.assertAllEqual(a, b)
        except AssertionError:
            return
        raise AssertionError(f"The two values are equal at all elements. {msg or ''}")

    def assertAllGreater(self, a: Any, comparison_target: Any) -> None:
        """Each element is greater."""
        self.assertGreater(self._array(a).min(), comparison_target)

    def assertAllLess(self, a: Any, comparison_target: Any) -> None:
        """Each element is less."""
        self.assertLess(self._array(a).max(), comparison_target)

    def assertAllGreaterEqual(self, a: Any, comparison_target: Any) -> None:
        """Each element is greater or equal."""
        self.assertGreaterEqual(self._array(a).min(), comparison_target)

    def assertAllLessEqual(self, a: Any, comparison_target: Any) -> None:
        """Each element is less or equal."""
        self.assertLessEqual(self._array(a).max(), comparison_target)

    def assertAllInRange(
        self,
        target: Any,
        lower_bound: Any,
        upper_bound: Any,
        open_lower_bound: bool = False,
        open_upper_bound: bool = False,
    ) -> None:
        """Each element is between the bounds; NaN is not."""
        array = self._array(target)
        low = array > lower_bound if open_lower_bound else array >= lower_bound
        high = array < upper_bound if open_upper_bound else array <= upper_bound
        outside = np.argwhere(~(low & high))
        if len(outside):
            raise AssertionError(
                f"{len(outside)} elements are not between {lower_bound} and "
                f"{upper_bound}, the first at {outside[0].tolist()}"
            )

    def assertAllInSet(self, target: Any, expected_set: Any) -> None:
        """Each element is one of a set."""
        other = set(self._array(target).reshape(-1).tolist()) - set(expected_set)
        if other:
            raise AssertionError(f"{len(other)} values are not in the set: {other}")

    def assertDTypeEqual(self, target: Any, expected_dtype: Any) -> None:
        """The dtype is this one."""
        self.assertEqual(as_dtype(self._array(target).dtype), as_dtype(expected_dtype))

    def assertNear(self, f1: float, f2: float, err: float, msg: Any = None) -> None:
        """Two numbers differ by at most `err`."""
        if not (f1 == f2 or abs(f1 - f2) <= err):
            raise AssertionError(f"{f1} != {f2} +/- {err}{f' ({msg})' if msg else ''}")

    def assertArrayNear(
        self, farray1: Any, farray2: Any, err: float, msg: Any = None
    ) -> None:
        """Two lists of numbers differ by at most `err`."""
        self.assertEqual(len(farray1), len(farray2), msg=msg)
        for f1, f2 in zip(farray1, farray2, strict=True):
            self.assertNear(float(f1), float(f2), err, msg=msg)

    def assertNDArrayNear(
        self, ndarray1: Any, ndarray2: Any, err: float, msg: Any = None
    ) -> None:
        """The norm of the difference is below `err`."""
        if not np.linalg.norm(ndarray1 - ndarray2) < err:
            raise AssertionError(msg or f"{ndarray1} is not near {ndarray2}")

    def assertShapeEqual(self, np_array: Any, tf_tensor: Any, msg: Any = None) -> None:
        """An array has the static shape of a tensor."""
        if not isinstance(np_array, np.ndarray | np.generic):
            raise TypeError("np_array must be a Numpy ndarray or Numpy scalar")
        if not isinstance(tf_tensor, Tensor):
            raise TypeError("tf_tensor must be a Tensor")
        self.assertAllEqual(np_array.shape, tf_tensor.get_shape().as_list(), msg=msg)
