"""Word pairs of a text and training with them: the word2vec ops of old graphs.

Mikolov et al., "Distributed representations of words and phrases and their
compositionality", 2013.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.registry.op_kernel import (
    Compute,
    OpKernelConstruction,
    OpKernelContext,
    host_kernel,
)
from tensorloom.framework.types import dtypes
from tensorloom.kernels.host.array.allocation import check_shape
from tensorloom.kernels.host.data.pipeline.sources import RandomWords
from tensorloom.kernels.host.nn.candidate_draws import AliasDraws
from tensorloom.kernels.host.nn.candidate_sampling import alias_table
from tensorloom.kernels.host.random.philox import (
    Generator,
    uint32_to_float,
    unwanted_words,
)
from tensorloom.kernels.host.strings.arrays import to_strings
from tensorloom.kernels.torch.state.variable_value import (
    is_host,
    to_host,
    to_tensor,
    uninitialized_reference,
)
from tensorloom.storage.files import filesystem
from tensorloom.storage.files.file_errors import as_file_errors

if TYPE_CHECKING:
    from tensorloom.framework.runtime.resource import Variable

_Array = NDArray[Any]
_SENTENCE: Final = 1000  # words
_AHEAD: Final = 3000  # pairs that are made at a time
# The word that stands for all rare ones.
_UNKNOWN: Final = b"UNK"


class _Corpus:
    """A text as numbers of words, and how frequent they are."""

    def __init__(self, filename: str, window: int, min_count: int) -> None:
        if window < 1:
            raise invalid_argument(f"A window of {window} words")
        with as_file_errors(filename):
            words = filesystem.read_file(filename).split()
        self.size = len(words)
        if self.size < window * 10:
            raise invalid_argument(
                f"The text file {filename} contains too little data: {self.size} words"
            )
        common = [p for p in Counter(words).most_common() if p[1] >= min_count]
        self.vocabulary = [_UNKNOWN, *(word for word, _ in common)]
        counts = [count for _, count in common]
        self.counts = [self.size - sum(counts), *counts]
        numbers = {word: i for i, (word, _) in enumerate(common, 1)}
        self.words = [numbers.get(word, 0) for word in words]


class _Pairs:
    """Words of a text with their neighbours, frequent ones less often."""

    def __init__(self, corpus: _Corpus, window: int, subsample: float) -> None:
        self._words = corpus.words
        self._window = window
        self._keep = _kept(corpus, subsample)
        self._random = RandomWords(0, 1 << 64)  # of seed 0, which alone is random
        self._next_word = 0
        self._sentence: list[int] = []
        self._place = _SENTENCE
        self._left = range(0)  # places of neighbours that come next
        self.epoch = 0
        self.words_processed = 0

    def next(self) -> tuple[int, int]:
        """A word and one of its neighbours."""
        while True:
            if not self._left:
                self._advance()
            label, self._left = self._left[0], self._left[1:]
            if label != self._place:
                return self._sentence[self._place], self._sentence[label]

    def _advance(self) -> None:
        self.words_processed += 1
        self._place += 1
        if self._place >= _SENTENCE:
            self._place = 0
            self._sentence = [self._next_kept() for _ in range(_SENTENCE)]
        reach = 1 + self._below(self._window)
        low, high = self._place - reach, self._place + reach + 1
        self._left = range(max(0, low), min(_SENTENCE, high))

    def _next_kept(self) -> int:
        while True:
            if self._next_word >= len(self._words):
                self.epoch += 1
                self._next_word = 0
            word = self._words[self._next_word]
            if self._keep and self._unit() > self._keep[word]:
                # As in TensorFlow, whose loop counts a word that it leaves out.
                self._next_word += 1
                continue
            self._next_word += 1
            return word

    def _unit(self) -> float:
        return float(uint32_to_float(np.array([self._random.next()], np.uint32))[0])

    def _below(self, limit: int) -> int:
        unwanted = unwanted_words(limit)
        while True:
            word = self._random.next()
            if word >= unwanted:
                return word % limit


def _kept(corpus: _Corpus, subsample: float) -> list[float]:
    """The chance of each word to stay in the text, equation 5 of the paper."""
    if subsample <= 0:
        return []
    limit = np.float32(subsample) * np.float32(corpus.size)
    counts = np.array(corpus.counts, np.float32)
    chances = (np.sqrt(counts / limit) + np.float32(1)) * limit / counts
    result: list[float] = chances.astype(np.float32).tolist()
    return result


@host_kernel("Skipgram", context=True, large=True)
def skipgram(c: OpKernelConstruction) -> Compute:
    """The vocabulary, progress, and a batch of (word, neighbour)."""
    window, size = c["window_size"], c["batch_size"]
    check_shape((size, 2), dtypes.int32, c.device)
    corpus = _Corpus(c["filename"].decode(), window, c["min_count"])
    pairs = _Pairs(corpus, window, c["subsample"])
    vocabulary = to_strings(corpus.vocabulary, (len(corpus.vocabulary),))
    counts = np.array(corpus.counts, np.int32)
    lock = threading.Lock()
    ahead: list[tuple[int, int]] = []

    def refill() -> None:
        ahead.extend(pairs.next() for _ in range(_AHEAD))
        ahead.reverse()

    refill()

    def fill(batch: _Array, check: Callable[[], None]) -> None:
        filled = 0
        while filled < len(batch):
            check()
            count = min(len(ahead), len(batch) - filled)
            batch[filled : filled + count] = ahead[-count:][::-1]
            del ahead[-count:]
            filled += count
            if not ahead:
                refill()

    def compute(context: OpKernelContext) -> tuple[Any, ...]:
        with lock:
            batch = np.empty((max(size, 0), 2), np.int32)
            fill(batch, context.cancellation.check)
            progress = (
                np.int64(corpus.size),
                np.int32(pairs.epoch),
                np.int64(pairs.words_processed),
            )
        return (vocabulary, counts, *progress, batch[:, 0], batch[:, 1])

    return compute


class _NegativeSamples:
    """Words by their counts to the power of 3/4."""

    def __init__(self, counts: list[int]) -> None:
        self.size = len(counts)
        weights = np.array(counts, np.float32) ** np.float32(0.75)
        self._draws = AliasDraws(*alias_table(weights))
        self._generator = Generator(0, 0)

    def take(self, count: int) -> list[int]:
        """So many words, drawn anew each time."""
        stream = self._generator.reserve(2 * count)  # 8 words for each
        found: list[int] = []
        words = 2 * count + 8
        while len(found) < count:
            found = self._draws.classes(stream.words(words))[0].tolist()
            words *= 2
        return found[:count]


@host_kernel("NegTrain", large=True)
def neg_train(c: OpKernelConstruction) -> Compute:
    """Trains the vectors of words, one pair after the other, in place."""
    negatives = max(c["num_negative_samples"], 0)
    if not c["vocab_count"]:
        raise invalid_argument("vocab_count is empty")
    samples = _NegativeSamples(c["vocab_count"])

    def compute(
        inner: Variable, outer: Variable, examples: _Array, labels: _Array, rate: Any
    ) -> None:
        with inner.lock, outer.lock:
            w_in, w_out = _copied(inner), _copied(outer)
            _check_training(w_in, w_out, examples, labels, rate, samples.size)
            drawn = samples.take(len(examples) * negatives)
            pairs = zip(examples.tolist(), labels.tolist(), strict=True)
            for i, (example, label) in enumerate(pairs):
                others = drawn[i * negatives : (i + 1) * negatives]
                _train(w_in, w_out, example, label, others, np.float32(rate))
            _hold(inner, w_in)
            _hold(outer, w_out)

    return compute


def _train(
    w_in: _Array, w_out: _Array, example: int, label: int, others: list[int], rate: Any
) -> None:
    """One pair: the label becomes more likely, other words less."""
    one = np.float32(1)
    word = w_in[example].copy()
    gain = rate / (np.exp((word * w_out[label]).sum()) + one)
    change = w_out[label] * gain
    w_out[label] += word * gain
    for other in others:
        if other == label:
            continue
        loss = -rate / (np.exp(-(word * w_out[other]).sum()) + one)
        change += w_out[other] * loss
        w_out[other] += word * loss
    w_in[example] += change


def _copied(variable: Variable) -> _Array:
    if variable.value is None:
        raise uninitialized_reference(variable)
    result: _Array = np.array(to_host(variable.value))
    return result


def _hold(variable: Variable, value: _Array) -> None:
    held: Any = variable.value
    variable.value = (
        value if is_host(held) else to_tensor(value, held.device, copy=True)
    )


def _check_training(
    w_in: _Array,
    w_out: _Array,
    examples: _Array,
    labels: _Array,
    rate: Any,
    vocabulary: int,
) -> None:
    if w_in.ndim != 2:
        raise invalid_argument("Must be a matrix")
    if w_in.shape != w_out.shape:
        raise invalid_argument("w_in.shape == w_out.shape")
    if np.ndim(examples) != 1:
        raise invalid_argument("Must be a vector")
    if np.shape(examples) != np.shape(labels):
        raise invalid_argument("examples.shape == labels.shape")
    if np.ndim(rate):
        raise invalid_argument("Must be a scalar")
    if len(w_in) != vocabulary:
        raise invalid_argument(f"vocab_size mismatches: {len(w_in)} vs. {vocabulary}")
    for words in (examples, labels):
        if len(words) and not 0 <= words.min() <= words.max() < vocabulary:
            raise invalid_argument(
                f"There are words outside of the {vocabulary} known ones"
            )
