"""Assertions over arrays, tensors and structures of them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from tensorloom.framework.graph.graph import Tensor
from tensorloom.test.container_assertions import ContainerAssertions

_MOST_SHOWN = 10  # elements that a message lists


class ArrayAssertions(ContainerAssertions):
    """What `tf.test.TestCase` adds to absl's test case for arrays."""

    def evaluate(self, tensors: Any) -> Any:
        """The values of a structure of tensors."""
        raise AssertionError("abstract")

    def _GetNdArray(self, a: Any) -> Any:
        if isinstance(a, Tensor) or hasattr(a, "value_index"):
            a = self.evaluate(a)
        if isinstance(a, np.ndarray):
            return a
        try:
            return np.array(a)
        except NotImplementedError:  # tensors in a list
            return np.array([self._GetNdArray(item) for item in a])
        except ValueError:  # lists of different lengths
            return np.array(a, dtype=object)

    def assertAllClose(
        self, a: Any, b: Any, rtol: float = 1e-6, atol: float = 1e-6, msg: Any = None
    ) -> None:
        """Structures of arrays are equal within `atol + rtol * abs(b)`.

        Raises:
          AssertionError: they are not.
          ValueError: the structures differ: a dict and something else, or lists of
            different lengths.
        """
        if _is_ragged(a) or _is_ragged(b):
            self._assertRaggedClose(a, b, rtol, atol, msg)
            return
        self._all_close(a, b, rtol, atol, "", msg or "")

    def _all_close(
        self, a: Any, b: Any, rtol: float, atol: float, path: str, msg: Any
    ) -> None:
        a = a._asdict() if hasattr(a, "_asdict") else a
        b = b._asdict() if hasattr(b, "_asdict") else b
        if isinstance(a, Mapping) != isinstance(b, Mapping):
            raise ValueError(
                f"Can't compare dict to non-dict, a{path} vs b{path}. {msg}"
            )
        if isinstance(a, Mapping):
            keys = f"a{path} has keys {a.keys()}, but b{path} has keys {b.keys()}"
            self.assertCountEqual(a, b, f"mismatched keys: {keys}. {msg}")
            for key in a:
                self._all_close(a[key], b[key], rtol, atol, f"{path}[{key}]", msg)
            return
        said = f"Mismatched value: a{path} is different from b{path}. {msg}"
        try:
            self._assertArrayLikeAllClose(a, b, rtol, atol, said)
        except (ValueError, TypeError) as error:
            if not isinstance(a, list | tuple):
                kinds = f"a{path} has {type(a)}, but b{path} has {type(b)}. {msg}"
                raise type(error)(f"{error} : Error: {kinds}") from error
            self._all_close_items(a, b, rtol, atol, path, msg)

    def _all_close_items(
        self, a: Any, b: Any, rtol: float, atol: float, path: str, msg: Any
    ) -> None:
        if len(a) != len(b):
            raise ValueError(
                f"Mismatched length: a{path} has {len(a)} items, but b{path} has "
                f"{len(b)} items. {msg}"
            )
        for index, (x, y) in enumerate(zip(a, b, strict=True)):
            self._all_close(x, y, rtol, atol, f"{path}[{index}]", msg)

    def _assertArrayLikeAllClose(
        self, a: Any, b: Any, rtol: float = 1e-6, atol: float = 1e-6, msg: Any = None
    ) -> None:
        a, b = self._GetNdArray(a), self._GetNdArray(b)
        self._check_shapes(a, b, "")
        a, b = (x.astype(np.float32) if x.dtype.kind == "V" else x for x in (a, b))
        if np.allclose(a, b, rtol=rtol, atol=atol):
            return
        with np.errstate(invalid="ignore"):
            apart = np.abs(a - b) > atol + rtol * np.abs(b)
        apart = np.logical_or(apart, np.isnan(a) != np.isnan(b))
        x, y = (a[apart], b[apart]) if a.ndim else (a, b)
        details = [
            str(msg),
            f"not close where = {np.where(apart) if a.ndim else ()}",
            f"not close lhs = {x}",
            f"not close rhs = {y}",
            f"not close dif = {np.abs(x - y)}",
            f"not close tol = {atol + rtol * np.abs(y)}",
            f"dtype = {a.dtype}, shape = {a.shape}",
        ]
        np.testing.assert_allclose(
            a, b, rtol=rtol, atol=atol, err_msg="\n".join(details), equal_nan=True
        )

    def _check_shapes(self, a: Any, b: Any, msg: Any) -> None:
        contents = f" Contents: {b}." if b.ndim <= 3 or b.size < 500 else ""
        text = f"Shape mismatch: expected {a.shape}, got {b.shape}.{contents} {msg}"
        self.assertEqual(a.shape, b.shape, text)

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
        a, b = self._GetNdArray(a), self._GetNdArray(b)
        tolerances = {
            "float32": (float_rtol, float_atol),
            "complex64": (float_rtol, float_atol),
            "float16": (half_rtol, half_atol),
            "bfloat16": (bfloat16_rtol, bfloat16_atol),
        }
        for array in (a, b):
            loose = tolerances.get(array.dtype.name, (0.0, 0.0))
            rtol, atol = max(rtol, loose[0]), max(atol, loose[1])
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
        if _is_ragged(a) or _is_ragged(b):
            self._assertRaggedEqual(a, b, msg)
            return
        msg = msg or ""
        a, b = self._GetNdArray(a), self._GetNdArray(b)
        self._check_shapes(a, b, msg)
        a, b = (np.char.encode(x) if x.dtype.kind == "U" else x for x in (a, b))
        same = a == b
        if a.dtype.kind in "fV":
            same = np.logical_or(same, np.logical_and(a != a, b != b))
        if np.all(same):
            return
        differ = np.logical_not(same)
        x, y = (a[differ], b[differ]) if a.ndim else (a, b)
        where = np.where(differ) if a.ndim else ()
        details = f"not equal where = {where}\nnot equal lhs = {x}\n"
        details = f"{msg}\n{details}not equal rhs = {y}"
        np.testing.assert_array_equal(a, b, err_msg=details)

    def assertNotAllEqual(self, a: Any, b: Any, msg: Any = None) -> None:
        """`assertAllEqual` fails."""
        try:
            self.assertAllEqual(a, b)
        except AssertionError:
            return
        raise AssertionError(f"The two values are equal at all elements. {msg or ''}")

    def assertAllGreater(self, a: Any, comparison_target: Any) -> None:
        """Each element is greater."""
        self.assertGreater(self._GetNdArray(a).min(), comparison_target)

    def assertAllLess(self, a: Any, comparison_target: Any) -> None:
        """Each element is less."""
        self.assertLess(self._GetNdArray(a).max(), comparison_target)

    def assertAllGreaterEqual(self, a: Any, comparison_target: Any) -> None:
        """Each element is greater or equal."""
        self.assertGreaterEqual(self._GetNdArray(a).min(), comparison_target)

    def assertAllLessEqual(self, a: Any, comparison_target: Any) -> None:
        """Each element is less or equal."""
        self.assertLessEqual(self._GetNdArray(a).max(), comparison_target)

    def assertAllInRange(
        self,
        target: Any,
        lower_bound: Any,
        upper_bound: Any,
        open_lower_bound: bool = False,
        open_upper_bound: bool = False,
    ) -> None:
        """Each element is between the bounds.

        Raises:
          AssertionError: one is outside, or NaN; or they are no real numbers.
        """
        array = self._GetNdArray(target)
        if array.dtype.kind not in "fiuV":
            raise AssertionError(
                f"The value of {array} does not have an ordered numeric type, instead "
                f"it has type: {array.dtype}"
            )
        nan = np.not_equal(array, array)
        if nan.any():
            raise AssertionError(
                f"{np.count_nonzero(nan)} of the {array.size} element(s) are NaN. "
                f"Subscripts(s) and value(s) of the NaN element(s):\n"
                f"{_listed(nan, array)}"
            )
        low = array > lower_bound if open_lower_bound else array >= lower_bound
        high = array < upper_bound if open_upper_bound else array <= upper_bound
        outside = np.logical_not(np.logical_and(low, high))
        if outside.any():
            bounds = f"{'(' if open_lower_bound else '['}{lower_bound}, {upper_bound}"
            raise AssertionError(
                f"{np.count_nonzero(outside)} of the {array.size} element(s) are "
                f"outside the range {bounds}{')' if open_upper_bound else ']'}. "
                f"Subscript(s) and value(s) of the offending elements:\n"
                f"{_listed(outside, array)}"
            )

    def assertAllInSet(self, target: Any, expected_set: Any) -> None:
        """Each element is one of a set."""
        array = self._GetNdArray(target)
        other = np.setdiff1d(array.reshape(-1), list(expected_set))
        if other.size:
            raise AssertionError(
                f"{other.size} unique element(s) are not in the set {expected_set}: "
                f"{other}"
            )

    def assertDTypeEqual(self, target: Any, expected_dtype: Any) -> None:
        """The NumPy dtype is this one."""
        self.assertEqual(self._GetNdArray(target).dtype, expected_dtype)

    def assertNear(self, f1: float, f2: float, err: float, msg: Any = None) -> None:
        """Two numbers, or arrays of one number, differ by at most `err`."""
        f1, f2 = np.asarray(f1).item(), np.asarray(f2).item()
        near = f1 == f2 or math.fabs(f1 - f2) <= err
        extra = f" ({msg})" if msg is not None else ""
        self.assertTrue(near, f"{f1:f} != {f2:f} +/- {err:f}{extra}")

    def assertArrayNear(
        self, farray1: Any, farray2: Any, err: float, msg: Any = None
    ) -> None:
        """Two lists of numbers differ by at most `err`."""
        self.assertEqual(len(farray1), len(farray2), msg=msg)
        for f1, f2 in zip(farray1, farray2, strict=True):
            self.assertNear(float(f1), float(f2), err, msg=msg)

    def _NDArrayNear(self, ndarray1: Any, ndarray2: Any, err: float) -> bool:
        return bool(np.linalg.norm(ndarray1 - ndarray2) < err)

    def assertNDArrayNear(
        self, ndarray1: Any, ndarray2: Any, err: float, msg: Any = None
    ) -> None:
        """The norm of the difference is below `err`."""
        self.assertTrue(self._NDArrayNear(ndarray1, ndarray2, err), msg=msg)

    def assertShapeEqual(self, np_array: Any, tf_tensor: Any, msg: Any = None) -> None:
        """An array has the static shape of a tensor."""
        if not isinstance(np_array, np.ndarray | np.generic):
            raise TypeError("np_array must be a Numpy ndarray or Numpy scalar")
        if not isinstance(tf_tensor, Tensor):
            raise TypeError("tf_tensor must be a Tensor")
        self.assertAllEqual(np_array.shape, tf_tensor.get_shape().as_list(), msg=msg)

    def _GetPyList(self, a: Any) -> Any:
        if isinstance(a, Tensor) or (_is_ragged(a) and hasattr(a, "consumers")):
            a = self.evaluate(a)
        for method in ("to_list", "tolist"):
            if hasattr(a, method):
                return getattr(a, method)()
        try:
            return np.array(a).tolist()
        except ValueError:  # rows of different lengths
            return a

    def _assertRaggedEqual(self, a: Any, b: Any, msg: Any) -> None:
        self.assertEqual(self._GetPyList(a), self._GetPyList(b), msg)
        self._check_ragged_ranks(a, b, msg)

    def _assertRaggedClose(
        self, a: Any, b: Any, rtol: float, atol: float, msg: Any = None
    ) -> None:
        first, second = self._GetPyList(a), self._GetPyList(b)
        self._lists_close(first, second, rtol, atol, "value", msg)
        self._check_ragged_ranks(a, b, msg)

    def _check_ragged_ranks(self, a: Any, b: Any, msg: Any) -> None:
        if isinstance(a, list | tuple) or isinstance(b, list | tuple):
            return
        ranks = [x.ragged_rank if _is_ragged(x) else 0 for x in (a, b)]
        self.assertEqual(ranks[0], ranks[1], msg)

    def _lists_close(
        self, a: Any, b: Any, rtol: float, atol: float, path: str, msg: Any
    ) -> None:
        self.assertEqual(type(a), type(b))
        if not isinstance(a, list | tuple):
            self._all_close(a, b, rtol, atol, path, msg or "")
            return
        self.assertLen(a, len(b), f"Length differs for {path}")
        for index, (x, y) in enumerate(zip(a, b, strict=True)):
            self._lists_close(x, y, rtol, atol, f"{path}[{index}]", msg)


def _is_ragged(value: Any) -> bool:
    """Whether it is a `RaggedTensor` or the value of one."""
    return hasattr(value, "ragged_rank") and hasattr(value, "flat_values")


def _listed(chosen: Any, array: Any) -> str:
    """Subscripts and values of the chosen elements, a line each."""
    places = np.argwhere(chosen)
    lines = [f"  {place} : {array[tuple(place)]}" for place in places[:_MOST_SHOWN]]
    return "\n".join([*lines, *(["  ..."] if len(places) > _MOST_SHOWN else [])])
