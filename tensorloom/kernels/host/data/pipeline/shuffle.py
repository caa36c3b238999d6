"""Shuffling in TensorFlow's order.

A buffer is filled, and each element drawn from it at random; `ShuffleAndRepeat` also
begins the next round while the last one is still drawn from, but draws from the oldest
round first. Numbers and swaps are those of TensorFlow's `shuffle_dataset_op.cc`.
"""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tensorloom.framework.errors import invalid_argument
from tensorloom.kernels.host.data.pipeline.dataset import (
    INFINITE,
    UNKNOWN,
    Dataset,
    DatasetIterator,
    Element,
    RowDataset,
    as_dataset,
    dataset_kernel,
    like,
    rows_of,
)
from tensorloom.kernels.host.data.pipeline.selection import RepeatDataset
from tensorloom.kernels.host.data.pipeline.sources import RandomWords, drawn_seeds

if TYPE_CHECKING:
    from tensorloom.framework.registry.op_kernel import Compute, OpKernelConstruction
    from tensorloom.kernels.host.data.pipeline.environment import Environment


class SeedGenerator:
    """Gives each iterator of one dataset its pair of seeds."""

    def __init__(self, seed: int, seed2: int) -> None:
        self._words = RandomWords(seed, seed2)

    def next(self) -> tuple[int, int]:
        """The seeds of the next iterator."""
        return self._words.next(), self._words.next()


class FixedSeeds(SeedGenerator):
    """Gives every iterator the same pair."""

    def __init__(self, seed: int, seed2: int) -> None:
        self._seeds = seed, seed2

    def next(self) -> tuple[int, int]:
        return self._seeds


class ShuffleDataset(Dataset):
    """Elements drawn from a buffer that the source fills, `count` times over."""

    keeps_elements = True
    seeds: tuple[int, int]

    def __init__(
        self,
        source: Dataset,
        buffer_size: int,
        seeds: tuple[int, int],
        reshuffles: bool,
        count: int = 1,
        generator: SeedGenerator | None = None,
    ) -> None:
        """Makes it.

        Args:
          source: where the elements come from.
          buffer_size: how many the buffer holds.
          seeds: those of the node; both are 0 where it has none.
          reshuffles: whether each iteration has another order.
          count: how many rounds; negative for ever.
          generator: gives the seeds of iterations; one of its own if left out.
        """
        super().__init__(*like(source))
        self._buffer_size, self._given_seeds = buffer_size, seeds
        self.seeds = drawn_seeds(*seeds)
        if reshuffles:
            generator = generator or SeedGenerator(*self.seeds)
        self._reshuffle, self._count = (generator if reshuffles else None), count

    @property
    def cardinality(self) -> int:
        n = self.inputs[0].cardinality
        if self._count == 1 or n == 0:
            return n
        if self._count < 0:
            return INFINITE
        return n if n < 0 else n * self._count

    @property
    def count(self) -> int:
        """How many rounds; negative for ever."""
        return self._count

    @property
    def iterator_name(self) -> str:
        return "Shuffle" if self._count == 1 else "ShuffleAndRepeat"

    @property
    def given_seeds(self) -> tuple[int, int]:
        """Those of the node; both are 0 where it has none."""
        return self._given_seeds

    def of(self, source: Dataset, seeds: tuple[int, int]) -> ShuffleDataset:
        """One round of another source in the order of these seeds."""
        return ShuffleDataset(source, self._buffer_size, seeds, reshuffles=False)

    def repeated(self, count: int) -> ShuffleDataset | None:
        """This dataset repeated without a break; None if each round is the same."""
        if self._reshuffle is None or self._count != 1:
            return None
        return ShuffleDataset(
            self.inputs[0], self._buffer_size, self._given_seeds, False, count
        )

    def renewed(self, seeds: Iterator[tuple[int, int]]) -> Dataset:
        fresh = super().renewed(seeds)
        assert isinstance(fresh, ShuffleDataset)
        if self._reshuffle is not None:
            fresh._reshuffle = SeedGenerator(*fresh.seeds)
        return fresh

    def iterate(self, env: Environment) -> DatasetIterator:
        seeds = self._reshuffle.next() if self._reshuffle else self.seeds
        draw = _Draw(RandomWords(*seeds), self._buffer_size, self._count)
        rows = rows_of(self.inputs[0])
        if rows is not None:
            return _ShuffledRows(rows, draw)
        return _ShuffleIterator(self.inputs[0], draw, env)


class _Draw:
    """The buffer: a ring of items, and the rounds that they belong to."""

    def __init__(self, words: RandomWords, size: int, count: int) -> None:
        self._words, self.size, self.count = words, size, count
        self._ring: dict[int, Any] = {}
        self.held = 0
        self._rounds: deque[list[int]] = deque([[0, 0]])  # [start, end) of each
        self._end = 0

    @property
    def is_full(self) -> bool:
        return self.held >= self.size

    def begin_round(self) -> None:
        """What is put from now on belongs to the next round."""
        self._rounds.append([self._end, self._end])

    def put(self, item: Any) -> None:
        """Adds an item to the newest round."""
        self._ring[self._end % self.size] = item
        self._end += 1
        self._rounds[-1][1] = self._end
        self.held += 1

    def put_all(self, items: Sequence[Any]) -> None:
        """Adds items, for which there is room, to the newest round."""
        end = self._end + len(items)
        size = self.size
        places = [place % size for place in range(self._end, end)]
        self._ring.update(zip(places, items, strict=True))
        self._end = self._rounds[-1][1] = end
        self.held += len(items)

    def draw(self) -> Any:
        """Takes an item of the oldest round."""
        rounds = self._rounds
        while rounds[0][0] == rounds[0][1]:
            rounds.popleft()
        oldest = rounds[0]
        start = oldest[0]
        index = (start + self._words.next() % (oldest[1] - start)) % self.size
        ring, first = self._ring, start % self.size
        item = ring[index]
        ring[index] = ring[first]
        del ring[first]
        oldest[0] = start + 1
        self.held -= 1
        return item

    @property
    def has_one_round(self) -> bool:
        """Whether all items are of the newest round."""
        return len(self._rounds) == 1

    def draw_many(self, count: int) -> list[Any]:
        """Takes so many items, which are there, all of one round.

        Each leaves a place behind that is not cleared: they are numbers.
        """
        ring, oldest = self._ring, self._rounds[0]
        start, end = oldest
        steps = np.arange(start, start + count)
        drawn = []
        for first, place in self._places(steps, end - steps):
            drawn.append(ring[place])
            ring[place] = ring[first]
        oldest[0] = start + count
        self.held -= count
        return drawn

    def put_and_draw(self, items: Sequence[Any]) -> list[Any]:
        """Adds a number and takes one, again and again; all are of one round."""
        ring, oldest = self._ring, self._rounds[0]
        (start, end), count = oldest, len(items)
        steps = np.arange(start, start + count)
        free = ((steps + (end - start)) % self.size).tolist()
        drawn = []
        for item, put, (first, place) in zip(
            items, free, self._places(steps, end + 1 - start), strict=True
        ):
            ring[put] = item
            drawn.append(ring[place])
            ring[place] = ring[first]
        oldest[:] = start + count, end + count
        self._end = end + count
        return drawn

    def _places(self, steps: Any, counts: Any) -> Iterator[tuple[int, int]]:
        """(place of the first item, of the one drawn) of draws from so many items."""
        words = np.array(self._words.take(len(steps)), np.int64)
        firsts, drawn = steps % self.size, (steps + words % counts) % self.size
        return zip(firsts.tolist(), drawn.tolist(), strict=True)


class _ShuffleIterator(DatasetIterator):
    """Fills the buffer from an iterator."""

    def __init__(self, dataset: Dataset, draw: _Draw, env: Environment) -> None:
        self._dataset, self._draw, self._env = dataset, draw, env
        self._source: DatasetIterator | None = None
        self._round = 0
        self._produced = False
        if draw.count != 0:
            self._source = dataset.iterate(env)

    def __next__(self) -> Element:
        draw = self._draw
        while self._source is not None and not draw.is_full:
            for element in self._source:
                draw.put(element)
                self._produced = True
                break
            else:
                self._end_round()
        if draw.held:
            return draw.draw()  # type: ignore[no-any-return]
        raise StopIteration

    def _end_round(self) -> None:
        count = self._draw.count
        if count < 0 and not self._produced:
            self._source = None
            return
        self._round += 1
        # TensorFlow makes an iterator behind the last round too: one that nobody uses,
        # but which takes seeds of a shuffle further up.
        source = self._dataset.iterate(self._env)
        if self._round == count:
            self._source = None
        else:
            self._draw.begin_round()
            self._source = source


class _ShuffledRows(DatasetIterator):
    """Shuffles numbers of rows, and looks the rows up when they are drawn."""

    def __init__(self, rows: RowDataset, draw: _Draw) -> None:
        self._rows, self._draw = rows, draw
        self._size = rows.rows
        self._next = 0
        self._round = 0
        self._open = draw.count != 0 and self._size > 0

    def _draw_one(self) -> int | None:
        draw = self._draw
        while self._open and not draw.is_full:
            if self._next < self._size:
                first = self._next
                self._next = min(first + draw.size - draw.held, self._size)
                draw.put_all(range(first, self._next))
            else:
                self._round += 1
                self._next = 0
                if self._round == draw.count:
                    self._open = False
                else:
                    draw.begin_round()
        return draw.draw() if draw.held else None

    @property
    def has_columns(self) -> bool:
        return True

    def __next__(self) -> Element:
        index = self._draw_one()
        if index is None:
            raise StopIteration
        return self._rows.row(index)

    def take(self, count: int) -> Sequence[np.ndarray[Any, Any]]:
        indices: list[int] = []
        while len(indices) < count:
            index = self._draw_one()
            if index is None:
                break
            indices.append(index)
            indices += self._draw_more(count - len(indices))
        return self._rows.gather(np.array(indices, np.int64))

    def _draw_more(self, count: int) -> list[int]:
        """Up to `count` numbers at once; none where rounds meet."""
        draw = self._draw
        if not draw.has_one_round:
            return []
        if not self._open:
            return draw.draw_many(min(count, draw.held))
        if draw.held + 1 != draw.size:
            return []
        first = self._next
        self._next = min(first + count, self._size)
        return draw.put_and_draw(range(first, self._next))


def _buffer_size(value: Any) -> int:
    if value <= 0:
        raise invalid_argument("buffer_size must be greater than zero.")
    return int(value)


def _buffer_size_of_2x(value: Any) -> int:
    """As above; of TensorFlow 2: UNKNOWN asks for all elements."""
    return sys.maxsize if value == UNKNOWN else _buffer_size(value)


@dataset_kernel("ShuffleDataset")
def shuffle_dataset(c: OpKernelConstruction) -> Compute:
    """A shuffled dataset; another order in each iteration unless told otherwise."""
    reshuffle = c["reshuffle_each_iteration"]

    def compute(source: Any, buffer_size: Any, seed: Any, seed2: Any) -> Dataset:
        seeds = int(seed), int(seed2)
        return ShuffleDataset(
            as_dataset(source),
            _buffer_size(buffer_size),
            seeds,
            reshuffle,
        )

    return compute


@dataset_kernel("ShuffleDatasetV3")
def shuffle_dataset_v3(c: OpKernelConstruction) -> Compute:
    """ShuffleDataset with its seed generator as a resource."""
    reshuffle = c["reshuffle_each_iteration"]

    def compute(
        source: Any, buffer_size: Any, seed: Any, seed2: Any, generator: Any
    ) -> Dataset:
        seeds = int(seed), int(seed2)
        own = generator if isinstance(generator, SeedGenerator) else None
        return ShuffleDataset(
            as_dataset(source),
            _buffer_size_of_2x(buffer_size),
            seeds,
            reshuffle,
            generator=own,
        )

    return compute


@dataset_kernel("ShuffleDatasetV2")
def shuffle_dataset_v2(c: OpKernelConstruction) -> Compute:
    """ShuffleDataset whose seeds come from a generator alone."""

    def compute(source: Any, buffer_size: Any, generator: Any) -> Dataset:
        own = generator if isinstance(generator, SeedGenerator) else None
        size = _buffer_size(buffer_size)
        return ShuffleDataset(as_dataset(source), size, (0, 0), True, generator=own)

    return compute


@dataset_kernel("ShuffleAndRepeatDataset")
def shuffle_and_repeat_dataset(c: OpKernelConstruction) -> Compute:
    """Several shuffled rounds without a break between them."""

    def compute(
        source: Any, buffer_size: Any, seed: Any, seed2: Any, count: Any
    ) -> Dataset:
        seeds, size = (int(seed), int(seed2)), _buffer_size(buffer_size)
        return ShuffleDataset(as_dataset(source), size, seeds, False, int(count))

    return compute


@dataset_kernel("ShuffleAndRepeatDatasetV2")
def shuffle_and_repeat_dataset_v2(c: OpKernelConstruction) -> Compute:
    """ShuffleAndRepeatDataset that draws new seeds for each round."""
    reshuffle = c["reshuffle_each_iteration"]

    def compute(
        source: Any,
        buffer_size: Any,
        seed: Any,
        seed2: Any,
        count: Any,
        generator: Any,
    ) -> Dataset:
        seeds, size = (int(seed), int(seed2)), _buffer_size_of_2x(buffer_size)
        dataset = as_dataset(source)
        if not reshuffle:
            return ShuffleDataset(dataset, size, seeds, False, int(count))
        own = generator if isinstance(generator, SeedGenerator) else None
        once = ShuffleDataset(dataset, size, seeds, True, generator=own)
        return RepeatDataset(once, int(count))

    return compute
