"""`tf.contrib.boosted_trees`: trees that are grown by gradients, layer by layer.

`*_estimators.py` are what programs call. Below them: a model of an
ensemble (`tree_model.py`), handlers that find splits by one feature column each
(`handlers/`), and resources for what is added up between steps (`resources/`).
"""
