"""Pairs of words that stand near each other, as word2vec learns from."""

from __future__ import annotations

import csv
from typing import Any

from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import name_scope
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.runtime.random_seed import get_seed
from tensorloom.framework.types import dtypes
from tensorloom.ops.array.shape import shape
from tensorloom.ops.indexing.selection import boolean_mask
from tensorloom.ops.lookup.tables import HashTable, TextFileInitializer
from tensorloom.ops.math.cast import cast
from tensorloom.ops.math.comparison import (
    greater_equal,
    less_equal,
    logical_and,
    not_equal,
)
from tensorloom.ops.math.elementwise import sqrt
from tensorloom.ops.random.random_ops import random_uniform
from tensorloom.storage.files.file_io import GFile
from tensorloom.train.inputs.input_batches import batch as batch_op


@export("contrib.text.skip_gram_sample")
def skip_gram_sample(
    input_tensor: Any,
    min_skips: Any = 1,
    max_skips: Any = 5,
    start: Any = 0,
    limit: Any = -1,
    emit_self_as_target: Any = False,
    vocab_freq_table: Any = None,
    vocab_min_count: Any = None,
    vocab_subsampling: Any = None,
    corpus_size: Any = None,
    batch_size: int | None = None,
    batch_capacity: int | None = None,
    seed: int | None = None,
    name: str | None = None,
) -> tuple[Any, Any]:
    """Tokens, and neighbours of theirs at drawn distances.

    Args:
      input_tensor: the tokens of a text, [n].
      min_skips, max_skips: between which the distances are drawn.
      start: the first token that counts.
      limit: how many count; -1 for all.
      emit_self_as_target: pair a token with itself, too.
      vocab_freq_table: a table from tokens to how often they occur; others are left
        out.
      vocab_min_count: how often a token must occur.
      vocab_subsampling: the part of the corpus above which a token is left out by
        chance (Mikolov et al., 2013, section 2.3).
      corpus_size: the sum of all frequencies.
      batch_size: None for all pairs of the text, else batches by queue runners.
      batch_capacity: of the queue; 100 batches when None.
      seed: of the draws.
      name: of the operations.

    Returns:
      Tokens and labels, both [pairs].

    Raises:
      ValueError: arguments need others that are not given.
    """
    uses_table = (vocab_min_count, vocab_subsampling, corpus_size) != (None,) * 3
    if vocab_freq_table is None and uses_table:
        raise ValueError(
            "vocab_freq_table is not provided, but vocab_min_count="
            f"{vocab_min_count}, vocab_subsampling={vocab_subsampling}, or "
            f"corpus_size={corpus_size} is not None. These settings are useless "
            "without a vocab_freq_table."
        )
    if (vocab_subsampling is None) != (corpus_size is None):
        raise ValueError(
            f"vocab_subsampling is {vocab_subsampling} while corpus_size is "
            f"{corpus_size} - both must be provided in order for subsampling to work."
        )
    values = [input_tensor, min_skips, max_skips, start, limit]
    with name_scope(name, "skip_gram_sample", values):
        text = kept_tokens(
            input_tensor,
            vocab_freq_table,
            vocab_min_count,
            vocab_subsampling,
            corpus_size,
            seed,
        )
        first, second = get_seed(seed)
        tokens, labels = apply_op(
            "SkipGramGenerateCandidates",
            input_tensor=text,
            min_skips=min_skips,
            max_skips=max_skips,
            start=start,
            limit=limit,
            emit_self_as_target=emit_self_as_target,
            seed=first or 0,
            seed2=second or 0,
        )
        if not batch_size or batch_size < 0:
            return tokens, labels
        capacity = 100 * batch_size
        if batch_capacity is not None and batch_capacity > 0:
            capacity = batch_capacity
        batch = batch_op(
            [tokens, labels], batch_size, capacity=capacity, enqueue_many=True
        )
        return batch[0], batch[1]


def kept_tokens(
    input_tensor: Any,
    vocab_freq_table: Any,
    vocab_min_count: Any,
    vocab_subsampling: Any,
    corpus_size: Any,
    seed: Any,
) -> Any:
    """The tokens in the table, often enough, and not left out by chance."""
    if vocab_freq_table is None:
        return input_tensor
    if not hasattr(vocab_freq_table, "lookup") or not hasattr(
        vocab_freq_table, "default_value"
    ):
        raise ValueError(
            "vocab_freq_table must be a subclass of InitializableLookupTableBase (such "
            f"as HashTable) instead of type {type(vocab_freq_table)}."
        )
    with name_scope("filter_vocab", values=[input_tensor, vocab_min_count]):
        frequency = vocab_freq_table.lookup(input_tensor)
        mask = not_equal(frequency, vocab_freq_table.default_value)
        if vocab_min_count is not None:
            enough = greater_equal(frequency, cast(vocab_min_count, frequency.dtype))
            mask = logical_and(mask, enough)
        input_tensor = boolean_mask(input_tensor, mask)
        frequency = boolean_mask(frequency, mask)
    if not vocab_subsampling:
        return input_tensor
    if not 0 <= vocab_subsampling <= 1:
        raise ValueError(
            f"Invalid vocab_subsampling={vocab_subsampling} - it should be within "
            "range [0, 1]."
        )
    with name_scope("subsample_vocab", values=[input_tensor, frequency]):
        frequency = cast(frequency, dtypes.float64)
        rare = cast(vocab_subsampling, dtypes.float64) * cast(
            corpus_size, dtypes.float64
        )
        keep = (sqrt(frequency / rare) + 1.0) * (rare / frequency)
        drawn = random_uniform(
            shape(frequency), minval=0, maxval=1, dtype=dtypes.float64, seed=seed
        )
        return boolean_mask(input_tensor, less_equal(drawn, keep))


@export("contrib.text.skip_gram_sample_with_text_vocab")
def skip_gram_sample_with_text_vocab(
    input_tensor: Any,
    vocab_freq_file: str,
    vocab_token_index: int = 0,
    vocab_token_dtype: Any = dtypes.string,
    vocab_freq_index: int = 1,
    vocab_freq_dtype: Any = dtypes.float64,
    vocab_delimiter: str = ",",
    vocab_min_count: Any = 0,
    vocab_subsampling: Any = None,
    corpus_size: Any = None,
    min_skips: Any = 1,
    max_skips: Any = 5,
    start: Any = 0,
    limit: Any = -1,
    emit_self_as_target: Any = False,
    batch_size: int | None = None,
    batch_capacity: int | None = None,
    seed: int | None = None,
    name: str | None = None,
) -> tuple[Any, Any]:
    """`skip_gram_sample` with frequencies out of a text file.

    Args:
      vocab_freq_file: lines with a token and its frequency.
      vocab_token_index, vocab_token_dtype: the column and dtype of the tokens.
      vocab_freq_index, vocab_freq_dtype: those of the frequencies.
      vocab_delimiter: between columns.
      corpus_size: the sum of the frequencies, or more; it is computed when None.
      The others are those of `skip_gram_sample`.

    Raises:
      ValueError: columns or frequencies make no sense.
    """
    if vocab_token_index < 0 or vocab_freq_index < 0:
        raise ValueError(
            f"vocab_token_index={vocab_token_index} and vocab_freq_index="
            f"{vocab_freq_index} must both be >= 0."
        )
    if vocab_token_index == vocab_freq_index:
        raise ValueError(
            "vocab_token_index and vocab_freq_index should be different, but are both "
            f"{vocab_token_index}."
        )
    frequencies = _frequencies(
        vocab_freq_file,
        vocab_delimiter,
        vocab_token_index,
        vocab_freq_index,
        vocab_freq_dtype,
    )
    total = sum(frequencies)
    if not corpus_size:
        corpus_size = total
    elif total - corpus_size > 1e-6:
        raise ValueError(
            f"`corpus_size`={corpus_size} must be greater than or equal to the sum of "
            f"all the frequency counts ({total}) of `vocab_freq_file` "
            f"({vocab_freq_file})."
        )
    table = HashTable(
        TextFileInitializer(
            filename=vocab_freq_file,
            key_dtype=vocab_token_dtype,
            key_index=vocab_token_index,
            value_dtype=vocab_freq_dtype,
            value_index=vocab_freq_index,
            vocab_size=len(frequencies),
            delimiter=vocab_delimiter,
        ),
        default_value=-1,
    )
    return skip_gram_sample(
        input_tensor,
        min_skips=min_skips,
        max_skips=max_skips,
        start=start,
        limit=limit,
        emit_self_as_target=emit_self_as_target,
        vocab_freq_table=table,
        vocab_min_count=vocab_min_count,
        vocab_subsampling=vocab_subsampling,
        corpus_size=None if vocab_subsampling is None else corpus_size,
        batch_size=batch_size,
        batch_capacity=batch_capacity,
        seed=seed,
        name=name,
    )


def _frequencies(
    path: str, delimiter: str, token_index: int, index: int, dtype: Any
) -> list[Any]:
    found = []
    with GFile(path, mode="r") as file:
        for row in csv.reader(file, delimiter=delimiter):
            if max(token_index, index) >= len(row):
                raise ValueError(
                    f"Row in vocab file only has {len(row)} columns, so "
                    f"vocab_token_index={token_index} or vocab_freq_index={index} is "
                    f"out of bounds. Row content: {row}"
                )
            frequency = dtype.as_numpy_dtype(row[index])
            if frequency < 0:
                raise ValueError(
                    f"Row in vocab file has negative frequency of {frequency}. Row "
                    f"content: {row}"
                )
            found.append(frequency)
    return found
