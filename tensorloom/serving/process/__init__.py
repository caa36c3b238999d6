"""Models in processes of their own.

A model that eats memory, crashes in native code or never ends hurts its own process:
the server answers for the others, and starts it again. Loading, too, happens there: the
requests of other models do not wait for Python's lock.
"""
