"""Session bundles: what programs exported before there were SavedModels.

`contrib.learn.utils.session_bundle` writes them.
"""
