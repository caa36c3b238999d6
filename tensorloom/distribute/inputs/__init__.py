"""Datasets and iterators that feed several replicas."""
