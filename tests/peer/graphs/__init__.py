"""Programs whose graphs real TensorFlow makes, for `tests/peer/graph_recorder.py`.

Each function takes the module `tf` (a 1.x API) and returns the fetches and a list of
feeds. A session initializes its variables and tables and runs the fetches with one feed
after the other. Python 3.7.
"""
