"""Rewrites of a function's tree, in the order of `convert_function`."""
