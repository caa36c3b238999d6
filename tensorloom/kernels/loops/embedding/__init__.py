"""Compiled loops of embedding tables: rows found by their keys, and first values."""
