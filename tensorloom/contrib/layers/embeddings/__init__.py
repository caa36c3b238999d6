"""Embeddings of hashed values and of partitioned tables, and crosses of features."""
