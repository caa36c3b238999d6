"""Embedding variables: rows by int64 keys, which come as keys are trained.

    import tensorloom.dynamic_embedding as de

    table = de.get_variable("users", dim=16, filter_option=de.CounterFilter(3))
    rows = de.embedding_lookup(table, keys)

A variable lives in one place or is spread over parameter servers; all optimizers of
`tf.train` update it, savers save it. See `docs/embeddings.md`.
"""

from tensorloom.dynamic_embedding.incremental_hook import IncrementalSaverHook
from tensorloom.dynamic_embedding.incremental_saver import IncrementalSaver
from tensorloom.dynamic_embedding.lookups import (
    embedding_lookup,
    embedding_lookup_sparse,
    embedding_lookup_unique,
)
from tensorloom.dynamic_embedding.options import CounterFilter, GlobalStepEvict
from tensorloom.dynamic_embedding.variable import EmbeddingVariable, get_variable
