"""What datasets are at run time: chains of Python iterators over host values.

A dataset (the value of a variant tensor) knows how to make an iterator; an iterator
gives elements, tuples of values in host memory, by `next()`. `dataset.py` says what
both promise; one file a family holds the datasets with the kernels that make them.
Importing them registers them.
"""
