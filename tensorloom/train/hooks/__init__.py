"""Hooks: what runs before and after each step of a monitored session.

One file for each family; `session_run_hook.py` has what they all stand on. The modules
are loaded when `tf.train` is asked for one of their names.
"""
