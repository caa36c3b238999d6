"""Embedding tables at run time: the rows of keys, and the slots of optimizers.

All is done under the table's lock, and therefore stands in one file. A key gets a
row when it is first updated; until then it reads what its row would begin with, which
follows from seed and key alone.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tensorloom.framework.errors import FailedPreconditionError, invalid_argument
from tensorloom.framework.runtime.resource import Resource
from tensorloom.kernels.host.embedding.growing_rows import GrowingRows
from tensorloom.kernels.host.embedding.key_rows import KeyRows

if TYPE_CHECKING:
    from tensorloom.framework.types.dtypes import DType

#: The block of the embeddings themselves; others are slots.
VALUES: Final = ""
# Numbers that are updated together: their rows stay in the processor's cache.
_TOGETHER: Final = 1 << 15
# Of the life of a row, the part after which old ones are looked for again.
_LOOKS_PER_LIFE: Final = 4

#: Of first values.
KINDS: Final = ("constant", "uniform", "normal", "truncated_normal")


@dataclass(frozen=True)
class TableOptions:
    """What an embedding table is made with."""

    dim: int  # elements of a row
    kind: str  # of first values: one of KINDS
    first: float  # the constant, lower bound or mean
    second: float  # the upper bound or standard deviation
    seed: int
    filter_freq: int  # a key is admitted by so many updates; 0, 1: by the first
    unadmitted_value: (
        float  # what a key reads that is not admitted, if there is a filter
    )
    steps_to_live: int  # rows are removed after so many steps without update; 0: never


@dataclass(frozen=True)
class Contents:
    """What of a table is saved: arrays of one length, and slots by their names."""

    keys: Any  # int64 [n]
    freqs: Any  # int64 [n]
    steps: Any  # int64 [n]
    blocks: dict[str, Any]  # [n, dim]; VALUES among them


class EmbeddingTable(Resource):
    """Rows by int64 keys."""

    def __init__(
        self, container: str, name: str, dtype: DType, options: TableOptions
    ) -> None:
        super().__init__(container, name)
        self.dtype, self.options = dtype, options
        self.lock = threading.Lock()
        self._rows = KeyRows()
        self._candidates = KeyRows() if options.filter_freq > 1 else None
        self._looked_at = 0
        # The number of the next save. No other life of the table has had it.
        self._save = time.time_ns()
        # The keys that went before which save, and since which one they are known;
        # None until somebody saves changes alone.
        self._gone: dict[int, int] | None = None
        self._known_since = self._save
        self._rows.add_block(VALUES, self._block(0.0))

    def _block(self, fill: float) -> GrowingRows:
        kind = self.dtype.as_numpy_dtype
        return GrowingRows(kind, (self.options.dim,), fill)

    def facts(self) -> dict[str, Any] | None:
        """Dtype, keys, slots and bytes."""
        blocks = self._rows.blocks
        return {
            "device": self.device,
            "dtype": self.dtype.name,
            "shape": str((len(self._rows), self.options.dim)),
            "slots": sorted(name for name in blocks if name != VALUES),
            "bytes": sum(block.nbytes for block in blocks.values()),
        }

    def check(self, dtype: DType, options: TableOptions) -> None:
        """Raises InvalidArgumentError unless the table was made so."""
        if (dtype, options) != (self.dtype, self.options):
            raise invalid_argument(
                f"embedding table {self.name} is {self.dtype.name} with "
                f"{self.options}, but is asked for as {dtype.name} with {options}"
            )

    def size(self) -> int:
        """The number of keys that have a row."""
        with self.lock:
            return len(self._rows)

    # --- reading ---------------------------------------------------------------------

    def lookup(self, keys: Any) -> Any:
        """The rows of keys [n], as a new array [n, dim].

        A key without one reads its first values, or the filter's value if there is one.
        """
        from tensorloom.kernels.loops.embedding import key_index

        out = np.empty((len(keys), self.options.dim), self.dtype.as_numpy_dtype)
        with self.lock:
            rows, missing = self._rows.find(keys)
            key_index.gather_rows(self._rows.blocks[VALUES].rows, rows, out)
        if missing:
            at = np.flatnonzero(rows < 0)
            if self._candidates is None:
                self._fill_initial(keys, at, out)
            else:
                out[at] = self.options.unadmitted_value
        return out

    def _fill_initial(self, keys: Any, at: Any, out: Any) -> None:
        from tensorloom.kernels.loops.embedding import initial_values

        o = self.options
        kind = getattr(initial_values, o.kind.upper())
        seed = np.uint64(o.seed & (1 << 64) - 1)
        initial_values.fill_initial(kind, o.first, o.second, seed, keys, at, out)

    # --- changing --------------------------------------------------------------------

    def apply(
        self,
        formula: Callable[[tuple[Any, ...], Any], Sequence[Any]],
        slots: Sequence[tuple[str, float]],
        keys: Any,
        gradient: Any,
        step: int,
    ) -> None:
        """Updates the rows of keys by the sums of their gradients.

        Args:
          formula: (rows of the values and of each slot, gradients) -> their next ones.
          slots: names, and what new rows hold.
          keys: int64 [n].
          gradient: [n, dim].
          step: the global step, for the age of rows.
        """
        with self.lock:
            rows = self._rows_to_update(keys, step)
            blocks = [self._rows.blocks[VALUES]]
            blocks += [self._slot(name, fill) for name, fill in slots]
            at, sums = self._rows.summed(rows, gradient)
            chunk = max(1, _TOGETHER // self.options.dim)
            for begin in range(0, len(at), chunk):
                part = at[begin : begin + chunk]
                _update(formula, blocks, part, sums[begin : begin + chunk])
            self._mark(at, step)
            self._evict_at_times(step)

    def _mark(self, at: Any, step: int) -> None:
        self._rows.freqs.rows[at] += 1
        self._rows.steps.rows[at] = step
        self._rows.touched.rows[at] = self._save

    def _rows_to_update(self, keys: Any, step: int) -> Any:
        """The rows of keys, new ones where they are admitted; else -1."""
        rows, missing = self._rows.find(keys)
        if missing:
            at = np.flatnonzero(rows < 0)
            new = self._admitted(np.unique(keys[at]), step)
            if len(new):
                self._add(new, step)
                rows[at] = self._rows.find(keys[at])[0]
        return rows

    def _admitted(self, keys: Any, step: int) -> Any:
        """Counts an update of keys without row; those that are to have one now."""
        candidates = self._candidates
        if candidates is None:
            return keys
        rows, missing = candidates.find(keys)
        if missing:
            at = np.flatnonzero(rows < 0)
            rows[at] = candidates.add(keys[at], step)
        candidates.freqs.rows[rows] += 1
        candidates.steps.rows[rows] = step
        candidates.touched.rows[rows] = self._save
        # The update that admits a key counts as its row's.
        is_enough = candidates.freqs.rows[rows] >= self.options.filter_freq
        candidates.remove(rows[is_enough])
        return keys[is_enough]

    def _add(self, keys: Any, step: int) -> Any:
        """New rows with first values."""
        from tensorloom.kernels.loops.embedding import key_index

        rows = self._rows.add(keys, step)
        first = np.empty((len(keys), self.options.dim), self.dtype.as_numpy_dtype)
        self._fill_initial(keys, np.arange(len(keys)), first)
        key_index.scatter_rows(self._rows.blocks[VALUES].rows, rows, first)
        if self._candidates is not None:
            self._rows.freqs.rows[rows] = self.options.filter_freq - 1
        if self._gone:
            for key in keys.tolist():
                self._gone.pop(key, None)
        return rows

    def _slot(self, name: str, fill: float) -> GrowingRows:
        block = self._rows.blocks.get(name)
        if block is None:
            block = self._block(fill)
            self._rows.add_block(name, block)
        elif block.fill != fill:
            raise invalid_argument(
                f"slot {name} of embedding table {self.name} begins with {block.fill}, "
                f"but is asked for with {fill}"
            )
        return block

    def upsert(self, keys: Any, values: Any, step: int) -> None:
        """Sets the rows of keys, admitted or not; of a repeated key the last counts."""
        from tensorloom.kernels.loops.embedding import key_index

        with self.lock:
            rows, missing = self._rows.find(keys)
            if missing:
                new = np.unique(keys[rows < 0])
                self._admit_candidates(new)
                self._add(new, step)
                rows = self._rows.find(keys)[0]
            block = self._rows.blocks[VALUES].rows
            key_index.scatter_rows(block, rows, values)
            at = np.unique(rows)
            self._rows.steps.rows[at] = step
            self._rows.touched.rows[at] = self._save

    def _admit_candidates(self, keys: Any) -> None:
        if self._candidates is not None:
            rows = self._candidates.find(keys)[0]
            self._candidates.remove(rows[rows >= 0])

    def remove(self, keys: Any) -> None:
        """Removes the rows of keys, and what was counted of them."""
        with self.lock:
            self._remove_keys(np.unique(keys))

    def _remove_keys(self, keys: Any) -> None:
        for part in self._parts():
            rows = part.find(keys)[0]
            self._remove(part, rows[rows >= 0])

    def _parts(self) -> list[KeyRows]:
        return [self._rows] + ([] if self._candidates is None else [self._candidates])

    def _remove(self, part: KeyRows, rows: Any) -> None:
        if self._gone is not None:
            gone = part.keys.rows[rows].tolist()
            self._gone.update(dict.fromkeys(gone, self._save))
        part.remove(rows)

    def evict(self, before: int) -> int:
        """Removes the rows that were not updated since a step; how many."""
        with self.lock:
            return self._evict(before)

    def _evict(self, before: int) -> int:
        count = len(self._rows)
        for part in self._parts():
            self._remove(part, part.older_than(before))
        return count - len(self._rows)

    def _evict_at_times(self, step: int) -> None:
        life = self.options.steps_to_live
        if life and step - self._looked_at >= max(1, life // _LOOKS_PER_LIFE):
            self._looked_at = step
            self._evict(step - life)

    def clear(self) -> None:
        """Removes all keys; slots remain, without rows."""
        with self.lock:
            self._clear()

    def _clear(self) -> None:
        for part in self._parts():
            self._remove(part, part.live())
            part.clear()

    # --- saving ----------------------------------------------------------------------

    def export(
        self, slots: Iterable[tuple[str, float]], since: int = 0
    ) -> tuple[Contents, Contents, Any, int]:
        """What a saver saves.

        Args:
          slots: names, and what they begin with.
          since: the save whose and later changes are wanted; 0 for all there is.

        Raises:
          FailedPreconditionError: the table does not know what changed since then.

        Returns:
          (rows, keys that are counted but not admitted, keys that are gone, the number
          of this save, since which later changes count).
        """
        with self.lock:
            if since and not (
                self._gone is not None and self._known_since <= since <= self._save
            ):
                raise FailedPreconditionError(
                    None,
                    None,
                    f"embedding table {self.name} does not know what changed since "
                    f"save {since}: it began anew, or another saver's save came after "
                    "it. Save a full checkpoint first.",
                )
            names = [VALUES, *(name for name, _ in slots)]
            for name, fill in slots:
                self._slot(name, fill)
            rows = _contents(self._rows, since, names)
            candidates = self._candidates or KeyRows()
            counted = _contents(candidates, since, [])
            changes = (self._gone or {}).items()
            gone = sorted(key for key, save in changes if save >= since)
            self._save += 1
            return rows, counted, np.array(gone, np.int64), self._save

    def keep_gone(self, since: int) -> int:
        """The number of a save that begins now, since which changes count.

        From the first one on it is remembered which keys go; those that went before
        save `since` are forgotten.
        """
        with self.lock:
            self._save += 1
            if self._gone is None:
                self._gone, self._known_since = {}, self._save
            if since > self._known_since:
                known = self._gone.items()
                self._gone = {key: save for key, save in known if save >= since}
                self._known_since = since
            return self._save

    def load(
        self,
        rows: Contents,
        counted: Contents,
        gone: Any = None,
        slots: Iterable[tuple[str, float]] = (),
    ) -> None:
        """Takes contents over: for all there is, or, with `gone`, as changes of it.

        Args:
          rows, counted: of distinct keys.
          gone: keys that are to be removed first.
          slots: names, and what they begin with.
        """
        from tensorloom.kernels.loops.embedding import key_index

        with self.lock:
            if gone is None:
                self._clear()
                self._looked_at = 0
            else:
                self._remove_keys(gone)
            for name, fill in slots:
                self._slot(name, fill)
            at = self._load_counts(self._rows, rows)
            self._rows.touched.rows[at] = self._save
            for name, values in rows.blocks.items():
                key_index.scatter_rows(self._rows.blocks[name].rows, at, values)
            self._admit_candidates(rows.keys)
            if self._candidates is not None:
                at = self._load_counts(self._candidates, counted)
                self._candidates.touched.rows[at] = self._save

    @property
    def nbytes(self) -> int:
        """The bytes of its rows and keys."""
        return sum(part.nbytes for part in self._parts())

    def copied(self) -> EmbeddingTable:
        """Another table with the same rows.

        Raises:
          ResourceExhaustedError: there is no memory for them.
        """
        found = EmbeddingTable(self.container, self.name, self.dtype, self.options)
        with self.lock:
            found._rows = self._rows.copied()
            if self._candidates is not None:
                found._candidates = self._candidates.copied()
        return found

    def take_rows_of(self, other: EmbeddingTable) -> None:
        """Has the rows of another table, made with the same options, for its own.

        The other one is not to be used any more. It keeps the rows of this one for as
        long as it is kept: giving back much memory takes a while.
        """
        with self.lock:
            for part in self._parts() if self._gone is not None else ():
                self._remove(part, part.live())
            self._rows, other._rows = other._rows, self._rows
            self._candidates, other._candidates = other._candidates, self._candidates
            self._looked_at = 0

    @staticmethod
    def _load_counts(rows: KeyRows, contents: Contents) -> Any:
        at, missing = rows.find(contents.keys)
        if missing:
            new = np.flatnonzero(at < 0)
            at[new] = rows.add(contents.keys[new], contents.steps[new])
        rows.freqs.rows[at], rows.steps.rows[at] = contents.freqs, contents.steps
        return at


def _update(
    formula: Any, blocks: Sequence[GrowingRows], at: Any, gradient: Any
) -> None:
    from tensorloom.kernels.loops.embedding import key_index

    old = []
    for block in blocks:
        rows = np.empty(gradient.shape, block.dtype)
        key_index.gather_rows(block.rows, at, rows)
        old.append(rows)
    for block, new, rows in zip(
        blocks, formula(tuple(old), gradient), old, strict=True
    ):
        if new is not rows:
            new = np.ascontiguousarray(new, block.dtype)
            key_index.scatter_rows(block.rows, at, new)


def _contents(rows: KeyRows, since: int, names: Iterable[str]) -> Contents:
    at = rows.live()
    if since:
        at = at[rows.touched.rows[at] >= since]
    blocks = {name: rows.blocks[name].rows[at] for name in names}
    keys, freqs = rows.keys.rows[at], rows.freqs.rows[at]
    return Contents(keys, freqs, rows.steps.rows[at], blocks)
