"""Factorization of sparse matrices in host memory."""

from __future__ import annotations

from typing import Any

import numpy as np

from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.registry.op_kernel import (
    Compute,
    OpKernelConstruction,
    host_kernel,
)
from tensorloom.framework.types import dtypes
from tensorloom.kernels.host.array.allocation import check_shape
from tensorloom.kernels.host.math.errors import shape_text

# Products made together: their factors are copied for it.
_TOGETHER = 1 << 16


def _check_rank(name: str, value: Any, rank: int) -> None:
    if np.ndim(value) != rank:
        kind = ("scalar", "vector", "matrix")[rank]
        raise invalid_argument(f"Input {name} should be a {kind}.")


def _check_indices(indices: Any, size: int, what: str) -> None:
    wrong = (indices < 0) | (indices >= size)
    if wrong.any():
        place = int(np.argmax(wrong))
        raise invalid_argument(
            f"In entry {place}, the {what} index {indices[place]} is out of bounds "
            f"[0, {size})."
        )


@host_kernel("MaskedMatmul", large=True)
def masked_matmul(c: OpKernelConstruction) -> Compute:
    """A dot product for each place."""

    def compute(a: Any, b: Any, places: Any, transpose_a: Any, transpose_b: Any) -> Any:
        _check_rank("a", a, 2)
        _check_rank("b", b, 2)
        _check_rank("mask_indices", places, 2)
        _check_rank("transpose_a", transpose_a, 0)
        _check_rank("transpose_b", transpose_b, 0)
        if places.shape[1] != 2:
            raise invalid_argument(
                "mask_indices should be a matrix of shape [nnz 2], where nnz is the "
                "number of non-zero elements."
            )
        rows, columns = a.T if transpose_a else a, b if transpose_b else b.T
        if rows.shape[1] != columns.shape[1]:
            raise invalid_argument(
                "Matrix shapes are incompatible: a has shape "
                f"{shape_text(a.shape)}, while b has shape {shape_text(b.shape)}."
            )
        _check_indices(places[:, 0], len(rows), "row")
        _check_indices(places[:, 1], len(columns), "column")
        result = np.empty(len(places), np.float32)
        for begin in range(0, len(places), _TOGETHER):
            some = places[begin : begin + _TOGETHER]
            result[begin : begin + len(some)] = np.einsum(
                "ij,ij->i", rows[some[:, 0]], columns[some[:, 1]]
            )
        return result

    return compute


def _check_observed(indices: Any, values: Any, entry_weights: Any) -> None:
    _check_rank("input_indices", indices, 2)
    if indices.shape[1] != 2:
        raise invalid_argument("Input input_indices should have shape (?, 2).")
    for name, value in (("input_values", values), ("entry_weights", entry_weights)):
        _check_rank(name, value, 1)
    if len(values) != len(indices):
        raise invalid_argument(
            "Input input_values' length should match the first dimension of Input "
            "input_indices "
        )


def _observed_weights(
    rows: Any,
    columns: Any,
    factors: Any,
    weights: tuple[Any, Any, Any],
) -> Any:
    """The weight of each observed entry: its own, or its row's times its column's."""
    factor_weights, input_weights, entry_weights = weights
    by_entry = len(entry_weights) > 0 and len(entry_weights) == len(rows)
    by_factor = len(factor_weights) == len(factors) and len(input_weights) > 0
    is_one = by_entry and not (len(factor_weights) or len(input_weights))
    is_other = by_factor and not len(entry_weights)
    if len(rows) and not (is_one or is_other):
        raise invalid_argument(
            "To specify the weights for observed entries, either (1) entry_weights "
            "must be set or (2) input_weights and factor_weights must be set, but not "
            "both."
        )
    if is_one or not len(rows):
        return entry_weights[: len(rows)]
    _check_indices(rows, len(input_weights), "row")
    return input_weights[rows] * factor_weights[columns]


@host_kernel("WALSComputePartialLhsAndRhs", large=True)
def wals_partial_sides(c: OpKernelConstruction) -> Compute:
    """For each row: sums of w f f' and of (w + w0) value f, f being a column's factor.

    Hu, Koren and Volinsky, "Collaborative filtering for implicit feedback datasets",
    2008, whose parts that all rows share are added elsewhere.
    """
    device = c.device

    def compute(
        factors: Any,
        factor_weights: Any,
        unobserved_weight: Any,
        input_weights: Any,
        indices: Any,
        values: Any,
        entry_weights: Any,
        block_size: Any,
        is_transposed: Any,
    ) -> tuple[Any, Any]:
        _check_rank("factors", factors, 2)
        _check_rank("factor_weights", factor_weights, 1)
        _check_rank("unobserved_weights", unobserved_weight, 0)
        _check_rank("input_weights", input_weights, 1)
        _check_observed(indices, values, entry_weights)
        _check_rank("input_block_size", block_size, 0)
        _check_rank("input_is_transpose", is_transposed, 0)
        rows, columns = indices.T[::-1] if is_transposed else indices.T
        size, depth = int(block_size), factors.shape[1]
        check_shape((size, depth, depth), dtypes.float32, device)
        _check_indices(rows, size, "row")
        _check_indices(columns, len(factors), "column")
        given = (factor_weights, input_weights, entry_weights)
        weights = _observed_weights(rows, columns, factors, given)
        left = np.zeros((size, depth, depth), np.float32)
        right = np.zeros((size, depth), np.float32)
        order = np.argsort(rows, kind="stable")
        rows, columns = rows[order], columns[order]
        weights, values = weights[order], values[order]
        present, begins = np.unique(rows, return_index=True)
        ends = np.append(begins[1:], len(rows)).tolist()
        for row, begin, end in zip(
            present.tolist(), begins.tolist(), ends, strict=True
        ):
            some = slice(begin, end)
            seen = factors[columns[some]]
            left[row] = (seen * weights[some, None]).T @ seen
            right[row] = (values[some] * (weights[some] + unobserved_weight)) @ seen
        return left, right

    return compute
