"""Weighted alternating least squares: `tf.contrib.factorization.WALSModel`.

Y. Hu, Y. Koren, C. Volinsky, "Collaborative Filtering for Implicit Feedback Datasets",
2008.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any

from tensorloom.client.variables.variable_lists import variables_initializer
from tensorloom.contrib.factorization.factor_variables import (
    Sharding,
    cached,
    make_factors,
    make_gramian,
    make_weights,
    scatter_update,
)
from tensorloom.contrib.factorization.least_squares import Sides, solve
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import colocate_with, name_scope
from tensorloom.ops.control_flow.builders import group, no_op
from tensorloom.ops.linalg.builders import eye
from tensorloom.ops.linalg.matmul import matmul
from tensorloom.ops.reductions.aggregate import add_n
from tensorloom.ops.state.reference_variable import assign

if TYPE_CHECKING:
    from tensorloom.client.variables.variables import Variable


@export("contrib.factorization.WALSModel")
class WALSModel:
    """A sparse matrix A as a product U V^T, found by alternating least squares.

    It minimizes the sum of W_ij (A_ij - U_i V_j)^2 over all i and j, plus
    `regularization` times the squares of U and V. W_ij is `unobserved_weight`, plus,
    where A has an entry, `row_weights[i] * col_weights[j]`.

    A sweep over the rows is: `row_update_prep_gramian_op`, then
    `initialize_row_update_op`, then the update of `update_row_factors` for all rows.
    One over the columns is the same with `col`. Before the first, run `initialize_op`
    (or initialize all variables) and `worker_init`.
    """

    def __init__(
        self,
        input_rows: int,
        input_cols: int,
        n_components: int,
        unobserved_weight: float = 0.1,
        regularization: float | None = None,
        row_init: Any = "random",
        col_init: Any = "random",
        num_row_shards: int = 1,
        num_col_shards: int = 1,
        row_weights: Any = 1,
        col_weights: Any = 1,
        use_factors_weights_cache: bool = True,
        use_gramian_cache: bool = True,
        use_scoped_vars: bool = False,
    ) -> None:
        """Makes the variables.

        Args:
          input_rows, input_cols: the size of the matrix.
          n_components: the number of columns of U and V.
          unobserved_weight: the weight of what has no entry.
          regularization: of the squares of U and V; none when None.
          row_init, col_init: the first factors: `"random"`, a tensor or array, a list
            with one for each shard, or a function that returns one of these.
          num_row_shards, num_col_shards: the number of variables for U, and for V.
          row_weights, col_weights: a number, a list of numbers for each shard, or None
            for both: then all weights are `unobserved_weight`.
          use_factors_weights_cache: keeps copies of factors and weights on the worker.
          use_gramian_cache: keeps copies of U^T U and V^T V on the worker.
          use_scoped_vars: puts factors and weights into name scopes, too.

        Raises:
          ValueError: weights are of another kind.
          AssertionError: there are as many lists as no shards, or None for one of the
            weights alone.
        """
        assert (row_weights is None) == (col_weights is None)
        self._input_rows = input_rows
        self._input_cols = input_cols
        self._unobserved_weight = unobserved_weight
        self._regularization = regularization
        self._penalty = (
            None if regularization is None else regularization * eye(n_components)
        )
        self._shardings = (
            Sharding(input_rows, num_row_shards),
            Sharding(input_cols, num_col_shards),
        )

        def scope(name: str) -> AbstractContextManager[Any]:
            return name_scope(name) if use_scoped_vars else nullcontext()

        rows, cols = self._shardings
        with scope("row_weights"):
            self._row_weights = make_weights(row_weights, rows, "row_weights")
        with scope("col_weights"):
            self._col_weights = make_weights(col_weights, cols, "col_weights")
        with scope("row_factors"):
            self._row_factors = make_factors(
                rows, n_components, row_init, "row_factors"
            )
        with scope("col_factors"):
            self._col_factors = make_factors(
                cols, n_components, col_init, "col_factors"
            )
        self._row_gramian = make_gramian(n_components, "row_gramian")
        self._col_gramian = make_gramian(n_components, "col_gramian")
        with name_scope("row_prepare_gramian"):
            self._row_prep = _gramian_op(self._col_factors, self._col_gramian)
        with name_scope("col_prepare_gramian"):
            self._col_prep = _gramian_op(self._row_factors, self._row_gramian)
        with name_scope("transient_vars"):
            self._make_caches(use_factors_weights_cache, use_gramian_cache)

    def _make_caches(self, of_factors: bool, of_gramians: bool) -> None:
        row_factors = cached(self._row_factors, "row_factors_cache", of_factors)
        col_factors = cached(self._col_factors, "col_factors_cache", of_factors)
        row_weights = cached(self._row_weights, "row_wt_cache", of_factors)
        col_weights = cached(self._col_weights, "col_wt_cache", of_factors)
        row_gramian = cached(self._row_gramian, "row_gramian_cache", of_gramians)
        col_gramian = cached(self._col_gramian, "col_gramian_cache", of_gramians)
        self._row_init_op = group(
            col_factors.fill, row_factors.clear, col_gramian.fill, row_gramian.clear
        )
        self._col_init_op = group(
            row_factors.fill, col_factors.clear, row_gramian.fill, col_gramian.clear
        )
        self._worker_init = (
            no_op(name="worker_init")
            if self._row_weights is None
            else group(row_weights.fill, col_weights.fill, name="worker_init")
        )
        # Of what is solved for, and of the other side, which stays as it is: for rows,
        # then for columns.
        sizes = self._input_rows, self._input_cols
        self._sides = (
            Sides(
                *(self._row_factors, col_factors.value, row_weights.value),
                *(col_weights.value, col_gramian.value, sizes),
            ),
            Sides(
                *(self._col_factors, row_factors.value, col_weights.value),
                *(row_weights.value, row_gramian.value, sizes[::-1]),
            ),
        )

    @property
    def row_factors(self) -> list[Variable]:
        """The variables of U, one for each shard."""
        return self._row_factors

    @property
    def col_factors(self) -> list[Variable]:
        """The variables of V, one for each shard."""
        return self._col_factors

    @property
    def row_weights(self) -> list[Variable] | None:
        """The variables of the weights of rows, one for each shard."""
        return self._row_weights

    @property
    def col_weights(self) -> list[Variable] | None:
        """The variables of the weights of columns, one for each shard."""
        return self._col_weights

    @property
    def initialize_op(self) -> Any:
        """Initializes all variables but the copies."""
        variables = [*self._row_factors, *self._col_factors]
        variables += [self._row_gramian, self._col_gramian]
        if self._row_weights is not None and self._col_weights is not None:
            variables += [*self._row_weights, *self._col_weights]
        return variables_initializer(variables)

    @property
    def worker_init(self) -> Any:
        """Copies the weights to the worker; to be run again if they are changed."""
        return self._worker_init

    @property
    def row_update_prep_gramian_op(self) -> Any:
        """Finds V^T V, before a sweep over the rows; the chief runs it alone."""
        return self._row_prep

    @property
    def col_update_prep_gramian_op(self) -> Any:
        """Finds U^T U, before a sweep over the columns; the chief runs it alone."""
        return self._col_prep

    @property
    def initialize_row_update_op(self) -> Any:
        """Copies what a sweep over the rows reads to the worker."""
        return self._row_init_op

    @property
    def initialize_col_update_op(self) -> Any:
        """Copies what a sweep over the columns reads to the worker."""
        return self._col_init_op

    @classmethod
    def scatter_update(
        cls,
        factor: list[Variable],
        indices: Any,
        values: Any,
        sharding_func: Callable[[Any], tuple[Any, Any]],
        name: str | None = None,
    ) -> Any:
        """Puts rows into sharded factors.

        Args:
          factor: the variables.
          indices: the rows, int64 [n].
          values: what they become, [n, components].
          sharding_func: a function from rows to the shard and the row in it.
          name: of the operation.
        """
        return scatter_update(factor, indices, values, sharding_func, name)

    def update_row_factors(
        self, sp_input: Any = None, transpose_input: bool = False
    ) -> tuple[Any, Any, Any, Any, Any]:
        """Solves for some rows of U.

        Args:
          sp_input: a SparseTensor of rows of A, at their places in A.
          transpose_input: whether it is transposed.

        Returns:
          (the new rows; the operation that stores them; the loss without
          regularization, as of all rows if these are of one kind with the others; the
          regularization; the sum of the weights, as of all rows).
        """
        return self._process(0, sp_input, transpose_input)

    def update_col_factors(
        self, sp_input: Any = None, transpose_input: bool = False
    ) -> tuple[Any, Any, Any, Any, Any]:
        """Solves for some rows of V, for columns of A; see `update_row_factors`."""
        return self._process(1, sp_input, not transpose_input)

    def project_row_factors(
        self,
        sp_input: Any = None,
        transpose_input: bool = False,
        projection_weights: Any = None,
    ) -> Any:
        """The rows of U that rows of A would have.

        Args:
          sp_input: a SparseTensor of rows; columns at their places in A.
          transpose_input: whether it is transposed.
          projection_weights: the weights of the rows, a number or [rows]; 1 when None.
        """
        weights = 1 if projection_weights is None else projection_weights
        return self._process(0, sp_input, transpose_input, weights)[0]

    def project_col_factors(
        self,
        sp_input: Any = None,
        transpose_input: bool = False,
        projection_weights: Any = None,
    ) -> Any:
        """The rows of V that columns of A would have; see `project_row_factors`."""
        weights = 1 if projection_weights is None else projection_weights
        return self._process(1, sp_input, not transpose_input, weights)[0]

    def _process(
        self, side: int, sp_input: Any, transposed: bool, row_weights: Any = None
    ) -> tuple[Any, Any, Any, Any, Any]:
        solution = solve(
            self._sides[side],
            sp_input,
            transposed,
            row_weights,
            self._unobserved_weight,
            self._regularization,
            self._penalty,
        )
        update = scatter_update(
            self._sides[side].left,
            solution.indices,
            solution.values,
            self._shardings[side].places,
            name=("row_update", "col_update")[side],
        )
        return (
            solution.values,
            update,
            solution.loss,
            solution.regularization,
            solution.sum_of_weights,
        )


def _gramian_op(factors: Iterable[Variable], gramian: Variable) -> Any:
    """Stores the product of the transposed factors and the factors."""
    parts = []
    for factor in factors:
        with colocate_with(factor):
            parts.append(matmul(factor, factor, transpose_a=True))
    with colocate_with(gramian):
        return assign(gramian, add_n(parts)).op
