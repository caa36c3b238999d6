"""The master: session state, and the way from a signature to registered pieces.

`master.py` keeps sessions; for a new signature it calls `prune.py`, `optimize/`,
`placer.py` and `framework/partition/graph_partition.py` in this order and registers the
parts on the workers.
"""
