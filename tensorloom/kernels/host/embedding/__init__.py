"""Embedding tables: rows by int64 keys, with the slots of optimizers."""
