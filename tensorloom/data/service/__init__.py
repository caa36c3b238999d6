"""The input service: pipelines that run in worker tasks of their own.

A **dispatcher** knows the datasets, divides them into splits, and says who makes which
(`state.py`, kept in `journal.py`). A **worker** makes the elements of a split
(`worker.py`). A **consumer**, a dataset's iterator in the program that trains, asks the
dispatcher for splits and the workers for their elements (`consumer.py`).
"""
