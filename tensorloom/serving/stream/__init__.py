"""`tensorloom stream`: messages of Kafka through a model, and its answers to Kafka.

`worker.py` is the loop: consume a batch, infer (`inference.py`), produce, commit
(`delivery.py`: at least once, or exactly once). Models are loaded, replaced and watched
by the model server that runs beside it.
"""
